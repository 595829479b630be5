"""Where a figure stands: how far its face, its foot and each of its pieces lie off the middle of the cell.

Nothing stands straight: the foot lies off the middle of its cell, and each piece off the one below it, to any side.  In
the crop that moves each line between two sides up or down a little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.column_integrals import FINER, Lines, Total, sideways, sum_line, sum_lines
from vision.scene.configurations import PLACE_MM, STEP_MM
from vision.scene.outline_table import OutlineTable

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

Configuration = tuple[int, int]
"""A cell, and the number of a figure on it."""

ROUNDING_MM = 0.2
"""Standard deviation of the distance of two lines, for each is tried in half millimetres: so rounded, even the face and
the foot of one disc seem to be apart a little."""

MOST_SIDEWAYS = 2
"""Largest shift tried across the line of sight, in columns."""

ALONG = (-5.0, 11)
"""Shifts of the face tried first along the line of sight: the least of them in rows, and how many a row apart."""

FOOT = (-3.0, 7)
"""Shifts of the foot tried first along the line of sight: the least of them in rows, and how many a row apart."""


class Placement(NamedTuple):
    """Where a figure stands, roughly.

    Attributes:
        along: shift of the face, in rows.
        sideways: shift of the whole figure, in columns.
        foot: shift of the foot, in rows.
        is_known: whether the face is just there; if not, it may be off by any of :data:`FINER` besides.
    """

    along: float
    sideways: float
    foot: float
    is_known: bool


class Trellis(NamedTuple):
    """Room to find the lines of a figure in; a places of a line, c colours of the uppermost piece.

    Attributes:
        shifts: (lines, a) rows that each line is tried off its place.
        before: (lines, a, c) the place of the line above that suits this one best.
        fits: (2, a, c) log-likelihood of all above a line in its place; of even and odd lines.
        above: (2, a, c) sums of each colour's side above the line.
        room: (c,) for one band.
        found: (lines,) rows that each line is off its place where all suit the likeliest colour best.
    """

    shifts: Total
    before: Indices
    fits: Total
    above: Total
    room: Total
    found: Total


@compiled
def make_trellis(table: OutlineTable) -> Trellis:
    """Room for any figure."""
    colours, places, most = table.allowed.shape[1], len(FINER), table.edges.shape[2] - 1
    shifts, before = np.zeros((most, places)), np.zeros((most, places, colours), np.intp)
    fits, above = np.zeros((2, places, colours)), np.zeros((2, places, colours))
    return Trellis(shifts, before, fits, above, np.zeros(colours), np.zeros(most))


@compiled
def search_placement(lines: Lines, table: OutlineTable, configuration: Configuration, colour: int) -> Placement:
    """Where a figure suits best, its upper face being of a ``colour``; ``lines`` are those round it, straight."""
    along, across, foot = _search(lines, table, configuration, colour, (ALONG, (-MOST_SIDEWAYS, 2 * MOST_SIDEWAYS + 1)))
    return Placement(along, across, foot, False)  # noqa: FBT003


@compiled
def placement_under_face(
    lines: Lines, table: OutlineTable, configuration: Configuration, colour: int, shift_mm: Array
) -> Placement:
    """As :func:`search_placement`, of a figure whose face is known to be off by ``shift_mm`` (2,) in the crop."""
    columns = min(max(shift_mm[0] / table.column_mm, -MOST_SIDEWAYS), MOST_SIDEWAYS)
    along = float(shift_mm[1])
    _, _, foot = _search(lines, table, configuration, colour, ((along, 1), (int(np.rint(columns)), 1)))
    return Placement(along, columns, foot, True)  # noqa: FBT003


@compiled
def fit_lines(
    straight: Lines,
    table: OutlineTable,
    which: Configuration,
    placement: Placement,
    trellis: Trellis,
    scores: Total,
) -> None:
    """The best ``scores`` (colours,) of a figure over all places of its lines; ``trellis.found`` are the places.

    Scores are log-likelihood ratios against an empty cell.  Line 0 is the face's near edge, the others are the sides'
    lower edges.  ``straight``: the lines round the figure in the middle of its cell.
    """
    cell, configuration = which
    count, lines = table.bands[configuration], sideways(straight, placement.sideways)
    known = _begin(lines, table.weight, placement, trellis)
    for number in range(1, count + 1):
        off = placement.along + (placement.foot - placement.along) * (number / count)
        trellis.shifts[number] = off + FINER
        is_own, variance = number == 1 and table.has_faces, _step_variance(table, cell, number)
        _add_line(lines, (is_own, variance, table.weight), (number, off), known, trellis)
        known = len(FINER)
    _end(table, (cell, configuration, placement.sideways), known, trellis, scores)


@compiled
def _begin(lines: Lines, weight: float, placement: Placement, trellis: Trellis) -> int:
    """Put the uppermost part into its places; how many there are."""
    far, fits, sides = trellis.fits[1], trellis.fits[0], 1 + trellis.fits.shape[2]
    if placement.is_known:
        known, trellis.shifts[0, 0] = 1, placement.along
        sum_line(lines, (0, 0.0, placement.along), 1, far[0])
        sum_line(lines, (1, 0.0, placement.along), 1, fits[0])
        sum_line(lines, (1, 0.0, placement.along), sides, trellis.above[0, 0])
    else:
        known, trellis.shifts[0] = len(FINER), placement.along + FINER
        sum_lines(lines, 0, placement.along, 1, far)
        sum_lines(lines, 1, placement.along, 1, fits)
        sum_lines(lines, 1, placement.along, sides, trellis.above[0])
    for place in range(known):
        for colour in range(len(trellis.room)):
            fits[place, colour] = (fits[place, colour] - far[place, colour]) * weight
    return known


@compiled
def _add_line(
    lines: Lines, band: tuple[bool, float, float], line: tuple[int, float], known: int, trellis: Trellis
) -> None:
    """Go on to a line, from the ``known`` first places of the one above it, whichever suits best.

    That is the Viterbi algorithm (Forney, The Viterbi algorithm, 1973).  ``band``: whether what lies between the two is
    of the colour of the face, as the side of the uppermost piece is; the others' colours are unknown; variance of the
    shift between them, in rows; and the weight of a pixel.  ``line``: its number from 1, and rows that it is off its
    place before it is tried.
    """
    (is_own, variance, weight), (number, off) = band, line
    upper, lower = trellis.above[1 - number % 2], trellis.above[number % 2]
    reached, fits = trellis.fits[1 - number % 2], trellis.fits[number % 2]
    room = trellis.room
    fits[:] = -np.inf
    sum_lines(lines, 1 + number, off, 1 + len(room), lower)
    for j, shift in enumerate(trellis.shifts[number]):
        for i in range(known):
            for colour in range(len(room)):
                room[colour] = (lower[j, colour] - upper[i, colour]) * weight
            if not is_own and len(room) > 1:
                room[:] = _log_mean(room)
            prior = -0.5 * (shift - trellis.shifts[number - 1, i]) ** 2 / variance
            for colour in range(len(room)):
                total = reached[i, colour] + room[colour] + prior
                if total > fits[j, colour]:
                    fits[j, colour], trellis.before[number, j, colour] = total, i


@compiled
def _end(table: OutlineTable, which: tuple[int, int, float], known: int, trellis: Trellis, scores: Total) -> None:
    """Choose among the ``known`` places of the last line: ``scores`` (colours,), and where the lines are.

    ``which``: cell, figure, columns that it is moved by.
    """
    cell, configuration, side = which
    count = table.bands[configuration]
    fits, best, at, of = trellis.fits[count % 2], -np.inf, 0, 0
    scores[:] = -np.inf
    for i in range(known):
        prior = _log_place(table, cell, configuration, side, trellis.shifts[count, i])
        for colour in range(len(scores)):
            total = fits[i, colour] + prior
            scores[colour] = max(scores[colour], total)
            if total > best:
                best, at, of = total, i, colour
    for number in range(count, -1, -1):
        trellis.found[number] = trellis.shifts[number, at]
        at = trellis.before[number, at, of]


@compiled
def _step_variance(table: OutlineTable, cell: int, number: int) -> float:
    """Variance of the shift of a figure's line ``number`` from 1 against that of the line above it, in rows."""
    variance = ROUNDING_MM**2
    if number > int(table.has_faces):  # what is under a face is the side of the same piece
        variance += (STEP_MM * table.foreshortening[cell]) ** 2
    return variance


