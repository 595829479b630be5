"""Whether squares that seem empty have the ground's hue, which shade hardly changes.

By each pixel a pale piece may be ground in another light.  The colours of a set may also have been learned wrongly, as
where a face mirrored a window.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import display
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.densities import normal_density
from vision.likelihood.hues import hue, hue_density, hue_of
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

BARE_SPREAD, SHADE_SPREAD, BARE_STRAYS = 0.015, 0.1, (0.03, 4.0)
PIECE_SPREAD, PIECE_STRAYS = 0.02, (0.1, 4.0)
"""Standard deviations of the hue of bare squares of a learned board from the board's, and of what stands there from the
piece's own; and how often either has any other, in what area.  In shade, and in the light that stacks reflect, bare
squares deviate by a further tenth of the change of log brightness.  Fitted to the 623 squares of 37 boards of which
colours were not sure whether anything stands: 268 to 144 nats, 35 to 17 wrong."""

LIKE_BOARD = 0.1
"""How often a piece has the board's hue all the same: a face that mirrors a lamp has the lamp's."""

MIDDLE = 0.6
"""Share of the smallest piece's width that is looked at there."""

LEAST_SEEN = 0.5
"""Share of that which must be seen."""


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


def board_log_ratio(hypothesis: Hypothesis, pieces: Floats) -> Floats:
    """(n,) log-likelihood ratio that anything stands on each cell of a learned board, by the hue round its middle.

    A single pixel of a dark board hardly tells it from a dark piece, but all of them together do.  0 where too much is
    hidden, or the board is not known, or nothing is believed to stand, or that something may.  ``pieces`` (colours, 3):
    reflectances, r g b.
    """
    geometry, observations, ratio = hypothesis.geometry, hypothesis.observations, np.zeros(len(hypothesis.state))
    rows = np.arange(*geometry.rows_round)
    columns = np.flatnonzero(np.abs(geometry.crops.u_mm) <= MIDDLE * geometry.configurations.all[0].size.width_mm / 2)
    cells = np.flatnonzero((hypothesis.state > 0) | hypothesis.camouflaged)
    window = np.ix_(cells, rows, columns)
    nearest = hypothesis.all_labels().ravel()[geometry.crops.flat_px[window]] >> RANK_BITS
    board = observations.expected.transpose(0, 2, 3, 1)[window].astype(np.float64)
    is_seen = (nearest <= geometry.rank[cells, None, None]) & (board > 0).all(axis=-1)
    is_told = is_seen.mean(axis=(1, 2)) > LEAST_SEEN
    cells, seen = cells[is_told], is_seen[is_told, ..., None]
    shown, expected = (
        np.where(seen, values[is_told], 0).sum(axis=(1, 2)) / seen.sum(axis=(1, 2))
        for values in (observations.codes[window], board)
    )
    shown = shown * observations.gain[cells] + DARK
    own, off = hue(expected + DARK), hue(shown) - hue(expected + DARK)
    shade = np.abs(np.log(shown.mean(axis=1) / (expected.mean(axis=1) + DARK)))
    bare = hue_density(off, np.zeros(2), BARE_SPREAD + SHADE_SPREAD * shade, BARE_STRAYS)
    of_pieces = hue(display(pieces)[:, ::-1] + DARK) - own[:, None]
    stands = hue_density(off[:, None], of_pieces, PIECE_SPREAD, PIECE_STRAYS).max(axis=1)
    ratio[cells] = np.log(LIKE_BOARD + (1 - LIKE_BOARD) * stands / bare)
    return ratio
