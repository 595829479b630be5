"""The label buffer of a hypothesis: the nearest surface of every pixel, rendered from far to near.

That is the painter's algorithm.  The buffer is an item buffer (Weghorst, Hooper and Greenberg, Improved computational
methods for ray tracing, 1984): a z-buffer that keeps which surface is nearest, not how near it is.  Occlusion is a
comparison of ranks.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.scene.materials import Materials
from vision.scene.silhouettes import UPPERMOST, WHOLE, Silhouettes
from vision.scene.terrain import SUBPIXEL_BITS, Column, Polygon

LabelBuffer = npt.NDArray[np.uint16]
"""(height, width) uint16: 256 times the rank of the nearest cell (0: none; greater is nearer), plus its material's
label."""

Indices = npt.NDArray[np.intp]

RANK_BITS = 8
MATERIAL_MASK = (1 << RANK_BITS) - 1

_STANDING = int(Materials.STANDING)


def fill(labels: LabelBuffer, outline: Polygon, material: int, rank: int) -> None:
    """Render a convex polygon over what is behind it."""
    cv2.fillConvexPoly(labels, outline, (rank << RANK_BITS) + material, shift=SUBPIXEL_BITS)


def fill_column(labels: LabelBuffer, column: Column | None, materials: Materials, rank: int) -> None:
    """Render the terrain or pillar of a cell over what is behind it."""
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
    """Render what is hypothesised on the cells anew, in the part of the picture that some boxes cover.

    Args:
        buffers: the one to be rendered; the bare one, of terrain alone, which occludes what is farther; and (n, 4)
            int32, left, top, right, bottom of what was rendered of each cell, all 0 where nothing was.
        silhouettes: of what stands on the cells.
        far_first: (n,) intp, cells from the farthest to the nearest.
        materials: (n,) intp, label of the uppermost part on each cell; 0 where nothing is to be rendered.
        region: least and largest x and y, (n, 2) px each, of boxes, and the indices (b,) of those that matter.
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
    """Render one silhouette except where a nearer cell's terrain occludes it, ``within`` some rows."""
    (labels, bare, highest, lowest), (cell, part) = within, which
    first, end = max(silhouettes.rows[cell, part, 0], highest), min(silhouettes.rows[cell, part, 1], lowest)
    # Array views of the buffer's own dtype let the compiler use vector instructions.
    render, beyond = np.uint16(value), np.uint16(((value >> RANK_BITS) + 1) << RANK_BITS)
    for row in range(first, end):
        begin, stop = silhouettes.runs[cell, part, row]
        run, behind = labels[row, begin:stop], bare[row, begin:stop]
        for i in range(len(run)):
            run[i] = render if behind[i] < beyond else run[i]


@compiled
def _restore(labels: LabelBuffer, bare: LabelBuffer, box: npt.NDArray[np.int32]) -> None:
    """Copy a box (4,) of the picture, left, top, right, bottom, from the bare buffer."""
    left, top, right, bottom = box
    for row in range(top, bottom):
        run, behind = labels[row, left:right], bare[row, left:right]
        for i in range(len(run)):
            run[i] = behind[i]


@compiled
def visible_px(labels: LabelBuffer, silhouettes: Silhouettes) -> npt.NDArray[np.int32]:
    """(n, n + 1) int32: of each cell's silhouette, the number of pixels in which the cell of each rank is nearest."""
    cells = len(silhouettes.rows)
    counts = np.zeros((cells, cells + 1), np.int32)
    for cell in range(cells):
        first, end = silhouettes.rows[cell, WHOLE]
        for row in range(first, end):
            for column in range(silhouettes.runs[cell, WHOLE, row, 0], silhouettes.runs[cell, WHOLE, row, 1]):
                counts[cell, labels[row, column] >> RANK_BITS] += 1
    return counts
