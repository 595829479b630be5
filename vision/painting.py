"""What is believed to stand on the board, painted far to near: of every pixel, what it shows, and of which cell."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.columns import SUBPIXEL_BITS, Column, Polygon, fixed
from vision.palette import Materials
from vision.register import Points

Canvas = npt.NDArray[np.uint16]
"""(height, width) of a picture: 256 times the rank of the nearest cell (0: none), and the material that shows."""

RANK_BITS = 8
MATERIAL_MASK = (1 << RANK_BITS) - 1


class Outline(NamedTuple):
    """A figure in the picture: its hull, its uppermost part, and the part of the picture in which it lies."""

    hull: Polygon
    top: Polygon
    box: tuple[slice, slice]


def outline_of(hull_px: Points, top_px: Points, size: tuple[int, int]) -> Outline:
    """The outline of a figure with this hull and uppermost part, (k, 2) px each, in a picture (height, width)."""
    hull = fixed(hull_px)
    left, top, width, height = cv2.boundingRect(hull >> SUBPIXEL_BITS)
    # Polygons are painted with their edges, up to half a pixel beyond them.
    rows = slice(max(top - 1, 0), max(min(top + height + 1, size[0]), 0))
    columns = slice(max(left - 1, 0), max(min(left + width + 1, size[1]), 0))
    return Outline(hull, fixed(top_px), (rows, columns))


def fill(canvas: Canvas, outline: Polygon, material: int, rank: int) -> None:
    """Paint a convex polygon over what is behind it."""
    cv2.fillConvexPoly(canvas, outline, (rank << RANK_BITS) + material, shift=SUBPIXEL_BITS)


def fill_column(canvas: Canvas, column: Column | None, materials: Materials, rank: int) -> None:
    """Paint the column of a cell over what is behind it."""
    if column is not None:
        fill(canvas, column.outline, materials.column_side, rank)
        fill(canvas, column.top, materials.column_top, rank)


class Painting:
    """A canvas that begins bare, on which figures come and go."""

    def __init__(self, bare: Canvas, *, has_columns: bool) -> None:
        """``bare``: painted with columns alone, if any; what of them is nearer than a figure stays before it."""
        self.canvas = bare.copy()
        self._bare = bare
        self._has_columns = has_columns
        self._painted: list[tuple[slice, slice]] = []

    def clear(self) -> None:
        """Take all figures away."""
        for box in self._painted:
            self.canvas[box] = self._bare[box]
        self._painted.clear()

    def add(self, outline: Outline, material: int, rank: int) -> None:
        """Paint a figure whose uppermost part shows ``material`` over all that is farther."""
        fill(self.canvas, outline.hull, Materials.STANDING, rank)
        fill(self.canvas, outline.top, material, rank)
        if self._has_columns:
            bare = self._bare[outline.box]
            np.copyto(self.canvas[outline.box], bare, where=bare >> RANK_BITS > rank)
        self._painted.append(outline.box)


def ranks_of(canvas: Canvas) -> npt.NDArray[np.uint8]:
    """(height, width) rank of the cell that is nearest in each pixel."""
    return (canvas >> RANK_BITS).astype(np.uint8)
