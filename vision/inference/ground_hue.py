"""Whether squares that seem empty have the ground's hue, which shade hardly changes.

Pixel by pixel, a pale piece may be ground in another light.  The colours of a set may also have been learned wrongly,
as where a face reflected a window.  On a learned board all that is seen round a square's middle is compared, as a
whole, with the board's hue there and with each piece's; and so is what is seen where stacks would have their faces.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import display
from vision.appearance.shading import mirroring
from vision.appearance.tone_curve import OFFSET, codes_to_values
from vision.compiled import compiled
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.densities import normal_density
from vision.likelihood.hues import hue, hue_density, hue_of
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]
Pixels = npt.NDArray[np.int32]

OFF_HUE = 0.05
"""Distance in hue (:mod:`vision.likelihood.hues`) from the ground's colour above which what is seen round the middle of
a square may not be ground.  Of the bare squares of 22 sets on printed mats half were within 0.003 to 0.012, and 99 in
100 within 0.014 to 0.09, these beside stacks of strong colours; of those where something stood half were beyond 0.1.
Of 1,800 bare squares of six learned boards five in a hundred had more."""

SATURATED_MEAN = 250.0
"""Mean code of a channel from which on it is saturated, so that the hue is not known."""

BARE_PILLAR, ON_PILLAR, STRAY_PROBABILITY = (-4.96, 0.7), (-2.0, 1.35), 0.005
"""Means and standard deviations of the logarithm of that distance on bare pillars and where something stands on them;
and how often bare ones have any.  Of the unoccluded pillars in 110 pictures of eleven sets half of the bare ones were
within 0.007 and 99 of 100 within 0.04; where something stood half were beyond 0.13, nine of ten beyond 0.024."""

LEARNED_HUE_PROBABILITY, LEARNED_HUE_DEVIATION = 0.8, 0.03
"""How often what stands on a pillar has the learned hue of a piece, and its standard deviation; else it has any.
Fitted to 2,769 unoccluded pillars of 14 sets: from 462 to 329 nats, but more on one set (46 to 60)."""

BARE_SPREAD, SHADE_SPREAD, BARE_STRAYS = 0.015, 0.1, (0.03, 4.0)
PIECE_SPREAD, PIECE_STRAYS = 0.02, (0.1, 4.0)
"""Standard deviations of the hue of bare squares of a learned board about the board's, and of what stands there about
the piece's own; and how often either has any other hue, over what area.  In shade, and in light reflected by stacks,
bare squares deviate by a further tenth of the change of log brightness.  Fitted to the 623 squares of 37 boards where
colours were not sure whether anything stands: from 268 to 144 nats, from 35 to 17 wrong."""

BOARD_HUE_PROBABILITY = 0.1
"""How often a piece has the board's hue all the same: a face that reflects a lamp has the lamp's."""

GROUND_HUED = 0.1
"""Distance in hue below which a piece is of the pillars' own hue: pale gray cubes on pale pillars had 0.06, the other
colours of seven sets 0.16 and more."""

MIDDLE = 0.6
"""Share of the smallest piece's width that is examined there, and of the width and the height of a face."""

MIN_SEEN = 0.5
"""Share of that which must be visible."""

MIN_HUE_NATS = 1.0
"""Log-likelihood ratio, from hue, above which boundaries are consulted: that anything stands on a cell that seems
empty, or has its face where the board is taken to be seen."""


