"""Visible runs of a tower's lateral faces: which face is visible in each column of a crop, from which row to which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.scene.configurations import PLACE_MM, SEAT_MM

Indices = npt.NDArray[np.intp]

LATERAL_FACES = ((0, 1, 5, 8, 4), (1, 2, 6, 8, 5), (2, 3, 7, 8, 6), (3, 0, 4, 8, 7))
"""Corners of a pyramid's lateral faces in order round each, with its quarter of the blunt tip: those of the base are
numbered first, then those of the tip, and its middle last."""

SUMS = 9
"""Number of sums over a face's pixels: their number, three display values, the sum of their squares, how well they fit
bare ground, their rows, the squares of these, and the product of row and the sum of the three values."""

SLOPE_SCALE_MM, SLOPE_PRIOR = 20.0, 4.0
"""Prior of the gradient of a face's brightness: distance over which it seldom changes by much, and the weight of that
in pixels.  What lies round its foot lights or shades it there.  As for other surfaces
(:mod:`vision.likelihood.surfaces`)."""


class LateralFaces(NamedTuple):
    """Lateral faces of the pyramids (w) on one cell; see :class:`vision.likelihood.crop_faces.CropFaces`.

    Attributes:
        far: (w, faces, k) float, row in which each begins in each column; inf where there is none.
        near: (w, faces, k) float, row in which it ends; −inf where there is none.
        spans: (w, 3) intp, the first column in which a pyramid is visible, the one past the last, and how many faces,
            from the first on, are visible in no column.
    """

    far: npt.NDArray[np.floating]
    near: npt.NDArray[np.floating]
    spans: Indices


class Walk(NamedTuple):
    """Work arrays of a walk through the columns of a tower, shared by all towers to save allocations.

    Attributes:
        placed: (p, 3) intp, for each pyramid, the uppermost first: its wireframe, columns right, its first visible
            face.
        runs: (k · p · faces, 5) intp, for each face visible in a column, from column to column and downwards: the
            column, its pyramid, its number, the row in which it begins, and the first one after it.
    """

    placed: Indices
    runs: Indices


@compiled
def make_lateral_faces(far: npt.NDArray[np.floating], near: npt.NDArray[np.floating]) -> LateralFaces:
    """The lateral faces that begin and end in these rows."""
    wireframes, faces, columns = near.shape
    spans = np.zeros((wireframes, 3), np.intp)
    for wireframe in range(wireframes):
        first, end, hidden = columns, 0, faces
        for face in range(faces):
            for column in range(columns):
                if near[wireframe, face, column] > -np.inf:
                    first, end, hidden = min(first, column), max(end, column + 1), min(hidden, face)
        spans[wireframe, 0], spans[wireframe, 1], spans[wireframe, 2] = first, end, hidden
    return LateralFaces(far, near, spans)


@compiled
def make_walk(pyramids: int, columns: int) -> Walk:
    """Work arrays for towers of up to ``pyramids`` pyramids in ``columns`` columns."""
    return Walk(np.empty((pyramids, 3), np.intp), np.empty((columns * pyramids * len(LATERAL_FACES), 5), np.intp))


@compiled
def pyramids_of(tower: Indices) -> Indices:
    """The first p columns of ``tower`` (t, most), those that hold pyramids."""
    return tower[:, : np.count_nonzero(tower[0] >= 0)]


@allocation_free
def visible_runs(
    walk: Walk, faces: LateralFaces, tower: Indices, at: npt.NDArray[np.floating], last: int, step: int
) -> int:
    """Number of runs of a tower's faces that no face in front of them occludes; they are put into ``walk.runs``.

    Args:
        walk: is overwritten.
        faces: of the cell.
        tower: (t, p) intp its pyramids in each rotation, the uppermost first.
        at: (p, 3) placement of each: index of its rotation, columns right, rows down.
        last: rows of a column.
        step: column stride.
    """
    far, near, placed, runs = faces.far, faces.near, walk.placed, walk.runs
    first, end = _place(walk, faces, tower, at)
    first, count = (first + step - 1) // step, 0
    # Numba compiles a range whose step is not constant to a slow loop.
    for number in range(first, (end + step - 1) // step):
        column, reached = number * step, 0  # by the faces before, which occlude what is above their ends
        for pyramid in range(len(at)):
            wireframe, own, along = placed[pyramid, 0], column - placed[pyramid, 1], at[pyramid, 2]
            if own < 0 or own >= far.shape[2]:
                continue
            for face in range(placed[pyramid, 2], len(LATERAL_FACES)):
                ends = near[wireframe, face, own] + along
                if ends > reached:
                    begin = max(int(np.rint(max(far[wireframe, face, own] + along, 0.0))), reached)
                    reached_here = int(np.rint(min(ends, last)))
                    if reached_here > begin:
                        run = runs[count]
                        run[0], run[1], run[2], run[3], run[4] = column, pyramid, face, begin, reached_here
                        count, reached = count + 1, reached_here
    return count


@allocation_free
def _place(walk: Walk, faces: LateralFaces, tower: Indices, at: npt.NDArray[np.floating]) -> tuple[int, int]:
    """Fill in ``placed`` of a walk; the first column in which any pyramid is visible, and the one after the last."""
    columns, placed = faces.far.shape[2], walk.placed
    first, end = columns, 0
    for pyramid in range(len(at)):
        wireframe, across = tower[int(at[pyramid, 0]), pyramid], int(at[pyramid, 1])
        placed[pyramid, 0], placed[pyramid, 1], placed[pyramid, 2] = wireframe, across, faces.spans[wireframe, 2]
        first, end = min(first, faces.spans[wireframe, 0] + across), max(end, faces.spans[wireframe, 1] + across)
    return max(first, 0), min(end, columns)


@allocation_free
def add_sums(
    integrals: npt.NDArray[np.floating], runs: Indices, parts: npt.NDArray[np.floating], edge: int = 0
) -> float:
    """Add the sums over ``runs`` (r, 5) to ``parts`` (p · faces, SUMS); returns how many pixels are left out as mixed.

    Those are within ``edge`` rows of where a run begins or ends: they show both surfaces that meet there, and do not
    count as ground, either.  ``integrals``: (columns, rows + 1, SUMS).
    """
    rows, mixed = integrals.shape[1] - 1, 0.0
    for number in range(len(runs)):
        column, pyramid, face, begin, end = runs[number]
        top, bottom = begin, end
        if edge > 0:
            if number == 0 or runs[number - 1, 0] != column or runs[number - 1, 4] != begin:
                top = max(begin - edge, 0)
            if number + 1 == len(runs) or runs[number + 1, 0] != column or runs[number + 1, 3] != end:
                bottom = min(end + edge, rows)
            begin = min(begin + edge, end)
            end = max(end - edge, begin)
        above, below = integrals[column, begin], integrals[column, end]
        ground = integrals[column, bottom, 5] - integrals[column, top, 5]
        part = parts[pyramid * len(LATERAL_FACES) + face]
        # Unrolled, with all reads before the writes, this takes a third of a loop's time: four channels at once.
        pixels, one, two = below[0] - above[0], below[1] - above[1], below[2] - above[2]
        three, squares = below[3] - above[3], below[4] - above[4]
        mixed += integrals[column, bottom, 0] - integrals[column, top, 0] - pixels
        pixels, one, two = part[0] + pixels, part[1] + one, part[2] + two
        three, squares, ground = part[3] + three, part[4] + squares, part[5] + ground
        places, places2, along = below[6] - above[6], below[7] - above[7], below[8] - above[8]
        places, places2, along = part[6] + places, part[7] + places2, part[8] + along
        part[0], part[1], part[2], part[3], part[4], part[5] = pixels, one, two, three, squares, ground
        part[6], part[7], part[8] = places, places2, along
    return float(mixed)


@allocation_free
def gradient_residual(part: npt.NDArray[np.floating], row_mm: float) -> float:
    """Residual sum of squares of a face's display values about a linear gradient from row to row.

    ``part``: see :func:`add_sums`; a row is ``row_mm`` high.
    """
    count = max(part[0], 1e-3)
    left = part[4] - (part[1] ** 2 + part[2] ** 2 + part[3] ** 2) / count
    along = part[8] - part[6] * (part[1] + part[2] + part[3]) / count
    length = part[7] - part[6] ** 2 / count + SLOPE_PRIOR * (SLOPE_SCALE_MM / row_mm) ** 2
    return float(max(left - along**2 / (3 * length), 0.0))


@allocation_free
def move_pyramids(
    trial: npt.NDArray[np.floating],
    at: npt.NDArray[np.floating],
    moved: tuple[int, int],
    step: npt.NDArray[np.floating],
    rotations: int,
) -> bool:
    """Make ``trial`` (p, 3) the placement ``at`` with some pyramids moved; False if one would have no such rotation.

    ``moved``: the first and the last pyramid that move together, by ``step`` (3,); ``rotations``: how many there are.
    """
    first, last = moved
    is_possible = True
    # Unrolled: slices of so few numbers take longer than all else here.
    for pyramid in range(len(at)):
        by = 1 if first <= pyramid <= last else 0
        trial[pyramid, 0] = at[pyramid, 0] + by * step[0]
        trial[pyramid, 1] = at[pyramid, 1] + by * step[1]
        trial[pyramid, 2] = at[pyramid, 2] + by * step[2]
        is_possible &= 0 <= trial[pyramid, 0] < rotations
    return bool(is_possible)


@allocation_free
def placement_distance2(at: npt.NDArray[np.floating]) -> float:
    """Squared Mahalanobis distance of pyramids placed ``at`` (p, 3) from the cell's middle and each other."""
    foot = at[len(at) - 1]
    off = (foot[1] ** 2 + foot[2] ** 2) / PLACE_MM**2
    for above in range(len(at) - 1):
        off += ((at[above, 1] - at[above + 1, 1]) ** 2 + (at[above, 2] - at[above + 1, 2]) ** 2) / SEAT_MM**2
    return float(off)
