"""Detection of fiducial markers: their ids and corners, whatever mat they belong to."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from calibration.marker_alignment import side_px
from calibration.markers import dictionary

Points = npt.NDArray[np.float64]
Window = tuple[slice, slice]


SMALLEST = 0.03
"""Perimeter of the smallest markers that are detected, as a share of the picture's longer side: OpenCV's default."""

THRESHOLD_WINDOW_PX = 13
"""One adaptive threshold window finds markers of 30 px and more at a third of the cost of OpenCV's three."""

MARGIN_SHARE = 0.5
"""Search margin round a marker's expected place, as a share of its size."""

SMALLEST_NEAR = 1.0
"""Least perimeter of a marker as a share of the search window's longer side: the marker's own is nearly two."""

BORDER = 1
"""Width of the black border round a marker's bits, in modules."""

NEAR_MODULES = 0.3
"""Half width of the corner refinement window, in modules, as in OpenCV's detector…"""

NEAR_PX = 5
"""…and at most so many pixels."""

_SQUARE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)

STEPS = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 30, 0.01)
"""Termination of corner refinement: maximum number of iterations, and step length in pixels."""


def detect(
    gray: npt.NDArray[np.uint8], name: str, window_px: int | None = None, smallest: float = SMALLEST
) -> dict[int, list[Points]]:
    """Corners (4, 2) px of all markers of a dictionary by id; an id may be detected more than once.

    Args:
        gray: (height, width) uint8.
        name: of the dictionary in ``cv2.aruco``.
        window_px: the one window of the adaptive threshold; None: OpenCV's three, which take three times as long.
        smallest: see :data:`SMALLEST`; most of the time goes into candidates that are too small.
    """
    corners, ids, _ = _detector(name, window_px, smallest).detectMarkers(gray)
    found: dict[int, list[Points]] = {}
    for corner, number in zip(corners, [] if ids is None else ids.ravel(), strict=True):
        found.setdefault(int(number), []).append(np.asarray(corner, np.float64).reshape(4, 2))
    return found


@lru_cache(maxsize=8)
def _detector(name: str, window_px: int | None, smallest: float) -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.minMarkerPerimeterRate = smallest
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    if window_px is not None:
        parameters.adaptiveThreshWinSizeMin = parameters.adaptiveThreshWinSizeMax = window_px
    return cv2.aruco.ArucoDetector(dictionary(name), parameters)


def detect_near(
    gray: npt.NDArray[np.uint8],
    name: str,
    numbers: tuple[int, ...],
    expected_px: Points,
    window_px: int | None = THRESHOLD_WINDOW_PX,
) -> Points | None:
    """(m, 4, 2) px corners of markers detected near where they are expected; None unless each is detected once.

    ``window_px``: as of :func:`detect`.
    """
    seen: list[Points] = []
    for number, expected in zip(numbers, expected_px, strict=True):
        window = search_window(expected)
        shown = gray[window]
        found = detect(shown, name, window_px, SMALLEST_NEAR).get(number, []) if shown.size else []
        if len(found) != 1:
            return None
        seen.append(found[0] + (window[1].start, window[0].start))
    return np.stack(seen)


def search_window(expected_px: Points) -> Window:
    """The search window, rows and columns, of a marker with corners (4, 2) px."""
    low, high = expected_px.min(axis=0), expected_px.max(axis=0)
    margin = MARGIN_SHARE * (high - low).max()
    left, top = np.maximum(low - margin, 0).astype(int).tolist()
    right, bottom = (np.maximum(high + margin, 0).astype(int) + 1).tolist()
    return slice(top, bottom), slice(left, right)


def detect_coarse_to_fine(gray: npt.NDArray[np.uint8], name: str, numbers: tuple[int, ...]) -> dict[int, list[Points]]:
    """As :func:`detect`, of the markers with these ``numbers``, in half of the time; nothing unless each is found once.

    They are looked for in the picture at half its size, and detected where they are seen there.  Of 174 pictures of
    printed mats 161 had the same corners as without this; in the others not all markers were found so.
    """
    small = np.asarray(cv2.resize(gray, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)
    coarse = detect(small, name, THRESHOLD_WINDOW_PX // 4 * 2 + 1)  # half as wide, and odd
    if any(len(coarse.get(number, ())) != 1 for number in numbers):
        return {}
    corners = detect_near(gray, name, numbers, np.array([2 * coarse[number][0] + 0.5 for number in numbers]))
    return {} if corners is None else {number: [found] for number, found in zip(numbers, corners, strict=True)}


def confirm_markers(
    gray: npt.NDArray[np.uint8], name: str, numbers: tuple[int, ...], expected_px: Points
) -> Points | None:
    """Refined corners (m, 4, 2) px of markers about where they are expected; None unless all are confirmed there.

    Each corner is where the edges round it meet (``cv2.cornerSubPix``: Förstner and Gülch, A fast operator for
    detection and precise location of distinct points, 1987).  Then every module must be nearer to the mean of its own
    kind than to that of the others, which reveals a finger, or edges of wrong modules.

    Args:
        gray: (height, width) uint8.
        name: of the dictionary in ``cv2.aruco``.
        numbers: of the markers.
        expected_px: (m, 4, 2).
    """
    is_module_white = modules(name, numbers)
    side = is_module_white.shape[1]
    reach_px = int(min(max(round(NEAR_MODULES * side_px(expected_px) / side), 1), NEAR_PX))
    begin = expected_px.astype(np.float32)
    if begin.min() < reach_px or (begin.max(axis=(0, 1)) >= np.array(gray.shape[::-1]) - reach_px).any():
        return None
    found = cv2.cornerSubPix(gray, begin.reshape(-1, 1, 2).copy(), (reach_px, reach_px), (-1, -1), STEPS)
    corners = found.reshape(-1, 4, 2)
    # A corner that would converge outside its window is returned where it began.
    if (corners == begin).all(axis=2).any():
        return None
    places = np.concatenate([module_places(corner, side) for corner in np.asarray(corners, np.float32)])
    x, y = (np.ascontiguousarray(places[..., axis]) for axis in (0, 1))
    shown = np.asarray(cv2.remap(gray, x, y, cv2.INTER_LINEAR)).reshape(is_module_white.shape)
    for one, is_white in zip(shown, is_module_white, strict=True):
        if ((one > (one[is_white].mean() + one[~is_white].mean()) / 2) != is_white).any():
            return None
    return np.asarray(corners, np.float64)


@lru_cache(maxsize=8)
def modules(name: str, numbers: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """(m, side, side) whether each module of each marker is white."""
    chosen = dictionary(name)
    side = chosen.markerSize + 2 * BORDER
    return np.stack([chosen.generateImageMarker(number, side, borderBits=BORDER) > 0 for number in numbers])


def module_places(corners: npt.NDArray[np.floating], side: int) -> npt.NDArray[np.float32]:
    """(side, side, 2) centres of the modules of a marker whose ``corners`` are (4, 2), in mm or in px."""
    to_corners = cv2.getPerspectiveTransform(_SQUARE, np.asarray(corners, np.float32))
    return np.asarray(cv2.perspectiveTransform(_centres(side), to_corners), np.float32)


@lru_cache(maxsize=8)
def _centres(side: int) -> npt.NDArray[np.float32]:
    """(side, side, 2) centres of the modules of a marker whose edges are 1 long."""
    centres = (np.arange(side, dtype=np.float32) + np.float32(0.5)) / np.float32(side)
    return np.stack(np.meshgrid(centres, centres), axis=2)
