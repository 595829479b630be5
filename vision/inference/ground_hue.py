"""Whether squares that seem empty have the ground's hue, which shade hardly changes.

By each pixel a pale piece may be ground in another light.  The colours of a set may also have been learned wrongly, as
where a face mirrored a window.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.hypothesis import Hypothesis
from vision.likelihood.densities import normal_density
from vision.likelihood.hues import hue, hue_of
from vision.likelihood.observations import DARK
from vision.scene.label_buffer import RANK_BITS

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

OFF_HUE = 0.05
"""Distance in hue (:mod:`vision.likelihood.hues`) from the ground's colour above which what is seen round the middle of
a square may be no ground.  Of the bare squares of 22 sets on printed mats half were within 0.003 to 0.012, and 99 in
100 within 0.014 to 0.09, these beside stacks of strong colours; of those where something stood half were beyond 0.1.
Of 1,800 bare squares of six learned boards five in a hundred had more."""


BARE_PILLAR, ON_PILLAR, STRAY = (-4.96, 0.7), (-2.0, 1.35), 0.005
"""Means and standard deviations of the logarithm of that distance on bare pillars and where something stands on them;
and how often bare ones have any.  Of the pillars in 110 pictures of eleven sets that nothing hid half of the bare ones
were within 0.007 and 99 of 100 within 0.04; where something stood half were beyond 0.13, nine of ten beyond 0.024."""


def off_hue(hypothesis: Hypothesis, floor: Floats) -> Mask:
    """(n,) cells of the lowest level on which what is seen has another hue than the ``floor`` (3,), r g b."""
    observations, (first, end) = hypothesis.observations, hypothesis.geometry.rows_round
    rows, columns = end - first, observations.codes.shape[2]
    # Half the rows and a third of the columns: neighbours of other colours reflect on the rest.
    middle = observations.codes[:, first + rows // 4 : end - rows // 4, columns // 3 : columns - columns // 3]
    is_off: Mask = _apart(hypothesis, middle, floor) > OFF_HUE
    return is_off & (hypothesis.geometry.levels == () or np.array(hypothesis.geometry.levels) == 0)


def pillars_log_ratio(hypothesis: Hypothesis, top: Floats) -> Floats:
    """(n,) log-likelihood ratio that anything stands on each pillar, by its hue; 0 where the smallest piece is hidden.

    ``top`` (3,): colour of their upper faces, r g b.
    """
    geometry = hypothesis.geometry
    half_mm, crops = geometry.configurations.all[0].size.width_mm / 2, geometry.crops
    # Where both the face and the sides of the smallest piece are seen.
    rows = np.flatnonzero((crops.v_mm >= -1.1 * half_mm) & (crops.v_mm <= 0.7 * half_mm))
    columns = np.flatnonzero(np.abs(crops.u_mm) <= 0.7 * half_mm)
    window = np.ix_(np.arange(len(geometry.rank)), rows, columns)
    apart = np.log(np.maximum(_apart(hypothesis, hypothesis.observations.codes[window], top), 1e-4))
    stands, bare = normal_density(apart, *ON_PILLAR), normal_density(apart, *BARE_PILLAR)
    ratio = np.log(stands / ((1 - STRAY) * bare + STRAY * stands))
    nearest = hypothesis.all_labels().ravel()[crops.flat_px[window]] >> RANK_BITS
    is_hidden = (nearest > geometry.rank[:, None, None]).any(axis=(1, 2))
    return np.asarray(np.where(is_hidden, 0.0, ratio), np.float64)


def _apart(hypothesis: Hypothesis, codes: npt.NDArray[np.generic], ground: Floats) -> Floats:
    """(n,) distance in hue of ``codes`` (n, rows, columns, 3) on each cell from the ``ground`` (3,), r g b."""
    shown = hue(codes.mean(axis=(1, 2)) * hypothesis.observations.gain) - hue_of(ground)
    apart: Floats = np.linalg.norm(shown, axis=1)
    return apart


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
