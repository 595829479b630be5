"""The simulated camera: its lens and its pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.camera import Camera
from calibration.kit import Kit
from vision.pose.projection import Points, Registration, project
from vision.scene.solids import highest_floors_mm

ELEVATION_DEG = 60.0
AZIMUTH_DEG = -84.0
"""From behind the first player, slightly to his right."""

ROLL_DEG = 0.8
AIM_SHARES = -0.09, -0.06, -0.03, 0.0
"""The camera looks at a point off the mat's middle by one of these fractions of its height: nearer, so that the near
edge fits, but less so the higher the board is built."""

MARGIN_PX = 20.0
TALLEST_MM = 40.0
"""Height over a cell's floor up to which everything must be inside the picture."""

TALLEST_STEPS = 3
"""The same on terrain, in terrain steps, which are as high as the blocks that are built on it."""

NEAREST_MM, FARTHEST_MM, STEP_MM = 300.0, 1500.0, 5.0


def default_camera() -> Camera:
    """A webcam of 1280 × 720 with mild barrel distortion; its calibration is exact, since it is simulated."""
    matrix = np.array([[1050.0, 0.0, 643.0], [0.0, 1051.5, 356.0], [0.0, 0.0, 1.0]])
    return Camera(1280, 720, matrix, np.array([-0.06, 0.02, 0.0004, -0.0003, 0.0]), 0.0)


def default_pose(kit: Kit, camera: Camera | None = None, levels: Sequence[int] = ()) -> Registration:
    """The nearest pose on a slanting line from which the camera sees the whole mat and everything on it.

    ``levels`` are those of the terrain, in the order of the kit's cells; empty: a flat board.  Pillars may always rise.
    """
    camera = camera or default_camera()
    points = extent(kit, levels)
    for distance in np.arange(NEAREST_MM, FARTHEST_MM, STEP_MM):
        for share in AIM_SHARES:
            pose = looking_at(np.array([0.0, share * kit.mat.height_mm, 0.0]), float(distance), kit)
            pixels = project(points, pose, camera)
            low, high = pixels.min(axis=0), pixels.max(axis=0)
            if (low > MARGIN_PX).all() and (high < [camera.width_px - MARGIN_PX, camera.height_px - MARGIN_PX]).all():
                return pose
    raise ValueError(f"the mat of {kit.name} is too large for this camera")


def looking_at(
    point_mm: Points,
    distance_mm: float,
    kit: Kit,
    elevation_deg: float = ELEVATION_DEG,
    azimuth_deg: float = AZIMUTH_DEG,
    roll_deg: float = ROLL_DEG,
) -> Registration:
    """The pose that looks at ``point_mm`` (3,) from this distance and direction, by default the usual one."""
    elevation, azimuth = np.radians([elevation_deg, azimuth_deg])
    outward = np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)],
    )
    right = np.cross(-outward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    level = np.stack([right, np.cross(-outward, right), -outward])
    roll = np.radians(roll_deg)
    tilt = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
    rotation = tilt @ level
    centre = point_mm + distance_mm * outward
    return Registration(rotation, -rotation @ centre, tuple(marker.id for marker in kit.mat.markers), 0.0)


def extent(kit: Kit, levels: Sequence[int]) -> Points:
    """(n, 3) mm, the corners of the mat, and the highest point to expect on each cell."""
    x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    tallest = max(TALLEST_MM, TALLEST_STEPS * kit.board.terrain_step_mm)
    mat = np.array([[sx * x, sy * y, 0.0] for sx in (-1, 1) for sy in (-1, 1)])
    return np.vstack([mat, np.column_stack([kit.centres_mm, highest_floors_mm(kit, levels) + tallest])])
