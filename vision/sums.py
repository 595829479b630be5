"""Sums down the columns of crops: what lies between two edges of a column is then the difference of two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.evidence import Backdrop, Evidence
from vision.palette import Materials

Array = npt.NDArray[np.float32]
Total = npt.NDArray[np.floating]
Indices = npt.NDArray[np.intp]

SIDE = Materials.SIDE


class Shapes(NamedTuple):
    """Every figure (f) on every cell (n), as places in these sums; k columns.

    Attributes:
        edges: (n, f, e, k) float32, those of :class:`vision.outlines.Outlines`.
        covers: (n, f, k) bool, whether the figure reaches the column.
        columns: (k,) intp, the crop columns that the outlines are sampled on.
        bands: (f,) intp, parts under the uppermost.
        allowed: (f, colours) bool, whether there is a piece of that size and colour.
        faced: whether the uppermost part is a face, whose piece also has a side.
        column_mm: width of a column.
        foreshortening: (n,) rows that a millimetre along the line of sight is high on each cell.
        weight: independent observations a crop pixel.
    """

    edges: Array
    covers: npt.NDArray[np.bool_]
    columns: Indices
    bands: Indices
    allowed: npt.NDArray[np.bool_]
    faced: bool
    column_mm: float
    foreshortening: Array
    weight: float


class Sums(NamedTuple):
    """Everything about some cells (b), summed down the columns of their crops by :func:`sum_columns`.

    Attributes:
        down: (b, rows + 1, columns, kinds + 2): any side, each colour's face, perhaps each colour's side; brightness.
        first_row: row of the crops in which the sums begin.
    """

    down: Array
    first_row: int


@compiled
def sum_columns(evidence: Evidence, backdrop: Backdrop, cells: Indices, kinds: int) -> Array:
    """Sums over the crops of ``cells`` (b,), of the pixels that nothing hides, down to the last row.

    Returns:
        (b, rows + 1, columns, kinds + 2), the first row being 0, row i the sum of the first i rows of ``backdrop``: by
        how much each of the ``kinds`` of material from any side on is likelier than what is behind; then the log
        brightness, and the number of pixels.
    """
    bins, logs, codes, flat = evidence.bins, evidence.logs, evidence.codes, evidence.palette.reshape(-1)
    base, seen = backdrop.base, backdrop.seen
    _, rows, columns = base.shape
    first_row = bins.shape[1] - rows
    sums = np.zeros((len(cells), rows + 1, columns, kinds + 2), np.float32)
    # Numba looks whether a signed index is negative; these are not.
    materials, side, last, one = np.uint64(evidence.palette.shape[1]), np.uint64(SIDE), np.uint64(kinds), np.uint64(1)
    step, line = np.uint64(kinds + 2), np.uint64(columns * (kinds + 2))
    for k in range(len(cells)):
        cell, down = cells[k], sums[k].reshape(-1)
        for row in range(rows):
            for column in range(columns):
                over = np.uint64(np.uint64(row) * line + np.uint64(column) * step)
                at = np.uint64(over + line)
                if not seen[k, row, column]:
                    for number in range(kinds + 2):
                        kind = np.uint64(number)
                        down[at + kind] = down[over + kind]
                    continue
                shown = np.uint64(np.uint64(bins[cell, first_row + row, column]) * materials + side)
                for number in range(kinds):
                    kind = np.uint64(number)
                    down[at + kind] = down[over + kind] + (flat[shown + kind] - base[k, row, column])
                blue, green, red = codes[cell, first_row + row, column]
                brightness = max(logs[cell, 0, blue], logs[cell, 1, green], logs[cell, 2, red])
                down[at + last] = down[over + last] + brightness
                down[at + last + one] = down[over + last + one] + 1
    return sums


class Lines(NamedTuple):
    """The lines round a figure on one cell, moved sideways, in the sums of that cell.

    Attributes:
        flat: the sums, flattened.
        size: (rows + 1, columns, kinds) of them.
        columns: (m,) those that the figure covers, or the ones left of them…
        right: …by which share of a column they are right of these.
        edges: (e, m) rows of the edges.
    """

    flat: Array
    size: tuple[int, int, int]
    columns: Indices
    right: float
    edges: Array


@compiled
def lines_of(sums: Sums, shapes: Shapes, which: tuple[int, int, int, float]) -> Lines:
    """``which``: number of the cell among the sums, cell, figure, columns that it is moved by."""
    k, cell, figure, side = which
    whole = int(np.floor(side))
    covers, edges = shapes.covers[cell, figure], shapes.edges[cell, figure]
    columns, rows = np.empty(len(covers), np.intp), np.empty((len(edges), len(covers)), np.float32)
    count = 0
    for i in range(len(covers)):
        if covers[i]:
            columns[count] = shapes.columns[i] + whole
            for edge in range(len(edges)):
                rows[edge, count] = edges[edge, i] - sums.first_row
            count += 1
    return Lines(sums.down[k].reshape(-1), sums.down.shape[1:], columns[:count], side - whole, rows[:, :count])


@compiled
def sum_line(lines: Lines, line: tuple[int, float, float], first: int, total: Total) -> None:
    """``total`` (kinds,): all above a line round a figure, from kind ``first`` on.

    ``line``: the edge it is at, how far it is from there to the next one, from 0 to 1, and rows that it is moved by.
    A pixel that it cuts counts with the part that is above it.
    """
    edge, part, shift = line
    flat, columns, (rows, width, kinds) = lines.flat, lines.columns, lines.size
    upper, lower = lines.edges[edge], lines.edges[min(edge + 1, len(lines.edges) - 1)]
    right = np.float32(lines.right)
    total[:] = 0
    for i in range(len(columns)):
        row = min(max(upper[i] + part * (lower[i] - upper[i]) + shift, 0.0), rows - 1.001)
        down = np.float32(row - int(row))
        # Numba looks whether a signed index is negative; these are not.
        above = np.uint64((int(row) * width + columns[i]) * kinds + first)
        below = np.uint64(above + np.uint64(width * kinds))
        for number in range(len(total)):
            kind = np.uint64(number)
            over, under = flat[above + kind], flat[below + kind]
            if right > 0:
                beside = np.uint64(kind + np.uint64(kinds))
                over += right * (flat[above + beside] - over)
                under += right * (flat[below + beside] - under)
            total[number] += over + down * (under - over)
