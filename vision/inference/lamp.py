"""Whether a picture was taken beside a low lamp, which lights the sides of pieces more than their faces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import GAMMA, display
from vision.inference.hypothesis import Hypothesis

LOW = 1.0
"""Light on sides, as a share of that on faces, above which the lamp is low: its median over a board, by what was
believed, was 0.2 to 0.8 in 58 pictures of cubes and discs, and 1.3 in the two beside a low lamp."""

FEW = 3
"""Stacks under which a board's median says nothing: one that is misread may show anything."""

LEAST_PX = 20.0
"""Pixels of sides without which a stack says nothing."""


def is_low(hypothesis: Hypothesis, reflectances: npt.NDArray[np.float64]) -> bool:
    """Whether the sides of what is hypothesised are lit more than faces are, in the median of all stacks.

    ``reflectances``: (colours, 3), r g b, of the pieces.
    """
    standing = np.flatnonzero(hypothesis.state > 0)
    sums = hypothesis.side_steps[standing].sum(axis=(1, 2), dtype=np.float64)
    seen = sums[:, 1] >= LEAST_PX
    if np.count_nonzero(seen) < FEW:
        return False
    faces = np.log(display(reflectances).max(axis=1))[(hypothesis.state[standing[seen]] - 1) % hypothesis.colours]
    return bool(np.median(sums[seen, 0] / sums[seen, 1] - faces) > np.log(LOW) / GAMMA)
