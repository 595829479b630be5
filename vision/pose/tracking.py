"""Tracking: registration from one frame to the next, looking for each marker only near where it was."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.pose.markers import detect, edge_px, settled
from vision.pose.projection import Points, Registration, project
from vision.pose.registration import (
    THRESHOLD_WINDOW_PX,
    check_in_view,
    marker_corners,
    most_reprojection_share,
    refine,
    to_gray,
)

MARGIN_SHARE = 0.5
"""Margin round a marker's last place that is searched, as a share of its size; a mat moved farther is registered
anew."""

STEADY = 1.5
"""Growth of the reprojection error above which markers are detected anew: one may be covered."""

SMALLEST = 1.0
"""Least perimeter of a marker as a share of the search window's longer side: the marker's own is nearly two."""

Window = tuple[slice, slice]
Look = Callable[[npt.NDArray[np.uint8], str, tuple[int, ...], Points], Points | None]


def follow(image: npt.NDArray[np.uint8], kit: Kit, camera: Camera, before: Registration) -> Registration | None:
    """The pose of the camera in a picture (height, width, 3) uint8 BGR, not far from where it was ``before``.

    None unless every marker of the mat is detected once, near its last place, and all of them agree.
    Raises MatNotFound when cells lie outside the picture.
    """
    ids = tuple(sorted(marker.id for marker in kit.mat.markers))
    world = np.vstack([marker_corners(kit.mat, number) for number in ids])
    expected = project(world, before, camera).reshape(-1, 4, 2)
    gray = _gray_near(image, expected)
    begin = np.asarray(cv2.Rodrigues(before.rotation)[0], np.float64), before.translation_mm.reshape(3, 1).copy()
    looks: tuple[tuple[Look, float], ...] = ((settled, STEADY * before.reprojection_px), (_found, np.inf))
    if any(marker.is_measured for marker in kit.mat.markers):
        looks = looks[:1]  # a sticker's outline may be cut off by the board's edge
    for look, most_px in looks:
        seen = look(gray, kit.mat.dictionary, ids, expected)
        if seen is not None:
            pose = refine(world, seen.reshape(-1, 2), ids, camera, begin)
            if pose.reprojection_px <= min(most_px, most_reprojection_share(kit.mat) * edge_px(seen)):
                check_in_view(kit, pose, camera)
                return pose
    return None


def _near(expected_px: Points) -> Window:
    """The search window, rows and columns, of a marker with corners (4, 2) px."""
    low, high = expected_px.min(axis=0), expected_px.max(axis=0)
    margin = MARGIN_SHARE * (high - low).max()
    left, top = np.maximum(low - margin, 0).astype(int).tolist()
    right, bottom = (np.maximum(high + margin, 0).astype(int) + 1).tolist()
    return slice(top, bottom), slice(left, right)


def _gray_near(image: npt.NDArray[np.uint8], expected_px: Points) -> npt.NDArray[np.uint8]:
    """(height, width) uint8 gray in the search windows of markers (m, 4, 2) px, black elsewhere to save conversion."""
    gray = np.zeros(image.shape[:2], np.uint8)
    for expected in expected_px:
        window = _near(expected)
        if image[window].size:
            gray[window] = to_gray(image[window])
    return gray


def _found(
    gray: npt.NDArray[np.uint8], dictionary: str, numbers: tuple[int, ...], expected_px: Points
) -> Points | None:
    """(m, 4, 2) px corners of markers detected near where they are expected; None unless each is detected once."""
    seen: list[Points] = []
    for number, expected in zip(numbers, expected_px, strict=True):
        window = _near(expected)
        shown = gray[window]
        found = detect(shown, dictionary, THRESHOLD_WINDOW_PX, SMALLEST).get(number, []) if shown.size else []
        if len(found) != 1:
            return None
        seen.append(found[0] + (window[1].start, window[0].start))
    return np.stack(seen)
