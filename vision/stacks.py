"""How well each figure and colour explains a cell's pixels: analysis by synthesis, over every way a stack may stand.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour); other figures have other parts (:mod:`vision.figures`).  The score of a
state is the log-likelihood of the pixels that it covers, against what they would show without it.  Face and foot may
be off their places, but not by much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.evidence import Backdrop, Evidence
from vision.figures import LEAN_MM, PLACE_MM
from vision.sums import SIDE, Total

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

ROUNDING_MM = 0.3
"""Face and foot are tried in half millimetres apart, so even one disc seems to lean a little."""

MOST_SIDEWAYS = 2
"""Largest shift tried across the line of sight, in columns."""

ALONG = np.arange(-5, 6).astype(np.float32)
"""Shifts of the face tried first along the line of sight, in rows."""

FOOT = np.arange(-3, 4).astype(np.float32)
"""Shifts of the foot tried first along the line of sight, in rows."""

SHADE_SPREAD = 0.15
"""Standard deviation of the log brightness of a side's pixels besides the rim's shading: texture, noise."""

SHADE_INDEPENDENT_MM2 = 20.0
"""Area over which texture and noise are one observation; they reach less far than errors of colour and outline."""

IMPOSSIBLE = np.float32(-1e4)
"""Log-likelihood ratio of a piece that the kit does not have."""

FOOT_FINELY = np.arange(-4, 4.5, 0.5).astype(np.float32)
"""Shifts of the foot tried where the face is known."""

BETWEEN_ROWS = 0.25
"""What lies above a line between two sides is summed at shifts so far apart, and in proportion between them."""

FINER = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
"""Shifts tried round the best of the first."""


class Shapes(NamedTuple):
    """Every figure (f) on every cell (n), as places in the sums of :mod:`vision.sums`; k columns.

    Attributes:
        edges: (n, f, e, k) float32, those of :class:`vision.outlines.Outlines`.
        covers: (n, f, k) bool, whether the figure reaches the column.
        columns: (k,) intp, the crop columns that the outlines are sampled on.
        bands: (f,) intp, parts under the uppermost.
        allowed: (f, colours) bool, whether there is a piece of that size and colour.
        faced: whether the uppermost part is a face, whose piece also has a side.
        column_mm: width of a column.
        weight: independent observations a crop pixel.
    """

    edges: Array
    covers: npt.NDArray[np.bool_]
    columns: Indices
    bands: Indices
    allowed: npt.NDArray[np.bool_]
    faced: bool
    column_mm: float
    weight: float


class Sums(NamedTuple):
    """Everything about some cells (b), summed down the columns of their crops by :func:`vision.sums.sum_columns`.

    Attributes:
        down: (b, rows + 1, columns, kinds + 2): any side, each colour's face, perhaps each colour's side; brightness.
        first_row: row of the crops in which the sums begin.
    """

    down: Array
    first_row: int


@dataclass(frozen=True, eq=False)
class Stand:
    """Where figures (b, l) may stand: shifts of face (b, l, a), foot (b, l, f) in rows, sideways (b, l) in columns."""

    along: Array
    sideways: Indices
    foot: Array


@compiled
def _log_prior(lean_mm2: float, along: float, across: float, foot: float) -> float:
    """Log prior of a figure standing so, shifts in mm; ``lean_mm2``: variance of its lean, 0 of one that cannot."""
    # Across the line of sight one shift stands for foot and face, so it is as wide as both together.
    sideways = across**2 / (PLACE_MM**2 + lean_mm2)
    return -0.5 * (foot**2 / PLACE_MM**2 + sideways + (along - foot) ** 2 / (lean_mm2 + ROUNDING_MM**2))


class _Lines(NamedTuple):
    """The lines round a figure on one cell, moved sideways, in the sums of that cell.

    Attributes:
        flat: the sums, flattened.
        size: (rows + 1, columns, kinds) of them.
        columns: (m,) those that the figure covers.
        edges: (e, m) rows of the edges.
    """

    flat: Array
    size: tuple[int, int, int]
    columns: Indices
    edges: Array


@compiled
def _lines(sums: Sums, shapes: Shapes, which: tuple[int, int, int, int]) -> _Lines:
    """``which``: number of the cell among the sums, cell, figure, columns that it is moved by."""
    k, cell, figure, side = which
    covers, edges = shapes.covers[cell, figure], shapes.edges[cell, figure]
    columns, rows = np.empty(len(covers), np.intp), np.empty((len(edges), len(covers)), np.float32)
    count = 0
    for i in range(len(covers)):
        if covers[i]:
            columns[count] = shapes.columns[i] + side
            for edge in range(len(edges)):
                rows[edge, count] = edges[edge, i] - sums.first_row
            count += 1
    return _Lines(sums.down[k].reshape(-1), sums.down.shape[1:], columns[:count], rows[:, :count])


@compiled
def _sum_line(lines: _Lines, line: tuple[int, float, float], first: int, total: Total) -> None:
    """``total`` (kinds,): all above a line round a figure, from kind ``first`` on.

    ``line``: the edge it is at, how far it is from there to the next one, from 0 to 1, and rows that it is moved by.
    """
    edge, part, shift = line
    flat, columns, (rows, width, kinds) = lines.flat, lines.columns, lines.size
    upper, lower = lines.edges[edge], lines.edges[min(edge + 1, len(lines.edges) - 1)]
    total[:] = 0
    for i in range(len(columns)):
        row = min(max(upper[i] + part * (lower[i] - upper[i]) + shift, 0.0), rows - 1.001)
        # Numba looks whether a signed index is negative; these are not.
        above = np.uint64((int(row) * width + columns[i]) * kinds + first)
        below = np.uint64(above + np.uint64(width * kinds))
        for number in range(len(total)):
            kind = np.uint64(number)
            over = flat[above + kind]
            total[number] += over + (row - int(row)) * (flat[below + kind] - over)


@compiled
def score_upright(sums: Sums, shapes: Shapes, cells: Indices) -> Array:
    """Scores as if every figure stood straight in the middle of its cell.

    Args:
        sums: of the cells; figures that reach beyond its first row cannot be scored.
        shapes: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.

    Returns:
        (b, figures, colours) log-likelihood ratio against an empty cell; impossible where there is no such piece.
    """
    figures, colours = shapes.allowed.shape
    scores = np.zeros((len(cells), figures, colours), np.float32)
    far, near = np.zeros(colours), np.zeros(colours)
    upper, lower = np.zeros(1), np.zeros(1)
    for k in range(len(cells)):
        for figure in range(figures):
            lines = _lines(sums, shapes, (k, cells[k], figure, 0))
            _sum_line(lines, (0, 0.0, 0.0), 1, far)
            _sum_line(lines, (1, 0.0, 0.0), 1, near)
            _sum_line(lines, (1, 0.0, 0.0), 0, upper)
            _sum_line(lines, (len(lines.edges) - 1, 0.0, 0.0), 0, lower)
            for colour in range(colours):
                fits = (near[colour] - far[colour] + lower[0] - upper[0]) * shapes.weight
                scores[k, figure, colour] = fits if shapes.allowed[figure, colour] else IMPOSSIBLE
    return scores


@compiled
def share_of_smallest(evidence: Evidence, backdrop: Backdrop, shapes: Shapes, cells: Indices) -> tuple[Array, Array]:
    """Share of the smallest figure's outline on ``cells`` (b,) that looks more like a piece than like what is behind.

    And (b,) the share that is seen at all.  ``backdrop``: of the whole crops.
    """
    bins, palette, base, seen = evidence.bins, evidence.palette, backdrop.base, backdrop.seen
    edges, columns = shapes.edges, shapes.columns
    like_piece, in_sight = np.zeros(len(cells), np.float32), np.zeros(len(cells), np.float32)
    last = bins.shape[1] - 1
    for k in range(len(cells)):
        area = 1e-6
        for i in range(len(columns)):
            far, foot, x = edges[cells[k], 0, 0, i], edges[cells[k], 0, -1, i], columns[i]
            for row in range(max(int(far), 0), min(int(foot), last) + 1):
                covered = min(foot, row + 1) - max(far, row)
                area += covered
                if seen[k, row, x]:
                    in_sight[k] += covered
                    if palette[bins[cells[k], row, x], SIDE] > base[k, row, x]:
                        like_piece[k] += covered
        like_piece[k] /= area
        in_sight[k] /= area
    return like_piece, in_sight


def search_stand(sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, best_colour: Indices) -> Stand:
    """Shifts round those that suit each figure (b, l) best, by the likeliest colour (b,)."""
    along, sideways, foot = _search(sums, shapes, cells, figures, best_colour)
    return Stand(along[..., None] + FINER, sideways, foot[..., None] + FINER)


def known_face(shift_mm: Array, column_mm: float) -> Stand:
    """Stands of figures whose faces are known to be off by ``shift_mm`` (b, l, 2) in the crop."""
    foot = np.ascontiguousarray(np.broadcast_to(FOOT_FINELY, (*shift_mm.shape[:2], len(FOOT_FINELY))))
    sideways = np.rint(shift_mm[..., 0] / column_mm).astype(np.intp)
    along = np.ascontiguousarray(shift_mm[..., 1, None], np.float32)
    return Stand(along, np.clip(sideways, -MOST_SIDEWAYS, MOST_SIDEWAYS), foot)


def score_askew(
    sums: Sums, rim: Array, shapes: Shapes, cells: Indices, figures: Indices, stand: Stand
) -> tuple[Array, Array, Array]:
    """Scores for some figures, each standing as it explains the pixels best.

    Args:
        sums: of the cells, with each colour's side.
        rim: (steps,) shading of a piece's side (:class:`calibration.looks.SetLook`).
        shapes: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        figures: (b, l) figures to try.
        stand: where they may stand.

    Returns:
        (b, l, colours) log-likelihood ratio against an empty cell; (b, l, 2) the shift (u, v) mm of the face; and
        (b, l, parts, steps, 2) sums of log brightness and of pixels over each step of each side, the uppermost first.
    """
    scores, along, foot = _stands(sums, shapes, cells, figures, (stand.along, stand.sideways, stand.foot))
    steps = _shades(sums, shapes, cells, figures, (along, stand.sideways, foot), len(rim))
    scores += _rim_gain(steps, rim, shapes)[..., None]
    scores = np.where(shapes.allowed[figures], scores, IMPOSSIBLE)
    return scores, np.stack([stand.sideways * np.float32(shapes.column_mm), along], axis=-1), steps


@compiled
def rim_residuals(steps: Array) -> tuple[Array, Array]:
    """Mean log brightness of each step less that of its side, and pixels: (k, steps) each, from (k, steps, 2)."""
    residuals, counts = np.zeros(steps.shape[:2], np.float32), np.ascontiguousarray(steps[:, :, 1])
    for k in range(len(steps)):
        mean = steps[k, :, 0].sum() / max(steps[k, :, 1].sum(), 1e-3)
        for step in range(steps.shape[1]):
            if counts[k, step] > 0:
                residuals[k, step] = steps[k, step, 0] / max(counts[k, step], 1e-3) - mean
    return residuals, counts


@compiled
def _rim_gain(steps: Array, rim: Array, shapes: Shapes) -> Array:
    """(b, l) log-likelihood ratio of sides shaded as ``rim`` says, from below, against evenly shaded ones."""
    cells, trials = steps.shape[:2]
    scale = shapes.column_mm / (2 * SHADE_SPREAD**2 * SHADE_INDEPENDENT_MM2)
    gain = np.zeros((cells, trials), np.float32)
    for k in range(cells):
        for trial in range(trials):
            residuals, counts = rim_residuals(steps[k, trial])
            for side in range(len(counts)):
                for step, shading in enumerate(rim[::-1]):
                    fits = shading * (2 * residuals[side, step] - shading)
                    gain[k, trial] += scale * counts[side, step] * fits
    return gain


@compiled
def _search(
    sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, best_colour: Indices
) -> tuple[Array, Indices, Array]:
    """The likeliest shifts (b, l) of face, across, and of the foot, in whole rows and columns."""
    along, foot = np.zeros(figures.shape, np.float32), np.zeros(figures.shape, np.float32)
    sideways = np.zeros(figures.shape, np.intp)
    faces, feet = np.zeros(len(ALONG), np.float32), np.zeros(len(FOOT), np.float32)
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            figure, best = figures[k, trial], -np.inf
            lean_mm2 = LEAN_MM**2 if shapes.bands[figure] > int(shapes.faced) else 0.0
            for side in range(-MOST_SIDEWAYS, MOST_SIDEWAYS + 1):
                _sum_whole_rows(sums, shapes, (k, cells[k], figure, 1 + best_colour[k]), side, (faces, feet))
                for a in range(len(ALONG)):
                    for f in range(len(FOOT)):
                        fits = _log_prior(lean_mm2, ALONG[a], side * shapes.column_mm, FOOT[f])
                        fits += (faces[a] + feet[f]) * shapes.weight
                        if fits > best:
                            best = fits
                            along[k, trial], sideways[k, trial], foot[k, trial] = ALONG[a], side, FOOT[f]
    return along, sideways, foot


@compiled
def _sum_whole_rows(
    sums: Sums, shapes: Shapes, which: tuple[int, int, int, int], side: int, out: tuple[Array, Array]
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
        for a in range(len(ALONG)):
            shift = ALONG[a] - first_row
            far, near = _whole(edges[0] + shift, last), _whole(edges[1] + shift, last)
            faces[a] += down[k, near, x, kind] - down[k, far, x, kind]
            if is_banded:
                faces[a] -= down[k, near, x, 0]
        for f in range(len(FOOT) if is_banded else 0):
            feet[f] += down[k, _whole(edges[-1] + FOOT[f] - first_row, last), x, 0]


@compiled
def _whole(row: float, last: int) -> int:
    return int(np.rint(min(max(row, 0.0), last)))


@compiled
def _stands(
    sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, stand: tuple[Array, Indices, Array]
) -> tuple[Array, Array, Array]:
    """(b, l, colours) the best scores over all stands; (b, l) shifts of face and foot at which the best one is."""
    alongs, sideways, feet = stand
    colours = shapes.allowed.shape[1]
    scores = np.full((*figures.shape, colours), -np.inf, np.float32)
    along, foot = np.zeros(figures.shape, np.float32), np.zeros(figures.shape, np.float32)
    ends = _Ends(
        np.zeros((alongs.shape[2], colours)), np.zeros((alongs.shape[2], colours)), np.zeros((feet.shape[2], colours))
    )
    sides, room = np.zeros(colours), np.zeros((3, colours))
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            best, side, figure = -np.inf, sideways[k, trial], figures[k, trial]
            count = shapes.bands[figure]
            lean_mm2 = LEAN_MM**2 if count > int(shapes.faced) else 0.0
            lines = _lines(sums, shapes, (k, cells[k], figure, side))
            _sum_ends(lines, count, (alongs[k, trial], feet[k, trial]), ends)
            between, begins = _sum_between(lines, count, (alongs[k, trial], feet[k, trial]), colours)
            for a, v in enumerate(alongs[k, trial]):
                for b, f in enumerate(feet[k, trial]):
                    ways = (ends.above[a], ends.below[b], between, begins)
                    _sum_sides(ways, (count, shapes.faced, shapes.weight), (v, f), room, sides)
                    prior = _log_prior(lean_mm2, v, side * shapes.column_mm, f)
                    for colour in range(colours):
                        fits = ends.face[a, colour] * shapes.weight + sides[colour] + prior
                        scores[k, trial, colour] = max(scores[k, trial, colour], fits)
                        if fits > best:
                            best, along[k, trial], foot[k, trial] = fits, v, f
    return scores, along, foot


class _Ends(NamedTuple):
    """What depends on one end of a figure alone, for each place of it: (a or f, colours) sums.

    Attributes:
        face: of the uppermost part.
        above: above the first line round the sides.
        below: above the last line.
    """

    face: Total
    above: Total
    below: Total


@compiled
def _sum_ends(lines: _Lines, count: int, places: tuple[Array, Array], ends: _Ends) -> None:
    """Fill ``ends`` for the ``places`` of face (a,) and foot (f,), rows, of a figure of ``count`` sides."""
    sides = 1 + ends.face.shape[1]
    far = np.zeros(ends.face.shape[1])
    for a, along in enumerate(places[0]):
        _sum_line(lines, (0, 0.0, along), 1, far)
        _sum_line(lines, (1, 0.0, along), 1, ends.face[a])
        ends.face[a] -= far
    if count > 0:
        for a, along in enumerate(places[0]):
            _sum_line(lines, (1, 0.0, along), sides, ends.above[a])
        for b, foot in enumerate(places[1]):
            _sum_line(lines, (1 + count, 0.0, foot), sides, ends.below[b])


@compiled
def _sum_between(lines: _Lines, count: int, places: tuple[Array, Array], colours: int) -> tuple[Total, Total]:
    """What is above the lines between the sides, of each colour, wherever face (a,) and foot (f,) put them.

    Returns:
        (count, rows, colours) sums every :data:`BETWEEN_ROWS`, and (count,) the shift at which they begin; none for
        the line above the first side.
    """
    along, foot = places
    begins = np.zeros(count)
    widest = max(along[-1] - along[0], foot[-1] - foot[0])
    sums = np.zeros((count, int(widest / BETWEEN_ROWS) + 3, colours))
    for number in range(1, count):
        part = number / count
        begins[number] = along[0] * (1 - part) + foot[0] * part
        ends = along[-1] * (1 - part) + foot[-1] * part
        for row in range(int((ends - begins[number]) / BETWEEN_ROWS) + 2):
            shift = begins[number] + row * BETWEEN_ROWS
            _sum_line(lines, (1 + number, 0.0, shift), 1 + colours, sums[number, row])
    return sums, begins


@compiled
def _sum_sides(
    ways: tuple[Total, Total, Total, Total],
    of: tuple[int, bool, float],
    stand: tuple[float, float],
    room: Total,
    sides: Total,
) -> None:
    """``sides`` (colours,): log-likelihood of the parts under the uppermost, of one colour each, from face to foot.

    The first one's is the colour of the face, where the uppermost piece has a face; the others' are unknown.
    ``ways``: above the first line and above the last one, and those between; ``stand``: rows that face and foot are
    off their places; ``room``: (3, colours) to work in.
    """
    above, below, between, begins = ways
    count, faced, weight = of
    sides[:] = 0
    upper = above
    for number in range(1, count + 1):
        lower = below
        if number < count:
            lower, part = room[number % 2], number / count
            place = (stand[0] * (1 - part) + stand[1] * part - begins[number]) / BETWEEN_ROWS
            row = int(place)
            for colour in range(len(sides)):
                low, high = between[number, row, colour], between[number, row + 1, colour]
                lower[colour] = low + (place - row) * (high - low)
        for colour in range(len(sides)):
            room[2, colour] = (lower[colour] - upper[colour]) * weight
        if number == 1 and faced:
            sides += room[2]
        else:
            sides += _log_mean(room[2])
        upper = lower


@compiled
def _log_mean(values: Total) -> float:
    """Log of the mean of exp of the values."""
    best, total = values.max(), 0.0
    for value in values:
        total += np.exp(value - best)
    return float(best + np.log(total / len(values)))


@compiled
def _shades(
    sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, stand: tuple[Array, Indices, Array], steps: int
) -> Array:
    """(b, l, parts, steps, 2) sums over each step of each side from above, for the stands (b, l) given."""
    along, sideways, foot = stand
    most = 0
    for figure in figures.ravel():
        most = max(most, shapes.bands[figure])
    shades = np.zeros((*figures.shape, most, steps, 2), np.float32)
    above, below = np.zeros(2), np.zeros(2)
    brightness = sums.down.shape[3] - 2
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            figure = figures[k, trial]
            lines = _lines(sums, shapes, (k, cells[k], figure, sideways[k, trial]))
            count = shapes.bands[figure]
            for number in range(count * steps + 1 if count > 0 else 0):
                place = number / steps  # sides below the face
                shift = along[k, trial] * (1 - place / count) + foot[k, trial] * (place / count)
                side = min(int(place), count - 1)
                _sum_line(lines, (1 + side, place - side, shift), brightness, below)
                if number > 0:
                    shades[k, trial, (number - 1) // steps, (number - 1) % steps] = below - above
                above[:] = below
    return shades
