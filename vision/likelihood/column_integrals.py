"""Column integrals of crops: the sum over a column's pixels between two lines is a difference of two look-ups.

These are summed-area tables (Crow, Summed-area tables for texture mapping, 1984) along one axis.
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
Sums = npt.NDArray[np.floating]
Indices = npt.NDArray[np.intp]

FLOOR, SIDE = Materials.FLOOR, Materials.SIDE

ROW_OFFSETS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
"""(5,) offsets of a line from its predicted row, as unrolled in :func:`sum_line_at_offsets`."""

AT_ONCE = 4
"""Channels that are summed at once: a colour model has enough columns after :attr:`Materials.SIDE` to fill the last."""

OTHER_COLOUR_PROBABILITY = 0.005
"""Probability that a face, or the side of its piece, shows another piece's colour.  A face may mirror a window or a
wall, of whatever colour; in deep, noisy shade a side may look like that of another dark piece; and all of its pixels do
so together.  With 0.02, this and none for faces, the truth of 25 own boards falls 104, 102 and 147 nats short of
certainty; with 0.02, this and 0.0025 for sides, that of ten others 33, 36 and 42, but with 0.02 faces that mirror are
lost.  On printed mats 26, 25 and 32 nats for twelve sets of discs, 17 with and without for nineteen of blocks and
cubes.  There it does not hold for pyramids, which have no faces: 15 and 9 nats, with and without, for eleven sets."""


class ColumnIntegrals(NamedTuple):
    """Column integrals of the crop of one cell, see :func:`integrate_columns`.

    Attributes:
        sums: (rows + 1, columns, channels) float32; row 0 is 0, row i the sum over the i crop rows above it.  First
            the log-likelihood ratio of each material against the background; last but one log brightness, and last the
            number of pixels.  What fills up a multiple of :data:`AT_ONCE` means nothing.
        first_row: row of the crops at which the sums begin.
        outlier_probability: probability that a face or a side shows a colour other than its piece's, see
            :data:`OTHER_COLOUR_PROBABILITY`.
    """

    sums: Array
    first_row: int
    outlier_probability: float = 0.0


class CropColumns(NamedTuple):
    """What the columns of crops are integrated from.

    Attributes:
        observations: of all cells (n).
        visibility: of the pose.
        labels: (height, width) uint16, rendered with nothing on the cells that are integrated.
        first_row: row of the crops at which the sums begin; they go down to the last row.
        materials: how many materials are compared with the background, from :attr:`Materials.SIDE` on.
    """

    observations: Observations
    visibility: Visibility
    labels: LabelBuffer
    first_row: int
    materials: int


@compiled
def empty_integrals(columns: CropColumns, has_faces: bool) -> ColumnIntegrals:  # noqa: FBT001
    """Integrals of one cell, zeros for :func:`integrate_columns` to fill in; ``has_faces``: whether pieces have."""
    observations = columns.observations
    _, rows, width = observations.bins.shape
    channels = -(-(columns.materials + 2) // AT_ONCE) * AT_ONCE
    sums = np.zeros((rows - columns.first_row + 1, width, channels), np.float32)
    may_mirror = has_faces or len(observations.expected) > 0
    return ColumnIntegrals(sums, columns.first_row, OTHER_COLOUR_PROBABILITY if may_mirror else 0.0)


@compiled
def integrate_columns(columns: CropColumns, cell: int, integrals: ColumnIntegrals) -> float:
    """Fill in the column integrals over the visible pixels of the crop of ``cell``, made by :func:`empty_integrals`.

    One cell's integrals are made at a time, so that they stay in the processor's cache.

    Returns:
        Share of the crop (from the first row on), 0…1, that is occluded or outside the picture.
    """
    observations, visibility, first_row = columns.observations, columns.visibility, columns.first_row
    sums = integrals.sums.reshape(-1)
    bins, logs, codes = observations.bins[cell], observations.logs[cell], observations.codes[cell]
    flat, floor = observations.colour_model.reshape(-1), observations.floor[cell]
    flat_px, visible, rendered = visibility.flat_px[cell], visibility.visible[cell], columns.labels.reshape(-1)
    own, (rows, across) = visibility.rank[cell], bins.shape
    # Unsigned: Numba tests every signed index for being negative.
    width, side = np.uint64(observations.colour_model.shape[1]), np.uint64(SIDE)
    channels, one, two, three = integrals.sums.shape[2], np.uint64(1), np.uint64(2), np.uint64(3)
    step, line = np.uint64(channels), np.uint64(across * channels)
    occluded = 0
    for row in range(first_row, rows):
        for column in range(across):
            above = np.uint64(np.uint64(row - first_row) * line + np.uint64(column) * step)
            at = np.uint64(above + line)
            nearest = rendered[flat_px[row, column]]
            if not visible[row, column] or nearest >> RANK_BITS > own:
                occluded += 1
                for number in range(channels):
                    channel = np.uint64(number)
                    sums[at + channel] = sums[above + channel]
                continue
            likely = np.uint64(np.uint64(bins[row, column]) * width)
            material = np.uint64(nearest & MATERIAL_MASK)
            background = flat[likely + material]
            if material == FLOOR:
                background = floor[row, column]
            likely += side
            # Unrolled, with all reads before the writes, four channels are summed at once.
            for number in range(channels // AT_ONCE):
                channel = np.uint64(number * AT_ONCE)
                over, of = above + channel, likely + channel
                sum_1, sum_2, sum_3, sum_4 = sums[over], sums[over + one], sums[over + two], sums[over + three]
                log_1, log_2, log_3, log_4 = flat[of], flat[of + one], flat[of + two], flat[of + three]
                sum_1, sum_2 = sum_1 + (log_1 - background), sum_2 + (log_2 - background)
                sum_3, sum_4 = sum_3 + (log_3 - background), sum_4 + (log_4 - background)
                under = at + channel
                sums[under], sums[under + one], sums[under + two], sums[under + three] = sum_1, sum_2, sum_3, sum_4
            blue, green, red = codes[row, column]
            brightness = max(logs[0, blue], logs[1, green], logs[2, red])
            sums[at + step - two] = sums[above + step - two] + brightness
            sums[at + step - one] = sums[above + step - one] + 1
    return float(occluded / ((rows - first_row) * across))


class Lines(NamedTuple):
    """Boundary lines of the parts of one configuration on one cell, with the column integrals that they cut.

    Attributes:
        sums: ((rows + 1) · columns · channels,) float32, the cell's column integrals, flattened.
        shape: (rows + 1, columns, channels) before flattening.
        edges: (e, k) float32, row of the crop at which each line cuts each of the k sampled columns.
        covered: first of the k columns that the configuration covers, and one past the last; its outline is convex.
        left: column of the integrals at which the first of the k lies, displacement included…
        fraction: …and the fraction of a column, 0…1, to the right of it.
        first_row: row of the crop at which the integrals begin.
        outlier_probability: see :attr:`ColumnIntegrals.outlier_probability`.
    """

    sums: Array
    shape: tuple[int, int, int]
    edges: Array
    covered: tuple[int, int]
    left: int
    fraction: float
    first_row: int
    outlier_probability: float = 0.0


@compiled
def lines_of(integrals: ColumnIntegrals, table: OutlineTable, cell: int, configuration: int) -> Lines:
    """The lines of a configuration at the centre of ``cell``, of which the ``integrals`` are."""
    covers = table.covers[cell, configuration]
    first, end = 0, len(covers)
    while first < end and not covers[first]:
        first += 1
    while end > first and not covers[end - 1]:
        end -= 1
    edges, left = table.edges[cell, configuration], table.columns[0]
    sums = integrals.sums
    return Lines(
        sums.reshape(-1), sums.shape, edges, (first, end), left, 0.0, integrals.first_row, integrals.outlier_probability
    )


@compiled
def shift_lines(lines: Lines, columns: float) -> Lines:
    """``lines`` displaced sideways by a number of columns, possibly fractional."""
    whole = int(np.floor(columns))
    left, fraction = lines.left + whole, columns - whole
    return Lines(
        lines.sums, lines.shape, lines.edges, lines.covered, left, fraction, lines.first_row, lines.outlier_probability
    )


@allocation_free
def sum_line(lines: Lines, edge: int, part: float, shift: float, channel: int, out: Sums) -> None:
    """Sum over all pixels above a line, by the integrals along it; a pixel that it cuts counts in part.

    Args:
        lines: of a configuration.
        edge: number of the line…
        part: …and interpolation towards the next one, 0…1.
        shift: rows by which the line is displaced downwards.
        channel: first channel that is summed.
        out: (channels,) floating, overwritten.
    """
    sums, (rows, width, channels) = lines.sums, lines.shape
    upper, lower = lines.edges[edge], lines.edges[min(edge + 1, len(lines.edges) - 1)]
    share, right, zero = np.float32(part), np.float32(lines.fraction), np.float32(0)
    from_top, bottom = np.float32(shift - lines.first_row), np.float32(rows - 1.001)
    # Unsigned: Numba tests every signed index for being negative.
    below, beside = np.uint64(width * channels), np.uint64(channels if lines.fraction > 0 else 0)
    out[:] = 0
    for i in range(*lines.covered):
        row = min(max(upper[i] + share * (lower[i] - upper[i]) + from_top, zero), bottom)
        whole = int(row)
        down = np.float32(row - np.float32(whole))
        above = (whole * width + lines.left + i) * channels + channel
        for number in range(len(out)):
            at = np.uint64(above + number)
            over, under = sums[at], sums[at + below]
            over += right * (sums[at + beside] - over)
            under += right * (sums[at + below + beside] - under)
            out[number] += over + down * (under - over)


@allocation_free
def sum_line_at_offsets(lines: Lines, edge: int, shift: float, channel: int, out: Sums) -> None:
    """:func:`sum_line` of a line displaced by ``shift`` plus each of :data:`ROW_OFFSETS`.

    Args:
        lines: of a configuration.
        edge: number of the line.
        shift: rows by which the line is displaced downwards, offsets aside.
        channel: first channel that is summed.
        out: (5, channels) floating, overwritten.
    """
    sums, edges, (rows, width, channels) = lines.sums, lines.edges[edge], lines.shape
    right, half, zero, one = np.float32(lines.fraction), np.float32(0.5), np.float32(0), np.float32(1)
    highest, beside = np.float32(shift - 1 - lines.first_row), np.uint64(channels if lines.fraction > 0 else 0)
    for number in range(out.shape[1]):
        sum_1, sum_2, sum_3, sum_4, sum_5 = zero, zero, zero, zero, zero
        for i in range(*lines.covered):
            row = edges[i] + highest
            whole = int(np.floor(row))
            down = np.float32(row - np.float32(whole))
            column = (lines.left + i) * channels + channel + number
            at_1 = np.uint64(min(max(whole, 0), rows - 1) * width * channels + column)
            at_2 = np.uint64(min(max(whole + 1, 0), rows - 1) * width * channels + column)
            at_3 = np.uint64(min(max(whole + 2, 0), rows - 1) * width * channels + column)
            at_4 = np.uint64(min(max(whole + 3, 0), rows - 1) * width * channels + column)
            row_1, row_2, row_3, row_4 = sums[at_1], sums[at_2], sums[at_3], sums[at_4]
            row_1 += right * (sums[at_1 + beside] - row_1)
            row_2 += right * (sums[at_2 + beside] - row_2)
            row_3 += right * (sums[at_3 + beside] - row_3)
            row_4 += right * (sums[at_4 + beside] - row_4)
            step_1, step_2, step_3 = row_2 - row_1, row_3 - row_2, row_4 - row_3
            # Half a row farther down, a line may be in the next row.
            within, beyond = min(down + half, one), max(down - half, zero)
            sum_1 += row_1 + down * step_1
            sum_2 += row_1 + within * step_1 + beyond * step_2
            sum_3 += row_2 + down * step_2
            sum_4 += row_2 + within * step_2 + beyond * step_3
            sum_5 += row_3 + down * step_3
        out[0, number], out[1, number], out[2, number] = sum_1, sum_2, sum_3
        out[3, number], out[4, number] = sum_4, sum_5
