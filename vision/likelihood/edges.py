"""Evidence of edges on terrain and pillars: either a piece's outline is visible, or the edges that it would occlude.

In a pit anything may be as dark as anything else, so colours decide little.  But one surface is equally bright on both
sides of a line, and where two surfaces meet, brightness often differs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
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
"""Distance on either side of an edge at which brightness is compared: pieces are a millimetre or two off the centre of
their cells.  Chosen by eye."""

UNIT_MM = 4
"""Edge length over which shadows and texture are correlated: one observation.  Chosen by eye."""

SURFACE_DEVIATION = 0.05
"""Standard deviation of the difference in log brightness between two places on one surface.  Chosen by eye."""

CONTRAST_DEVIATION = 0.8
"""Standard deviation of that difference between two surfaces.  Chosen by eye."""

EVEN_HUE, VARIED_HUE = 0.025, 0.3
"""Likewise for the difference in the log ratios of blue to red light, and of green to both.  Chosen by eye."""

HUE_EDGE_PROBABILITY = 0.5
"""Probability that two surfaces that meet differ in hue: a grey cube on a grey pillar does not."""

FALSE_EDGE = 0.05
"""Probability of contrast across a line on one surface (a shadow's edge), and of none across a piece's outline.  Chosen
by eye."""

MISSED_EDGE = 0.5
"""Probability of no contrast across an edge of terrain or pillars, which all have one colour.  Chosen by eye."""

MAX_EDGES = 4
"""Maximum number of edges behind a piece that are evaluated in one column.  Chosen by eye."""

_STANDING = int(Materials.STANDING)


class _Crop(NamedTuple):
    """One crop, and work arrays.

    Attributes:
        logs: (rows, columns, 3) float32, where a surface counts: log brightness, log ratio of blue to red light, and of
            green to both.
        surfaces: (rows, columns) int32, label of the surface that is visible if the cell is empty; 0 where none counts.
        units: (u, 3, 3) float64, for each unit of an edge and each of these three: number of differences, their sum,
            and the sum of their squares.
        totals: (2, 3) float64, see :func:`_add_logs`: by brightness alone, and by hue as well.
    """

    logs: Array
    surfaces: Surfaces
    units: Sums
    totals: Sums


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
        table: of the pose; configurations are assumed undisplaced.
        cells: (b,) intp.
        configurations: how many are scored, from the first one on.
    """
    _, rows, columns = observations.bins.shape
    ratios = np.zeros((len(cells), configurations), np.float32)
    logs, surfaces = np.empty((rows, columns, 3), np.float32), np.empty((rows, columns), np.int32)
    most = max(rows // UNIT_MM + 1, MAX_EDGES * (columns * int(table.column_mm) // UNIT_MM + 1))
    crop = _Crop(logs, surfaces, np.empty((most, 3, 3)), np.empty((2, 3)))
    for k in range(len(cells)):
        _fill(observations, visibility, labels.reshape(-1), cells[k], crop)
        for configuration in range(configurations):
            edges, covers = table.edges[cells[k], configuration], table.covers[cells[k], configuration]
            ratio = _upper_edge(crop, table, edges, covers) + _edges_behind(crop, table, edges, covers)
            ratio += _side(crop, table, edges, covers, 1) + _side(crop, table, edges, covers, -1)
            ratios[k, configuration] = ratio
    return ratios


@allocation_free
def _fill(
    observations: Observations, visibility: Visibility, labels: npt.NDArray[np.uint16], cell: int, crop: _Crop
) -> None:
    """Fill in ``logs`` and ``surfaces`` of a crop, given the ``labels`` of all pixels, row by row.

    Only terrain and pillars count, as they are known to be evenly bright: neither what lies on the mat nor what is
    occluded does.
    """
    codes, bright = observations.codes[cell], observations.logs[cell]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            surface = labels[visibility.flat_px[cell, row, column]]
            is_visible = visibility.visible[cell, row, column] and surface >> RANK_BITS <= visibility.rank[cell]
            crop.surfaces[row, column] = 0
            if is_visible and surface & MATERIAL_MASK >= _STANDING:
                crop.surfaces[row, column] = surface
                b, g, r = codes[row, column]
                blue, green, red = bright[0, b], bright[1, g], bright[2, r]
                crop.logs[row, column, 0] = (blue + green + red) / 3
                crop.logs[row, column, 1] = blue - red
                crop.logs[row, column, 2] = green - (blue + red) / 2


@allocation_free
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
    return _log_ratio(crop, 1 - FALSE_EDGE, FALSE_EDGE, True)  # noqa: FBT003


@allocation_free
def _side(crop: _Crop, table: OutlineTable, edges: Array, covers: Covers, inward: int) -> float:
    """As :func:`_upper_edge`, for the left edge of a configuration (``inward`` 1), or the right one (−1)."""
    surfaces, units = crop.surfaces, crop.units
    units[:] = 0
    count = len(covers)
    beside = inward * max(1, int(np.rint(BESIDE_MM / table.column_mm)))
    uppermost, lowest = np.inf, -np.inf
    for i in range(count):
        uppermost, lowest = min(uppermost, edges[0, i]), max(lowest, edges[-1, i])
    for row in range(max(int(uppermost), 0), min(int(lowest) + 1, len(surfaces))):
        at = 0 if inward > 0 else count - 1
        while 0 <= at < count and not (covers[at] and edges[0, at] <= row <= edges[-1, at]):
            at += inward
        inner = at + beside
        if not (0 <= at < count and 0 <= inner < count and edges[0, inner] <= row <= edges[-1, inner]):
            continue
        inside, outside = table.columns[inner], table.columns[at] - beside
        if 0 <= outside < surfaces.shape[1] and surfaces[row, inside] == surfaces[row, outside] > 0:
            _add(crop, row // UNIT_MM, (row, inside), (row, outside))
    return _log_ratio(crop, 1 - FALSE_EDGE, FALSE_EDGE, True)  # noqa: FBT003


@allocation_free
def _edges_behind(crop: _Crop, table: OutlineTable, edges: Array, covers: Covers) -> float:
    """As :func:`_upper_edge`, for the edges between surfaces that an empty cell shows where the parts would be."""
    surfaces, units = crop.surfaces, crop.units
    units[:] = 0
    for i in range(len(covers)):
        column, found = table.columns[i], 0
        for part in range(len(edges) - 1 if covers[i] else 0):
            first, end = int(edges[part, i]) + 1, min(int(edges[part + 1, i]), len(surfaces))
            for row in range(first + BESIDE_MM, end - BESIDE_MM):
                above, below = row - BESIDE_MM, row + BESIDE_MM - 1
                is_edge = surfaces[row - 1, column] != surfaces[row, column]
                if not is_edge or surfaces[above, column] == 0 or surfaces[below, column] == 0 or found == MAX_EDGES:
                    continue
                number = (int(i * table.column_mm) // UNIT_MM) * MAX_EDGES + found
                _add(crop, number, (above, column), (below, column))
                found += 1
    return _log_ratio(crop, FALSE_EDGE, 1 - MISSED_EDGE, False)  # noqa: FBT003


@allocation_free
def _add(crop: _Crop, number: int, one: CropPixel, other: CropPixel) -> None:
    """Add the difference between two crop pixels to a unit."""
    for kind in range(3):
        apart = crop.logs[one[0], one[1], kind] - crop.logs[other[0], other[1], kind]
        unit = crop.units[number, kind]
        unit[0] += 1
        unit[1] += apart
        unit[2] += apart * apart


@allocation_free
def _log_ratio(crop: _Crop, standing: float, bare: float, is_outline: bool) -> float:  # noqa: FBT001
    """Log-likelihood ratio of the ``units`` of a crop for a piece standing there, against none.

    Their two sides differ with the probability ``standing`` if a piece stands there, and ``bare`` if none does.  A
    piece and what it stands on may be of two colours, all along its outline or nowhere; the surfaces behind it are of
    one.  And all along an outline there may be a shadow's edge instead, which changes brightness only.
    """
    plain, hued = crop.totals
    crop.totals[:] = 0
    for unit in crop.units:
        if unit[0, 0] >= 2:
            even, varied = _densities(unit[0], SURFACE_DEVIATION, CONTRAST_DEVIATION)
            _add_logs(plain, (even, varied, varied), standing, bare)
            if is_outline:
                even_blue, varied_blue = _densities(unit[1], EVEN_HUE, VARIED_HUE)
                even_green, varied_green = _densities(unit[2], EVEN_HUE, VARIED_HUE)
                of_one, of_two = even_blue * even_green, varied_blue * varied_green
                _add_logs(hued, (even * of_one, varied * of_two, varied * of_one), standing, bare)
    if not is_outline:
        return float(plain[0] - plain[1])
    for logs in (plain, hued):
        logs[0] -= np.logaddexp(np.log(1 - FALSE_EDGE) + logs[1], np.log(FALSE_EDGE) + logs[2])
    return float(np.logaddexp(np.log(1 - HUE_EDGE_PROBABILITY) + plain[0], np.log(HUE_EDGE_PROBABILITY) + hued[0]))


@allocation_free
def _add_logs(logs: Sums, densities: tuple[float, float, float], standing: float, bare: float) -> None:
    """Add a unit's log-likelihoods to ``logs`` (3,): of a piece standing there, of none, and of a shadow's edge.

    ``densities``: on one surface, between two, and across a shadow's edge.
    """
    even, varied, shaded = densities
    logs[0] += np.log(standing * varied + (1 - standing) * even)
    logs[1] += np.log(bare * varied + (1 - bare) * even)
    logs[2] += np.log(shaded + 1e-300)


@allocation_free
def _densities(differences: Sums, even: float, varied: float) -> tuple[float, float]:
    """Densities of the mean of ``differences`` (3,) on one surface and between two, up to a common factor.

    ``even`` and ``varied`` are the standard deviations of a difference on one surface and between two.
    """
    count, mean = differences[0], differences[1] / differences[0]
    noise = max(differences[2] / count - mean * mean, 0.0) / count
    narrow, wide = even**2 + noise, varied**2 + noise
    return np.exp(-0.5 * mean * mean / narrow) / np.sqrt(narrow), np.exp(-0.5 * mean * mean / wide) / np.sqrt(wide)
