"""Uncertainty of the squares' positions: the covariance of a pose from few markers, propagated to the squares."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.board_lens import CORNER_PX, PRINT_MM, RULER_MM
from calibration.camera import Camera
from calibration.kit import Kit
from calibration.marker_alignment import side_px
from vision.errors import MatNotFound
from vision.pose.projection import Points, Registration, project

MAX_POSITION_STD_MM = 3.0
"""Largest standard deviation of a square's position at which stacks can be counted: twice a foot's offset from the
centre.  With two stickers at one side of a board it is 3 to 6 mm, with two printed markers 2.5 at most, with three
stickers 2.4."""

MAX_NAMED = 6
"""Squares named in one message."""


def check_certain(kit: Kit, pose: Registration, camera: Camera) -> None:
    """Raise MatNotFound if hidden markers would be needed to determine the positions of some squares."""
    missing = [marker.id for marker in kit.mat.markers if marker.id not in pose.markers]
    if not missing:
        return
    unsure = np.flatnonzero(position_std_mm(kit, pose, camera) > MAX_POSITION_STD_MM)
    if len(unsure):
        seen, hidden = (", ".join(map(str, sorted(ids))) for ids in (pose.markers, missing))
        names = ", ".join(kit.cells[cell] for cell in unsure[:MAX_NAMED]) + (", …" if len(unsure) > MAX_NAMED else "")
        raise MatNotFound(f"the markers {seen} alone do not tell where {names} lie: show marker {hidden} too")


def position_std_mm(kit: Kit, pose: Registration, camera: Camera) -> Points:
    """(n,) standard deviation of the position of each cell's centre, mm, given that of the markers' corners."""
    placed = [marker for marker in kit.mat.markers if marker.id in pose.markers]
    corners = np.array([(x, y, 0.0) for marker in placed for x, y in marker.corners_mm])
    cells = np.array([(*centre, 0.0) for centre in kit.centres_mm])
    shown = project(corners, pose, camera).reshape(-1, 4, 2)
    px_per_mm = np.mean([side_px(one) for one in shown]) / kit.mat.marker_mm
    known_mm = RULER_MM if any(marker.is_measured for marker in placed) else PRINT_MM
    at_corners, at_cells = (_derivatives(points, pose, camera) for points in (corners, cells))
    variance = np.hypot(CORNER_PX, known_mm * px_per_mm) ** 2
    covariance = variance * np.linalg.pinv(at_corners.T @ at_corners)
    moved = np.einsum("ij,jk,ik->i", at_cells, covariance, at_cells).reshape(-1, 2).sum(axis=1)
    deviations: Points = np.sqrt(moved) / px_per_mm
    return deviations


def _derivatives(points_mm: Points, pose: Registration, camera: Camera) -> Points:
    """(2 n, 6) Jacobian of the projections of points (n, 3) with respect to rotation and translation."""
    rvec = cv2.Rodrigues(pose.rotation)[0]
    _, jacobian = cv2.projectPoints(points_mm, rvec, pose.translation_mm, camera.matrix, camera.distortion)
    return np.asarray(jacobian[:, :6], np.float64)
