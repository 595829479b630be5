"""Which tower of pyramids stands there: every facet that a figure predicts should show one even colour.

Colour alone cannot tell a large pyramid from a smaller one of its colour put over it, and a flank may mirror a lamp and
look like the floor.  But each flank is evenly lit, so a figure is right when its edges lie where the picture's are:
then the colours within each of its facets vary least (piecewise constant segmentation: Mumford and Shah, 1989; Chan
and Vese, 2001; here with the few contours that geometry allows).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.crops import INDEPENDENT_MM2, Crops
from vision.evidence import Backdrop, Evidence
from vision.figures import LEAN_MM, PLACE_MM, TURNS_DEG, Figures
from vision.outlines import stacked_edges, widen
from vision.palette import BINS, STRAY
from vision.register import Points, Registration

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

UNEXPLAINED_LOG = float(np.log(STRAY / BINS**3)) + 1
"""Log-likelihood under which a pixel is no bare ground."""

UNEVEN = 0.08
"""Standard deviation of a facet's display values: light that falls off along it, texture, edges a little off."""

BEGINS = (0.0, 0.5, 1.0)
"""The search for a stand begins in the middle of the cell, where colour alone has the piece, and between."""

REFINED = 2
"""Turns of each tower whose stand is looked for more closely: those that suit best at first."""

SEARCH = np.array(
    [
        [(-1, 0, 0), (1, 0, 0), (0, -1, -1), (0, 1, 1), (-1, 1, 1), (1, 1, 1), (-1, -1, -1), (1, -1, -1)],
        [(-1, 0, 0), (1, 0, 0), (0, -1, -1), (0, 1, 1), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0)],
        [(-1, 0, 0), (1, 0, 0), (0, -1, -1), (0, 1, 1), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0)],
    ],
    np.float32,
)
"""Steps (sideways, along, foot) mm that are tried, one after the other: first of the whole, then of its parts."""

FLANKS = ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
"""Corners of a pyramid's flanks (:func:`vision.figures` has the base first, then the tip)."""


class Facets(NamedTuple):
    """Flanks of every figure (f) on every cell (n), in crops of all their k columns.

    Attributes:
        edges: (n, f, e, k) float32 places in a cumulative sum along the crop's column between the flanks, the uppermost
            first.
        piece: (f, e) float32, for each edge where its piece stands in the tower: 1 uppermost, 0 at the bottom.
    """

    edges: Array
    piece: Array


def make_facets(crops: Crops, pose: Registration, figures: Figures, pixels: Sequence[Points]) -> Facets:
    """The flanks of pyramids on all cells, seen from ``pose``; ``pixels`` of their wires, each (n, 5, 2)."""
    cells, count = len(crops.centres_mm), len(figures.all)
    width = len(FLANKS) * int(figures.parts.max()) + 1
    edges = np.empty((cells, count, width, len(crops.u_mm)), np.float32)
    piece = np.zeros((count, width), np.float32)
    runs = [
        _flanks(crops.from_picture(points), facing, crops.u_mm)
        for points, facing in zip(pixels, _facing(crops, pose, figures), strict=True)
    ]
    far, near = (np.concatenate([run[side] for run in runs]) for side in (0, 1))
    for number, wires in enumerate(figures.wire_numbers):
        flanks = (wires[:, None] * len(FLANKS) + np.arange(len(FLANKS))).ravel()
        edges[:, number], _ = stacked_edges(far, near, flanks, width)
        places = np.repeat(np.linspace(1, 0, max(len(wires), 2))[: len(wires)], len(FLANKS))
        # An edge belongs to the piece above it, but the first is the uppermost's own.
        piece[number, : len(places) + 1] = np.concatenate([places[:1], places])
        piece[number, len(places) + 1 :] = places[-1]
    edges -= np.float32(crops.v_mm[0] - 0.5)
    return Facets(edges, piece)


