"""What is believed to stand on the board, painted far to near: of every pixel, what it shows, and of which cell."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.scene.materials import Materials
from vision.scene.silhouettes import UPPERMOST, WHOLE, Silhouettes
from vision.scene.terrain import SUBPIXEL_BITS, Column, Polygon

LabelBuffer = npt.NDArray[np.uint16]
"""(height, width) of a picture: 256 times the rank of the nearest cell (0: none), and the material that shows."""

Indices = npt.NDArray[np.intp]

RANK_BITS = 8
MATERIAL_MASK = (1 << RANK_BITS) - 1

_STANDING = int(Materials.STANDING)


def fill(labels: LabelBuffer, outline: Polygon, material: int, rank: int) -> None:
    """Paint a convex polygon over what is behind it."""
    cv2.fillConvexPoly(labels, outline, (rank << RANK_BITS) + material, shift=SUBPIXEL_BITS)


def fill_column(labels: LabelBuffer, column: Column | None, materials: Materials, rank: int) -> None:
    """Paint the column of a cell over what is behind it."""
    if column is not None:
        fill(labels, column.outline, materials.column_side, rank)
        fill(labels, column.top, materials.column_top(column.open_share), rank)


@compiled
def render(
    buffers: tuple[LabelBuffer, LabelBuffer, npt.NDArray[np.int32]],
    silhouettes: Silhouettes,
    far_first: Indices,
    materials: Indices,
    region: tuple[npt.NDArray[np.floating], npt.NDArray[np.floating], Indices],
) -> None:
    """Paint anew what stands on the board and reaches into a part of the picture, there.

    Args:
        buffers: one to be painted; one without figures, whose columns hide figures that are farther; and (n, 4)
            left, top, right, bottom of what was painted of each cell, all 0 where nothing was, else as the bare one.
        silhouettes: of what stands on the cells.
        far_first: (n,) cells from the farthest to the nearest.
        materials: (n,) that of the uppermost part on each cell; 0 where nothing is to be painted.
        region: least and largest x and y (n, 2) px of boxes, and which (b,) of them are looked at.
    """
    labels, bare, rendered = buffers
    for cell in far_first:
        if rendered[cell, 3] > 0:
            _restore(labels, bare, rendered[cell])
            rendered[cell] = 0
    low, high, boxes = region
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    for box in boxes:
        left, top = min(left, low[box, 0]), min(top, low[box, 1])
        right, bottom = max(right, high[box, 0]), max(bottom, high[box, 1])
    highest, lowest = int(max(top, 0.0)), int(min(bottom + 2, len(labels)))
    for place in range(len(far_first)):
        cell, rank = far_first[place], place + 1
        first, end = max(silhouettes.rows[cell, WHOLE, 0], highest), min(silhouettes.rows[cell, WHOLE, 1], lowest)
        x, x_end = silhouettes.columns[cell]
        if materials[cell] > 0 and first < end and x < right and left < x_end:
            rendered[cell] = np.array([x, first, x_end, end])
            _fill((labels, bare, first, end), silhouettes, (cell, WHOLE), (rank << RANK_BITS) + _STANDING)
            _fill((labels, bare, first, end), silhouettes, (cell, UPPERMOST), (rank << RANK_BITS) + materials[cell])


@compiled
def _fill(
    within: tuple[LabelBuffer, LabelBuffer, int, int], silhouettes: Silhouettes, which: tuple[int, int], value: int
) -> None:
    """Paint one silhouette but where a nearer column is before it, ``within`` some rows."""
    (labels, bare, highest, lowest), (cell, part) = within, which
    first, end = max(silhouettes.rows[cell, part, 0], highest), min(silhouettes.rows[cell, part, 1], lowest)
    # In pixels' own type, over views that begin with the run: so many pixels are painted at once.
    render, beyond = np.uint16(value), np.uint16(((value >> RANK_BITS) + 1) << RANK_BITS)
    for row in range(first, end):
        begin, stop = silhouettes.runs[cell, part, row]
        run, behind = labels[row, begin:stop], bare[row, begin:stop]
        for i in range(len(run)):
            run[i] = render if behind[i] < beyond else run[i]


@compiled
def _restore(labels: LabelBuffer, bare: LabelBuffer, box: npt.NDArray[np.int32]) -> None:
    """Let a part of the picture, left, top, right and bottom, be bare again."""
    left, top, right, bottom = box
    for row in range(top, bottom):
        run, behind = labels[row, left:right], bare[row, left:right]
        for i in range(len(run)):
            run[i] = behind[i]


@compiled
def visible_px(labels: LabelBuffer, silhouettes: Silhouettes) -> npt.NDArray[np.int32]:
    """(n, n + 1) of what stands on each cell, the pixels in which the cell of each rank is nearest."""
    cells = len(silhouettes.rows)
    counts = np.zeros((cells, cells + 1), np.int32)
    for cell in range(cells):
        first, end = silhouettes.rows[cell, WHOLE]
        for row in range(first, end):
            for column in range(silhouettes.runs[cell, WHOLE, row, 0], silhouettes.runs[cell, WHOLE, row, 1]):
                counts[cell, labels[row, column] >> RANK_BITS] += 1
    return counts
