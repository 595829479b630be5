"""The part of a cell's crop in which surfaces are compared, with cumulative sums along its columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.logarithm import log_in_place
from vision.appearance.tone_curve import OFFSET
from vision.compiled import allocation_free, compiled
from vision.likelihood.noise import opponent, pair_variance
from vision.likelihood.observations import Observations
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int16]

CHANNELS = 3
"""Log brightness and two colour differences, which shade does not change."""

SURFACE_DEVIATION = 0.01
"""Standard deviation of each channel on one surface in addition to pixel noise: grain, reflections."""

MAX_GROUNDS = 24
"""Largest number of surfaces distinguished behind a stack; pixels of further ones are ignored."""

SLOPE_SCALE_MM = 20.0
"""Distance over which a surface's brightness seldom changes much: the unit of positions in the crop."""

BEYOND_ROWS = 6
"""Rows above and below the configurations that are also included."""

ROW_STEP = 2
"""Step between the rows of a crop that are sampled: as far apart as its columns are."""

HIDDEN, ASIDE = -1, -2
"""Instead of the number of a surface: where a pixel is ignored, and where the sides of another stack are seen.  These
have as many colours as it has pieces, so they have no residual unless a configuration covers them."""

_FLOOR, _TABLE, _STANDING = int(Materials.FLOOR), int(Materials.TABLE), int(Materials.STANDING)


class SurfaceCrop(NamedTuple):
    """Part of a crop: rows from ``first`` on.  Columns come before rows, since a surface is visible in runs of rows.

    Attributes:
        first: its first row in the crop.
        values: (2, columns, rows, channels) log brightness and colour differences, of every :data:`ROW_STEP` rows; and
            the same less what a learned board would show there.
        sums: (2, columns, 1 + rows, moments) moments of these over all rows before each, see :func:`_sums`.
        surfaces: (columns, rows) number of the surface if the cell is empty, or :data:`HIDDEN` or :data:`ASIDE`.
        grounds: number of these surfaces.
        shown: number of pixels that are not :data:`HIDDEN`.
        variance: (channels,) of a pixel's value on a uniform surface.
        column_mm: width of a column.
    """

    first: int
    values: Floats
    sums: Floats
    surfaces: Numbers
    grounds: int
    shown: int
    variance: Floats
    column_mm: float


