"""The bare ground of a picture: squares, the mat's paper round them, and the table beyond it."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.kit import Kit
from vision.pose.projection import Points, Registration, project
from vision.scene.label_buffer import LabelBuffer
from vision.scene.materials import Materials

PLACES_PER_EDGE = 12
"""Points on each edge of the mat that are projected: a wide-angle lens bends it."""

_SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def mat_corners(kit: Kit) -> Points:
    """(4, 3) mm, the mat's corners."""
    x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    return np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])


def ground_labels(kit: Kit, pose: Registration, camera: Camera) -> LabelBuffer:
    """(height, width) FLOOR, PAPER or TABLE in every pixel; where every cell is a pillar the floor is paper."""
    labels = np.full((camera.height_px, camera.width_px), Materials.TABLE, np.uint16)
    corners, shares = mat_corners(kit), np.linspace(0, 1, PLACES_PER_EDGE, endpoint=False)[:, None]
    edges = [a + shares * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    cv2.fillPoly(
        labels,
        [np.rint(project(np.vstack(edges), pose, camera)).astype(np.int32)],
        Materials.PAPER if has_paper(kit) else Materials.FLOOR,
    )
    for square in np.rint(_squares_px(kit, pose, camera)).astype(np.int32):
        cv2.fillConvexPoly(labels, square, Materials.FLOOR)
    return labels


def grid_lines_px(kit: Kit, pose: Registration, camera: Camera) -> list[Points]:
    """(5, 2) px of the printed line round every square; none if the kit does not say how squares are printed."""
    return list(_squares_px(kit, pose, camera)[:, [0, 1, 2, 3, 0]])


def has_paper(kit: Kit) -> bool:
    """Whether the mat is paper of one colour round squares of another, and both are known in advance."""
    is_even = kit.board.cell_colour is not None and kit.board.chequer_colour is None
    return kit.pillars is None and kit.mat.colour is not None and is_even


def _squares_px(kit: Kit, pose: Registration, camera: Camera) -> Points:
    """(n, 4, 2) px, the corners of all squares; none if the kit does not say how squares are printed."""
    centres = np.array(kit.centres_mm if has_paper(kit) else ()).reshape(-1, 1, 2)
    corners = (centres + np.array(kit.board.pitch_mm) * _SQUARE).reshape(-1, 2)
    return project(np.column_stack([corners, np.zeros(len(corners))]), pose, camera).reshape(-1, 4, 2)
