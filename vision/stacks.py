"""How well each figure and colour explains a cell's pixels: analysis by synthesis, over every way a stack may stand.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour); other figures have other parts (:mod:`vision.figures`).  The score of a
state is the log-likelihood of the pixels that it covers, against what they would show without it.  Face and foot may
be off their places, but not by much.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.evidence import Backdrop, Evidence
from vision.palette import STRAY_LOG, Materials
from vision.stands import Stand, fit_lines
from vision.sums import Shapes, Sums, lines_of, sum_line

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

STANDING, TOPS = Materials.STANDING, Materials.TOPS

SHADE_SPREAD = 0.15
"""Standard deviation of the log brightness of a side's pixels besides the rim's shading: texture, noise."""

SHADE_INDEPENDENT_MM2 = 20.0
"""Area over which texture and noise are one observation; they reach less far than errors of colour and outline."""

IMPOSSIBLE = np.float32(-1e4)
"""Log-likelihood ratio of a piece that the kit does not have."""


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
            lines = lines_of(sums, shapes, (k, cells[k], figure, 0.0))
            sum_line(lines, (0, 0.0, 0.0), 1, far)
            sum_line(lines, (1, 0.0, 0.0), 1, near)
            sum_line(lines, (1, 0.0, 0.0), 0, upper)
            sum_line(lines, (len(lines.edges) - 1, 0.0, 0.0), 0, lower)
            for colour in range(colours):
                fits = (near[colour] - far[colour] + lower[0] - upper[0]) * shapes.weight
                scores[k, figure, colour] = fits if shapes.allowed[figure, colour] else IMPOSSIBLE
    return scores


@compiled
def share_of_smallest(evidence: Evidence, backdrop: Backdrop, shapes: Shapes, cells: Indices) -> tuple[Array, Array]:
    """Share of the smallest figure's outline on ``cells`` (b,) that looks more like a piece than like what is behind.

    Or like neither: nothing else is so dark as some sides, and so bright as a mirrored lamp.

    And (b,) the share that is seen at all.  ``backdrop``: of the whole crops.
    """
    bins, palette, base, seen = evidence.bins, evidence.palette, backdrop.base, backdrop.seen
    edges, columns = shapes.edges, shapes.columns
    like_piece, in_sight = np.zeros(len(cells), np.float32), np.zeros(len(cells), np.float32)
    last, colours = bins.shape[1] - 1, shapes.allowed.shape[1]
    for k in range(len(cells)):
        area = 1e-6
        for i in range(len(columns)):
            far, foot, x = edges[cells[k], 0, 0, i], edges[cells[k], 0, -1, i], columns[i]
            for row in range(max(int(far), 0), min(int(foot), last) + 1):
                covered = min(foot, row + 1) - max(far, row)
                area += covered
                if seen[k, row, x]:
                    in_sight[k] += covered
                    fits, behind = palette[bins[cells[k], row, x]], base[k, row, x]
                    is_like = fits[STANDING] > behind or behind < STRAY_LOG
                    for colour in range(colours):
                        is_like |= fits[TOPS + colour] > behind
                    like_piece[k] += covered * is_like
        like_piece[k] /= area
        in_sight[k] /= area
    return like_piece, in_sight


@compiled
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
        stand: where they stand, roughly.

    Returns:
        (b, l, colours) log-likelihood ratio against an empty cell; (b, l, 2) the shift (u, v) mm of the face; and
        (b, l, parts, steps, 2) sums of log brightness and of pixels over each step of each side, the uppermost first.
    """
    scores, lines = fit_lines(sums, shapes, cells, figures, stand)
    steps = _shades(sums, shapes, cells, figures, (lines, stand.sideways), len(rim))
    gain, shift = _rim_gain(steps, rim, shapes), np.empty((*figures.shape, 2), np.float32)
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            shift[k, trial, 0] = stand.sideways[k, trial] * shapes.column_mm
            shift[k, trial, 1] = lines[k, trial, 0]
            for colour in range(scores.shape[2]):
                is_allowed = shapes.allowed[figures[k, trial], colour]
                scores[k, trial, colour] = scores[k, trial, colour] + gain[k, trial] if is_allowed else IMPOSSIBLE
    return scores, shift, steps


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
def _shades(
    sums: Sums, shapes: Shapes, cells: Indices, figures: Indices, stand: tuple[Array, Array], steps: int
) -> Array:
    """(b, l, parts, steps, 2) sums over each step of each side from above, of lines (b, l, lines) moved sideways."""
    shifts, sideways = stand
    most = 0
    for figure in figures.ravel():
        most = max(most, shapes.bands[figure])
    shades = np.zeros((*figures.shape, most, steps, 2), np.float32)
    above, below = np.zeros(2), np.zeros(2)
    brightness = sums.down.shape[3] - 2
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            figure = figures[k, trial]
            lines = lines_of(sums, shapes, (k, cells[k], figure, sideways[k, trial]))
            count = shapes.bands[figure]
            for number in range(count * steps + 1 if count > 0 else 0):
                place = number / steps  # sides below the face
                side = min(int(place), count - 1)
                part = place - side
                shift = shifts[k, trial, side] * (1 - part) + shifts[k, trial, side + 1] * part
                sum_line(lines, (1 + side, part, shift), brightness, below)
                if number > 0:
                    shades[k, trial, (number - 1) // steps, (number - 1) % steps] = below - above
                above[:] = below
    return shades
