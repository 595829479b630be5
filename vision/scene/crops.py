"""Rectified crops: a small picture of every cell in which a stack stands upright.

Columns run along the projection of the world's vertical, so that the outline of a convex upright body is one run of
pixels per column, and sums over it are differences of two cumulative sums.  A crop pixel is one millimetre high (at the
mat, across the line of sight) and, where sides are upright, two wide: only heights need the resolution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import compiled
from vision.pose.projection import Points, Registration, project

SLACK_MM = 6.0
"""Margin of a crop round the widest piece: stacks are off the centre of their cell, and lean."""

INDEPENDENT_MM2 = 40.0
"""Area over which errors of pixels are correlated (a rim's shadow, a highlight, a slightly wrong colour): it counts as
one independent observation.  Chosen by eye."""


@dataclass(frozen=True, eq=False)
class Crops:
    """The crops of all cells (n) for one pose.

    Attributes:
        origin_px: (n, 2) float64, the projection of the crop's origin, the centre of the cell's floor.
        to_crop: (n, 2, 2) float64, picture px → crop mm, about the origin; crop axes are u right, v down.
        to_picture: (n, 2, 2) float64, its inverse.
        column_mm: width of a column; rows are 1 mm high.
        u_mm: (columns,) int32, column coordinates.
        v_mm: (rows,) int32, row coordinates.
        map_px: (2, n, rows, columns) float32, picture x and y of each crop pixel, for ``cv2.remap``.
        flat_px: (n, rows, columns) int32, the nearest picture pixel as an index into the flattened picture; 0 outside.
        outside: (n, rows, columns) bool, true outside the picture.
        foreshortening: (n,) float32, crop rows per millimetre of floor along the line of sight.
        centres_mm: (n, 3) float64, world positions of the centres of the cells' floors.
    """

    origin_px: Points
    to_crop: Points
    to_picture: Points
    column_mm: int
    u_mm: npt.NDArray[np.int32]
    v_mm: npt.NDArray[np.int32]
    map_px: npt.NDArray[np.float32]
    flat_px: npt.NDArray[np.int32]
    outside: npt.NDArray[np.bool_]
    foreshortening: npt.NDArray[np.float32]
    centres_mm: Points

    def only(self, cell: int) -> Crops:
        """The crop of the cell with this number."""
        one = slice(cell, cell + 1)
        return replace(
            self,
            origin_px=self.origin_px[one],
            to_crop=self.to_crop[one],
            to_picture=self.to_picture[one],
            map_px=self.map_px[:, one],
            flat_px=self.flat_px[one],
            outside=self.outside[one],
            foreshortening=self.foreshortening[one],
            centres_mm=self.centres_mm[one],
        )

    def from_picture(self, points_px: Points) -> Points:
        """Crop coordinates (n, p, 2) mm of picture points (n, p, 2) px, each cell's in its own crop."""
        around = points_px - self.origin_px[:, None]
        turned: Points = around @ self.to_crop.transpose(0, 2, 1)
        return turned


def make_crops(
    centres_mm: Points, pose: Registration, camera: Camera, reach_mm: tuple[float, float], column_mm: int
) -> Crops:
    """Crops of cells whose floors are centred at ``centres_mm`` (n, 3).

    Args:
        centres_mm: (n, 3) float64, mm in the world.
        pose: of the camera.
        camera: its intrinsics.
        reach_mm: width and height of what may stand on a cell.
        column_mm: width of a column.
    """
    centres, (width_mm, height_mm) = centres_mm, reach_mm
    origin = project(centres, pose, camera)
    up = project(centres + np.array([0.0, 0.0, 10.0]), pose, camera) - origin
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    right = np.column_stack([-up[:, 1], up[:, 0]])
    across = [(project(centres + step, pose, camera) - origin) / 5 for step in ((5.0, 0.0, 0.0), (0.0, 5.0, 0.0))]
    # Pixels per millimetre of floor across the line of sight, and along it.
    scale, along = np.linalg.svd(np.stack(across, axis=2), compute_uv=False).T
    to_crop = np.stack([right, -up], axis=1) / scale[:, None, None]
    tops = np.einsum("nij,nj->ni", to_crop, project(centres + np.array([0.0, 0.0, height_mm]), pose, camera) - origin)
    reach = int(np.ceil(width_mm / 2 + SLACK_MM))
    side = -(-reach // column_mm)
    u = column_mm * np.arange(-side, side + 1, dtype=np.int32)
    v = np.arange(int(np.floor(tops[:, 1].min())) - reach, reach + 1, dtype=np.int32)
    to_picture = np.asarray(np.linalg.inv(to_crop), np.float64)
    maps, flat, outside = _laid_out(origin, to_picture, u, v, (camera.width_px, camera.height_px))
    foreshortening = (along / scale).astype(np.float32)
    return Crops(origin, to_crop, to_picture, column_mm, u, v, maps, flat, outside, foreshortening, centres)


def magnify(crops: Crops, times: int, camera: Camera) -> Crops:
    """``crops`` with ``times`` rows and columns per millimetre; one of these is then their unit of length."""
    u, v = (np.arange(times * along[0], times * along[-1] + 1, dtype=np.int32) for along in (crops.u_mm, crops.v_mm))
    to_picture = crops.to_picture / times
    maps, flat, outside = _laid_out(crops.origin_px, to_picture, u, v, (camera.width_px, camera.height_px))
    return replace(
        crops,
        to_crop=crops.to_crop * times,
        to_picture=to_picture,
        column_mm=1,
        u_mm=u,
        v_mm=v,
        map_px=maps,
        flat_px=flat,
        outside=outside,
    )


@compiled
def _laid_out(
    origin_px: Points,
    to_picture: Points,
    u_mm: npt.NDArray[np.int32],
    v_mm: npt.NDArray[np.int32],
    size_px: tuple[int, int],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """``map_px``, ``flat_px`` and ``outside`` of :class:`Crops`; ``size_px``: width and height of the picture."""
    n, rows, columns = len(origin_px), len(v_mm), len(u_mm)
    width, height = size_px
    maps = np.empty((2, n, rows, columns), np.float32)
    flat, outside = np.zeros((n, rows, columns), np.int32), np.empty((n, rows, columns), np.bool_)
    for cell in range(n):
        turn = to_picture[cell]
        for i in range(rows):
            for j in range(columns):
                x = np.float32(origin_px[cell, 0] + turn[0, 0] * u_mm[j] + turn[0, 1] * v_mm[i])
                y = np.float32(origin_px[cell, 1] + turn[1, 0] * u_mm[j] + turn[1, 1] * v_mm[i])
                maps[0, cell, i, j], maps[1, cell, i, j] = x, y
                column, row = int(np.rint(x)), int(np.rint(y))
                is_outside = column < 0 or column >= width or row < 0 or row >= height
                outside[cell, i, j] = is_outside
                if not is_outside:
                    flat[cell, i, j] = row * width + column
    return maps, flat, outside