def _facing(crops: Crops, pose: Registration, figures: Figures) -> Points:
    """(wires, n, flanks) cosine of the angle under which the camera sees pyramids' flanks; negative from behind."""
    corners = np.array([wire.corners_mm for wire in figures.wires])
    a, b, tip = (corners[:, which] for which in np.array(FLANKS).T)
    normals = np.cross(b - a, tip - a)
    eye = pose.centre_mm - (crops.centres_mm[:, None] + ((a + b + tip) / 3)[:, None])
    lengths = np.linalg.norm(eye, axis=3) * np.linalg.norm(normals, axis=2)[:, None]
    facing: Points = np.einsum("wnfi,wfi->wnf", eye, normals) / lengths
    return facing


@compiled
def _flanks(corners_mm: Points, facing: Points, u_mm: npt.NDArray[np.int32]) -> tuple[Array, Array]:
    """(flanks, n, k) rows in which a pyramid's flanks that can be seen begin, and end, the most sideways one first.

    ``corners_mm`` (n, 5, 2) are crop coordinates; ``facing`` (n, flanks).
    """
    cells = len(corners_mm)
    far = np.full((len(FLANKS), cells, len(u_mm)), np.inf, np.float32)
    near = np.full((len(FLANKS), cells, len(u_mm)), -np.inf, np.float32)
    for cell in range(cells):
        place = np.argsort(facing[cell])
        for number in range(len(FLANKS)):
            flank = place[number]
            if facing[cell, flank] > 0:
                a, b, tip = FLANKS[flank]
                for begin, end in ((a, b), (b, tip), (tip, a)):
                    widen(corners_mm[cell, begin], corners_mm[cell, end], u_mm, far[number, cell], near[number, cell])
    return far, near


def judge_facets(evidence: Evidence, backdrop: Backdrop, facets: Facets, cells: Indices, stand: Array) -> Array:
    """(b, f) how evenly each figure's facets are coloured, standing where they are so best: log-likelihood ratios.

    Args:
        evidence: of all cells.
        backdrop: of the whole crops of ``cells``.
        facets: of the pose.
        cells: (b,) the cells to judge.
        stand: (b, 2) where the search begins: sideways and along, mm.
    """
    sums = _sum_values(evidence, backdrop, cells)
    firsts, begun = _first_fits(sums, facets, cells, stand)
    # Of each tower, in whatever way it is turned, the best few: small ones fit well before they are placed well.
    turns = firsts.reshape(len(cells), -1, len(TURNS_DEG))
    likely = np.argsort(-turns, axis=2)[:, :, :REFINED]
    best = (likely + len(TURNS_DEG) * np.arange(turns.shape[1])[:, None]).reshape(len(cells), -1)
    found = _refined(sums, facets, cells, best, np.take_along_axis(begun, best[..., None], axis=1))
    # What was not looked into more closely gains no more than the others did by it.
    scores = firsts + (found - np.take_along_axis(firsts, best, axis=1)).max(axis=1, keepdims=True).clip(min=0)
    scores = np.minimum(scores, found.min(axis=1, keepdims=True))
    np.put_along_axis(scores, best, found, axis=1)
    ratios: Array = scores - scores.max(axis=1, keepdims=True)
    return ratios


@compiled
def _sum_values(evidence: Evidence, backdrop: Backdrop, cells: Indices) -> Array:
    """Sums down each crop's column, where nothing hides it: (b, columns, rows + 1, 6).

    Of 1, the three display values, their squares together, and by how much the bare ground is likelier than it is
    where it shows.
    """
    codes, gain, base, seen = evidence.codes, evidence.gain, backdrop.base, backdrop.seen
    _, rows, columns = base.shape
    sums = np.zeros((len(cells), columns, rows + 1, 6), np.float32)
    for k in range(len(cells)):
        usual = _usual(base[k], seen[k])
        for column in range(columns):
            for row in range(rows):
                for kind in range(6):
                    sums[k, column, row + 1, kind] = sums[k, column, row, kind]
                if seen[k, row, column]:
                    sums[k, column, row + 1, 0] += 1
                    for channel in range(3):
                        value = codes[cells[k], row, column, channel] * gain[cells[k], channel]
                        sums[k, column, row + 1, 1 + channel] += value
                        sums[k, column, row + 1, 4] += value**2
                    sums[k, column, row + 1, 5] += base[k, row, column] - usual
    return sums


