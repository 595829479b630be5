"""The camera's picture with an overlay for each step of the set-up."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from calibration.lens import DEFAULT_BOARD, GRID, find_board
from companion.errors import CompanionError
from companion.web.setup.session import SetupSession
from vision.drawing import Ink, Picture, draw_belief
from vision.errors import VisionError
from vision.pose.markers import detect
from vision.pose.registration import to_gray
from vision.scene.solids import cell_corners

FOUND: Ink = (90, 170, 40)
WANTED: Ink = (0, 170, 255)
LETTERS: Ink = (255, 255, 255)
TINT = 0.12
"""Strength of the tint over parts of the picture that photographs of the board have covered."""

QUALITY = 78


def picture(session: SetupSession, step: str) -> bytes:
    """The newest picture with the overlay for ``step``, as JPEG.  Raises SetupError if there is none."""
    image = session.frame().image
    try:
        drawn = DRAWN.get(step, _plain)(session, image)
    except (CompanionError, VisionError):
        drawn = image
    return cv2.imencode(".jpg", drawn, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes()


def _plain(_session: SetupSession, image: Picture) -> Picture:
    return image


def _lens(session: SetupSession, image: Picture) -> Picture:
    """Draw the parts covered so far, and the corners detected now."""
    drawn = image.copy()
    height, width = image.shape[:2]
    parts = np.array(session.lens_row()["coverage"], bool)
    for row, column in zip(*np.nonzero(parts), strict=True):
        left, right = (width * c // GRID[0] for c in (column, column + 1))
        top, bottom = (height * r // GRID[1] for r in (row, row + 1))
        part = drawn[top:bottom, left:right]
        part[:] = (part * (1 - TINT) + np.array(FOUND) * TINT).astype(np.uint8)
    corners = find_board(image, DEFAULT_BOARD)
    for x, y in () if corners is None else corners:
        cv2.circle(drawn, (round(x), round(y)), 5, FOUND, 2, cv2.LINE_AA)
    return drawn


def _mat(session: SetupSession, image: Picture) -> Picture:
    """Draw the detected markers, and the squares once their place is known."""
    drawn, mat = image.copy(), session.config.kit.mat
    found = detect(to_gray(image), mat.dictionary)
    for marker in mat.markers:
        for corners in found.get(marker.id, ()):
            _outline(drawn, corners, FOUND, 4)
            _word(drawn, str(marker.id), corners.mean(axis=0))
    if session.camera is not None:
        sight = session.sight(image)
        for cell in session.config.kit.cells:
            _outline(drawn, sight.polygon(cell_corners(session.config.kit, cell, sight.level(cell))), WANTED, 1)
    return drawn


def _pieces(session: SetupSession, image: Picture) -> Picture:
    """Draw the squares on which single pieces belong."""
    drawn, kit = image.copy(), session.config.kit
    sight = session.sight(image)
    for cell, letter in kit.enrol.items():
        floor = sight.polygon(cell_corners(kit, cell, sight.level(cell)))
        _outline(drawn, floor, WANTED, 3)
        _word(drawn, letter, (float(floor[:, 0].mean()), float(floor[:, 1].max() + 12)))
    return drawn


def _start(session: SetupSession, image: Picture) -> Picture:
    """Draw the reading, and the squares that are not right."""
    checked = session.check_start()
    return draw_belief(image, session.sight(image, checked.reading.levels), checked.reading, "", checked.wrong)


DRAWN = {"lens": _lens, "mat": _mat, "empty": _mat, "pieces": _pieces, "start": _start}


def _outline(image: Picture, points: npt.NDArray[np.float64], ink: Ink, width_px: int) -> None:
    cv2.polylines(image, [np.rint(points).astype(np.int32)], isClosed=True, color=ink, thickness=width_px)


def _word(image: Picture, text: str, at: Sequence[float]) -> None:
    x, y = round(at[0]) - 9 * len(text), round(at[1]) + 8
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 5, cv2.LINE_AA)
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.8, LETTERS, 2, cv2.LINE_AA)
