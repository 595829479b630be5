"""Fits light of two levels to a board: a plane of log light, and a step by which what is in the shade is darker.

A shadow of the sun, or of somebody beside a lamp, takes the same share of the light from everything in it.  So the
references of a board, places whose own colour is known, lie on two parallel planes of log light, but for those that
pieces cover.  For each slope on a grid the heights of both planes are the two of a histogram that explain most of them
(as in the transform of Hough; Duda and Hart, Use of the Hough transformation to detect lines and curves in pictures,
1972); the best ones are refitted by least squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.pose.projection import Points

Counts = npt.NDArray[np.int64]

MAX_SLOPE, COARSE_SLOPES, SLOPES = 0.9, 7, 13
"""Largest slope of a plane over half of the mat, log light, and number of slopes tried along each axis, at first and
where there may be two levels: a lamp half a metre above the board makes less, and steeper planes go from a lit part
into a shaded one."""

TOLERANCES = (0.1, 0.2)
"""Log light within which references count as on a plane: paper is even, the grain of wood is not."""

LEAST_STEP, LARGEST_STEP = 0.4, 3.4
"""Range of the step, log light.  What is less dark does no harm; 3.4 leaves a thirtieth of the light."""

MIN_SHARE = 0.12
"""Least share of all references that must lie on either plane, and that the second one must add."""

BRIGHTER_COST = 2
"""References on a plane that one above it outweighs: nothing explains those."""

DARKEST, BIN, BINS = -6.0, 0.05, 140
"""Log light at which the histogram begins; width and number of its bins."""

CANDIDATES, APART, REFITS = 4, 2, 4
"""How many of the best planes are refitted for each tolerance, by how many steps their slopes differ along either axis
at least, and how often each is refitted."""

TINY = 1e-9
"""What keeps the equations of a fit solvable where a level has no references."""


class TwoLevels(NamedTuple):
    """Light of two levels.

    Attributes:
        plane: (3, 3) float64, log light r g b of the lit part, for 1, x, y in halves of the mat.
        steps: (3,) float64, log light r g b that the shaded part lacks: the sun's light and the sky's differ.
    """

    plane: Points
    steps: Points


def fit_two_levels(terms: Points, logs: Points) -> list[TwoLevels]:
    """Light of two levels that explains references, a few likely fits; none where a single plane explains as much.

    ``terms`` (n, 3) float64: 1, x and y of each in halves of the mat; ``logs`` (n, 3) float64: log light r g b there.
    """
    logs = np.ascontiguousarray(logs, np.float64)
    brightness = np.ascontiguousarray(logs.mean(axis=1))
    if not _may_be_two(*_explained(terms, brightness, _slopes(COARSE_SLOPES), TOLERANCES[-1])[:2], len(terms)).any():
        return []
    slopes, fits = _slopes(SLOPES), []
    for tolerance in TOLERANCES:
        alone, both, levels = _explained(terms, brightness, slopes, tolerance)
        worth = np.where(_may_be_two(alone, both, len(terms)), both, 0)
        for x, y in _distinct(worth):
            upper, step = levels[x, y].tolist()
            plane = np.array([upper, slopes[x], slopes[y]])
            fits.append(_refitted(terms, brightness, logs, plane, step, tolerance))
    return [fit for fit in fits if fit.steps.mean() > LEAST_STEP]


def _slopes(count: int) -> Points:
    """(``count``,) slopes from -:data:`MAX_SLOPE` to it."""
    return np.linspace(-MAX_SLOPE, MAX_SLOPE, count)


def _may_be_two(alone: Counts, both: Counts, count: int) -> npt.NDArray[np.bool_]:
    """(s, s) where two levels explain :data:`MIN_SHARE` of ``count`` references more than the best single one does."""
    are_two: npt.NDArray[np.bool_] = both >= alone.max() + MIN_SHARE * count
    return are_two


@compiled
def _explained(terms: Points, logs: Points, slopes: Points, tolerance: float) -> tuple[Counts, Counts, Points]:
    """How many references planes of each slope explain, the best alone and the best two, and where these two are.

    Args:
        terms: (n, 3), see :func:`fit_two_levels`.
        logs: (n,) mean log light.
        slopes: (s,) tried along x and along y.
        tolerance: see :data:`TOLERANCES`.

    Returns:
        (s, s), less :data:`BRIGHTER_COST` for each that is brighter; (s, s), 0 where a level has too few; and
        (s, s, 2): log light of the upper one at the middle of the mat, and the step to the lower one.
    """
    count, tried = len(logs), len(slopes)
    alone, both = np.zeros((tried, tried), np.int64), np.zeros((tried, tried), np.int64)
    levels, below, within = np.zeros((tried, tried, 2)), np.empty(BINS + 1, np.int64), np.zeros(BINS, np.int64)
    half, least = int(np.rint(tolerance / BIN)), MIN_SHARE * count
    nearest, farthest = int(np.rint(LEAST_STEP / BIN)), int(np.rint(LARGEST_STEP / BIN))
    for x in range(tried):
        for y in range(tried):
            below[:] = 0
            for i in range(count):
                level = logs[i] - slopes[x] * terms[i, 1] - slopes[y] * terms[i, 2]
                below[1 + min(max(int((level - DARKEST) / BIN), 0), BINS - 1)] += 1
            for k in range(BINS):
                below[k + 1] += below[k]
            for k in range(half, BINS - half):
                within[k] = below[k + half] - below[k - half]
            for lit in range(half, BINS - half):
                worth = within[lit] - BRIGHTER_COST * (count - below[lit + half])
                alone[x, y] = max(alone[x, y], worth)
                for shaded in range(max(lit - farthest, half), lit - nearest if within[lit] >= least else 0):
                    if within[shaded] >= least and worth + within[shaded] > both[x, y]:
                        both[x, y] = worth + within[shaded]
                        levels[x, y, 0], levels[x, y, 1] = DARKEST + lit * BIN, (lit - shaded) * BIN
    return alone, both, levels


def _distinct(worth: Counts) -> list[tuple[int, int]]:
    """Indices of the largest of ``worth`` (s, s) above 0, of neighbours only one."""
    chosen: list[tuple[int, int]] = []
    for number in np.argsort(-worth, axis=None).tolist():
        x, y = divmod(number, len(worth))
        if worth[x, y] <= 0 or len(chosen) == CANDIDATES:
            break
        if all(max(abs(x - other_x), abs(y - other_y)) >= APART for other_x, other_y in chosen):
            chosen.append((x, y))
    return chosen


def _refitted(
    terms: Points, brightness: Points, logs: Points, plane: Points, step: float, tolerance: float
) -> TwoLevels:
    """The least-squares fit to the references that lie on either level.

    ``plane`` (3,) and ``step``: roughly, those of their ``brightness`` (n,), the mean log light of r g b.
    """
    of_brightness = brightness[:, None]
    for _ in range(REFITS):
        found = np.linalg.solve(*_normal_equations(terms, brightness, of_brightness, plane, step, tolerance))
        plane, step = found[:3, 0].astype(np.float64), -float(found[3, 0])
    found = np.linalg.solve(*_normal_equations(terms, brightness, logs, plane, step, tolerance))
    return TwoLevels(found[:3].astype(np.float64), -found[3].astype(np.float64))


@compiled
def _normal_equations(
    terms: Points, brightness: Points, logs: Points, plane: Points, step: float, tolerance: float
) -> tuple[Points, Points]:
    """Normal equations, (4, 4) and (4, k), of a plane of ``logs`` (n, k), and of what its shaded part has more.

    Only of the references that are on either level by their ``brightness`` (n,).
    """
    normal, right, row = np.diag(np.full(4, TINY)), np.zeros((4, logs.shape[1])), np.empty(4)
    for i in range(len(terms)):
        row[:3] = terms[i]
        off = brightness[i] - row[0] * plane[0] - row[1] * plane[1] - row[2] * plane[2]
        row[3] = abs(off + step) < tolerance
        if row[3] or abs(off) < tolerance:
            for j in range(4):
                for k in range(4):
                    normal[j, k] += row[j] * row[k]
                for k in range(logs.shape[1]):
                    right[j, k] += row[j] * logs[i, k]
    return normal, right
