"""Whether a piece's outline is seen on terrain or pillars, or the edges of these where the piece would hide them.

In a pit anything may be as dark as anything else.  But one surface is as bright on one side of a line as on the other,
and where two meet they often differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.observations import Observations
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Surfaces = npt.NDArray[np.int32]
Covers = npt.NDArray[np.bool_]
Total = npt.NDArray[np.float64]
Place = tuple[int, int]
"""Row and column of a crop."""

BESIDE_MM = 3
"""How far on either side of an edge one looks: nothing stands just where it should."""

UNIT_MM = 4
"""Length of an edge over which shadows and texture are one observation."""

EVEN = 0.1
"""Standard deviation of the log brightness of one surface from one place to another so near by."""

VARIED = 0.8
"""Standard deviation of the difference between two surfaces."""

UNLIKE = 0.05
"""Share of places on one surface that a shadow divides, and of outlines that nothing is seen of."""

ALIKE = 0.5
"""Share of edges of terrain and pillars that nothing is seen of: they are all of one colour."""

MOST_EDGES = 4
"""Edges of what is behind a piece, one below the other, that are looked at."""

_OUTLINE, _BEHIND = (1 - UNLIKE, UNLIKE), (UNLIKE, 1 - ALIKE)
"""How probable it is that two places differ, if the piece stands there and if nothing does."""

_STANDING = int(Materials.STANDING)


class _Observed(NamedTuple):
    """One crop.

    Attributes:
        logs: (rows, columns) float32 log brightness, where a surface counts.
        surfaces: (rows, columns) which surface would be seen; 0 for none that counts.
        units: (u, 3) room for differences: their number, their sum, and that of their squares.
    """

    logs: Array
    surfaces: Surfaces
    units: Total


@compiled
def edge_log_ratio(
    observations: Observations,
    visibility: Visibility,
    labels: LabelBuffer,
    table: OutlineTable,
    which: tuple[Indices, int],
) -> Array:
    """(b, f) log-likelihood ratio of the edges that are seen if a figure stands there, against none standing.

    Args:
        observations: what the picture shows.
        visibility: of the pose.
        labels: what would be seen if nothing stood on the cells.
        table: of the pose; each figure stands straight in the middle of its cell.
        which: cells (b,), and how many of the figures, f, are looked at.
    """
    cells, configurations = which
    _, rows, columns = observations.bins.shape
    ratios = np.zeros((len(cells), configurations), np.float32)
    logs, surfaces = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.int32)
    units = np.empty((max(rows // UNIT_MM + 1, MOST_EDGES * (columns * int(table.column_mm) // UNIT_MM + 1)), 3))
    shown = _Observed(logs, surfaces, units)
    for k in range(len(cells)):
        _look(observations, visibility, labels, cells[k], shown)
        for configuration in range(configurations):
            edges, covers = table.edges[cells[k], configuration], table.covers[cells[k], configuration]
            ratio = _upper_edge(shown, table, edges, covers) + _edges_behind(shown, table, edges, covers)
            ratio += _side(shown, table, edges, covers, 1) + _side(shown, table, edges, covers, -1)
            ratios[k, configuration] = ratio
    return ratios


@compiled
def _look(observations: Observations, visibility: Visibility, labels: LabelBuffer, cell: int, shown: _Observed) -> None:
    """Fill in what a crop shows, and would show if nothing stood there.

    Surfaces count of which it is known that they are evenly bright: not what lies on the table, nor what a nearer piece
    hides.
    """
    rendered, codes, bright = labels.reshape(-1), observations.codes[cell], observations.logs[cell]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            surface = rendered[visibility.flat_px[cell, row, column]]
            is_seen = visibility.visible[cell, row, column] and surface >> RANK_BITS <= visibility.rank[cell]
            shown.surfaces[row, column] = 0
            if is_seen and surface & MATERIAL_MASK >= _STANDING:
                shown.surfaces[row, column] = surface
                blue, green, red = codes[row, column]
                shown.logs[row, column] = (bright[0, blue] + bright[1, green] + bright[2, red]) / 3


@compiled
def _upper_edge(shown: _Observed, table: OutlineTable, edges: Array, covers: Covers) -> float:
    surfaces, units = shown.surfaces, shown.units
    units[:] = 0
    for i in range(len(covers)):
        row, column = int(np.rint(edges[0, i])), table.columns[i]
        inside, outside = row + BESIDE_MM, row - BESIDE_MM
        if not covers[i] or outside < 0 or inside >= min(edges[-1, i], len(surfaces)):
            continue
        if surfaces[inside, column] == surfaces[outside, column] > 0:
            _add(shown, int(i * table.column_mm) // UNIT_MM, (inside, column), (outside, column))
    return _ratio(units, _OUTLINE)


@compiled
def _side(shown: _Observed, table: OutlineTable, edges: Array, covers: Covers, inward: int) -> float:
    """The left edge of a figure, which lies ``inward`` 1 column from its first one, or the right one (-1)."""
    surfaces, units = shown.surfaces, shown.units
    units[:] = 0
    count = len(covers)
    beside = inward * max(1, int(np.rint(BESIDE_MM / table.column_mm)))
    for row in range(max(int(edges[0].min()), 0), min(int(edges[-1].max()) + 1, len(surfaces))):
        at = 0 if inward > 0 else count - 1
        while 0 <= at < count and not (covers[at] and edges[0, at] <= row <= edges[-1, at]):
            at += inward
        inner = at + beside
        if not (0 <= at < count and 0 <= inner < count and edges[0, inner] <= row <= edges[-1, inner]):
            continue
        inside, outside = table.columns[inner], table.columns[at] - beside
        if 0 <= outside < surfaces.shape[1] and surfaces[row, inside] == surfaces[row, outside] > 0:
            _add(shown, row // UNIT_MM, (row, inside), (row, outside))
    return _ratio(units, _OUTLINE)


@compiled
def _edges_behind(shown: _Observed, table: OutlineTable, edges: Array, covers: Covers) -> float:
    """The edges between surfaces that would be seen in the place of each part of a figure if it did not stand there."""
    surfaces, units = shown.surfaces, shown.units
    units[:] = 0
    for i in range(len(covers)):
        column, found = table.columns[i], 0
        for part in range(len(edges) - 1 if covers[i] else 0):
            first, end = int(edges[part, i]) + 1, min(int(edges[part + 1, i]), len(surfaces))
            for row in range(first + BESIDE_MM, end - BESIDE_MM):
                above, below = row - BESIDE_MM, row + BESIDE_MM - 1
                is_edge = surfaces[row - 1, column] != surfaces[row, column]
                if not is_edge or surfaces[above, column] == 0 or surfaces[below, column] == 0 or found == MOST_EDGES:
                    continue
                number = (int(i * table.column_mm) // UNIT_MM) * MOST_EDGES + found
                _add(shown, number, (above, column), (below, column))
                found += 1
    return _ratio(units, _BEHIND)


@compiled
def _add(shown: _Observed, number: int, one: Place, other: Place) -> None:
    """Add the difference between two places to a unit."""
    apart = shown.logs[one[0], one[1]] - shown.logs[other[0], other[1]]
    unit = shown.units[number]
    unit[0] += 1
    unit[1] += apart
    unit[2] += apart * apart


@compiled
def _ratio(units: Total, differ: tuple[float, float]) -> float:
    """Log-likelihood ratio of ``units`` that ``differ`` so often if a piece stands there, and if none does."""
    standing, bare = differ
    odds = 1.0
    for unit in units:
        if unit[0] >= 2:
            mean = unit[1] / unit[0]
            noise = max(unit[2] / unit[0] - mean * mean, 0.0) / unit[0]
            even, varied = EVEN**2 + noise, VARIED**2 + noise
            of_even = np.exp(-0.5 * mean * mean / even) / np.sqrt(even)
            of_varied = np.exp(-0.5 * mean * mean / varied) / np.sqrt(varied)
            odds *= (standing * of_varied + (1 - standing) * of_even) / (bare * of_varied + (1 - bare) * of_even)
    return float(np.log(odds))
