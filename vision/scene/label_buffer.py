"""The label buffer of a hypothesis: the nearest surface in every pixel, rendered from far to near.

That is the painter's algorithm.  The buffer is an item buffer (Weghorst, Hooper and Greenberg, Improved computational
methods for ray tracing, 1984): a z-buffer that stores which surface is nearest, not its depth.  Occlusion tests compare
ranks.
"""

from __future__ import annotations

from typing import NamedTuple

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
        fill(labels, column.top, materials.column_top(column.sky_view_factor), rank)


class Buffers(NamedTuple):
    """A label buffer and what is needed to render it again.

    Attributes:
        labels: (height, width) uint16, modified in place.
        bare: (height, width) uint16, terrain alone, which occludes what is farther away.
        rendered: (n, 4) int32, left, top, right, bottom of what was rendered of each cell, all 0 where nothing was;
            modified in place.
    """

    labels: LabelBuffer
    bare: LabelBuffer
    rendered: npt.NDArray[np.int32]


class Region(NamedTuple):
    """The part of a picture covered by some boxes.

    Attributes:
        low: (n, 2) float64, least x and y of each box, px.
        high: (n, 2) float64, largest x and y.
        boxes: (b,) intp, indices of the boxes that are included.
    """

    low: npt.NDArray[np.floating]
    high: npt.NDArray[np.floating]
    boxes: Indices


@compiled
def render(buffers: Buffers, silhouettes: Silhouettes, far_first: Indices, materials: Indices, region: Region) -> None:
    """Render the hypothesis again within the bounding box of some boxes.

    Args:
        buffers: of the picture.
        silhouettes: of what stands on the cells.
        far_first: (n,) intp, cells from the farthest to the nearest.
        materials: (n,) intp, label of the uppermost part on each cell; 0 where nothing is to be rendered.
        region: where.
    """
    labels, bare, rendered = buffers
    for cell in far_first:
        if rendered[cell, 3] > 0:
            _restore(labels, bare, rendered[cell])
            rendered[cell] = 0
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    for box in region.boxes:
        left, top = min(left, region.low[box, 0]), min(top, region.low[box, 1])
        right, bottom = max(right, region.high[box, 0]), max(bottom, region.high[box, 1])
    size = len(labels), labels.shape[1]
    window = int(max(left, 0.0)), int(max(top, 0.0)), int(min(right + 2, size[1])), int(min(bottom + 2, size[0]))
    for place in range(len(far_first)):
        cell, rank = far_first[place], place + 1
        first, end = max(silhouettes.rows[cell, WHOLE, 0], window[1]), min(silhouettes.rows[cell, WHOLE, 1], window[3])
        x, x_end = max(silhouettes.columns[cell, 0], window[0]), min(silhouettes.columns[cell, 1], window[2])
        if materials[cell] > 0 and first < end and x < x_end:
            rendered[cell, 0], rendered[cell, 1], rendered[cell, 2], rendered[cell, 3] = x, first, x_end, end
            _fill(labels, bare, silhouettes, (cell, WHOLE), window, (rank << RANK_BITS) + _STANDING)
            _fill(labels, bare, silhouettes, (cell, UPPERMOST), window, (rank << RANK_BITS) + materials[cell])


@compiled
def _fill(
    labels: LabelBuffer,
    bare: LabelBuffer,
    silhouettes: Silhouettes,
    which: tuple[int, int],
    window: tuple[int, int, int, int],
    value: int,
) -> None:
    """Render one silhouette in a window, except where a nearer cell's terrain occludes it.

    ``which``: cell and part; ``window``: left, top, right, bottom.
    """
    (cell, part), (left, top, right, bottom) = which, window
    first, end = max(silhouettes.rows[cell, part, 0], top), min(silhouettes.rows[cell, part, 1], bottom)
    # Array views of the buffer's own dtype let the compiler use vector instructions.
    paint, beyond = np.uint16(value), np.uint16(((value >> RANK_BITS) + 1) << RANK_BITS)
    for row in range(first, end):
        begin, stop = max(silhouettes.runs[cell, part, row, 0], left), min(silhouettes.runs[cell, part, row, 1], right)
        run, behind = labels[row, begin:stop], bare[row, begin:stop]
        for i in range(len(run)):
            run[i] = paint if behind[i] < beyond else run[i]


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
    """(n, n + 1) int32: number of pixels of each cell's silhouette in which the cell of each rank is nearest."""
    cells = len(silhouettes.rows)
    counts = np.zeros((cells, cells + 1), np.int32)
    for cell in range(cells):
        first, end = silhouettes.rows[cell, WHOLE]
        for row in range(first, end):
            for column in range(silhouettes.runs[cell, WHOLE, row, 0], silhouettes.runs[cell, WHOLE, row, 1]):
                counts[cell, labels[row, column] >> RANK_BITS] += 1
    return counts