@compiled
def _log_place(table: OutlineTable, cell: int, configuration: int, side: float, foot: float) -> float:
    """Log prior of a figure that is off by so many columns, and its foot by so many rows."""
    # Across the line of sight one shift stands for all pieces, so it is as wide as foot and face together.
    pieces = table.bands[configuration] + 1 - int(table.has_faces)
    across_mm2 = PLACE_MM**2 + (pieces - 1) * STEP_MM**2
    along = foot / table.foreshortening[cell] / PLACE_MM
    return float(-0.5 * (along**2 + (side * table.column_mm) ** 2 / across_mm2))


@compiled
def _log_mean(values: Total) -> float:
    """Log of the mean of exp of the values."""
    best, total = values.max(), 0.0
    for value in values:
        total += np.exp(value - best)
    return float(best + np.log(total / len(values)))


@compiled
def _search(
    lines: Lines,
    table: OutlineTable,
    which: Configuration,
    colour: int,
    places: tuple[tuple[float, int], tuple[int, int]],
) -> tuple[float, float, float]:
    """The likeliest shifts of a figure's face, across, and of its foot, all lines between in line.

    ``places``: the least and the number of shifts of the face, in rows, and across, in columns.  Whole rows will do
    here: the best stand is looked into more finely afterwards.
    """
    (first, alongs), (leftmost, across) = places
    cell, configuration = which
    faces, feet, profile = np.empty(alongs), np.empty(FOOT[1]), np.full(across, -np.inf)
    best, along, foot, variance = -np.inf, first, 0.0, ROUNDING_MM**2
    for line in range(2, table.bands[configuration] + 1):
        variance += _step_variance(table, cell, line)
    for number in range(across):
        side = leftmost + number
        _sum_whole_rows(lines, (side, first), (1 + table.bands[configuration], 1 + colour), (faces, feet))
        for b in range(len(feet)):
            w = FOOT[0] + b
            prior = _log_place(table, cell, configuration, side, w)
            for a in range(alongs):
                v = first + a
                fits = (faces[a] + feet[b]) * table.weight + prior - 0.5 * (v - w) ** 2 / variance
                profile[number] = max(profile[number], fits)
                if fits > best:
                    best, along, foot = fits, v, w
    return along, leftmost + _peak(profile), foot


