"""Where the lamp stands in a picture: low, so that it lights the sides of pieces about as much as faces, or behind.

Sides that a lamp behind the board leaves in the shade are darker than usual, and nothing like a face is then a side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import GAMMA, display
from vision.appearance.colour_model import Lamp
from vision.appearance.tone_curve import OFFSET
from vision.inference.hypothesis import Hypothesis

LOW_LAMP_SHARE, ON_LEARNED_BOARD = 0.7, 0.85
"""Light on sides, as a share of that on faces, above which the lamp is low: on printed mats, and on boards whose
appearance was learned.  Its median over a board, by what was believed, was 0.45 in the middle of 108 pictures of twelve
sets.  It is the mean of what faces the camera: where it was 0.83, one of the two sides of each cube got 1.3.  On
mats 0.55 and 0.7 read 30 sets alike, and better than 0.85.  On a board sides may be in any shade, and a real photograph
at 0.74 had a tower of two for three as under a low lamp."""

LAMP_BEHIND_SHARE = 0.36
"""The same below which the lamp is behind the board: 32 of these pictures; 29 by the former measure and its limit,
0.42, with which sides were taken for faces and a face for a side with p 1.0 in one of 0.33."""

MIN_STACKS = 3
"""Number of stacks below which a board's median says nothing: one that is misread may show anything."""

MIN_PX = 20.0
"""Pixels of its sides below which a stack says nothing."""


def estimate_lamp(hypothesis: Hypothesis, reflectances: npt.NDArray[np.float64]) -> Lamp:
    """Where the lamp stands, from the light on the sides of the hypothesised stacks, in the median of all.

    ``reflectances``: (colours, 3), r g b, of the pieces.
    """
    standing = np.flatnonzero(hypothesis.state > 0)
    sums = hypothesis.side_steps[standing].sum(axis=(1, 2), dtype=np.float64)
    seen = sums[:, 1] >= MIN_PX
    if np.count_nonzero(seen) < MIN_STACKS:
        return Lamp.USUAL
    faces = np.log(display(reflectances).max(axis=1) + OFFSET)[
        (hypothesis.state[standing[seen]] - 1) % hypothesis.colours
    ]
    light = np.exp(GAMMA * np.median(sums[seen, 0] / sums[seen, 1] - faces))
    most = ON_LEARNED_BOARD if hypothesis.is_on_learned_board else LOW_LAMP_SHARE
    return Lamp.LOW if light > most else Lamp.BEHIND if light < LAMP_BEHIND_SHARE else Lamp.USUAL
