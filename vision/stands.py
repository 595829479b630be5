"""Where a figure stands: how far its face, its foot and each of its pieces lie off the middle of the cell.

Nothing stands straight: the foot lies off the middle of its cell, and each piece off the one below it, to any side.  In
the crop that moves each line between two sides up or down a little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.figures import PLACE_MM, STEP_MM
from vision.sums import Lines, Shapes, Sums, Total, lines_of, sum_line

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

ROUNDING_MM = 0.2
"""Standard deviation of the distance of two lines, for each is tried in half millimetres: so rounded, even the face and
the foot of one disc seem to be apart a little."""

MOST_SIDEWAYS = 2
"""Largest shift tried across the line of sight, in columns."""

ACROSS = np.arange(-MOST_SIDEWAYS, MOST_SIDEWAYS + 1)
"""Shifts tried across the line of sight, in columns."""

ALONG = np.arange(-5, 6).astype(np.float32)
"""Shifts of the face tried first along the line of sight, in rows."""

FOOT = np.arange(-3, 4).astype(np.float32)
"""Shifts of the foot tried first along the line of sight, in rows."""

FINER = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
"""Shifts of each line tried round where the best of the first have it."""


class Stand(NamedTuple):
    """Where figures (b, l) stand, roughly.

    Attributes:
        along: (b, l) shift of the face, in rows.
        sideways: (b, l) shift of the whole figure, in columns.
        foot: (b, l) shift of the foot, in rows.
        around: (a,) rows that the face may be off besides.
    """

    along: Array
    sideways: Array
    foot: Array
    around: Array


class _Chain(NamedTuple):
    """Room to find the lines of one figure in; a places of a line, c colours of the uppermost piece.

    Attributes:
        shifts: (lines, a) rows that each line is tried off its place.
        before: (lines, a, c) the place of the line above that suits this one best.
        fits: (2, a, c) log-likelihood of all above a line in its place; of even and odd lines.
        above: (2, a, c) sums of each colour's side above the line.
        room: (c,) for one band.
    """

    shifts: Total
    before: Indices
    fits: Total
    above: Total
    room: Total


@compiled
def search_stand(sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, best_colour: Indices) -> Stand:
    """Where each figure (b, l) suits best, by the likeliest colour (b,)."""
    along = np.empty((*figures.shape, len(ALONG)), np.float32)
    across = np.empty((*figures.shape, len(ACROSS)), np.intp)
    along[:], across[:] = ALONG, ACROSS
    face, sideways, foot = _search(sums, shapes, cells, figures, best_colour, (along, across))
    return Stand(face, sideways, foot, FINER.copy())


def known_face(
    sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, best_colour: Indices, shift_mm: Array
) -> Stand:
    """As :func:`search_stand`, of figures whose faces are known to be off by ``shift_mm`` (b, l, 2) in the crop."""
    sideways = np.clip(shift_mm[..., 0] / np.float32(shapes.column_mm), -MOST_SIDEWAYS, MOST_SIDEWAYS)
    places = np.ascontiguousarray(shift_mm[..., 1:]), np.rint(sideways[..., None]).astype(np.intp)
    along, _, foot = _search(sums, shapes, cells, figures, best_colour, places)
    return Stand(along, sideways, foot, np.zeros(1, np.float32))


@compiled
def fit_lines(sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, stand: Stand) -> tuple[Array, Array]:
    """The best scores of figures (b, l) over all places of their lines, and the shifts of the lines there.

    Returns:
        (b, l, colours) log-likelihood ratio against an empty cell, and (b, l, lines) rows that each line is off its
        place for the likeliest colour: line 0 is the face's near edge, the others are the sides' lower edges.
    """
    colours, places, most = shapes.allowed.shape[1], len(FINER), shapes.edges.shape[2] - 1
    scores = np.full((*figures.shape, colours), -np.inf, np.float32)
    lines = np.zeros((*figures.shape, most), np.float32)
    shifts, before = np.zeros((most, places)), np.zeros((most, places, colours), np.intp)
    fits, above = np.zeros((2, places, colours)), np.zeros((2, places, colours))
    chain = _Chain(shifts, before, fits, above, np.zeros(colours))
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            cell, figure = cells[k], figures[k, trial]
            count, side = shapes.bands[figure], stand.sideways[k, trial]
            along, foot = stand.along[k, trial], stand.foot[k, trial]
            of = lines_of(sums, shapes, (k, cell, figure, side))
            _begin(of, count > 0, shapes.weight, along + stand.around, chain)
            known = len(stand.around)
            for number in range(1, count + 1):
                shifts[number] = along + (foot - along) * (number / count) + FINER
                is_own, variance = number == 1 and shapes.faced, _step_variance(shapes, cell, number)
                _add_line(of, (is_own, variance, shapes.weight), number, known, chain)
                known = places
            _end(shapes, (cell, figure, side), known, chain, (scores[k, trial], lines[k, trial]))
    return scores, lines


@compiled
def _begin(lines: Lines, is_banded: bool, weight: float, places: Array, chain: _Chain) -> None:  # noqa: FBT001
    """Put the uppermost part into its ``places`` (a,)."""
    fits, sides = chain.fits[0], 1 + chain.fits.shape[2]
    for i, place in enumerate(places):
        chain.shifts[0, i] = place
        sum_line(lines, (0, 0.0, place), 1, chain.room)
        sum_line(lines, (1, 0.0, place), 1, fits[i])
        fits[i] = (fits[i] - chain.room) * weight
        if is_banded:
            sum_line(lines, (1, 0.0, place), sides, chain.above[0, i])


@compiled
def _add_line(lines: Lines, band: tuple[bool, float, float], number: int, known: int, chain: _Chain) -> None:
    """Go on to line ``number``, from the ``known`` first places of the one above it, whichever suits best.

    That is the Viterbi algorithm (Forney, The Viterbi algorithm, 1973).  ``band``: whether what lies between the two is
    of the colour of the face, as the side of the uppermost piece is; the others' colours are unknown; variance of the
    shift between them, in rows; and the weight of a pixel.
    """
    is_own, variance, weight = band
    upper, lower = chain.above[1 - number % 2], chain.above[number % 2]
    reached, fits = chain.fits[1 - number % 2], chain.fits[number % 2]
    room, sides = chain.room, 1 + chain.fits.shape[2]
    fits[:] = -np.inf
    for j, shift in enumerate(chain.shifts[number]):
        sum_line(lines, (1 + number, 0.0, shift), sides, lower[j])
        for i in range(known):
            for colour in range(len(room)):
                room[colour] = (lower[j, colour] - upper[i, colour]) * weight
            if not is_own:
                room[:] = _log_mean(room)
            prior = -0.5 * (shift - chain.shifts[number - 1, i]) ** 2 / variance
            for colour in range(len(room)):
                total = reached[i, colour] + room[colour] + prior
                if total > fits[j, colour]:
                    fits[j, colour], chain.before[number, j, colour] = total, i


@compiled
def _end(shapes: Shapes, which: tuple[int, int, float], known: int, chain: _Chain, out: tuple[Array, Array]) -> None:
    """Choose among the ``known`` places of the last line: ``out`` scores (colours,) and shifts of the lines.

    ``which``: cell, figure, columns that it is moved by.
    """
    cell, figure, side = which
    scores, lines = out
    count = shapes.bands[figure]
    fits, best, at, of = chain.fits[count % 2], -np.inf, 0, 0
    for i in range(known):
        prior = _log_place(shapes, cell, figure, side, chain.shifts[count, i])
        for colour in range(len(scores)):
            total = fits[i, colour] + prior
            scores[colour] = max(scores[colour], total)
            if total > best:
                best, at, of = total, i, colour
    for number in range(count, -1, -1):
        lines[number] = chain.shifts[number, at]
        at = chain.before[number, at, of]


@compiled
def _step_variance(shapes: Shapes, cell: int, number: int) -> float:
    """Variance of the shift of a figure's line ``number`` from 1 against that of the line above it, in rows."""
    variance = ROUNDING_MM**2
    if number > int(shapes.faced):  # what is under a face is the side of the same piece
        variance += (STEP_MM * shapes.foreshortening[cell]) ** 2
    return variance


