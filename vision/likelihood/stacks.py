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
from vision.likelihood.column_integrals import ColumnIntegrals, Lines, Total, lines_of, sideways, sum_line
from vision.likelihood.observations import Observations
from vision.likelihood.placement import (
    Placement,
    Trellis,
    fit_lines,
    make_trellis,
    placement_under_face,
    search_placement,
)
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer
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
def score_upright(integrals: ColumnIntegrals, table: OutlineTable, cells: Indices, log_prior: Array) -> Array:
    """Scores as if every figure stood straight in the middle of its cell.

    Args:
        integrals: of the cells; figures that reach beyond its first row cannot be scored.
        table: of the pose.
        cells: (b,) the cells that ``integrals`` belongs to.
        log_prior: (b, f) what the lower f figures have besides; those above are not looked at.

    Returns:
        (b, figures, colours) log-likelihood ratio against an empty cell; impossible where there is no such piece.
    """
    configurations, colours = table.allowed.shape
    scores = np.full((len(cells), configurations, colours), OUT_OF_REACH)
    far, near, foot = np.zeros(1 + colours), np.zeros(1 + colours), np.zeros(1)
    for k in range(len(cells)):
        for configuration in range(log_prior.shape[1]):
            lines = lines_of(integrals, table, (k, cells[k], configuration))
            sum_line(lines, (0, 0.0, 0.0), 0, far)
            sum_line(lines, (1, 0.0, 0.0), 0, near)
            sum_line(lines, (1 + table.bands[configuration], 0.0, 0.0), 0, foot)
            for colour in range(colours):
                fits = (near[1 + colour] - far[1 + colour] + foot[0] - near[0]) * table.weight
                suits = fits if table.allowed[configuration, colour] else IMPOSSIBLE
                scores[k, configuration, colour] = suits + log_prior[k, configuration]
    return scores


@compiled
def piece_like_share(
    observations: Observations, visibility: Visibility, labels: LabelBuffer, table: OutlineTable, cells: Indices
) -> tuple[Array, Array]:
    """Share of the smallest figure's outline on ``cells`` (b,) that looks more like a piece than like what is behind.

    Or like neither: nothing else is so dark as some sides, and so bright as a mirrored lamp.

    And (b,) the share that is seen at all.  ``labels``: what would be seen if nothing stood on the cells.
    """
    bins, colour_model, rendered = observations.bins, observations.colour_model, labels.reshape(-1)
    flat_px, visible, edges, columns = (
        visibility.flat_px,
        visibility.visible,
        table.edges,
        table.columns,
    )
    like_piece, in_sight = np.zeros(len(cells), np.float32), np.zeros(len(cells), np.float32)
    last, colours = bins.shape[1] - 1, table.allowed.shape[1]
    for k in range(len(cells)):
        area = 1e-6
        for i in range(len(columns)):
            far, foot, x = edges[cells[k], 0, 0, i], edges[cells[k], 0, -1, i], columns[i]
            for row in range(max(int(far), 0), min(int(foot), last) + 1):
                covered = min(foot, row + 1) - max(far, row)
                area += covered
                nearest = rendered[flat_px[cells[k], row, x]]
                if visible[cells[k], row, x] and nearest >> RANK_BITS <= visibility.rank[cells[k]]:
                    in_sight[k] += covered
                    fits = colour_model[bins[cells[k], row, x]]
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
    integrals: ColumnIntegrals,
    rim: Array,
    table: OutlineTable,
    looked: tuple[Indices, Array],
    is_single_size: bool,  # noqa: FBT001
) -> Scored:
    """Scores for figures on some cells, the likeliest of them standing as they explain the pixels best.

    Args:
        integrals: of the cells, with each colour's side.
        rim: (steps,) shading of a piece's side (:class:`calibration.looks.SetLook`).
        table: of the pose.
        looked: the cells (b,) that ``integrals`` belongs to, and ``log_prior`` of :func:`score_upright`.
        is_single_size: whether each figure is the one before it and a piece more.
    """
    cells, log_prior = looked
    scores, trellis, reach = (
        score_upright(integrals, table, cells, log_prior),
        make_trellis(table),
        log_prior.shape[1],
    )
    shift, sides = np.zeros((len(cells), 2), np.float32), _no_sides(len(cells), table, rim)
    of, scored = (integrals, rim, table, trellis), Scored(scores, shift, sides)
    for k in range(len(cells)):
        tried, best, likeliest = _tried(scores[k, :reach], is_single_size), -np.inf, 0
        colour = _likeliest_colour(scores[k])
        for configuration in tried:
            score = _score_askew(of, (k, cells[k], configuration), (colour, log_prior[k, configuration]), best, scored)
            if score > best:
                best, likeliest = score, configuration
        # Stacks that lean mislead by more than one piece while they are believed to stand straight.
        further = 2 * likeliest - tried[0]
        if is_single_size and further != likeliest and 0 <= further < reach:
            colour = _likeliest_colour(scores[k])
            _score_askew(of, (k, cells[k], further), (colour, log_prior[k, further]), best, scored)
    return scored


