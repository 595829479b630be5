"""Finds the squares of a board in a stored picture, if the mat's markers are visible.

The lens is no longer known, so its distortion is ignored: good enough to frame a square for people, not to read it.
"""

from __future__ import annotations

from collections.abc import Collection

import cv2
import numpy as np
import numpy.typing as npt

from calibration.kit import Kit
from companion.scene.model import Tone
from companion.scene.oblique import TONES

Picture = npt.NDArray[np.uint8]
Points = npt.NDArray[np.float64]

MIN_MARKERS = 2
"""Fewest markers needed: with a single small one, squares at the other end of the mat would be far off."""

FRAME_SHARE = 0.004
"""Width of a frame's line as a fraction of the picture's width."""


def mark_squares(picture: Picture, kit: Kit, moved: Collection[str], wrong: Collection[str]) -> Picture:
    """A copy of (height, width, 3) uint8 BGR with frames around squares; the picture itself if no mat is found."""
    to_picture = mat_to_picture(picture, kit)
    if to_picture is None:
        return picture
    marked = picture.copy()
    width = max(2, round(FRAME_SHARE * picture.shape[1]))
    for cells, colour in ((moved, TONES[Tone.MOVED]), (wrong, TONES[Tone.WRONG])):
        for cell in cells:
            if cell in kit.cells:
                corners = cv2.perspectiveTransform(_corners_mm(kit, cell)[None], to_picture)
                cv2.polylines(marked, [np.rint(corners[0]).astype(np.int32)], True, _bgr(colour), width, cv2.LINE_AA)  # noqa: FBT003 — closed
    return marked


def mat_to_picture(picture: Picture, kit: Kit) -> Points | None:
    """(3, 3) homography from the mat's millimetres to the picture's pixels; None if the mat is not found."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, kit.mat.dictionary))
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(picture)
    known = {marker.id: marker.corners_mm for marker in kit.mat.markers}
    seen = {} if ids is None else dict(zip(ids.ravel().tolist(), corners, strict=True))
    found = [n for n in known if n in seen]
    if len(found) < MIN_MARKERS:
        return None
    mat = np.array([known[n] for n in found], np.float64).reshape(-1, 2)
    shown = np.array([seen[n] for n in found], np.float64).reshape(-1, 2)
    matrix, _ = cv2.findHomography(mat, shown)
    return None if matrix is None else np.asarray(matrix, np.float64)


def _corners_mm(kit: Kit, cell: str) -> Points:
    x, y = kit.centre_mm(cell)
    u, v = kit.board.pitch_mm[0] / 2, kit.board.pitch_mm[1] / 2
    return np.array([(x - u, y - v), (x + u, y - v), (x + u, y + v), (x - u, y + v)])


def _bgr(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return blue, green, red
