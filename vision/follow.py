"""Find the mat where it was in the picture before: only the surroundings of its markers are looked at."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.markers import detect
from vision.register import (
    MAX_REPROJECTION_SHARE,
    THRESHOLD_WINDOW_PX,
    Points,
    Registration,
    check_in_view,
    edge_px,
    marker_corners,
    project,
    refine,
    to_gray,
)

MARGIN_SHARE = 0.5
"""How far round a marker is looked, as a share of its size in the picture: a mat pushed farther is looked for anew."""

SMALLEST = 1.0
"""Perimeter that a marker must have, as a share of the longer side of what is looked at: it has nearly two."""


def follow(image: npt.NDArray[np.uint8], kit: Kit, camera: Camera, before: Registration) -> Registration | None:
    """The pose of the camera in a picture (height, width, 3) uint8 BGR, not far from where it was ``before``.

    None unless every marker of the mat is seen, once, near its last place, and all of them agree.
    Raises MatNotFound when squares lie outside the picture.
    """
    ids = tuple(sorted(marker.id for marker in kit.mat.markers))
    world = np.vstack([marker_corners(kit.mat, number) for number in ids])
    seen: list[Points] = []
    for number, expected in zip(ids, project(world, before, camera).reshape(-1, 4, 2), strict=True):
        found = _near(image, kit.mat.dictionary, number, expected)
        if found is None:
            return None
        seen.append(found)
    begin = np.asarray(cv2.Rodrigues(before.rotation)[0], np.float64), before.translation_mm.reshape(3, 1).copy()
    pose = refine(world, np.vstack(seen), ids, camera, begin)
    if pose.reprojection_px > MAX_REPROJECTION_SHARE * edge_px(seen):
        return None
    check_in_view(kit, pose, camera)
    return pose


def _near(image: npt.NDArray[np.uint8], dictionary: str, number: int, expected: Points) -> Points | None:
    """(4, 2) px corners of a marker about where it is expected; None when it is not seen there just once."""
    low, high = expected.min(axis=0), expected.max(axis=0)
    margin = MARGIN_SHARE * (high - low).max()
    left, top = np.maximum(low - margin, 0).astype(int)
    right, bottom = np.maximum(high + margin, 0).astype(int) + 1
    window = image[top:bottom, left:right]
    if not window.size:
        return None
    found = detect(to_gray(window), dictionary, THRESHOLD_WINDOW_PX, SMALLEST).get(number, [])
    return found[0] + (left, top) if len(found) == 1 else None
