"""Which tower of pyramids stands there: every facet that a figure predicts should show one even colour.

Colour alone cannot tell a large pyramid from a smaller one of its colour put over it, and a flank may mirror a lamp and
look like the floor.  But each flank is evenly lit, so a figure is right when its edges lie where the picture's are:
then the colours within each of its facets vary least (piecewise constant segmentation: Mumford and Shah, 1989; Chan
and Vese, 2001; here with the few contours that geometry allows).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.crops import INDEPENDENT_MM2, Crops
from vision.figures import LEAN_MM, PLACE_MM, TURNS_DEG, Figures, Wire
from vision.outlines import extents, in_crops, stacked_edges
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

SEARCH = tuple(
    np.array(moves, np.float32)
    for moves in (
        [(-1, 0, 0), (1, 0, 0), (0, -1, -1), (0, 1, 1), (-1, 1, 1), (1, 1, 1), (-1, -1, -1), (1, -1, -1)],
        [(-1, 0, 0), (1, 0, 0), (0, -1, -1), (0, 1, 1), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0)],
        [(-1, 0, 0), (1, 0, 0), (0, -1, -1), (0, 1, 1), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0)],
    )
)
"""Steps (sideways, along, foot) mm that are tried, one after the other: first of the whole, then of its parts."""

FLANKS = ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
"""Corners of a pyramid's flanks (:func:`vision.figures` has the base first, then the tip)."""


@dataclass(frozen=True, eq=False)
class Facets:
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
    seen, runs = [], []
    for flank in FLANKS:
        a, b, tip = (corners[i] for i in flank)
        normal = np.cross(b - a, tip - a)
        eye = pose.centre_mm - (crops.centres_mm + (a + b + tip) / 3)
        facing = eye @ normal / (np.linalg.norm(eye, axis=1) * np.linalg.norm(normal))
        triangle = Wire(corners[list(flank)], np.array([(0, 1), (1, 2), (2, 0)]))
        far, near = extents(in_crops(crops, pose, camera, triangle), triangle.lines, crops.u_mm)
        is_seen = (facing > 0)[:, None]
        seen.append(np.where(facing > 0, facing, -1))
        runs.append((np.where(is_seen, far, np.inf), np.where(is_seen, near, -np.inf)))
    order = np.argsort(np.array(seen), axis=0)  # flank, cell
    everyone = np.arange(len(crops.centres_mm))
    far, near = (np.array([run[side] for run in runs]) for side in (0, 1))
    return [(far[rank, everyone].astype(np.float32), near[rank, everyone].astype(np.float32)) for rank in order]


def accumulate_values(values: Array, seen: npt.NDArray[np.bool_], bare: Array) -> Array:
    """Sums down each crop's column, where seen: (rows + 1, b, columns, 6).

    Of 1, the three display values, their squares together, and by how much the bare ground is likelier than it is
    where it shows.
    """
    shown = seen[..., None]
    explained = seen & (bare > UNEXPLAINED_LOG)
    usual = (bare * explained).sum(axis=(1, 2)) / np.maximum(explained.sum(axis=(1, 2)), 1)
    bare = bare - usual[:, None, None]
    squares = (values**2).sum(axis=3, keepdims=True)
    layers = np.concatenate([np.ones_like(squares), values, squares, bare[..., None]], axis=3) * shown
    sums = np.zeros((layers.shape[1] + 1, len(layers), *layers.shape[2:]), np.float64)
    np.cumsum(layers.transpose(1, 0, 2, 3), axis=0, out=sums[1:])
    return sums.astype(np.float32)


def judge_facets(sums: Array, facets: Facets, cells: Indices, stand: Array) -> Array:
    """(b, f) how evenly each figure's facets are coloured, standing where they are so best: log-likelihood ratios.

    Args:
        sums: (rows + 1, b, columns, 6), :func:`accumulate_values`.
        facets: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        stand: (b, 2) where the search begins: sideways and along, mm.
    """
    batch, count = len(cells), facets.edges.shape[1]
    every = np.broadcast_to(np.arange(count), (batch, count))
    believed = np.stack([stand[:, 0], stand[:, 1], stand[:, 1]], axis=1)[:, None]
    begins = np.stack([np.repeat(share * believed, count, axis=1) for share in BEGINS])
    firsts = np.stack([_score(sums, facets, cells, every, begin, step=2) for begin in begins])
    scores, begun = firsts.max(axis=0), firsts.argmax(axis=0)
    # Of each tower, in whatever way it is turned, the best few: small ones fit well before they are placed well.
    turns = scores.reshape(batch, -1, len(TURNS_DEG))
    likely = np.argsort(-turns, axis=2)[:, :, :REFINED]
    best = (likely + len(TURNS_DEG) * np.arange(turns.shape[1])[:, None]).reshape(batch, -1)
    rows = np.arange(batch)[:, None]
    at = begins[begun[rows, best], rows, best]
    found = _score(sums, facets, cells, best, at)
    for moves in SEARCH:
        trials = at[:, :, None] + moves  # b, l, moves, 3
        several = np.repeat(best, len(moves), axis=1)
        tried = _score(sums, facets, cells, several, trials.reshape(batch, -1, 3)).reshape(trials.shape[:3])
        which = tried.argmax(axis=2)[..., None]
        better = np.take_along_axis(tried, which, axis=2)[..., 0]
        at = np.where((better > found)[..., None], np.take_along_axis(trials, which[..., None], axis=2)[:, :, 0], at)
        found = np.maximum(found, better)
    # What was not looked into more closely gains no more than the others did by it.
    scores = scores + (found - np.take_along_axis(scores, best, axis=1)).max(axis=1, keepdims=True).clip(min=0)
    scores = np.minimum(scores, found.min(axis=1, keepdims=True))
    np.put_along_axis(scores, best, found, axis=1)
    ratios: Array = scores - scores.max(axis=1, keepdims=True)
    return ratios


def _score(sums: Array, facets: Facets, cells: Indices, figures: Indices, stand: Array, step: int = 1) -> Array:
    """(b, l) log-likelihood of the crops, up to a constant a cell, for ``figures`` (b, l) that stand so (b, l, 3).

    ``step``: every how many columns are looked at.
    """
    edges = facets.edges[cells[:, None], figures, :, ::step]  # b, l, e, k
    place = facets.piece[figures][..., None]
    along, foot = stand[..., 1, None, None], stand[..., 2, None, None]
    rows = np.rint(np.clip(edges + along * place + foot * (1 - place), 0, len(sums) - 1)).astype(np.intp)
    total = sums.shape[2]
    columns = np.clip(np.arange(0, total, step) + np.rint(stand[..., 0, None, None]).astype(np.intp), 0, total - 1)
    batch = np.arange(len(cells))[:, None, None, None]
    at = sums.reshape(-1, sums.shape[3]).take((rows * len(cells) + batch) * total + columns, axis=0).sum(axis=3)
    part = at[:, :, 1:] - at[:, :, :-1]  # b, l, part, 6
    count = np.maximum(part[..., 0], 1e-3)
    uneven = np.maximum(part[..., 4] - (part[..., 1:4] ** 2).sum(axis=-1) / count, 0).sum(axis=2)
    fits = (-uneven / (2 * UNEVEN**2) - part[..., 5].sum(axis=2)) * (step / INDEPENDENT_MM2)
    off = -0.5 * ((stand[..., 0] ** 2 + stand[..., 2] ** 2) / PLACE_MM**2 + ((along - foot)[..., 0, 0] / LEAN_MM) ** 2)
    return np.asarray(fits + off, np.float32)
