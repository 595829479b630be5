"""Where the lamp stands in a picture: low, so that it lights the sides of pieces more than their faces, or behind.

What a lamp behind the board leaves in the shade is darker than usual sides are, and a face is then no side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import GAMMA, display
from vision.appearance.colour_model import Lamp
from vision.inference.hypothesis import Hypothesis

LOW = 1.0
"""Light on sides, as a share of that on faces, above which the lamp is low: its median over a board, by what was
believed, was 0.2 to 0.8 in 58 pictures of cubes and discs, and 1.3 in the two beside a low lamp."""

BEHIND = 0.42
"""The same below which it is behind the board: 78 of 294 pictures of faced pieces, among them one of 0.33 in which
sides were taken for faces and a face for a side with p 1.0."""

FEW = 3
"""Stacks under which a board's median says nothing: one that is misread may show anything."""

LEAST_PX = 20.0
"""Pixels of sides without which a stack says nothing."""


def lamp_of(hypothesis: Hypothesis, reflectances: npt.NDArray[np.float64]) -> Lamp:
    """Where the lamp stands by the light on the sides of what is hypothesised, in the median of all stacks.

    ``reflectances``: (colours, 3), r g b, of the pieces.
    """
    standing = np.flatnonzero(hypothesis.state > 0)
    sums = hypothesis.side_steps[standing].sum(axis=(1, 2), dtype=np.float64)
    seen = sums[:, 1] >= LEAST_PX
    if np.count_nonzero(seen) < FEW:
        return Lamp.USUAL
    faces = np.log(display(reflectances).max(axis=1))[(hypothesis.state[standing[seen]] - 1) % hypothesis.colours]
    light = np.exp(GAMMA * np.median(sums[seen, 0] / sums[seen, 1] - faces))
    return Lamp.LOW if light > LOW else Lamp.BEHIND if light < BEHIND else Lamp.USUAL
