"""Boundaries of pyramids: the picture changes where a lateral face begins or ends, and is even elsewhere.

Judged by mean colours alone, light falling off along a face, or a shadow beside it, looks much like another face; but
the foot of a pyramid that stands on another one is a line, and its outline has a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.boundaries import vertical_ratios
from vision.likelihood.dissimilarity import dissimilarity_at
from vision.likelihood.lateral_runs import LATERAL_FACES, Walk
from vision.likelihood.noise import BANDS, measure_noise

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

SEAM_ALIKE = 0.5
"""Probability that equally oriented faces of stacked pyramids look alike: they may be of one colour."""


FAINT_SHARE = 0.5
"""Share of boundaries that are faint: pyramids of a pale set differ from paper, and faces from each other, by a few
codes.  For prisms, faint ones would as often be shadows' edges: 16 sets were read worse, 10 better."""


class Contrasts(NamedTuple):
    """How a picture changes from row to row.

    Attributes:
        crossed: (columns, rows + 1) float64 log-likelihood ratio that two surfaces meet just above a row of a column, 0
            at the crop's edge: the sum over all pairs, one step apart, that straddle this boundary; see
            :class:`vision.likelihood.boundaries.Patch`.
        sides: (w, faces) intp, which side of its pyramid each face is.
    """

    crossed: Floats
    sides: Indices


def make_contrasts(
    codes: Picture,
    counted: Mask,
    scale: tuple[int, float],
    sides: Indices,
    board: tuple[Picture, Mask] | None = None,
) -> Contrasts:
    """The contrasts in a crop (rows, columns, 3) uint8 BGR between ``counted`` (rows, columns) pixels; 0 elsewhere.

    ``scale``: rows between two pixels that are compared, and rows per millimetre.

    ``board``: what the bare board shows there and where that is known, both of these shapes.  A line or an edge of it
    is no boundary of a piece, and may lie under one: pixels between which the board changes are no evidence.
    """
    step, _ = scale
    height, width, _ = codes.shape
    whole = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
    noise = np.tile(measure_noise(codes, step, whole), (BANDS, 1))
    dissimilarity = dissimilarity_at(noise, faint_share=FAINT_SHARE)
    down = vertical_ratios(codes, scale, dissimilarity, counted)
    if board is not None:
        bare, known = board
        down[vertical_ratios(bare, scale, dissimilarity, known) > 0] = 0
    return Contrasts(_crossed(down, step), np.ascontiguousarray(sides))


@compiled
def _crossed(down: npt.NDArray[np.float32], step: int) -> Floats:
    """``crossed`` of :class:`Contrasts`, from the log-likelihood ratios between pixels and those a step below them."""
    rows, columns = down.shape
    crossed, integral = np.zeros((columns, rows + 1)), np.zeros(rows + 1, np.float32)
    for column in range(columns):
        for row in range(rows):
            integral[row + 1] = integral[row] + down[row, column]
            crossed[column, row + 1] = float(integral[row + 1]) - float(integral[max(row + 1 - step, 0)])
    return crossed


@allocation_free
def boundary_log_ratio(contrasts: Contrasts, walk: Walk, count: int, step: int, seams: Floats) -> float:
    """Log-likelihood ratio of the boundaries of a tower's faces, against bare ground without any.

    Args:
        contrasts: of the cell.
        walk: through the tower's columns, with ``count`` visible runs.
        count: as above.
        step: column stride.
        seams: (p · faces,) work array: log-likelihood ratios between faces of one orientation.
    """
    crossed, sides, (placed, runs), total = contrasts.crossed, contrasts.sides, walk, 0.0
    seams[:] = 0
    before, reached, side_before, pyramid_before = 0, 0, -1, -1
    for number in range(count):
        column, pyramid, face, begin, end = runs[number]
        if column != before:
            total += crossed[before, reached]
            before, reached, side_before, pyramid_before = column, 0, -1, -1
        side = sides[placed[pyramid, 0], face]
        if begin == reached and side == side_before and pyramid != pyramid_before:
            seams[pyramid * len(LATERAL_FACES) + face] += crossed[column, begin]
        else:
            total += crossed[column, begin]
            if begin > reached > 0:
                total += crossed[column, reached]
        reached, side_before, pyramid_before = end, side, pyramid
    total, along_seams = step * (total + crossed[before, reached]), 0.0
    for seam in seams:
        if seam != 0:
            along_seams += np.log(SEAM_ALIKE + (1 - SEAM_ALIKE) * np.exp(step * seam))
    return float(total + along_seams)
