"""What stands under the pieces: terrain and pillars, columns as wide as their squares, of known height."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.register import Points, Registration, project
from vision.shapes import column, floor_mm, hull

SUBPIXEL_BITS = 4
"""Binary digits of a pixel's fraction in polygons, as ``cv2.fillConvexPoly`` takes them."""

Polygon = npt.NDArray[np.int32]
"""(k, 2) corners in fixed point, in order round a convex polygon."""


@dataclass(frozen=True, eq=False)
class Column:
    """The picture of one cell's column: its whole outline, and its upper face."""

    outline: Polygon
    top: Polygon


def floors_mm(kit: Kit, levels: tuple[int, ...]) -> Points:
    """(n, 3) mm, middles of the cells' floors; ``levels`` of terrain or pillars, empty where all are at the lowest."""
    heights = (floor_mm(kit, level) for level in levels or (None,) * len(kit.cells))
    return np.array([(*kit.centre_mm(cell), z) for cell, z in zip(kit.cells, heights, strict=True)])


def far_first(kit: Kit, pose: Registration) -> npt.NDArray[np.intp]:
    """(n,) numbers of the cells from the farthest to the nearest to the camera: nearer ones hide farther ones."""
    centres = np.array([kit.centre_mm(cell) for cell in kit.cells])
    return np.argsort(-np.linalg.norm(centres - pose.centre_mm[:2], axis=1))


def columns_of(kit: Kit, levels: tuple[int, ...], pose: Registration, camera: Camera) -> tuple[Column | None, ...]:
    """The columns of all cells as ``pose`` sees them; None where pieces stand on the mat."""
    seen: list[Column | None] = []
    for cell, level in zip(kit.cells, levels or (None,) * len(kit.cells), strict=True):
        solid = column(kit, cell, level)
        if solid is None:
            seen.append(None)
            continue
        pixels = project(solid.points, pose, camera)
        seen.append(Column(fixed(hull(pixels)), fixed(pixels[list(solid.top)])))
    return tuple(seen)


def fixed(points_px: npt.NDArray[np.floating]) -> Polygon:
    """Points (…, 2) px as corners (k, 2) in fixed point."""
    corners: Polygon = np.rint(points_px.reshape(-1, 2) * (1 << SUBPIXEL_BITS)).astype(np.int32)
    return corners
