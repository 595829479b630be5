"""Tracking: registration from one frame to the next, searching for each marker only near its last place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.marker_alignment import side_px
from vision.pose.markers import Window, confirm_markers, detect_near, search_window
from vision.pose.projection import Points, Registration, project
from vision.pose.registration import (
    check_in_view,
    marker_corners,
    max_reprojection_px,
    refine,
    register,
    to_gray,
)

MAX_ERROR_GROWTH = 1.5
"""Growth of the reprojection error above which markers are detected again: one may be covered."""

MOVED_PX = 0.15
"""Shift from which on a sticker counts as moved: the error of detected corners is as large."""

MIN_CORRELATION = 0.9
"""Least correlation of a sticker with its earlier picture, as noise leaves it: below it a shift has no meaning."""

MIN_FOLLOWED = 3
"""Least number of markers that are followed where others are hidden: fewer could not contradict each other."""

Gray = npt.NDArray[np.uint8]
MarkerFinder = Callable[[npt.NDArray[np.uint8], str, tuple[int, ...], Points], Points | None]


@dataclass(frozen=True, eq=False)
class _Sighting:
    """A pose, and the appearance of its stickers: windows of the picture, and (rows, columns) uint8 grey in each."""

    pose: Registration
    stickers: tuple[tuple[Window, Gray], ...] = ()


class PoseTracker:
    """The pose of one camera over one mat, from picture to picture."""

    def __init__(self, kit: Kit, camera: Camera) -> None:
        self._kit, self._camera = kit, camera
        self._last: _Sighting | None = None

    def pose(self, image: npt.NDArray[np.uint8]) -> Registration:
        """The pose in a picture (height, width, 3) uint8 BGR; just the last one while all stickers are where they were.

        Raises VisionError, MatNotFound.
        """
        if self._last is not None:
            followed = track_pose(image, self._kit, self._camera, self._last.pose)
            if followed is not None:
                self._last = _Sighting(followed)
                return followed
            if self._last.stickers and all(_is_still(was, image[window]) for window, was in self._last.stickers):
                return self._last.pose
        gray = to_gray(image)
        pose = register(gray, self._kit, self._camera)
        self._last = _Sighting(pose, _stickers(gray, self._kit, self._camera, pose))
        return pose


def track_pose(image: npt.NDArray[np.uint8], kit: Kit, camera: Camera, before: Registration) -> Registration | None:
    """The pose of the camera in a picture (height, width, 3) uint8 BGR, not far from where it was ``before``.

    None unless every marker of the mat, except those hidden before, is detected once, near its last place, and all of
    them agree; None, too, if one that was hidden is visible again.
    Raises MatNotFound when cells lie outside the picture.
    """
    ids, hidden = _followed(kit, before)
    world = np.vstack([marker_corners(kit.mat, number) for number in ids])
    expected = project(world, before, camera).reshape(-1, 4, 2)
    gray = _gray_near(image, expected)
    for number in hidden:
        place = project(marker_corners(kit.mat, number), before, camera)[None]
        if confirm_markers(_gray_near(image, place), kit.mat.dictionary, (number,), place) is not None:
            return None
    begin = np.asarray(cv2.Rodrigues(before.rotation)[0], np.float64), before.translation_mm.reshape(3, 1).copy()
    looks: tuple[tuple[MarkerFinder, float], ...] = (
        (confirm_markers, MAX_ERROR_GROWTH * before.reprojection_px),
        (detect_near, np.inf),
    )
    if kit.mat.is_measured:
        looks = looks[:1]  # a sticker's outline may be cut off by the board's edge
    for look, most_px in looks:
        seen = look(gray, kit.mat.dictionary, ids, expected)
        if seen is not None:
            pose = refine(world, seen.reshape(-1, 2), ids, camera, begin)
            if pose.reprojection_px <= min(most_px, max_reprojection_px(kit.mat, camera, side_px(seen))):
                check_in_view(kit, pose, camera)
                return pose
    return None


def _followed(kit: Kit, before: Registration) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of the markers that are followed, and of those that were hidden; no stickers may be."""
    markers = kit.mat.markers
    ids = tuple(sorted(marker.id for marker in markers))
    if len(before.markers) < MIN_FOLLOWED or kit.mat.is_measured:
        return ids, ()
    return tuple(sorted(before.markers)), tuple(number for number in ids if number not in before.markers)


def _stickers(gray: Gray, kit: Kit, camera: Camera, pose: Registration) -> tuple[tuple[Window, Gray], ...]:
    """The appearance of each of a mat's stickers; empty unless all were detected, as others may be found later."""
    markers = kit.mat.markers
    if len(pose.markers) < len(markers) or not all(marker.is_measured for marker in markers):
        return ()
    windows = []
    for marker in markers:
        corners = project(marker_corners(kit.mat, marker.id), pose, camera)
        (left, top), (right, bottom) = np.maximum([corners.min(axis=0), corners.max(axis=0)], 0).astype(int).tolist()
        windows.append((slice(top, bottom + 1), slice(left, right + 1)))
    return tuple((window, gray[window].copy()) for window in windows)


def _is_still(was: Gray, shown: npt.NDArray[np.uint8]) -> bool:
    """Whether a sticker (rows, columns) uint8 grey is still where it was in the window (rows, columns, 3) uint8 BGR.

    The shift between both is found by least squares on the gradient (Lucas and Kanade, An iterative image registration
    technique, 1981); light may have changed.
    """
    before, now = (_standardise(picture) for picture in (was, to_gray(shown)))
    if float((before * now).mean()) < MIN_CORRELATION:
        return False
    down, across = np.gradient(before)
    shift_px = np.linalg.lstsq(np.column_stack([across.ravel(), down.ravel()]), (before - now).ravel(), rcond=None)[0]
    return float(np.linalg.norm(shift_px)) < MOVED_PX


def _standardise(gray: Gray) -> Points:
    """A picture, standardised: less its mean, over its standard deviation."""
    values = gray.astype(np.float64)
    return np.asarray((values - values.mean()) / max(float(values.std()), 1.0), np.float64)


def _gray_near(image: npt.NDArray[np.uint8], expected_px: Points) -> npt.NDArray[np.uint8]:
    """(height, width) uint8 grey in the search windows of markers (m, 4, 2) px, black elsewhere to save conversion."""
    gray = np.zeros(image.shape[:2], np.uint8)
    for expected in expected_px:
        window = search_window(expected)
        if image[window].size:
            gray[window] = to_gray(image[window])
    return gray
