"""Placement of a stack: how far its face, its foot and the lines between its pieces are off the centre of the cell.

The foot lies off the centre of its cell, and each piece off the one below it, in any direction.  In the crop that
displaces each line between two pieces slightly up or down.  A coarse search finds the displacement of face and foot;
then the Viterbi algorithm (Forney, The Viterbi algorithm, 1973) finds every line, from the face down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.column_integrals import ROW_OFFSETS, Lines, sum_line, sum_line_at_offsets
from vision.scene.configurations import PLACE_MM, STEP_MM
from vision.scene.outline_table import OutlineTable

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float64]

ROUNDING_MM = 0.2
"""Standard deviation of the distance between two lines that are one piece apart, from quantisation alone: each line is
evaluated in steps of half a millimetre (uniform error: 0.5 / √12 mm each, √2 times that for two)."""

MAX_SIDEWAYS = 2
"""Largest displacement across the line of sight that is searched, in columns.  Chosen by eye."""

FACE_FIRST_ROW, FACE_ROWS = -5.0, 11
"""Displacements of the face along the line of sight in the coarse search: the least in rows, and how many, a row apart.
Chosen by eye."""

FOOT_FIRST_ROW, FOOT_ROWS = -3.0, 7
"""Displacements of the foot along the line of sight in the coarse search: the least in rows, and how many, a row apart.
Chosen by eye."""


class Placement(NamedTuple):
    """Displacement of a stack from the centre of its cell, in its crop.

    Attributes:
        face_rows: of the upper face, down the crop.
        columns: of the whole stack, to the right.
        foot_rows: of the foot, down the crop.
        is_face_known: whether ``face_rows`` is exact; if not, the face is evaluated at each of :data:`ROW_OFFSETS`
            from there.
    """

    face_rows: float
    columns: float
    foot_rows: float
    is_face_known: bool


class SearchWindow(NamedTuple):
    """Displacements of a stack that the coarse search tries.

    Attributes:
        first_row: the least displacement of the face, in rows.
        rows: how many, a row apart.
        first_column: the least displacement sideways, in columns.
        columns: how many, a column apart.
    """

    first_row: float
    rows: int
    first_column: int
    columns: int


class Trellis(NamedTuple):
    """Work arrays of the Viterbi algorithm; a positions of each line, c colours of the uppermost piece.

    Attributes:
        shifts: (lines, a) float64, rows by which each line is displaced in each position.
        previous: (lines, a, c) intp, best position of the line above, given this line's position (back pointers).
        likelihoods: (2, a, c) float64, log-likelihood ratio of all that is above a line in its position, by the line's
            number modulo 2.
        side_sums: (2, a, c) float64, integrals of each colour's side along the line, likewise.
        band: (c,) float64, log-likelihood ratio of the band between two lines.
        best_shifts: (lines,) float64, rows by which each line is displaced on the best path.
    """

    shifts: Scores
    previous: Indices
    likelihoods: Scores
    side_sums: Scores
    band: Scores
    best_shifts: Scores


@compiled
def make_trellis(table: OutlineTable) -> Trellis:
    """Work arrays large enough for every configuration."""
    colours, positions, most = table.allowed.shape[1], len(ROW_OFFSETS), table.edges.shape[2] - 1
    shifts, previous = np.zeros((most, positions)), np.zeros((most, positions, colours), np.intp)
    likelihoods, side_sums = np.zeros((2, positions, colours)), np.zeros((2, positions, colours))
    return Trellis(shifts, previous, likelihoods, side_sums, np.zeros(colours), np.zeros(most))


@compiled
def search_placement(lines: Lines, table: OutlineTable, cell: int, configuration: int, colour: int) -> Placement:
    """The likeliest placement of a stack whose upper face has a ``colour``; ``lines`` are its undisplaced ones."""
    window = SearchWindow(FACE_FIRST_ROW, FACE_ROWS, -MAX_SIDEWAYS, 2 * MAX_SIDEWAYS + 1)
    face_rows, columns, foot_rows = _search(lines, table, cell, configuration, colour, window)
    return Placement(face_rows, columns, foot_rows, False)  # noqa: FBT003


@compiled
def placement_under_face(
    lines: Lines, table: OutlineTable, cell: int, configuration: int, colour: int, shift_mm: Array
) -> Placement:
    """As :func:`search_placement`, with a known displacement of the face, ``shift_mm`` (2,) float32: right and down."""
    columns = min(max(shift_mm[0] / table.column_mm, -MAX_SIDEWAYS), MAX_SIDEWAYS)
    face_rows = np.float64(shift_mm[1])  # Numba's float() keeps float32, for which callees would be compiled again
    window = SearchWindow(face_rows, 1, int(np.rint(columns)), 1)
    _, _, foot_rows = _search(lines, table, cell, configuration, colour, window)
    return Placement(face_rows, columns, foot_rows, True)  # noqa: FBT003


@allocation_free
def fit_lines(
    lines: Lines,
    table: OutlineTable,
    cell: int,
    configuration: int,
    placement: Placement,
    trellis: Trellis,
    scores: Scores,
) -> None:
    """Maximise the log-likelihood ratio over the positions of all lines about a placement.

    Line 0 is the face's near edge, the others are the lower edges of the sides.

    Args:
        lines: of the configuration, displaced sideways as in ``placement``.
        table: of the pose.
        cell: number of the cell.
        configuration: number of the configuration.
        placement: about which lines are displaced.
        trellis: work arrays; ``best_shifts`` of the likeliest colour are left in it.
        scores: (colours,) float64, is overwritten: log-likelihood ratio of each colour of the uppermost piece against
            an empty cell.
    """
    count, known = table.bands[configuration], _begin(lines, table.weight, placement, trellis)
    for number in range(1, count + 1):
        row = placement.face_rows + (placement.foot_rows - placement.face_rows) * (number / count)
        _fill_shifts(trellis.shifts[number], row)
        is_own, variance = number == 1 and table.has_faces, _step_variance(table, cell, number)
        _add_line(lines, number, row, table.weight, is_own, variance, known, trellis)
        known = len(ROW_OFFSETS)
    _finish(table, cell, configuration, placement.columns, known, trellis, scores)


@allocation_free
def _begin(lines: Lines, weight: float, placement: Placement, trellis: Trellis) -> int:
    """Score the uppermost part in its positions; returns how many there are."""
    far, likelihoods, sides = trellis.likelihoods[1], trellis.likelihoods[0], 1 + trellis.likelihoods.shape[2]
    if placement.is_face_known:
        known, trellis.shifts[0, 0] = 1, placement.face_rows
        sum_line(lines, 0, 0.0, placement.face_rows, 1, far[0])
        sum_line(lines, 1, 0.0, placement.face_rows, 1, likelihoods[0])
        sum_line(lines, 1, 0.0, placement.face_rows, sides, trellis.side_sums[0, 0])
    else:
        known = len(ROW_OFFSETS)
        _fill_shifts(trellis.shifts[0], placement.face_rows)
        sum_line_at_offsets(lines, 0, placement.face_rows, 1, far)
        sum_line_at_offsets(lines, 1, placement.face_rows, 1, likelihoods)
        sum_line_at_offsets(lines, 1, placement.face_rows, sides, trellis.side_sums[0])
    for position in range(known):
        for colour in range(len(trellis.band)):
            face = likelihoods[position, colour] - far[position, colour]
            likelihoods[position, colour] = face * weight
        if lines.outlier_probability > 0:
            _bound_evidence(likelihoods[position], lines.outlier_probability)
    return known


@allocation_free
def _fill_shifts(shifts: Scores, row: float) -> None:
    """Put the positions of a line, spread about a row, into ``shifts`` (a,)."""
    for position in range(len(ROW_OFFSETS)):
        shifts[position] = row + ROW_OFFSETS[position]


@allocation_free
def _bound_evidence(scores: Scores, outlier_probability: float) -> None:
    """Limit the differences between ``scores`` (colours,), which are outliers with this probability."""
    best = _maximum(scores)
    for colour in range(len(scores)):
        scores[colour] = best + np.log(outlier_probability + (1 - outlier_probability) * np.exp(scores[colour] - best))


@allocation_free
def _add_line(
    lines: Lines,
    number: int,
    row: float,
    weight: float,
    is_own: bool,  # noqa: FBT001
    variance: float,
    known: int,
    trellis: Trellis,
) -> None:
    """Extend every path by one line: one step of the Viterbi algorithm.

    Args:
        lines: of the displaced configuration.
        number: of the line, from 1.
        row: predicted displacement of the line, in rows.
        weight: independent observations per crop pixel.
        is_own: whether the band above the line has the colour of the face, as the side of the uppermost piece does;
            other bands have any colour.
        variance: of the difference between the displacements of this line and the one above it, rows².
        known: how many positions the line above has.
        trellis: is extended.
    """
    upper, lower = trellis.side_sums[1 - number % 2], trellis.side_sums[number % 2]
    reached, likelihoods = trellis.likelihoods[1 - number % 2], trellis.likelihoods[number % 2]
    band = trellis.band
    likelihoods[:] = -np.inf
    sum_line_at_offsets(lines, 1 + number, row, 1 + len(band), lower)
    for j, shift in enumerate(trellis.shifts[number]):
        for i in range(known):
            for colour in range(len(band)):
                band[colour] = (lower[j, colour] - upper[i, colour]) * weight
            if not is_own and len(band) > 1:
                band[:] = _log_mean_exp(band)
            elif is_own and lines.outlier_probability > 0:
                _bound_evidence(band, lines.outlier_probability)
            prior = -0.5 * (shift - trellis.shifts[number - 1, i]) ** 2 / variance
            for colour in range(len(band)):
                total = reached[i, colour] + band[colour] + prior
                if total > likelihoods[j, colour]:
                    likelihoods[j, colour], trellis.previous[number, j, colour] = total, i


@allocation_free
def _finish(
    table: OutlineTable,
    cell: int,
    configuration: int,
    columns: float,
    known: int,
    trellis: Trellis,
    scores: Scores,
) -> None:
    """Maximise over the ``known`` positions of the last line into ``scores`` (colours,), and trace back the best path.

    ``columns``: displacement of the configuration sideways.
    """
    count = table.bands[configuration]
    likelihoods, best, at, best_colour = trellis.likelihoods[count % 2], -np.inf, 0, 0
    scores[:] = -np.inf
    for i in range(known):
        prior = _log_prior(table, cell, configuration, columns, trellis.shifts[count, i])
        for colour in range(len(scores)):
            total = likelihoods[i, colour] + prior
            scores[colour] = max(scores[colour], total)
            if total > best:
                best, at, best_colour = total, i, colour
    for number in range(count, -1, -1):
        trellis.best_shifts[number] = trellis.shifts[number, at]
        at = trellis.previous[number, at, best_colour]


@allocation_free
def _step_variance(table: OutlineTable, cell: int, number: int) -> float:
    """Variance (rows²) of the displacement of line ``number``, from 1, relative to the line above it."""
    variance = ROUNDING_MM**2
    if number > int(table.has_faces):  # what is under a face is the side of the same piece
        variance += (STEP_MM * table.foreshortening[cell]) ** 2
    return variance


@allocation_free
def _log_prior(table: OutlineTable, cell: int, configuration: int, columns: float, foot_rows: float) -> float:
    """Log-prior of a displacement, up to a constant."""
    # One displacement across the line of sight represents all pieces: its variance is that of foot and face together.
    pieces = table.bands[configuration] + 1 - int(table.has_faces)
    across_mm2 = PLACE_MM**2 + (pieces - 1) * STEP_MM**2
    along = foot_rows / table.foreshortening[cell] / PLACE_MM
    return float(-0.5 * (along**2 + (columns * table.column_mm) ** 2 / across_mm2))


@allocation_free
def _log_mean_exp(values: Scores) -> float:
    """Logarithm of the mean of the exponentials of values (k,)."""
    best, total = _maximum(values), 0.0
    for value in values:
        total += np.exp(value - best)
    return float(best + np.log(total / len(values)))


@allocation_free
def _maximum(values: Scores) -> float:
    """The greatest of some values (k,)."""
    greatest = -np.inf
    for value in values:
        greatest = max(greatest, value)
    return greatest


@compiled
def _search(
    lines: Lines, table: OutlineTable, cell: int, configuration: int, colour: int, window: SearchWindow
) -> tuple[float, float, float]:
    """The likeliest displacement of face (rows), stack (columns) and foot (rows), by face and foot alone.

    Whole rows suffice: :func:`fit_lines` refines them.
    """
    faces, feet, profile = np.empty(window.rows), np.empty(FOOT_ROWS), np.full(window.columns, -np.inf)
    best, face_rows, foot_rows, variance = -np.inf, window.first_row, 0.0, ROUNDING_MM**2
    for line in range(2, table.bands[configuration] + 1):
        variance += _step_variance(table, cell, line)
    for number in range(window.columns):
        column = window.first_column + number
        _sum_whole_rows(lines, column, window.first_row, 1 + table.bands[configuration], 1 + colour, faces, feet)
        for b in range(len(feet)):
            w = FOOT_FIRST_ROW + b
            prior = _log_prior(table, cell, configuration, column, w)
            for a in range(window.rows):
                v = window.first_row + a
                total = (faces[a] + feet[b]) * table.weight + prior - 0.5 * (v - w) ** 2 / variance
                profile[number] = max(profile[number], total)
                if total > best:
                    best, face_rows, foot_rows = total, v, w
    return face_rows, window.first_column + _peak(profile), foot_rows


@compiled
def _peak(profile: Scores) -> float:
    """Subsample position of the maximum of a profile (k,): the vertex of a parabola through it and its neighbours."""
    at = int(profile.argmax())
    if at == 0 or at == len(profile) - 1:
        return float(at)
    left, best, right = profile[at - 1 : at + 2]
    return float(at + 0.5 * (right - left) / max(2 * best - left - right, 1e-6))


@allocation_free
def _sum_whole_rows(
    lines: Lines, column: int, first_row: float, foot_edge: int, face_channel: int, faces: Scores, feet: Scores
) -> None:
    """Integrals of a displaced configuration: faces less the sides above their near edge, and sides above the feet.

    Args:
        lines: of the configuration, undisplaced.
        column: columns by which it is displaced.
        first_row: rows by which the first of the faces is displaced.
        foot_edge: number of the foot's line; 1 where nothing is under the face.
        face_channel: channel of the face's colour in the integrals.
        faces: (a,) float64, overwritten; each a row lower than the one before.
        feet: (b,) float64, overwritten; from :data:`FOOT_FIRST_ROW` on, each a row lower than the one before.
    """
    sums, edges, (rows, width, channels) = lines.sums, lines.edges, lines.shape
    faces[:], feet[:] = 0, 0
    is_banded = foot_edge > 1
    for i in range(*lines.covered):
        left = (lines.left + i + column) * channels
        far, near = _whole(edges[0, i] + first_row - lines.first_row), _whole(edges[1, i] + first_row - lines.first_row)
        for a in range(len(faces)):
            at_far = np.uint64(min(max(far + a, 0), rows - 1) * width * channels + left)
            at_near = np.uint64(min(max(near + a, 0), rows - 1) * width * channels + left)
            faces[a] += sums[at_near + np.uint64(face_channel)] - sums[at_far + np.uint64(face_channel)]
            if is_banded:
                faces[a] -= sums[at_near]
        foot = _whole(edges[foot_edge, i] + FOOT_FIRST_ROW - lines.first_row)
        for f in range(len(feet) if is_banded else 0):
            feet[f] += sums[np.uint64(min(max(foot + f, 0), rows - 1) * width * channels + left)]


@allocation_free
def _whole(row: float) -> int:
    return int(np.rint(row))
