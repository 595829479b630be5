"""Outlines of configurations in the crops: the row in which each part begins and ends, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import allocation_free, compiled
from vision.pose.projection import Points, Registration, project
from vision.scene.configurations import Configurations
from vision.scene.crops import Crops

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Outlines:
    """Every configuration (f) on every cell (n), standing straight at its centre, in crops of k columns.

    Attributes:
        edges: (n, f, e, k) float32, the row in which each part begins, counted from the crop's first row: row i spans
            i to i + 1.  The next edge is where a part ends, and edges after the last part repeat its end.  Columns that
            a configuration does not reach have all edges in one row.
        covers: (n, f, k) bool, columns that the configuration reaches.
        corners_mm: for each configuration (n, p, 2) crop coordinates of its corners, the uppermost part's first.
        first: for each configuration the number of corners of its uppermost part.
        boxes_px: (n, f, 4) float32, left, top, right, bottom in the picture.
    """

    edges: Array
    covers: npt.NDArray[np.bool_]
    corners_mm: tuple[Points, ...]
    first: tuple[int, ...]
    boxes_px: Array

    def corners_px(self, crops: Crops, cell: int, configuration: int, shift_mm: Points) -> Points:
        """(p, 2) px, the corners of a configuration, those of its uppermost part first.

        That part is shifted by ``shift_mm`` (2,), in the crop; the foot stays where it is.
        """
        corners = self.corners_mm[configuration][cell].copy()
        corners[: self.first[configuration]] += shift_mm
        picture: Points = corners @ crops.to_picture[cell].T + crops.origin_px[cell]
        return picture


def make_outlines(crops: Crops, configurations: Configurations, pixels: Sequence[Points]) -> Outlines:
    """The outlines of all configurations on all cells; ``pixels``: of each wireframe, from :func:`in_picture`."""
    width = int(configurations.parts.max()) + 1
    places = [crops.from_picture(points) for points in pixels]
    reach = [
        extents(place, wireframe.lines, crops.u_mm)
        for place, wireframe in zip(places, configurations.wireframes, strict=True)
    ]
    far, near = (np.array([run[side] for run in reach]) for side in (0, 1))
    within = np.array([_bounds(points) for points in pixels])
    cells, columns = far.shape[1:]
    edges = np.empty((cells, len(configurations.all), width, columns), np.float32)
    covers = np.empty((cells, len(configurations.all), columns), np.bool_)
    boxes = np.empty((cells, len(configurations.all), 4), np.float32)
    for number, parts in enumerate(configurations.wireframe_numbers):
        edges[:, number], covers[:, number] = stacked_edges(far, near, parts, width)
        boxes[:, number, :2], boxes[:, number, 2:] = within[parts, 0].min(axis=0), within[parts, 1].max(axis=0)
    # The parts between the uppermost one and the foot of a straight stack lie within the hull of these two.
    ends = [parts[[0, -1]] if configurations.is_single_size else parts for parts in configurations.wireframe_numbers]
    corners = tuple(np.concatenate([places[part] for part in parts], axis=1) for parts in ends)
    first = tuple(len(configuration.parts[0].corners_mm) for configuration in configurations.all)
    edges -= np.float32(crops.v_mm[0] - 0.5)
    return Outlines(edges, covers, corners, first, boxes)


def in_picture(crops: Crops, pose: Registration, camera: Camera, corners_mm: Points) -> Points:
    """(n, p, 2) px, the projections of a body's corners (p, 3), standing on every cell."""
    world = crops.centres_mm[:, None] + corners_mm
    return project(world.reshape(-1, 3), pose, camera).reshape(*world.shape[:2], 2)


@compiled
def _bounds(points: Points) -> Points:
    """(2, n, 2) the least and the greatest coordinates of each of n sets of ``points`` (n, p, 2)."""
    bounds = np.empty((2, len(points), 2))
    for number in range(len(points)):
        for axis in range(2):
            least = greatest = points[number, 0, axis]
            for i in range(1, points.shape[1]):
                least, greatest = min(least, points[number, i, axis]), max(greatest, points[number, i, axis])
            bounds[0, number, axis], bounds[1, number, axis] = least, greatest
    return bounds


@compiled
def extents(corners_mm: Points, lines: npt.NDArray[np.intp], u_mm: npt.NDArray[np.int32]) -> tuple[Array, Array]:
    """First and last row of a wireframe's hull in each column, (n, k) float32 each; inf and −inf in columns outside it.

    ``corners_mm`` (n, p, 2) are crop coordinates, ``lines`` (l, 2) corner indices.
    """
    cells, columns = len(corners_mm), len(u_mm)
    far = np.full((cells, columns), np.inf, np.float32)
    near = np.full((cells, columns), -np.inf, np.float32)
    _widen_to_lines(corners_mm, lines, u_mm, far, near)
    return far, near


@allocation_free
def _widen_to_lines(
    corners_mm: Points, lines: npt.NDArray[np.intp], u_mm: npt.NDArray[np.int32], far: Array, near: Array
) -> None:
    """See :func:`extents`; ``far`` and ``near`` (n, k) are extended."""
    for cell in range(len(corners_mm)):
        for line in range(len(lines)):
            widen(corners_mm[cell, lines[line, 0]], corners_mm[cell, lines[line, 1]], u_mm, far[cell], near[cell])


@allocation_free
def widen(begin: Points, end: Points, u_mm: npt.NDArray[np.int32], far: Array, near: Array) -> None:
    """Extend ``far`` and ``near`` (k,), first and last rows in columns ``u_mm`` (k,), to a line between two corners."""
    along = end[0] - begin[0]
    if abs(along) < 1e-6:
        return
    first_mm, per_mm, slope = float(u_mm[0]), 1 / float(u_mm[1] - u_mm[0]), (end[1] - begin[1]) / along
    first = int(np.ceil((min(begin[0], end[0]) - first_mm) * per_mm))
    last = int(np.floor((max(begin[0], end[0]) - first_mm) * per_mm))
    for column in range(max(first, 0), min(last + 1, len(u_mm))):
        row = begin[1] + (u_mm[column] - begin[0]) * slope
        far[column] = min(far[column], row)
        near[column] = max(near[column], row)


@compiled
def stacked_edges(
    far: Array, near: Array, parts: npt.NDArray[np.intp], width: int
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Edges (n, width, k) float32 of ``parts``, each occluding the next, and (n, k) bool, which columns they cover.

    ``far`` and ``near`` (all parts, n, k): rows in which they begin and end, infinite where there are none.
    """
    _, cells, columns = far.shape
    edges, covers = np.zeros((cells, width, columns), np.float32), np.zeros((cells, columns), np.bool_)
    for cell in range(cells):
        for column in range(columns):
            reached = np.float32(-np.inf)
            for number in range(len(parts)):
                begins, ends = far[parts[number], cell, column], near[parts[number], cell, column]
                if ends < begins:  # this part is not in this column
                    pass
                elif np.isinf(reached):
                    # Nothing above reaches this column: it begins with this part, and the parts above have no extent.
                    edges[cell, : number + 1, column], reached = begins, ends
                else:
                    reached = max(reached, ends)
                edges[cell, number + 1, column] = reached
            covers[cell, column] = not np.isinf(reached)
            edges[cell, len(parts) :, column] = reached
            if not covers[cell, column]:
                edges[cell, :, column] = 0
    return edges, covers