@compiled
def score_placed(
    integrals: ColumnIntegrals,
    rim: Array,
    table: OutlineTable,
    placed: tuple[Indices, Indices, Array],
    colours: Indices,
) -> Array:
    """(b, l, colours) scores of figures whose faces are known to be somewhere.

    ``placed``: the cells (b,) that ``integrals`` belongs to, configurations (b, l) on them, and (b, l, 2) mm in the
    crop by which their faces are off their places.  ``colours`` (b,): of what stands there.
    """
    cells, configurations, shift_mm = placed
    trellis, sides = make_trellis(table), _no_sides(1, table, rim)[0]
    scores = np.empty((*configurations.shape, table.allowed.shape[1]), np.float32)
    for k in range(len(cells)):
        for number, configuration in enumerate(configurations[k]):
            which, lines = (cells[k], configuration), lines_of(integrals, table, (k, cells[k], configuration))
            placement = placement_under_face(lines, table, which, colours[k], shift_mm[k, number])
            scores[k, number] = _score_stand((lines, rim, table, trellis), which, placement, sides)
    return scores


@compiled
def _tried(scores: Array, is_single_size: bool) -> Indices:  # noqa: FBT001
    """The figures to be tried askew, given the scores (figures, colours) of those that stand straight, likeliest first.

    Of a ladder those that are a piece higher and lower than the likeliest.
    """
    fits = np.empty(len(scores), np.float32)
    for configuration in range(len(scores)):
        fits[configuration] = -scores[configuration].max()
    if not is_single_size:
        return np.argsort(fits, kind="mergesort")[: min(TRIED, (len(fits) + 1) // 2)]
    likeliest = fits.argmin()
    tried, count = np.array([likeliest, likeliest - 1, likeliest + 1]), 1
    for configuration in tried[1:]:
        if 0 <= configuration < len(fits):
            tried[count] = configuration
            count += 1
    return tried[:count]


@compiled
def _likeliest_colour(scores: Array) -> int:
    """That of the likeliest figure: scores are (figures, colours)."""
    best, colour = scores[0, 0], 0
    for configuration in range(scores.shape[0]):
        for number in range(scores.shape[1]):
            if scores[configuration, number] > best:
                best, colour = scores[configuration, number], number
    return colour


@compiled
def _no_sides(cells: int, table: OutlineTable, rim: Array) -> Array:
    """Room for :attr:`Scored.sides`."""
    return np.zeros((cells, table.bands.max(), len(rim), 2), np.float32)


@compiled
def _score_askew(
    of: tuple[ColumnIntegrals, Array, OutlineTable, Trellis],
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
    (integrals, rim, table, trellis), (k, cell, configuration), (colour, log_prior) = of, which, like
    lines, sides = lines_of(integrals, table, which), np.empty_like(scored.sides[k])
    placement = search_placement(lines, table, (cell, configuration), colour)
    scores = scored.scores[k, configuration]
    scores[:] = _score_stand((lines, rim, table, trellis), (cell, configuration), placement, sides)
    scores += log_prior
    if scores.max() > best:
        scored.shift[k, 0], scored.shift[k, 1] = placement.sideways * table.column_mm, trellis.found[0]
        scored.sides[k] = sides
    return float(scores.max())


@compiled
def _score_stand(
    of: tuple[Lines, Array, OutlineTable, Trellis], which: tuple[int, int], placement: Placement, sides: Array
) -> Total:
    """(colours,) scores of a figure that stands so; its shading is put into ``sides``.

    ``of``: the lines round it, rim, shapes, and room.  ``which``: cell, figure.
    """
    (lines, rim, table, trellis), (_, configuration) = of, which
    scores: Total = np.empty(table.allowed.shape[1])
    fit_lines(lines, table, which, placement, trellis, scores)
    _shade(sideways(lines, placement.sideways), table.bands[configuration], trellis.found, sides)
    gain = _rim_gain(sides[: table.bands[configuration]], rim, table.column_mm)
    for colour in range(len(scores)):
        scores[colour] = scores[colour] + gain if table.allowed[configuration, colour] else IMPOSSIBLE
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
