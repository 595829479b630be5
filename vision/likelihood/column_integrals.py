"""Sums down the columns of crops: what lies between two edges of a column is then the difference of two of them."""

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
Total = npt.NDArray[np.floating]
Indices = npt.NDArray[np.intp]

SIDE = Materials.SIDE

FINER = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
"""Rows that a line may be off its place, as :func:`sum_lines` sums."""


class ColumnIntegrals(NamedTuple):
    """Everything about some cells (b), summed down the columns of their crops by :func:`integrate_columns`.

    Attributes:
        down: (b, rows + 1, columns, kinds + 2): any side, each colour's face, perhaps each colour's side; brightness.
        first_row: row of the crops in which the sums begin.
    """

    down: Array
    first_row: int


@compiled
def integrate_columns(
    observations: Observations, visibility: Visibility, labels: LabelBuffer, looked: tuple[Indices, int], kinds: int
) -> tuple[ColumnIntegrals, Array]:
    """Sums over crops, of the pixels that nothing hides, down to the last row.

    Args:
        observations: what the picture shows.
        visibility: of the pose.
        labels: what would be seen if nothing stood on the cells.
        looked: cells (b,), and the row of their crops in which the sums begin.
        kinds: of material, from any side on.

    Returns:
        (b, rows + 1, columns, kinds + 2), the first row being 0, row i the sum of the i rows above: by how much each of
        the ``kinds`` of material is likelier than what is behind; then the log brightness, and the number of pixels.
        And (b,) the share of each crop that something hides, or that lies outside the picture.
    """
    bins, logs, codes, flat = (
        observations.bins,
        observations.logs,
        observations.codes,
        observations.colour_model.reshape(-1),
    )
    flat_px, visible, rendered, (cells, first_row) = visibility.flat_px, visibility.visible, labels.reshape(-1), looked
    rows, columns = bins.shape[1] - first_row, bins.shape[2]
    integrals, hidden = (
        np.zeros((len(cells), rows + 1, columns, kinds + 2), np.float32),
        np.zeros(len(cells), np.float32),
    )
    # Numba looks whether a signed index is negative; these are not.
    materials, side, last, one = (
        np.uint64(observations.colour_model.shape[1]),
        np.uint64(SIDE),
        np.uint64(kinds),
        np.uint64(1),
    )
    step, line = np.uint64(kinds + 2), np.uint64(columns * (kinds + 2))
    for k in range(len(cells)):
        cell, own, down = cells[k], visibility.rank[cells[k]], integrals[k].reshape(-1)
        for row in range(rows):
            for column in range(columns):
                over = np.uint64(np.uint64(row) * line + np.uint64(column) * step)
                at = np.uint64(over + line)
                nearest = rendered[flat_px[cell, first_row + row, column]]
                if not visible[cell, first_row + row, column] or nearest >> RANK_BITS > own:
                    hidden[k] += 1
                    for number in range(kinds + 2):
                        kind = np.uint64(number)
                        down[at + kind] = down[over + kind]
                    continue
                shown = np.uint64(np.uint64(bins[cell, first_row + row, column]) * materials)
                base = flat[shown + np.uint64(nearest & MATERIAL_MASK)]
                shown += side
                for number in range(kinds):
                    kind = np.uint64(number)
                    down[at + kind] = down[over + kind] + (flat[shown + kind] - base)
                blue, green, red = codes[cell, first_row + row, column]
                brightness = max(logs[cell, 0, blue], logs[cell, 1, green], logs[cell, 2, red])
                down[at + last] = down[over + last] + brightness
                down[at + last + one] = down[over + last + one] + 1
        hidden[k] /= rows * columns
    return ColumnIntegrals(integrals, first_row), hidden


class Lines(NamedTuple):
    """The lines round a figure on one cell, moved sideways, in the sums of that cell.

    Attributes:
        flat: the sums, flattened.
        size: (rows + 1, columns, kinds) of them.
        edges: (e, k) rows of the edges in the crop.
        covered: the first of the k columns that the figure covers, and the one after the last: it is convex.
        left: column of the sums in which the first of the k is, the figure being moved…
        right: …and by which share of a column it is right of there.
        first_row: row of the crop in which the sums begin.
    """

    flat: Array
    size: tuple[int, int, int]
    edges: Array
    covered: tuple[int, int]
    left: int
    right: float
    first_row: int