@compiled
def _log_place(shapes: Shapes, cell: int, figure: int, side: float, foot: float) -> float:
    """Log prior of a figure that is off by so many columns, and its foot by so many rows."""
    # Across the line of sight one shift stands for all pieces, so it is as wide as foot and face together.
    pieces = shapes.bands[figure] + 1 - int(shapes.faced)
    across_mm2 = PLACE_MM**2 + (pieces - 1) * STEP_MM**2
    along = foot / shapes.foreshortening[cell] / PLACE_MM
    return float(-0.5 * (along**2 + (side * shapes.column_mm) ** 2 / across_mm2))


@compiled
def _log_mean(values: Total) -> float:
    """Log of the mean of exp of the values."""
    best, total = values.max(), 0.0
    for value in values:
        total += np.exp(value - best)
    return float(best + np.log(total / len(values)))


@compiled
def _search(
    sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, best_colour: Indices, places: tuple[Array, Indices]
) -> tuple[Array, Array, Array]:
    """The likeliest shifts (b, l) of face, across, and of the foot, all lines between in line.

    ``places``: (b, l, a) shifts of the face, (b, l, s) across.  Whole rows will do here: the best stand is looked into
    more finely afterwards.
    """
    alongs, across = places
    along, foot = np.zeros(figures.shape, np.float32), np.zeros(figures.shape, np.float32)
    sideways = np.zeros(figures.shape, np.float32)
    faces, feet = np.zeros(alongs.shape[2], np.float32), np.zeros(len(FOOT), np.float32)
    profile = np.zeros(across.shape[2])
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            cell, figure, best = cells[k], figures[k, trial], -np.inf
            variance = ROUNDING_MM**2
            for line in range(2, shapes.bands[figure] + 1):
                variance += _step_variance(shapes, cell, line)
            profile[:] = -np.inf
            for number, side in enumerate(across[k, trial]):
                which = (k, cell, figure, 1 + best_colour[k])
                _sum_whole_rows(sums, shapes, which, side, alongs[k, trial], (faces, feet))
                for b, w in enumerate(FOOT):
                    prior = _log_place(shapes, cell, figure, side, float(w))
                    for a, v in enumerate(alongs[k, trial]):
                        fits = (faces[a] + feet[b]) * shapes.weight + prior - 0.5 * (v - w) ** 2 / variance
                        profile[number] = max(profile[number], fits)
                        if fits > best:
                            best, along[k, trial], foot[k, trial] = fits, v, w
            sideways[k, trial] = across[k, trial, 0] + _peak(profile)
    return along, sideways, foot


