"""Boundaries of pyramids: where a flank begins or ends the picture changes, and where none does it is even.

Light that falls off along a flank, and shadow beside it, look much like another flank by their means alone; but the
foot of a pyramid that stands on another one is a line, and its outline has a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.boundaries import STEP_MM, noise_of, ratios_down
from vision.likelihood.facets import FLANKS, Flanks, visible_runs

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

SEAM_ALIKE = 0.5
"""Probability that flanks that face one way, of pyramids on each other, look alike: they may be of one colour."""


class Contrasts(NamedTuple):
    """How a picture changes from row to row.

    Attributes:
        integrals: (columns, rows + 1) float64 column integrals of the log-likelihood ratio that two surfaces meet
            between a pixel and the one ``step`` below; see :class:`vision.likelihood.boundaries.Patch`.
        step: rows between two places that are compared.
        sides: (w, flanks) intp, which side of its pyramid each flank is.
    """

    integrals: Floats
    step: int
    sides: Indices


def make_contrasts(
    codes: npt.NDArray[np.uint8], counted: npt.NDArray[np.bool_], rows_per_mm: int, sides: Indices
) -> Contrasts:
    """The contrasts in a crop (rows, columns, 3) uint8 BGR between ``counted`` (rows, columns) pixels; 0 elsewhere."""
    step = round(STEP_MM * rows_per_mm)
    height, width, _ = codes.shape
    whole = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
    down = ratios_down(codes, (step, float(rows_per_mm)), noise_of(codes, step, whole))
    down[:-step] *= counted[step:] & counted[:-step]
    integrals = np.zeros((codes.shape[1], codes.shape[0] + 1))
    integrals[:, 1:] = down.cumsum(axis=0).T
    return Contrasts(integrals, step, np.ascontiguousarray(sides))


@compiled
def boundary_log_ratio(contrasts: Contrasts, flanks: Flanks, tower: Indices, at: Floats, step: int) -> float:
    """Log-likelihood ratio of the boundaries of a tower's flanks, against bare ground without any.

    Args:
        contrasts: of the cell.
        flanks: of the cell.
        tower: (t, p) intp its pyramids in each rotation, the uppermost first.
        at: (p, 3) placement of each: index of its rotation, columns right, rows down.
        step: every how many columns are evaluated.
    """
    columns, last, total = len(contrasts.integrals), contrasts.integrals.shape[1] - 1, 0.0
    seams, runs = np.zeros((len(at), len(FLANKS))), np.empty((len(at) * len(FLANKS), 4), np.intp)
    for column in range(0, columns, step):
        reached, side_before, pyramid_before = 0, -1, -1
        for number in range(visible_runs(flanks, tower, at, (column, last), runs)):
            pyramid, flank, begin, end = runs[number]
            side = contrasts.sides[tower[int(at[pyramid, 0]), pyramid], flank]
            at_begin = _crossed(contrasts, column, begin)
            if begin == reached and side == side_before and pyramid != pyramid_before:
                seams[pyramid, flank] += at_begin
            else:
                total += at_begin
                if begin > reached > 0:
                    total += _crossed(contrasts, column, reached)
            reached, side_before, pyramid_before = end, side, pyramid
        total += _crossed(contrasts, column, reached)
    return float(step * total + np.log(SEAM_ALIKE + (1 - SEAM_ALIKE) * np.exp(step * seams)).sum())


@compiled
def _crossed(contrasts: Contrasts, column: int, row: int) -> float:
    """Log-likelihood ratio that two surfaces meet before a row of a column; 0 at the crop's edge."""
    return float(contrasts.integrals[column, row] - contrasts.integrals[column, max(row - contrasts.step, 0)])