def off_hue(hypothesis: Hypothesis, floor: Floats) -> Mask:
    """(n,) cells of the lowest level whose visible hue differs from that of the ``floor`` (3,), r g b."""
    observations, (first, end) = hypothesis.observations, hypothesis.geometry.rows_round
    rows, columns = end - first, observations.codes.shape[2]
    # Half the rows and a third of the columns: neighbours of other colours reflect on the rest.
    middle = observations.codes[:, first + rows // 4 : end - rows // 4, columns // 3 : columns - columns // 3]
    is_off: Mask = np.linalg.norm(_hue_difference(hypothesis, middle, floor), axis=1) > OFF_HUE
    is_off &= middle.mean(axis=(1, 2)).max(axis=1) < SATURATED_MEAN
    return is_off & (hypothesis.geometry.levels == () or np.array(hypothesis.geometry.levels) == 0)


def pillars_log_ratio(hypothesis: Hypothesis, top: Floats, pieces: Floats) -> Floats:
    """(n,) log-likelihood ratio, from hue, of anything on each pillar; 0 where the smallest piece is partly hidden.

    ``top`` (3,): colour of their upper faces, r g b; ``pieces`` (colours, 3): of what may stand there.
    """
    geometry = hypothesis.geometry
    half_mm, crops = geometry.configurations.all[0].size.width_mm / 2, geometry.crops
    # Where both the face and the sides of the smallest piece are seen.
    rows = np.flatnonzero((crops.v_mm >= -1.1 * half_mm) & (crops.v_mm <= 0.7 * half_mm))
    columns = np.flatnonzero(np.abs(crops.u_mm) <= 0.7 * half_mm)
    window = np.ix_(np.arange(len(geometry.rank)), rows, columns)
    off = _hue_difference(hypothesis, hypothesis.observations.codes[window], top)
    apart = np.maximum(np.linalg.norm(off, axis=1), 1e-4)
    # Densities of the logarithm of a distance, in any direction, become densities of a hue.
    area = 2 * np.pi * apart**2
    any_hue, bare = (normal_density(np.log(apart), *each) / area for each in (ON_PILLAR, BARE_PILLAR))
    own = hue_density(off[:, None], hue_of(pieces) - hue_of(top), LEARNED_HUE_DEVIATION, PIECE_STRAYS).max(axis=1)
    stands = LEARNED_HUE_PROBABILITY * own + (1 - LEARNED_HUE_PROBABILITY) * any_hue
    ratio = np.log(stands / ((1 - STRAY_PROBABILITY) * bare + STRAY_PROBABILITY * any_hue))
    nearest = hypothesis.labels().ravel()[crops.flat_px[window]] >> RANK_BITS
    is_hidden = (nearest > geometry.rank[:, None, None]).any(axis=(1, 2))
    return np.asarray(np.where(is_hidden, 0.0, ratio), np.float64)


def are_ground_hued(top: Floats, pieces: Floats) -> Mask:
    """(colours,) which ``pieces`` (colours, 3) have the hue of the pillars' upper faces, ``top`` (3,): all r g b."""
    of_ground: Mask = np.linalg.norm(hue_of(pieces) - hue_of(top), axis=1) < GROUND_HUED
    return of_ground


def _hue_difference(hypothesis: Hypothesis, codes: npt.NDArray[np.generic], ground: Floats) -> Floats:
    """(n, 2) difference in hue of the mean of ``codes`` (n, rows, columns, 3) from the ``ground`` (3,), r g b."""
    shown = codes_to_values(codes.mean(axis=(1, 2)), hypothesis.observations.gain)
    return hue(shown.astype(np.float64)) - hue_of(ground)


def hue_from_board(hypothesis: Hypothesis, cells: Indices) -> Floats:
    """(b,) distance in hue between what is seen round the middles of ``cells`` (b,) and the learned board there.

    0 where too little of that is visible, or the board is not known.
    """
    shown, board, is_seen = _middle_means(hypothesis)
    off: Floats = np.linalg.norm(hue(shown) - hue(board), axis=1) * is_seen
    return off[cells]


def board_log_ratio(hypothesis: Hypothesis, pieces: Floats) -> Floats:
    """(n,) log-likelihood ratio that anything stands on each cell of a learned board, by the hue round its middle.

    A single pixel hardly distinguishes a dark board from a dark piece, but all of them together do.  0 where too little
    is visible, or the board is not known.  ``pieces`` (colours, 3): reflectances, r g b.
    """
    return _log_ratio(_middle_means(hypothesis), pieces)


def are_middles_visible(hypothesis: Hypothesis) -> Mask:
    """(n,) cells whose middle is visible, where a learned board is known."""
    return _middle_means(hypothesis)[2]


def faces_log_ratio(hypothesis: Hypothesis, cells: Indices, pieces: Floats) -> Floats:
    """(b, f) log-likelihood ratio that configurations on ``cells`` (b,) of a learned board have their face in sight.

    By the hue seen where it would be, against the board's there; 0 where too little is visible, or the board is not
    known.  ``pieces`` (colours, 3): reflectances, r g b.
    """
    rows = face_rows(hypothesis, cells)
    ratio: Floats = _log_ratio(window_means(hypothesis, cells, rows), pieces)
    return ratio.reshape(rows.shape[:2])


def face_rows(hypothesis: Hypothesis, cells: Indices) -> Indices:
    """(b, f, columns, 2) first crop row of the middle part of each configuration's face, and the one past its last.

    ``cells``: (b,).
    """
    edges = hypothesis.geometry.outlines.edges[cells]
    begins, ends = edges[:, :, 0], edges[:, :, 1]
    margins = (1 - MIDDLE) / 2 * (ends - begins)
    return np.stack([begins + margins, ends - margins], axis=-1).astype(np.intp)


def store_hue_evidence(hypothesis: Hypothesis, pieces: Floats) -> None:
    """Store the evidence of hue on the cells of a learned board; ``pieces`` (colours, 3): reflectances, r g b."""
    ratio = board_log_ratio(hypothesis, pieces)
    hypothesis.set_off_hue(hypothesis.off_hue, ratio)
    hypothesis.mark_camouflaged(np.flatnonzero((ratio > MIN_HUE_NATS) & hypothesis.updated & (hypothesis.state == 0)))
    cells = np.flatnonzero(hypothesis.updated & ((hypothesis.state > 0) | hypothesis.camouflaged))
    hypothesis.set_face_hues(cells, faces_log_ratio(hypothesis, cells, pieces))


def _log_ratio(seen: tuple[Floats, Floats, Mask], pieces: Floats) -> Floats:
    """(k,) log-likelihood ratio of the hues of ``pieces`` against the board's.

    ``seen``: what :func:`window_means` returns (k).
    """
    shown, board, is_seen = seen
    own = hue(board)
    off = hue(shown) - own
    shade = np.abs(np.log(shown.mean(axis=1) / board.mean(axis=1)))
    bare = hue_density(off, np.zeros(2), BARE_SPREAD + SHADE_SPREAD * shade, BARE_STRAYS)
    of_pieces = hue(display(mirroring(pieces))[..., ::-1] + OFFSET) - own[:, None, None]
    stands = hue_density(off[:, None, None], of_pieces, PIECE_SPREAD, PIECE_STRAYS).mean(axis=2).max(axis=1)
    return np.where(is_seen, np.log(BOARD_HUE_PROBABILITY + (1 - BOARD_HUE_PROBABILITY) * stands / bare), 0.0)


def _middle_means(hypothesis: Hypothesis) -> tuple[Floats, Floats, Mask]:
    """What :func:`window_means` returns for a window round the middle of each cell (n)."""
    cells, columns = np.arange(len(hypothesis.geometry.rank)), hypothesis.observations.codes.shape[2]
    return window_means(hypothesis, cells, np.tile(hypothesis.geometry.rows_round, (len(cells), 1, columns, 1)))


def window_means(hypothesis: Hypothesis, cells: Indices, rows: Indices) -> tuple[Floats, Floats, Mask]:
    """Means over windows of the crops of ``cells`` (b,): of what is seen, of the board, and whether enough is visible.

    The first two are (b · w, 3) display values b g r plus ``tone_curve.OFFSET``.  ``rows`` (b, w, columns, 2): of each
    window the first row and the one after its last; only columns in a cell's middle count.
    """
    geometry, observations = hypothesis.geometry, hypothesis.observations
    columns = np.abs(geometry.crops.u_mm) <= MIDDLE * geometry.configurations.all[0].size.width_mm / 2
    places, middle = (geometry.crops.flat_px, geometry.rank), np.flatnonzero(columns)
    shown = observations.codes, observations.expected, hypothesis.labels()
    sums = _sums(*shown, places, cells, (rows, middle)).reshape(-1, 7)
    seen, board = np.split(sums[:, :-1] / np.maximum(sums[:, -1:], 1e-9), 2, axis=1)
    gain = np.repeat(observations.gain[cells], rows.shape[1], axis=0)
    return codes_to_values(seen, gain).astype(np.float64) + OFFSET, board + OFFSET, sums[:, -1] > MIN_SEEN


@compiled
def _sums(
    codes: Picture,
    board: Array,
    labels: LabelBuffer,
    places: tuple[Pixels, Pixels],
    cells: Indices,
    windows: tuple[Indices, Indices],
) -> Floats:
    """(b, w, 7) sums over windows of crops, per pixel: of codes, of what a learned board shows, and the share counted.

    Pixels that nearer stacks hide, or where the board is not known, do not count.

    Args:
        codes: see :class:`Observations`.
        board: its ``expected``.
        labels: of the whole picture.
        places: (n, rows, columns) pixels of the crops, and (n,) the cells' ranks.
        cells: (b,).
        windows: (b, w, columns, 2) rows as in :func:`window_means`; (k,) columns.
    """
    (flat_px, rank), (rows, columns), flat = places, windows, labels.reshape(-1)
    sums = np.zeros((*rows.shape[:2], 7))
    for k, cell in enumerate(cells):
        for number in range(rows.shape[1]):
            mine, count = sums[k, number], 0
            for column in columns:
                for row in range(max(rows[k, number, column, 0], 0), min(rows[k, number, column, 1], codes.shape[1])):
                    count += 1
                    is_seen = flat[flat_px[cell, row, column]] >> RANK_BITS <= rank[cell]
                    if is_seen and board[cell, 0, row, column] > 0:
                        for channel in range(3):
                            mine[channel] += codes[cell, row, column, channel]
                            mine[3 + channel] += board[cell, channel, row, column]
                        mine[6] += 1
            mine /= max(count, 1)
    return sums