@compiled
def lines_of(integrals: ColumnIntegrals, table: OutlineTable, which: tuple[int, int, int]) -> Lines:
    """``which``: number of the cell among the sums, cell, figure; standing straight."""
    k, cell, configuration = which
    covers = table.covers[cell, configuration]
    first, end = 0, len(covers)
    while first < end and not covers[first]:
        first += 1
    while end > first and not covers[end - 1]:
        end -= 1
    edges, left = table.edges[cell, configuration], table.columns[0]
    return Lines(
        integrals.down[k].reshape(-1), integrals.down.shape[1:], edges, (first, end), left, 0.0, integrals.first_row
    )


@compiled
def sideways(lines: Lines, columns: float) -> Lines:
    """Lines moved by so many columns, which need not be whole."""
    whole = int(np.floor(columns))
    left, right = lines.left + whole, columns - whole
    return Lines(lines.flat, lines.size, lines.edges, lines.covered, left, right, lines.first_row)


@compiled
def sum_line(lines: Lines, line: tuple[int, float, float], first: int, total: Total) -> None:
    """``total`` (kinds,): all above a line round a figure, from kind ``first`` on.

    ``line``: the edge it is at, how far it is from there to the next one, from 0 to 1, and rows that it is moved by.
    A pixel that it cuts counts with the part that is above it.
    """
    edge, part, shift = line
    flat, (rows, width, kinds) = lines.flat, lines.size
    upper, lower = lines.edges[edge], lines.edges[min(edge + 1, len(lines.edges) - 1)]
    share, right, zero = np.float32(part), np.float32(lines.right), np.float32(0)
    from_top, bottom = np.float32(shift - lines.first_row), np.float32(rows - 1.001)
    # Numba looks whether a signed index is negative; these are not.
    below, beside = np.uint64(width * kinds), np.uint64(kinds if lines.right > 0 else 0)
    total[:] = 0
    for i in range(*lines.covered):
        row = min(max(upper[i] + share * (lower[i] - upper[i]) + from_top, zero), bottom)
        whole = int(row)
        down = np.float32(row - np.float32(whole))
        above = (whole * width + lines.left + i) * kinds + first
        for number in range(len(total)):
            at = np.uint64(above + number)
            over, under = flat[at], flat[at + below]
            over += right * (flat[at + beside] - over)
            under += right * (flat[at + below + beside] - under)
            total[number] += over + down * (under - over)


@compiled
def sum_lines(lines: Lines, edge: int, shift: float, first: int, totals: Total) -> None:
    """``totals`` (:data:`FINER`, kinds): :func:`sum_line` of an edge that is moved by ``shift`` and each of FINER."""
    flat, edges, (rows, width, kinds) = lines.flat, lines.edges[edge], lines.size
    right, half, zero, one = np.float32(lines.right), np.float32(0.5), np.float32(0), np.float32(1)
    highest, beside = np.float32(shift - 1 - lines.first_row), np.uint64(kinds if lines.right > 0 else 0)
    for number in range(totals.shape[1]):
        sum_1, sum_2, sum_3, sum_4, sum_5 = zero, zero, zero, zero, zero
        for i in range(*lines.covered):
            row = edges[i] + highest
            whole = int(np.floor(row))
            down = np.float32(row - np.float32(whole))
            column = (lines.left + i) * kinds + first + number
            at_1 = np.uint64(min(max(whole, 0), rows - 1) * width * kinds + column)
            at_2 = np.uint64(min(max(whole + 1, 0), rows - 1) * width * kinds + column)
            at_3 = np.uint64(min(max(whole + 2, 0), rows - 1) * width * kinds + column)
            at_4 = np.uint64(min(max(whole + 3, 0), rows - 1) * width * kinds + column)
            row_1, row_2, row_3, row_4 = flat[at_1], flat[at_2], flat[at_3], flat[at_4]
            row_1 += right * (flat[at_1 + beside] - row_1)
            row_2 += right * (flat[at_2 + beside] - row_2)
            row_3 += right * (flat[at_3 + beside] - row_3)
            row_4 += right * (flat[at_4 + beside] - row_4)
            fall_1, fall_2, fall_3 = row_2 - row_1, row_3 - row_2, row_4 - row_3
            # Half a row farther down a line may be in the next row.
            within, beyond = min(down + half, one), max(down - half, zero)
            sum_1 += row_1 + down * fall_1
            sum_2 += row_1 + within * fall_1 + beyond * fall_2
            sum_3 += row_2 + down * fall_2
            sum_4 += row_2 + within * fall_2 + beyond * fall_3
            sum_5 += row_3 + down * fall_3
        totals[0, number], totals[1, number], totals[2, number] = sum_1, sum_2, sum_3
        totals[3, number], totals[4, number] = sum_4, sum_5
