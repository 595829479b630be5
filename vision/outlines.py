"""Outlines of figures in the crops: where each part begins and ends, column by column."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import compiled
from vision.crops import Crops
from vision.figures import Figures, Wire
from vision.register import Points, Registration, project

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Outlines:
    """Every figure (f) on every cell (n), standing straight in the middle, in crops of k columns.

    Attributes:
        edges: (n, f, e, k) float32 crop row in which each part begins; the next edge is where it ends, and edges after
            the last part repeat its end.  Columns that a figure does not reach have all edges in one row.
        covers: (n, f, k) bool, columns that the figure reaches.
        corners_mm: for each figure (n, p, 2) crop coordinates of its corners, the uppermost part's first.
        first: for each figure how many of its corners are the uppermost part's.
        boxes_px: (n, f, 4) float32 left, top, right, bottom in the picture.
    """

    edges: Array
    covers: npt.NDArray[np.bool_]
    corners_mm: tuple[Points, ...]
    first: tuple[int, ...]
    boxes_px: Array

    def polygons_px(self, crops: Crops, cell: int, figure: int, shift_mm: Points) -> tuple[Points, Points]:
        """Picture px: the outline (k, 2) of a figure and that of its uppermost part, which leans by ``shift_mm``.

        ``shift_mm`` (2,) is in the crop; the foot stays where it is.
        """
        corners = self.corners_mm[figure][cell].copy()
        top = self.first[figure]
        corners[:top] += shift_mm
        picture: Points = corners @ crops.to_picture[cell].T + crops.origin_px[cell]
        return _hull(picture), _hull(picture[:top])


def make_outlines(crops: Crops, pose: Registration, camera: Camera, figures: Figures) -> Outlines:
    """The outlines of all figures on all cells, seen from ``pose``."""
    cells, columns = len(crops.centres_mm), len(crops.u_mm)
    width = int(figures.parts.max()) + 1
    edges = np.empty((cells, len(figures.all), width, columns), np.float32)
    covers = np.empty((cells, len(figures.all), columns), np.bool_)
    places: dict[int, Points] = {}
    reach: dict[int, tuple[Array, Array]] = {}
    within: dict[int, tuple[Points, Points]] = {}
    for wire in {id(part): part for figure in figures.all for part in figure.parts}.values():
        pixels = in_picture(crops, pose, camera, wire)
        within[id(wire)] = pixels.min(axis=1), pixels.max(axis=1)
        places[id(wire)] = crops.from_picture(np.arange(cells), pixels)
        reach[id(wire)] = extents(places[id(wire)], wire.lines, crops.u_mm)
    corners, boxes = [], np.empty((cells, len(figures.all), 4), np.float32)
    for number, figure in enumerate(figures.all):
        runs = [reach[id(part)] for part in figure.parts]
        edges[:, number], covers[:, number] = stacked_edges(runs, width)
        corners.append(np.concatenate([places[id(part)] for part in figure.parts], axis=1))
        boxes[:, number, :2] = np.min([within[id(part)][0] for part in figure.parts], axis=0)
        boxes[:, number, 2:] = np.max([within[id(part)][1] for part in figure.parts], axis=0)
    first = tuple(len(figure.parts[0].corners_mm) for figure in figures.all)
    return Outlines(edges, covers, tuple(corners), first, boxes)


def in_picture(crops: Crops, pose: Registration, camera: Camera, wire: Wire) -> Points:
    """(n, p, 2) px, a wire's corners, standing on every cell."""
    world = crops.centres_mm[:, None] + wire.corners_mm
    return project(world.reshape(-1, 3), pose, camera).reshape(*world.shape[:2], 2)


@compiled
def extents(corners_mm: Points, lines: npt.NDArray[np.intp], u_mm: npt.NDArray[np.int32]) -> tuple[Array, Array]:
    """(n, k) row in which the hull of a wire begins in each column, and in which it ends; inf, −inf beside it.

    ``corners_mm`` (n, p, 2) are crop coordinates, ``lines`` (l, 2) numbers of corners.
    """
    cells, columns = len(corners_mm), len(u_mm)
    far = np.full((cells, columns), np.inf, np.float32)
    near = np.full((cells, columns), -np.inf, np.float32)
    for cell in range(cells):
        for line in range(len(lines)):
            begin, end = corners_mm[cell, lines[line, 0]], corners_mm[cell, lines[line, 1]]
            along = end[0] - begin[0]
            if abs(along) < 1e-6:
                continue
            for column in range(columns):
                part = (u_mm[column] - begin[0]) / along
                if 0 <= part <= 1:
                    row = begin[1] + part * (end[1] - begin[1])
                    far[cell, column] = min(far[cell, column], row)
                    near[cell, column] = max(near[cell, column], row)
    return far, near


def stacked_edges(runs: list[tuple[Array, Array]], width: int) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Edges (n, width, k) between parts that hide each other, the first before all, and the columns that they cover."""
    cells, columns = runs[0][0].shape
    edges = np.full((cells, width, columns), -np.inf, np.float32)
    reached = np.full((cells, columns), -np.inf, np.float32)
    for number, (far, near) in enumerate(runs):
        # Where nothing above reaches a column, this part begins there, and those above have no thickness.
        begins = np.isfinite(far) & ~np.isfinite(reached)
        reached = np.where(begins, far, reached)
        edges[:, : number + 1] = np.where(begins[:, None], far[:, None], edges[:, : number + 1])
        reached = np.maximum(reached, near)
        edges[:, number + 1] = reached
    edges[:, len(runs) :] = reached[:, None]
    covers = np.isfinite(reached)
    return np.where(covers[:, None], edges, 0).astype(np.float32), covers


def _hull(points_px: Points) -> Points:
    hull: Points = cv2.convexHull(points_px.astype(np.float32)).reshape(-1, 2).astype(np.float64)
    return hull
