"""A closer look at seemingly empty cells of a learned board, by the surfaces that each configuration predicts there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.appearance.tone_curve import BLACK_CODES, OFFSET
from vision.compiled import compiled
from vision.inference.coordinate_ascent import AllScores, converge
from vision.inference.evidence_weights import CAMOUFLAGED_WEIGHT, bound_log_ratios
from vision.inference.ground_hue import OFF_HUE, hue_from_board
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.surfaces import surface_log_ratio

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

CHANNELS = 3

EMPTY_NATS = 12.5
"""A piece that is less likely than an empty cell by more than this, at any height, is not examined further.

With 10 and 25, 37 boards with discs had 203 and 153 nats, all of it from dark discs on one dark board, which 12.5 reads
as 25 does.  A reading of `own-chequer`, in whose shadows more squares are then examined, took 59 ms with 10, 70 with
12.5 and 110 with 25.
"""

LIKELIEST_NATS = 2.5
"""Whether a cell is examined further is decided from the heights that colours, weighted as below, make less likely than
the likeliest by no more than this: where a tower is in view, a single piece may be less likely still, and testing all
heights doubled the time of a reading (`own-chequer`).  Chosen by eye."""

TRIED_NATS = 20.0
"""The same once a cell is examined further: of 574 cells of 15 boards with discs none was found to be higher, or lower,
than colours said by 7 or more, and 520 pictures of 52 boards are read as with all heights."""

UNLIKE, UNLIKE_SHARE = 0.06, 0.25
"""Log brightness by which a pixel differs from the board, and share of such pixels round a cell's middle above which it
is examined for a piece of the board's colour.  Of 139 pieces on three boards none had less than 0.35; of 550 bare
squares four in five did: the others were shaded.  Then one that mirrored the room had 0.29: with 0.3 it was surely none
(`own-r97010`: 48.6 to 28.0 nats; on nine other boards alike, with 0.2 as well)."""


def find_camouflaged(hypothesis: Hypothesis) -> None:
    """Look for pieces of a learned board's own colour.

    By colour, every pixel that looks as expected is evidence for the board.  But a piece has outlines and sides of its
    own, where the board has none.  Neighbours of the pieces that are found are updated again.
    """
    empty = np.flatnonzero(hypothesis.updated & (hypothesis.state == 0))
    empty = empty[are_unlike_board(hypothesis, empty)]
    every = AllScores(hypothesis, empty)
    found = np.array([cell for cell in empty.tolist() if _is_camouflaged(hypothesis, cell, every)], np.intp)
    hypothesis.mark_camouflaged(found)
    hypothesis.clear_stale(found)
    converge(hypothesis)


def are_unlike_board(hypothesis: Hypothesis, cells: Indices) -> Mask:
    """(b,) whether what is seen round the middles of ``cells`` (b,) differs from the learned board there.

    In brightness or in hue: a maroon disc may be as bright as a blue board.
    """
    is_other_shade = board_difference_shares(hypothesis, cells) > UNLIKE_SHARE
    unlike: Mask = is_other_shade | (hue_from_board(hypothesis, cells) > OFF_HUE)
    return unlike


def board_difference_shares(hypothesis: Hypothesis, cells: Indices) -> Array:
    """(b,) share of the pixels round the middles of ``cells`` (b,) that are brighter or darker than the board there."""
    observations, rows = hypothesis.observations, hypothesis.geometry.rows_round
    shares: Array = _unlike_shares(observations.codes, observations.gain, observations.expected, cells, rows)
    return shares


@compiled
def _unlike_shares(codes: Picture, gain: Array, expected: Array, cells: Indices, rows: tuple[int, int]) -> Array:
    """See :func:`board_difference_shares`.

    ``rows``: the first and the one after the last; others as in :class:`Observations`.
    """
    shares, least, most = np.zeros(len(cells), np.float32), np.exp(-UNLIKE), np.exp(UNLIKE)
    for k in range(len(cells)):
        cell, per_code = cells[k], gain[cells[k]].sum() / CHANNELS
        for row in range(rows[0], rows[1]):
            for column in range(codes.shape[2]):
                blue, green, red = codes[cell, row, column]
                board = (expected[cell, 0, row, column] + expected[cell, 1, row, column]) + expected[
                    cell, 2, row, column
                ]
                shown = ((int(blue) + int(green) + int(red)) / CHANNELS + BLACK_CODES) * per_code
                ratio = shown / (board / CHANNELS + OFFSET)
                shares[k] += ratio < least or ratio > most
        shares[k] /= (rows[1] - rows[0]) * codes.shape[2]
    return shares


def _is_camouflaged(hypothesis: Hypothesis, cell: int, every: AllScores) -> bool:
    """Rescore a cell that seems empty but is unlike the board; returns whether a piece now seems to, or may, stand."""
    # Where boundaries will decide whether anything stands there, colours need not rule it out.
    are_boundaries_asked, by_colour = hypothesis.geometry.configurations.has_plain_faces, every.get(cell)
    if are_boundaries_asked:
        by_colour = bound_log_ratios(by_colour)
    colours = CAMOUFLAGED_WEIGHT * by_colour.max(axis=1)
    likeliest = colours > colours.max() - LIKELIEST_NATS
    if (colours + surface_log_ratios(hypothesis, cell, likeliest))[likeliest].max() < -EMPTY_NATS:
        return False
    tried = colours > colours.max() - TRIED_NATS
    surfaces = surface_log_ratios(hypothesis, cell, tried)
    surfaces[~tried] = surfaces[tried].min()
    scores = np.append(0.0, CAMOUFLAGED_WEIGHT * by_colour + surfaces[:, None]).astype(np.float32)
    hypothesis.set_scores(np.array([cell]), scores[None])
    state = int(scores.argmax())
    if state:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, 0)
        every.invalidate(cell, 0)
    return bool(state) or are_boundaries_asked


def surface_log_ratios(hypothesis: Hypothesis, cell: int, tried: npt.NDArray[np.bool_]) -> Array:
    """(f,) log-likelihood ratios of the configurations ``tried``, by surfaces: see :func:`surface_log_ratio`."""
    geometry = hypothesis.geometry
    labels = hypothesis.labels(bare=np.array([cell]))
    which = cell, tried, geometry.side_edges[cell]
    return surface_log_ratio(
        hypothesis.observations, geometry.visibility, labels, geometry.outline_table, which, geometry.crop_faces
    )
