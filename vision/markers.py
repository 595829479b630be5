"""Markers in a picture: their ids and corners, whatever mat they belong to."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from calibration.markers import dictionary

Points = npt.NDArray[np.float64]


SMALLEST = 0.03
"""Perimeter of the smallest markers that are looked for, as a share of the picture's longer side: OpenCV's own."""


def detect(
    gray: npt.NDArray[np.uint8], name: str, window_px: int | None = None, smallest: float = SMALLEST
) -> dict[int, list[Points]]:
    """Corners (4, 2) px of all markers of a dictionary by id; an id may be seen more than once.

    Args:
        gray: (height, width) uint8.
        name: of the dictionary in ``cv2.aruco``.
        window_px: the one window of the adaptive threshold; None: OpenCV's three, which take three times as long.
        smallest: see :data:`SMALLEST`; most of the time goes into what is too small.
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