@compiled
def _peak(profile: Total) -> float:
    """Where a profile (k,) is highest, between its places: at the top of the parabola through the best three."""
    at = int(profile.argmax())
    if at == 0 or at == len(profile) - 1:
        return float(at)
    left, best, right = profile[at - 1 : at + 2]
    return float(at + 0.5 * (right - left) / max(2 * best - left - right, 1e-6))


@compiled
def _sum_whole_rows(lines: Lines, off: tuple[int, float], kinds: tuple[int, int], out: tuple[Total, Total]) -> None:
    """Of a moved figure: faces less the sides above their near edge, and sides above the feet.

    Whole rows will do here: the best stand is looked into more finely afterwards.

    Args:
        lines: round the figure, straight.
        off: columns that it is moved by, and rows that the first of the faces is.
        kinds: the foot's edge, 1 where nothing is under the face; the face's kind in the sums.
        out: faces, and feet from the first of :data:`FOOT` on, each a row lower than the one before.
    """
    flat, edges, (rows, width, count) = lines.flat, lines.edges, lines.size
    (side, first), (lowest, kind), (faces, feet) = off, kinds, out
    faces[:], feet[:] = 0, 0
    is_banded = lowest > 1
    for i in range(*lines.covered):
        column = (lines.left + i + side) * count
        far, near = _whole(edges[0, i] + first - lines.first_row), _whole(edges[1, i] + first - lines.first_row)
        for a in range(len(faces)):
            at_far = np.uint64(min(max(far + a, 0), rows - 1) * width * count + column)
            at_near = np.uint64(min(max(near + a, 0), rows - 1) * width * count + column)
            faces[a] += flat[at_near + np.uint64(kind)] - flat[at_far + np.uint64(kind)]
            if is_banded:
                faces[a] -= flat[at_near]
        foot = _whole(edges[lowest, i] + FOOT[0] - lines.first_row)
        for f in range(len(feet) if is_banded else 0):
            feet[f] += flat[np.uint64(min(max(foot + f, 0), rows - 1) * width * count + column)]


@compiled
def _whole(row: float) -> int:
    return int(np.rint(row))