@compiled
def _usual(base: Array, seen: npt.NDArray[np.bool_]) -> float:
    """Mean log-likelihood (rows, columns) of the bare ground where a crop shows it."""
    total, count = 0.0, 0
    for bare, is_seen in zip(base.ravel(), seen.ravel()):  # noqa: B905 - Numba knows no strict=
        if is_seen and bare > UNEXPLAINED_LOG:
            total += float(bare)
            count += 1
    return total / max(count, 1)


@compiled
def _first_fits(sums: Array, facets: Facets, cells: Indices, stand: Array) -> tuple[Array, Array]:
    """(b, f) how well each figure fits where it is first looked for, in every second column, and (b, f, 3) where."""
    count = facets.edges.shape[1]
    fits = np.full((len(cells), count), -np.inf, np.float32)
    begun = np.zeros((len(cells), count, 3), np.float32)
    begin, parts = np.zeros(3, np.float32), np.zeros((facets.edges.shape[2], 6), np.float32)
    for k in range(len(cells)):
        for share in BEGINS:
            begin[0], begin[1], begin[2] = share * stand[k, 0], share * stand[k, 1], share * stand[k, 1]
            for figure in range(count):
                fit = _fit(sums[k], facets.edges[cells[k], figure], facets.piece[figure], (begin, parts), 2)
                if fit > fits[k, figure]:
                    fits[k, figure], begun[k, figure] = fit, begin
    return fits, begun


@compiled
def _refined(sums: Array, facets: Facets, cells: Indices, figures: Indices, begin: Array) -> Array:
    """(b, l) how well ``figures`` (b, l) fit at best, looked for from ``begin`` (b, l, 3) on."""
    fits = np.zeros(figures.shape, np.float32)
    parts = np.zeros((facets.edges.shape[2], 6), np.float32)
    for k in range(len(cells)):
        for trial in range(figures.shape[1]):
            edges, piece = facets.edges[cells[k], figures[k, trial]], facets.piece[figures[k, trial]]
            at = begin[k, trial]
            best = _fit(sums[k], edges, piece, (at, parts), 1)
            for moves in SEARCH:
                which = at
                for move in moves:
                    fit = _fit(sums[k], edges, piece, (at + move, parts), 1)
                    if fit > best:
                        best, which = fit, at + move
                at = which
            fits[k, trial] = best
    return fits


@compiled
def _fit(sums: Array, edges: Array, piece: Array, work: tuple[Array, Array], step: int) -> float:
    """Log-likelihood of a crop, up to a constant a cell, for a figure that stands so.

    Args:
        sums: (columns, rows + 1, 6) of the cell.
        edges: (e, k) of the figure.
        piece: (e,) where each edge's piece stands in the tower.
        work: (3,) how far the figure is off its place, sideways, along and at the foot, mm; (e, 6) room to work in.
        step: every how many columns are looked at.
    """
    stand, parts = work
    sideways, along, foot = stand
    columns, last = len(sums), sums.shape[1] - 1
    parts[:] = 0
    for column in range(0, columns, step):
        at = sums[min(max(column + int(np.rint(sideways)), 0), columns - 1)]
        above = 0
        for edge in range(len(edges)):
            row = edges[edge, column] + along * piece[edge] + foot * (1 - piece[edge])
            here = int(np.rint(min(max(row, 0.0), last)))
            if edge > 0 and here != above:
                for kind in range(6):
                    parts[edge, kind] += at[here, kind] - at[above, kind]
            above = here
    uneven, bare = 0.0, 0.0
    for part in parts:
        red, green, blue = part[1], part[2], part[3]
        uneven += max(part[4] - (red**2 + green**2 + blue**2) / max(part[0], 1e-3), 0.0)
        bare += part[5]
    off = (sideways**2 + foot**2) / PLACE_MM**2 + ((along - foot) / LEAN_MM) ** 2
    return float((-uneven / (2 * UNEVEN**2) - bare) * (step / INDEPENDENT_MM2) - 0.5 * off)
