"""Blur of a picture on the board, estimated from edges of known position: those of the markers."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.marker_alignment import box_round, draw_marker, side_px
from calibration.markers import dictionary
from vision.pose.projection import Points, Registration, project

Gray = npt.NDArray[np.uint8]

SPREADS_PX = np.arange(0.4, 6.01, 0.2)
"""Standard deviations of Gaussian blurs that are tried: from a sharp picture to one in which no marker is found."""

MAX_BLUR_SHARE = 0.15
"""Standard deviation of the blur on the board, as a share of the lowest piece's height, above which readings suffer.
In blurred pictures of five boards and two real photographs 29 of 6,488 squares were misread below it, one with p over
0.99, and 81 of 5,918 above it, 15 of them with such p."""


def is_too_blurred(gray: Gray, kit: Kit, pose: Registration, camera: Camera) -> bool:
    """Whether a picture (height, width) uint8 is so blurred that pieces cannot be counted reliably."""
    return blur_mm(gray, kit, pose, camera) > max_blur_mm(kit)


def max_blur_mm(kit: Kit) -> float:
    """Standard deviation of a blur on the board, in mm, above which heights of a kit's pieces are misread."""
    return MAX_BLUR_SHARE * min(kind.height_mm for kind in kit.pieces)


def blur_mm(gray: Gray, kit: Kit, pose: Registration, camera: Camera) -> float:
    """Standard deviation of a picture's blur in mm on the board: the median over the markers used for the pose.

    Each marker is rendered, and blurred so that it correlates best with the picture (height, width) uint8.  0 where no
    marker is wholly in the picture.
    """
    spreads = []
    for marker in kit.mat.markers:
        if marker.id in pose.markers:
            corners_mm = np.array([(x, y, 0.0) for x, y in marker.corners_mm])
            corners_px = project(corners_mm, pose, camera)
            spread_px = _spread_px(gray, kit.mat.dictionary, marker.id, corners_px)
            if spread_px is not None:
                spreads.append(spread_px * side_px(corners_mm) / side_px(corners_px))
    return float(np.median(spreads)) if spreads else 0.0


def _spread_px(gray: Gray, name: str, number: int, corners_px: Points) -> float | None:
    """Standard deviation of the blur of a marker with these corners (4, 2) px; None if it is partly out of view."""
    low, size = box_round(corners_px, dictionary(name).markerSize + 2)
    (left, top), (right, bottom) = low.tolist(), (low + size).tolist()
    if left < 0 or top < 0 or bottom > gray.shape[0] or right > gray.shape[1]:
        return None
    sharp, mask = draw_marker(name, number, corners_px - low, size)
    known = mask > 0
    shown = gray[top:bottom, left:right][known]
    alike = [
        float(np.corrcoef(cv2.GaussianBlur(sharp, (0, 0), spread)[known], shown)[0, 1])
        for spread in SPREADS_PX.tolist()
    ]
    return float(SPREADS_PX[int(np.argmax(alike))])
