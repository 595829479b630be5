"""Whether squares that seem empty have the ground's hue, which shade hardly changes.

By each pixel a pale piece may be ground in another light.  The colours of a set may also have been learned wrongly, as
where a face mirrored a window.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.hypothesis import Hypothesis
from vision.likelihood.hues import hue, hue_of

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

OFF_HUE = 0.05
"""Distance in hue (:mod:`vision.likelihood.hues`) from the ground's colour above which what is seen round the middle of
a square may be no ground.  Of the bare squares of 22 sets on printed mats half were within 0.003 to 0.012, and 99 in
100 within 0.014 to 0.09, these beside stacks of strong colours; of those where something stood half were beyond 0.1."""


def off_hue(hypothesis: Hypothesis, floor: Floats) -> Mask:
    """(n,) cells of the lowest level on which what is seen has another hue than the ``floor`` (3,), r g b."""
    observations, (first, end) = hypothesis.observations, hypothesis.geometry.rows_round
    rows, columns = end - first, observations.codes.shape[2]
    # Half the rows and a third of the columns: neighbours of other colours reflect on the rest.
    middle = observations.codes[:, first + rows // 4 : end - rows // 4, columns // 3 : columns - columns // 3]
    shown = hue(middle.mean(axis=(1, 2)) * observations.gain) - hue_of(floor)
    is_off: Mask = np.linalg.norm(shown, axis=1) > OFF_HUE
    return is_off & (hypothesis.geometry.levels == () or np.array(hypothesis.geometry.levels) == 0)
