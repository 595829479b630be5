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

from vision.compiled import allocation_free, compiled
from vision.scene.materials import Materials
from vision.scene.silhouettes import UPPERMOST, WHOLE, Silhouettes
from vision.scene.terrain import SUBPIXEL_BITS, Column, Polygon

LabelBuffer = npt.NDArray[np.uint16]
"""(height, width) uint16: 256 times the rank of the nearest cell (0: none; greater is nearer), plus its material's
label."""

Indices = npt.NDArray[np.intp]

RANK_BITS = 8
MATERIAL_MASK = (1 << RANK_BITS) - 1

CHANGED = -1
"""In :attr:`Buffers.materials`: what was rendered is no longer the silhouette."""

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
    """A label buffer and what is needed to render it again; all but ``bare`` are modified in place.

    Attributes:
        labels: (height, width) uint16.
        bare: (height, width) uint16, terrain alone, which occludes what is farther away.
        boxes: (n, 4) int32, left, top, right, bottom of what was rendered of each cell, from :func:`_box`.
        materials: (n,) intp, label of the uppermost part that was rendered of each cell, 0 where nothing was;
            :data:`CHANGED` where the silhouette has changed since.
    """

    labels: LabelBuffer
    bare: LabelBuffer
    boxes: npt.NDArray[np.int32]
    materials: Indices


def bare_buffers(bare: LabelBuffer, cells: int) -> Buffers:
    """The buffers (height, width) of an empty board of n ``cells``, on the ``bare`` terrain."""
    nowhere = np.array((*bare.shape[::-1], 0, 0), np.int32)
    return Buffers(bare.copy(), bare, np.tile(nowhere, (cells, 1)), np.zeros(cells, np.intp))


@allocation_free
def render(buffers: Buffers, silhouettes: Silhouettes, far_first: Indices, materials: Indices) -> None:
    """Render the hypothesis again where it has changed.

    Args:
        buffers: of the picture.
        silhouettes: of what stands on the cells.
        far_first: (n,) intp, cells from the farthest to the nearest.
        materials: (n,) intp, label of the uppermost part on each cell; 0 where nothing is to be rendered.
    """
    boxes, size = buffers.boxes, buffers.labels.shape
    for cell in far_first:
        if buffers.materials[cell] != materials[cell]:
            left, top, right, bottom = _box(silhouettes, cell, materials[cell] > 0, size)
            old = boxes[cell]
            window = min(left, old[0]), min(top, old[1]), max(right, old[2]), max(bottom, old[3])
            old[0], old[1], old[2], old[3] = left, top, right, bottom
            _render_window(buffers, silhouettes, far_first, materials, window)
            buffers.materials[cell] = materials[cell]


@allocation_free
def _box(silhouettes: Silhouettes, cell: int, is_shown: bool, size: tuple[int, int]) -> tuple[int, int, int, int]:  # noqa: FBT001
    """Left, top, right, bottom of a silhouette that ``is_shown``; else of a box that no other one is enlarged by.

    ``size``: height and width of the picture.
    """
    top, bottom = silhouettes.rows[cell, WHOLE, 0], silhouettes.rows[cell, WHOLE, 1]
    if is_shown and top < bottom:
        return silhouettes.columns[cell, 0], top, silhouettes.columns[cell, 1], bottom
    return size[1], size[0], 0, 0


@allocation_free
def _render_window(
    buffers: Buffers,
    silhouettes: Silhouettes,
    far_first: Indices,
    materials: Indices,
    window: tuple[int, int, int, int],
) -> None:
    """Render a window, left, top, right, bottom; see :func:`render`."""
    labels, bare = buffers.labels, buffers.bare
    left, top, right, bottom = window
    for row in range(top, bottom):
        run, behind = labels[row, left:right], bare[row, left:right]
        for i in range(len(run)):
            run[i] = behind[i]
    for place in range(len(far_first)):
        cell, rank = far_first[place], place + 1
        is_across = silhouettes.columns[cell, 0] < right and left < silhouettes.columns[cell, 1]
        if materials[cell] > 0 and is_across:
            _fill(labels, bare, silhouettes, (cell, WHOLE), window, (rank << RANK_BITS) + _STANDING)
            _fill(labels, bare, silhouettes, (cell, UPPERMOST), window, (rank << RANK_BITS) + materials[cell])


@allocation_free
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
