"""The pose of a calibrated camera over the board, and the projection of world points into its picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import compiled

Points = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Registration:
    """Extrinsic pose of a camera: a world point X (mm) has camera coordinates ``rotation @ X + translation_mm``.

    Attributes:
        rotation: (3, 3) float64, world → camera (x right, y down, z forward).
        translation_mm: (3,) float64.
        markers: ids of the markers that it was estimated from.
        reprojection_px: root mean square reprojection error of their corners.
    """

    rotation: Points
    translation_mm: Points
    markers: tuple[int, ...]
    reprojection_px: float

    @property
    def centre_mm(self) -> Points:
        """(3,) float64 mm, the camera's centre in the world."""
        centre: Points = -self.rotation.T @ self.translation_mm
        return centre


def project(points_mm: Points, pose: Registration, camera: Camera) -> Points:
    """Project world points (n, 3) mm into the picture: (n, 2) px, the centre of the first pixel being (0, 0).

    As ``cv2.projectPoints`` (Brown, Close-range camera calibration, 1971), which also evaluates derivatives and takes
    ten times as long.
    """
    flat = np.ascontiguousarray(points_mm, np.float64)
    return _project(flat, pose.rotation, pose.translation_mm, camera.matrix, camera.distortion)


@compiled
def _project(points: Points, rotation: Points, translation: Points, matrix: Points, distortion: Points) -> Points:
    """See :func:`project`."""
    pixels = np.empty((len(points), 2))
    k1, k2, p1, p2, k3 = distortion[0], distortion[1], distortion[2], distortion[3], distortion[4]
    for i in range(len(points)):
        across, down, ahead = translation[0], translation[1], translation[2]
        for axis in range(3):
            across += rotation[0, axis] * points[i, axis]
            down += rotation[1, axis] * points[i, axis]
            ahead += rotation[2, axis] * points[i, axis]
        x, y = across / ahead, down / ahead
        square, both = x * x + y * y, 2 * x * y
        radial = 1 + square * (k1 + square * (k2 + square * k3))
        u = x * radial + p1 * both + p2 * (square + 2 * x * x)
        v = y * radial + p1 * (square + 2 * y * y) + p2 * both
        for axis in range(2):
            pixels[i, axis] = matrix[axis, 0] * u + matrix[axis, 1] * v + matrix[axis, 2]
    return pixels


def back_project(pixels: npt.NDArray[np.floating], pose: Registration, camera: Camera) -> Points:
    """(…, 2) mm, the points of the board's plane (z = 0) that are projected to pixels (…, 2)."""
    flat = pixels.reshape(-1, 1, 2).astype(np.float64)
    rays = np.asarray(cv2.undistortPoints(flat, camera.matrix, camera.distortion)).reshape(-1, 2)
    directions = np.column_stack([rays, np.ones(len(rays))]) @ pose.rotation
    centre = pose.centre_mm
    places: Points = centre[:2] - directions[:, :2] * (centre[2] / directions[:, 2])[:, None]
    return places.reshape(pixels.shape)
