"""Which tower of pyramids stands there: every facet that a figure predicts should show one even colour.

Colour alone cannot tell a large pyramid from a smaller one of its colour put over it, and a flank may mirror a lamp and
look like the floor.  But each flank is evenly lit, so a figure is right when its edges lie where the picture's are:
then the colours within each of its facets vary least (piecewise constant segmentation: Mumford and Shah, 1989; Chan
and Vese, 2001; here with the few contours that geometry allows).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import compiled
from vision.crops import INDEPENDENT_MM2, Crops
from vision.evidence import Backdrop, Evidence
from vision.figures import LEAN_MM, PLACE_MM, TURNS_DEG, Figures, Wire
from vision.outlines import extents, in_picture, stacked_edges
from vision.palette import BINS, STRAY
from vision.register import Registration

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


def make_facets(crops: Crops, pose: Registration, camera: Camera, figures: Figures) -> Facets:
    """The flanks of pyramids on all cells, seen from ``pose``."""
    cells, count = len(crops.centres_mm), len(figures.all)
    width = len(FLANKS) * int(figures.parts.max()) + 1
    edges = np.empty((cells, count, width, len(crops.u_mm)), np.float32)
    piece = np.zeros((count, width), np.float32)
    flanks = {
        id(wire): _flanks(crops, pose, camera, wire)
        for wire in {id(part): part for figure in figures.all for part in figure.parts}.values()
    }
    for number, figure in enumerate(figures.all):
        runs = [run for part in figure.parts for run in flanks[id(part)]]
        edges[:, number] = stacked_edges(runs, width)[0] - (crops.v_mm[0] - 0.5)
        places = np.repeat(np.linspace(1, 0, max(len(figure.parts), 2))[: len(figure.parts)], len(FLANKS))
        # An edge belongs to the piece above it, but the first is the uppermost's own.
        piece[number, : len(places) + 1] = np.concatenate([places[:1], places])
        piece[number, len(places) + 1 :] = places[-1]
    return Facets(edges, piece)


def _flanks(crops: Crops, pose: Registration, camera: Camera, wire: Wire) -> list[tuple[Array, Array]]:
    """Runs (far, near) of a pyramid's flanks that can be seen, each cell's most sideways flank first."""
    corners = wire.corners_mm
    places = crops.from_picture(np.arange(len(crops.centres_mm)), in_picture(crops, pose, camera, wire))
    seen, runs = [], []
    for flank in FLANKS:
        a, b, tip = (corners[i] for i in flank)
        normal = np.cross(b - a, tip - a)
        eye = pose.centre_mm - (crops.centres_mm + (a + b + tip) / 3)
        facing = eye @ normal / (np.linalg.norm(eye, axis=1) * np.linalg.norm(normal))
        far, near = extents(places, np.array([flank, np.roll(flank, -1)]).T, crops.u_mm)
        is_seen = (facing > 0)[:, None]
        seen.append(np.where(facing > 0, facing, -1))
        runs.append((np.where(is_seen, far, np.inf), np.where(is_seen, near, -np.inf)))
    order = np.argsort(np.array(seen), axis=0)  # flank, cell
    everyone = np.arange(len(crops.centres_mm))
    far, near = (np.array([run[side] for run in runs]) for side in (0, 1))
    return [(far[rank, everyone].astype(np.float32), near[rank, everyone].astype(np.float32)) for rank in order]


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