@compiled
def _peak(profile: Total) -> float:
    """Where a profile (k,) is highest, between its places: at the top of the parabola through the best three."""
    at = int(profile.argmax())
    if at == 0 or at == len(profile) - 1:
        return float(at)
    left, best, right = profile[at - 1 : at + 2]
    return float(at + 0.5 * (right - left) / max(2 * best - left - right, 1e-6))


@compiled
def _sum_whole_rows(
    sums: Sums, shapes: Shapes, which: tuple[int, int, int, int], side: int, alongs: Array, out: tuple[Array, Array]
) -> None:
    """Of a figure moved by ``side`` columns: faces less the sides above their near edge, and sides above the feet.

    ``which``: number of the cell among the sums, cell, figure, kind of its face.  Whole rows will do here: the best
    stand is looked into more finely afterwards.
    """
    down, first_row, covers, columns = sums.down, sums.first_row, shapes.covers, shapes.columns
    k, cell, figure, kind = which
    faces, feet = out
    faces[:], feet[:] = 0, 0
    is_banded = shapes.bands[figure] > 0
    last = down.shape[1] - 1
    for i in range(len(columns)):
        if not covers[cell, figure, i]:
            continue
        x, edges = columns[i] + side, shapes.edges[cell, figure, :, i]
        for a in range(len(alongs)):
            shift = alongs[a] - first_row
            far, near = _whole(edges[0] + shift, last), _whole(edges[1] + shift, last)
            faces[a] += down[k, near, x, kind] - down[k, far, x, kind]
            if is_banded:
                faces[a] -= down[k, near, x, 0]
        for f in range(len(FOOT) if is_banded else 0):
            feet[f] += down[k, _whole(edges[-1] + FOOT[f] - first_row, last), x, 0]


@compiled
def _whole(row: float, last: int) -> int:
    return int(np.rint(min(max(row, 0.0), last)))