@compiled
def cut_crop(
    observations: Observations,
    visibility: Visibility,
    labels: LabelBuffer,
    table: OutlineTable,
    which: tuple[int, Mask],
) -> SurfaceCrop:
    """The part of a cell's crop that the configurations ``tried`` reach, with a margin; ``which``: cell, ``tried``."""
    (cell, tried), (total, columns) = which, observations.bins.shape[1:]
    highest, lowest = total, 0
    for number in range(len(tried)):
        for i in range(len(table.columns)):
            if tried[number] and table.covers[cell, number, i]:
                highest = min(highest, int(table.edges[cell, number, 0, i]))
                lowest = max(lowest, int(table.edges[cell, number, -1, i]))
    first = max(highest - BEYOND_ROWS, 0)
    rows = max((min(lowest + BEYOND_ROWS, total) - first) // ROW_STEP, 0)
    values, surfaces = np.zeros((2, columns, rows, CHANNELS)), np.full((columns, rows), HIDDEN, np.int16)
    bare, logs = _bare_logs(observations, cell, (first, rows)), observations.logs[cell]
    known, count, shown, flat = np.zeros(MAX_GROUNDS, np.int64), 0, 0, labels.reshape(-1)
    for column in range(columns):
        for row in range(rows):
            label = int(flat[visibility.flat_px[cell, first + ROW_STEP * row, column]])
            is_seen = (
                visibility.visible[cell, first + ROW_STEP * row, column] and label >> RANK_BITS <= visibility.rank[cell]
            )
            if not is_seen or label & MATERIAL_MASK == _TABLE:
                continue
            number = _ground(known, count, label)
            if number == HIDDEN:
                continue
            count = max(count, number + 1)
            surfaces[column, row], shown = number, shown + 1
            codes = observations.codes[cell, first + ROW_STEP * row, column]
            blue, green, red = logs[0, codes[0]], logs[1, codes[1]], logs[2, codes[2]]
            _opponent(blue, green, red, values[0, column, row])
            if label & MATERIAL_MASK == _FLOOR:
                blue, green, red = blue - bare[0, column, row], green - bare[1, column, row], red - bare[2, column, row]
            _opponent(blue, green, red, values[1, column, row])
    variance = np.empty(CHANNELS)
    for channel in range(CHANNELS):
        variance[channel] = SURFACE_DEVIATION**2 + _pixel_variance(values[1, ..., channel], surfaces)
    return SurfaceCrop(first, values, _sums(values, surfaces), surfaces, count, shown, variance, table.column_mm)


@compiled
def _bare_logs(observations: Observations, cell: int, part: tuple[int, int]) -> Array:
    """(3, columns, rows) float32 logarithms of what a learned board would show, b g r; 0 for a printed mat.

    ``part``: the first row of the crop, and how many rows from there on, every :data:`ROW_STEP`.
    """
    (first, rows), columns = part, observations.bins.shape[2]
    logs, expected = np.zeros((3, columns, rows), np.float32), observations.expected
    if len(expected) == 0:
        return logs
    for channel in range(3):
        for row in range(rows):
            for column in range(columns):
                logs[channel, column, row] = expected[cell, channel, first + ROW_STEP * row, column] + OFFSET
    log_in_place(logs.reshape(-1))
    return logs


@compiled
def _sums(values: Floats, surfaces: Numbers) -> Floats:
    """(2, columns, 1 + rows, moments) cumulative sums over the rows before each one that are not :data:`HIDDEN`.

    Moments are 1, y and y², and v and v y of each channel's value v, y in units of :data:`SLOPE_SCALE_MM`.
    """
    kinds, columns, rows, _ = values.shape
    sums = np.zeros((kinds, columns, 1 + rows, 3 + 2 * CHANNELS))
    for kind in range(kinds):
        for column in range(columns):
            _add_up(values[kind, column], surfaces[column], sums[kind, column])
    return sums


@allocation_free
def _add_up(values: Floats, surfaces: Numbers, sums: Floats) -> None:
    """Put the cumulative moments of one column's ``values`` (rows, channels) into ``sums`` (1 + rows, moments)."""
    n, along, squares, a, a_along, b, b_along, c, c_along = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for row in range(len(surfaces)):
        if surfaces[row] != HIDDEN:
            y = row * ROW_STEP / SLOPE_SCALE_MM
            n, along, squares = n + 1, along + y, squares + y * y
            a, b, c = a + values[row, 0], b + values[row, 1], c + values[row, 2]
            a_along, b_along, c_along = (
                a_along + y * values[row, 0],
                b_along + y * values[row, 1],
                c_along + y * values[row, 2],
            )
        after = sums[row + 1]
        after[0], after[1], after[2] = n, along, squares
        after[3], after[4], after[5], after[6], after[7], after[8] = a, a_along, b, b_along, c, c_along


@allocation_free
def _ground(known: npt.NDArray[np.int64], count: int, label: int) -> int:
    """Number of the surface with a ``label``: one of the first ``count`` that are ``known``, or the next."""
    if label & MATERIAL_MASK == _STANDING:
        return ASIDE
    for number in range(count):
        if known[number] == label:
            return number
    if count == MAX_GROUNDS:
        return HIDDEN
    known[count] = label
    return count


@allocation_free
def _opponent(first: float, second: float, third: float, values: Floats) -> None:
    """Put log brightness and two colour differences, from the logs of b, g and r, into ``values`` (channels,)."""
    values[0], values[1], values[2] = opponent(first, second, third)


@compiled
def _pixel_variance(values: Floats, surfaces: Numbers) -> float:
    """Variance of pixel noise in ``values`` (columns, rows), from neighbours in a row that show one surface."""
    apart, count = np.empty(surfaces.size), 0
    for column in range(len(surfaces) - 1):
        for row in range(surfaces.shape[1]):
            if surfaces[column, row] >= 0 and surfaces[column, row] == surfaces[column + 1, row]:
                apart[count] = abs(values[column, row] - values[column + 1, row])
                count += 1
    return pair_variance(apart[:count])
