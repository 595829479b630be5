"""Evidence of edges on terrain and pillars: a piece's outline is visible, or the edges that it would occlude.

In a pit anything may be as dark as anything else, so colours decide little.  But one surface is equally bright on both
sides of a line, and where two surfaces meet they often differ.
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
Sums = npt.NDArray[np.float64]
CropPixel = tuple[int, int]
"""Row and column of a crop."""

BESIDE_MM = 3
"""Distance on either side of an edge at which brightness is compared: pieces are off the middle of their cells by a
millimetre or two.  Chosen by eye."""

UNIT_MM = 4
"""Length of an edge over which shadows and texture are correlated: one observation.  Chosen by eye."""

EVEN = 0.1
"""Standard deviation of the difference in log brightness between two places on one surface.  Chosen by eye."""

VARIED = 0.8
"""Standard deviation of that difference between two surfaces.  Chosen by eye."""

UNLIKE = 0.05
"""Probability of contrast across a line on one surface (a shadow's edge), and of none across a piece's outline.  Chosen
by eye."""

ALIKE = 0.5
"""Probability of no contrast across an edge of terrain or pillars, which all have one colour.  Chosen by eye."""

MOST_EDGES = 4
"""Most edges behind a piece that are evaluated in one column.  Chosen by eye."""

_STANDING = int(Materials.STANDING)


class _Crop(NamedTuple):
    """One crop, and work arrays.

    Attributes:
        logs: (rows, columns) float32, log brightness, where a surface counts.
        surfaces: (rows, columns) int32, label of the surface that is visible if the cell is empty; 0 where none counts.
        units: (u, 3) float64, of each unit of an edge: number of differences in log brightness, their sum, and the sum
            of their squares.
    """

    logs: Array
    surfaces: Surfaces
    units: Sums


@compiled
def edge_log_ratio(
    observations: Observations,
    visibility: Visibility,
    labels: LabelBuffer,
    table: OutlineTable,
    cells: Indices,
    configurations: int,
) -> Array:
    """(b, configurations) float32 log-likelihood ratio of the visible edges, against an empty cell.

    Args:
        observations: of all cells (n).
        visibility: of the pose.
        labels: (height, width) uint16, rendered with nothing on ``cells``.
        table: of the pose; configurations are taken as undisplaced.
        cells: (b,) intp.
        configurations: how many are scored, from the first one on.
    """
    _, rows, columns = observations.bins.shape
    ratios = np.zeros((len(cells), configurations), np.float32)
    logs, surfaces = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.int32)
    units = np.empty((max(rows // UNIT_MM + 1, MOST_EDGES * (columns * int(table.column_mm) // UNIT_MM + 1)), 3))
    crop = _Crop(logs, surfaces, units)
    for k in range(len(cells)):
        _fill(observations, visibility, labels, cells[k], crop)
        for configuration in range(configurations):
            edges, covers = table.edges[cells[k], configuration], table.covers[cells[k], configuration]
            ratio = _upper_edge(crop, table, edges, covers) + _edges_behind(crop, table, edges, covers)
            ratio += _side(crop, table, edges, covers, 1) + _side(crop, table, edges, covers, -1)
            ratios[k, configuration] = ratio
    return ratios


@compiled
def _fill(observations: Observations, visibility: Visibility, labels: LabelBuffer, cell: int, crop: _Crop) -> None:
    """Fill in ``logs`` and ``surfaces`` of a crop.

    Only terrain and pillars count, which are known to be evenly bright: not what lies on the mat, nor what is occluded.
    """
    rendered, codes, bright = labels.reshape(-1), observations.codes[cell], observations.logs[cell]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            surface = rendered[visibility.flat_px[cell, row, column]]
            is_visible = visibility.visible[cell, row, column] and surface >> RANK_BITS <= visibility.rank[cell]
            crop.surfaces[row, column] = 0
            if is_visible and surface & MATERIAL_MASK >= _STANDING:
                crop.surfaces[row, column] = surface
                blue, green, red = codes[row, column]
                crop.logs[row, column] = (bright[0, blue] + bright[1, green] + bright[2, red]) / 3


@compiled
def _upper_edge(crop: _Crop, table: OutlineTable, edges: Array, covers: Covers) -> float:
    """Log-likelihood ratio of the far edge of a configuration, of ``edges`` (e, k) float32 rows and ``covers`` (k,)."""
    surfaces, units = crop.surfaces, crop.units
    units[:] = 0
    for i in range(len(covers)):
        row, column = int(np.rint(edges[0, i])), table.columns[i]
        inside, outside = row + BESIDE_MM, row - BESIDE_MM
        if not covers[i] or outside < 0 or inside >= min(edges[-1, i], len(surfaces)):
            continue
        if surfaces[inside, column] == surfaces[outside, column] > 0:
            _add(crop, int(i * table.column_mm) // UNIT_MM, (inside, column), (outside, column))
    return _log_ratio(units, 1 - UNLIKE, UNLIKE)


@compiled
def _side(crop: _Crop, table: OutlineTable, edges: Array, covers: Covers, inward: int) -> float:
    """As :func:`_upper_edge`, of the left edge of a configuration (``inward`` 1), or of the right one (−1)."""
    surfaces, units = crop.surfaces, crop.units
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
            _add(crop, row // UNIT_MM, (row, inside), (row, outside))
    return _log_ratio(units, 1 - UNLIKE, UNLIKE)


@compiled
def _edges_behind(crop: _Crop, table: OutlineTable, edges: Array, covers: Covers) -> float:
    """As :func:`_upper_edge`, of the edges between surfaces that are visible in place of each part on an empty cell."""
    surfaces, units = crop.surfaces, crop.units
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
                _add(crop, number, (above, column), (below, column))
                found += 1
    return _log_ratio(units, UNLIKE, 1 - ALIKE)


@compiled
def _add(crop: _Crop, number: int, one: CropPixel, other: CropPixel) -> None:
    """Add the difference between two crop pixels to a unit."""
    apart = crop.logs[one[0], one[1]] - crop.logs[other[0], other[1]]
    unit = crop.units[number]
    unit[0] += 1
    unit[1] += apart
    unit[2] += apart * apart


@compiled
def _log_ratio(units: Sums, standing: float, bare: float) -> float:
    """Log-likelihood ratio of ``units`` (u, 3), whose two sides differ with these probabilities.

    That is ``standing`` if a piece stands there, and ``bare`` if none does.
    """
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
