"""Whether squares that seem empty have the ground's hue, which shade hardly changes.

By each pixel a pale piece may be ground in another light.  The colours of a set may also have been learned wrongly, as
where a face mirrored a window.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.hypothesis import Hypothesis
from vision.likelihood.hues import hue, hue_of
from vision.likelihood.observations import DARK

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

OFF_HUE = 0.05
"""Distance in hue (:mod:`vision.likelihood.hues`) from the ground's colour above which what is seen round the middle of
a square may be no ground.  Of the bare squares of 22 sets on printed mats half were within 0.003 to 0.012, and 99 in
100 within 0.014 to 0.09, these beside stacks of strong colours; of those where something stood half were beyond 0.1.
Of 1,800 bare squares of six learned boards five in a hundred had more."""


def off_hue(hypothesis: Hypothesis, floor: Floats) -> Mask:
    """(n,) cells of the lowest level on which what is seen has another hue than the ``floor`` (3,), r g b."""
    observations, (first, end) = hypothesis.observations, hypothesis.geometry.rows_round
    rows, columns = end - first, observations.codes.shape[2]
    # Half the rows and a third of the columns: neighbours of other colours reflect on the rest.
    middle = observations.codes[:, first + rows // 4 : end - rows // 4, columns // 3 : columns - columns // 3]
    shown = hue(middle.mean(axis=(1, 2)) * observations.gain) - hue_of(floor)
    is_off: Mask = np.linalg.norm(shown, axis=1) > OFF_HUE
    return is_off & (hypothesis.geometry.levels == () or np.array(hypothesis.geometry.levels) == 0)


def hue_from_board(hypothesis: Hypothesis, cells: Indices) -> Floats:
    """(b,) median distance in hue of what is seen on ``cells`` (b,) from what a learned board has there.

    0 where that is not known.
    """
    if not len(cells):
        return np.zeros(0)
    observations, rows = hypothesis.observations, slice(*hypothesis.geometry.rows_round)
    shown = observations.codes[cells, rows] * observations.gain[cells, None, None]
    board = observations.expected[cells, :, rows].transpose(0, 2, 3, 1)
    apart = np.nan_to_num(hue(shown.astype(np.float64) + DARK) - hue(board.astype(np.float64) + DARK))
    off: Floats = np.linalg.norm(np.median(apart, axis=(1, 2)), axis=1)
    return off
