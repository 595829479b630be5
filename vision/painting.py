"""What is believed to stand on the board, painted far to near: of every pixel, what it shows, and of which cell."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.columns import SUBPIXEL_BITS, Column, Polygon
from vision.palette import Materials

Canvas = npt.NDArray[np.uint16]
"""(height, width) of a picture: 256 times the rank of the nearest cell (0: none), and its material (0: the ground)."""

RANK_BITS = 8
MATERIAL_MASK = (1 << RANK_BITS) - 1


def fill(canvas: Canvas, outline: Polygon, material: int, rank: int) -> None:
    """Paint a convex polygon over what is behind it."""
    cv2.fillConvexPoly(canvas, outline, (rank << RANK_BITS) + material, shift=SUBPIXEL_BITS)


def fill_column(canvas: Canvas, column: Column | None, materials: Materials, rank: int) -> None:
    """Paint the column of a cell over what is behind it."""
    if column is not None:
        fill(canvas, column.outline, materials.column_side, rank)
        fill(canvas, column.top, materials.column_top, rank)


def ranks_of(canvas: Canvas) -> npt.NDArray[np.uint8]:
    """(height, width) rank of the cell that is nearest in each pixel."""
    return (canvas >> RANK_BITS).astype(np.uint8)


def materials_of(canvas: Canvas) -> npt.NDArray[np.uint8]:
    """(height, width) material that is nearest in each pixel; 0 for the ground."""
    return (canvas & MATERIAL_MASK).astype(np.uint8)
