"""How well each figure and colour explains a cell's pixels: analysis by synthesis, over every way a stack may stand.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour); other figures have other parts (:mod:`vision.scene.configurations`).  The
score of a state is the log-likelihood of the pixels that it covers, against what they would show without it.  Face and
foot may be off their places, but not by much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import STRAY_LOG
from vision.compiled import compiled
from vision.likelihood.column_integrals import Lines, Sums, Total, lines_of, sideways, sum_line
from vision.likelihood.observations import Evidence
from vision.likelihood.placement import Chain, Stand, fit_lines, known_face, make_chain, search_stand
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, Canvas
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

STANDING, TOPS = Materials.STANDING, Materials.TOPS

SHADE_SPREAD, SHADE_KNOWN = 0.02, 2.0
"""Standard deviation of the log brightness of a side's steps besides the rim's shading, as if it had been seen so
often: texture, noise, lines found a little off."""

SHADE_INDEPENDENT_MM2 = 80.0
"""Area over which these err together."""

RIM_SEEN, RIM_VARIES = 0.65, 0.45
"""Mean and standard deviation of the rim's contrast, as a share of that of single pieces: light falls otherwise between
pieces, and from elsewhere."""

IMPOSSIBLE = np.float32(-1e4)
"""Log-likelihood ratio of a piece that the kit does not have."""

TRIED = 6
"""Figures that are tried askew where they are no ladder of heights: those that suit best standing straight, and no more
than half of all."""

OUT_OF_REACH = np.float32(-1e3)
"""Log-likelihood ratio of heights that were not looked at."""


class Scored(NamedTuple):
    """How well figures and colours explain some cells (b).

    Attributes:
        scores: (b, figures, colours) log-likelihood ratio against an empty cell.
        shift: (b, 2) mm in the crop by which the face of the likeliest figure is off its place.
        sides: (b, parts, steps, 2) sums of log brightness and of pixels over each step of each of its sides, the
            uppermost first.
    """

    scores: Array
    shift: Array
    sides: Array


@compiled
def score_upright(sums: Sums, shapes: OutlineTable, cells: Indices, besides: Array) -> Array:
    """Scores as if every figure stood straight in the middle of its cell.

    Args:
        sums: of the cells; figures that reach beyond its first row cannot be scored.
        shapes: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        besides: (b, f) what the lower f figures have besides; those above are not looked at.

    Returns:
        (b, figures, colours) log-likelihood ratio against an empty cell; impossible where there is no such piece.
    """
    figures, colours = shapes.allowed.shape
    scores = np.full((len(cells), figures, colours), OUT_OF_REACH)
    far, near, foot = np.zeros(1 + colours), np.zeros(1 + colours), np.zeros(1)
    for k in range(len(cells)):
        for figure in range(besides.shape[1]):
            lines = lines_of(sums, shapes, (k, cells[k], figure))
            sum_line(lines, (0, 0.0, 0.0), 0, far)
            sum_line(lines, (1, 0.0, 0.0), 0, near)
            sum_line(lines, (1 + shapes.bands[figure], 0.0, 0.0), 0, foot)
            for colour in range(colours):
                fits = (near[1 + colour] - far[1 + colour] + foot[0] - near[0]) * shapes.weight
                suits = fits if shapes.allowed[figure, colour] else IMPOSSIBLE
                scores[k, figure, colour] = suits + besides[k, figure]
    return scores


@compiled
def share_of_smallest(
    evidence: Evidence, scene: Visibility, canvas: Canvas, shapes: OutlineTable, cells: Indices
) -> tuple[Array, Array]:
    """Share of the smallest figure's outline on ``cells`` (b,) that looks more like a piece than like what is behind.

    Or like neither: nothing else is so dark as some sides, and so bright as a mirrored lamp.

    And (b,) the share that is seen at all.  ``canvas``: what would be seen if nothing stood on the cells.
    """
    bins, palette, painted = evidence.bins, evidence.palette, canvas.reshape(-1)
    flat_px, visible, edges, columns = scene.flat_px, scene.visible, shapes.edges, shapes.columns
    like_piece, in_sight = np.zeros(len(cells), np.float32), np.zeros(len(cells), np.float32)
    last, colours = bins.shape[1] - 1, shapes.allowed.shape[1]
    for k in range(len(cells)):
        area = 1e-6
        for i in range(len(columns)):
            far, foot, x = edges[cells[k], 0, 0, i], edges[cells[k], 0, -1, i], columns[i]
            for row in range(max(int(far), 0), min(int(foot), last) + 1):
                covered = min(foot, row + 1) - max(far, row)
                area += covered
                nearest = painted[flat_px[cells[k], row, x]]
                if visible[cells[k], row, x] and nearest >> RANK_BITS <= scene.rank[cells[k]]:
                    in_sight[k] += covered
                    fits = palette[bins[cells[k], row, x]]
                    base = fits[nearest & MATERIAL_MASK]
                    is_like = fits[STANDING] > base or base < STRAY_LOG
                    for colour in range(colours):
                        is_like |= fits[TOPS + colour] > base
                    like_piece[k] += covered * is_like
        like_piece[k] /= area
        in_sight[k] /= area
    return like_piece, in_sight


@compiled
def score_cells(
    sums: Sums,
    rim: Array,
    shapes: OutlineTable,
    looked: tuple[Indices, Array],
    is_ladder: bool,  # noqa: FBT001
) -> Scored:
    """Scores for figures on some cells, the likeliest of them standing as they explain the pixels best.

    Args:
        sums: of the cells, with each colour's side.
        rim: (steps,) shading of a piece's side (:class:`calibration.looks.SetLook`).
        shapes: of the pose.
        looked: the cells (b,) that ``sums`` belongs to, and ``besides`` of :func:`score_upright`.
        is_ladder: whether each figure is the one before it and a piece more.
    """
    cells, besides = looked
    scores, chain, reach = score_upright(sums, shapes, cells, besides), make_chain(shapes), besides.shape[1]
    shift, sides = np.zeros((len(cells), 2), np.float32), _no_sides(len(cells), shapes, rim)
    of, scored = (sums, rim, shapes, chain), Scored(scores, shift, sides)
    for k in range(len(cells)):
        tried, best, likeliest = _tried(scores[k, :reach], is_ladder), -np.inf, 0
        colour = _likeliest_colour(scores[k])
        for figure in tried:
            score = _score_askew(of, (k, cells[k], figure), (colour, besides[k, figure]), best, scored)
            if score > best:
                best, likeliest = score, figure
        # Stacks that lean mislead by more than one piece while they are believed to stand straight.
        further = 2 * likeliest - tried[0]
        if is_ladder and further != likeliest and 0 <= further < reach:
            colour = _likeliest_colour(scores[k])
            _score_askew(of, (k, cells[k], further), (colour, besides[k, further]), best, scored)
    return scored


@compiled
def score_placed(
    sums: Sums, rim: Array, shapes: OutlineTable, placed: tuple[Indices, Indices, Array], colours: Indices
) -> Array:
    """(b, l, colours) scores of figures whose faces are known to be somewhere.

    ``placed``: the cells (b,) that ``sums`` belongs to, figures (b, l) on them, and (b, l, 2) mm in the crop by which
    their faces are off their places.  ``colours`` (b,): of what stands there.
    """
    cells, figures, shift_mm = placed
    chain, sides = make_chain(shapes), _no_sides(1, shapes, rim)[0]
    scores = np.empty((*figures.shape, shapes.allowed.shape[1]), np.float32)
    for k in range(len(cells)):
        for number, figure in enumerate(figures[k]):
            which, lines = (cells[k], figure), lines_of(sums, shapes, (k, cells[k], figure))
            stand = known_face(lines, shapes, which, colours[k], shift_mm[k, number])
            scores[k, number] = _score_stand((lines, rim, shapes, chain), which, stand, sides)
    return scores


@compiled
def _tried(scores: Array, is_ladder: bool) -> Indices:  # noqa: FBT001
    """The figures to be tried askew, given the scores (figures, colours) of those that stand straight, likeliest first.

    Of a ladder those that are a piece higher and lower than the likeliest.
    """
    fits = np.empty(len(scores), np.float32)
    for figure in range(len(scores)):
        fits[figure] = -scores[figure].max()
    if not is_ladder:
        return np.argsort(fits, kind="mergesort")[: min(TRIED, (len(fits) + 1) // 2)]
    likeliest = fits.argmin()
    tried, count = np.array([likeliest, likeliest - 1, likeliest + 1]), 1
    for figure in tried[1:]:
        if 0 <= figure < len(fits):
            tried[count] = figure
            count += 1
    return tried[:count]


@compiled
def _likeliest_colour(scores: Array) -> int:
    """That of the likeliest figure: scores are (figures, colours)."""
    best, colour = scores[0, 0], 0
    for figure in range(scores.shape[0]):
        for number in range(scores.shape[1]):
            if scores[figure, number] > best:
                best, colour = scores[figure, number], number
    return colour


@compiled
def _no_sides(cells: int, shapes: OutlineTable, rim: Array) -> Array:
    """Room for :attr:`Scored.sides`."""
    return np.zeros((cells, shapes.bands.max(), len(rim), 2), np.float32)


@compiled
def _score_askew(
    of: tuple[Sums, Array, OutlineTable, Chain],
    which: tuple[int, int, int],
    like: tuple[int, float],
    best: float,
    scored: Scored,
) -> float:
    """The score of the likeliest colour of a figure that stands as it suits best; what it scores is ``scored``.

    How it stands, too, when that is better than the ``best`` that was scored so far.

    Args:
        of: sums, rim, shapes, and room.
        which: number of the cell among the sums, cell, figure.
        like: the likeliest colour so far, and what the figure has besides.
        best: as above.
        scored: as above.
    """
    (sums, rim, shapes, chain), (k, cell, figure), (colour, besides) = of, which, like
    lines, sides = lines_of(sums, shapes, which), np.empty_like(scored.sides[k])
    stand = search_stand(lines, shapes, (cell, figure), colour)
    scores = scored.scores[k, figure]
    scores[:] = _score_stand((lines, rim, shapes, chain), (cell, figure), stand, sides)
    scores += besides
    if scores.max() > best:
        scored.shift[k, 0], scored.shift[k, 1] = stand.sideways * shapes.column_mm, chain.found[0]
        scored.sides[k] = sides
    return float(scores.max())


@compiled
def _score_stand(
    of: tuple[Lines, Array, OutlineTable, Chain], which: tuple[int, int], stand: Stand, sides: Array
) -> Total:
    """(colours,) scores of a figure that stands so; its shading is put into ``sides``.

    ``of``: the lines round it, rim, shapes, and room.  ``which``: cell, figure.
    """
    (lines, rim, shapes, chain), (_, figure) = of, which
    scores: Total = np.empty(shapes.allowed.shape[1])
    fit_lines(lines, shapes, which, stand, chain, scores)
    _shade(sideways(lines, stand.sideways), shapes.bands[figure], chain.found, sides)
    gain = _rim_gain(sides[: shapes.bands[figure]], rim, shapes.column_mm)
    for colour in range(len(scores)):
        scores[colour] = scores[colour] + gain if shapes.allowed[figure, colour] else IMPOSSIBLE
    return scores


@compiled
def rim_residuals(steps: Array) -> tuple[Array, Array]:
    """Mean log brightness of each step less that of its side, and pixels: (k, steps) each, from (k, steps, 2)."""
    residuals, counts = np.zeros(steps.shape[:2], np.float32), np.zeros(steps.shape[:2], np.float32)
    for k in range(len(steps)):
        # A difference of two large sums is not exact: less than a pixel is nothing.
        shown = steps[k, :, 1] >= 1
        pixels = (steps[k, :, 1] * shown).sum()
        mean = (steps[k, :, 0] * shown).sum() / max(pixels, 1.0)
        for step in range(steps.shape[1]):
            if shown[step]:
                counts[k, step] = steps[k, step, 1]
                residuals[k, step] = steps[k, step, 0] / counts[k, step] - mean
    return residuals, counts


@compiled
def _rim_gain(sides: Array, rim: Array, column_mm: float) -> float:
    """Log-likelihood ratio of sides (parts, steps, 2) shaded as ``rim`` says from below, against evenly shaded ones.

    How strong the shading is, and how far off it the steps are, is not known: the one is fitted (ridge regression), the
    other's variance is what both models leave over (Student's t distribution).
    """
    residuals, counts = rim_residuals(sides)
    area, alike, square, even = 0.0, 0.0, 0.0, 0.0
    for side in range(len(counts)):
        for step, shading in enumerate(rim[::-1]):
            weight, seen = counts[side, step] * column_mm / SHADE_INDEPENDENT_MM2, residuals[side, step]
            area, even = area + weight, even + weight * seen**2
            alike, square = alike + weight * shading * seen, square + weight * shading**2
    if square == 0:
        return 0.0
    known, degrees = SHADE_KNOWN * SHADE_SPREAD**2, SHADE_KNOWN + area
    alike = max(alike, 0.0)  # no light turns the shading round
    variance = (known + even - alike**2 / square) / degrees
    strength = (alike / variance + RIM_SEEN / RIM_VARIES**2) / (square / variance + 1 / RIM_VARIES**2)
    left = even - 2 * strength * alike + strength**2 * square
    unusual = ((strength - RIM_SEEN) / RIM_VARIES) ** 2 + np.log(1 + RIM_VARIES**2 * square / variance)
    return float(degrees * np.log((known + even) / (known + left)) - unusual) / 2


@compiled
def _shade(lines: Lines, count: int, shifts: Total, sides: Array) -> None:
    """Fill ``sides`` (parts, steps, 2): sums over each step of ``count`` sides, whose lines are off by ``shifts``."""
    sides[:] = 0
    above, below = np.zeros(2), np.zeros(2)
    steps, brightness = sides.shape[1], lines.size[2] - 2
    for number in range(count * steps + 1 if count > 0 else 0):
        place = number / steps  # sides below the face
        side = min(int(place), count - 1)
        part = place - side
        shift = shifts[side] * (1 - part) + shifts[side + 1] * part
        sum_line(lines, (1 + side, part, shift), brightness, below)
        if number > 0:
            sides[(number - 1) // steps, (number - 1) % steps] = below - above
        above[:] = below
