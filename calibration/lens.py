"""Calibrate a lens from photographs of a ChArUco board: intrinsics, distortion, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.markers import dictionary
from calibration.picture import load_picture
from calibration.toml import Table, load

MIN_CORNERS = 6
"""Corners that a photograph needs to take part: OpenCV's calibration wants at least six points a view."""

MIN_PHOTOS = 3
"""Fewest photographs for a camera matrix: each view of a plane gives two constraints, and five are needed
(Zhang, A flexible new technique for camera calibration, 2000)."""

GRID = (4, 3)
"""Columns and rows of the grid over the picture on which coverage is reported."""

CHARUCO_OFFSET_PX = 0.5
"""CharucoDetector counts from the corner of the first pixel; everything else here counts from its centre."""


@dataclass(frozen=True, slots=True)
class CharucoBoard:
    """The calibration board, as ``cv2.aruco.CharucoBoard`` describes it."""

    squares_x: int
    squares_y: int
    square_mm: float
    marker_mm: float
    dictionary: str
    legacy_pattern: bool


DEFAULT_BOARD = CharucoBoard(9, 6, 30.0, 22.0, "DICT_5X5_100", legacy_pattern=False)


@dataclass(frozen=True, eq=False)
class BoardView:
    """The board in one picture.

    Attributes:
        points: (n, 3) float32, mm, corners on the board.
        pixels: (n, 2) float32, px, where the picture shows them.
    """

    points: npt.NDArray[np.float32]
    pixels: npt.NDArray[np.float32]

    def shift_px(self, other: BoardView) -> float:
        """Mean distance between the corners that both have, px; infinite where they have none in common."""
        there = {tuple(point): pixel for point, pixel in zip(other.points.tolist(), other.pixels, strict=True)}
        apart = [
            float(np.linalg.norm(pixel - there[tuple(point)]))
            for point, pixel in zip(self.points.tolist(), self.pixels, strict=True)
            if tuple(point) in there
        ]
        return float(np.mean(apart)) if apart else float("inf")


@dataclass(frozen=True)
class LensCalibration:
    """A calibrated camera and what it is based on.

    Attributes:
        camera: the result.
        used: photographs that took part.
        skipped: (photograph, why) of those that did not.
        coverage: (rows, columns) bool, which parts of the picture had corners.
        focal_deviation: standard deviation of the focal length, as a share of it.
    """

    camera: Camera
    used: tuple[Path, ...]
    skipped: tuple[tuple[Path, str], ...]
    coverage: npt.NDArray[np.bool_]
    focal_deviation: float


def read_board(path: Path) -> CharucoBoard:
    """The board of a TOML file.  Raises ProfileError."""
    table = Table(load(path), str(path))
    board = CharucoBoard(
        squares_x=table.get("squares_x", int),
        squares_y=table.get("squares_y", int),
        square_mm=table.length("square_mm"),
        marker_mm=table.length("marker_mm"),
        dictionary=table.get("dictionary", str),
        legacy_pattern=table.get("legacy_pattern", bool, False),
    )
    table.done()
    if board.squares_x < 3 or board.squares_y < 3 or board.marker_mm >= board.square_mm:
        raise ProfileError(f"{path}: a board needs at least 3 x 3 squares and markers smaller than its squares")
    return board


def calibrate_lens(photos: Iterable[Path], board: CharucoBoard) -> LensCalibration:
    """Intrinsics and distortion from photographs of ``board``.

    Raises ProfileError when a photograph cannot be read or differs in size, or too few show the board.
    """
    target = charuco(board)
    detector = cv2.aruco.CharucoDetector(target)
    views: list[BoardView] = []
    used: list[Path] = []
    skipped: list[tuple[Path, str]] = []
    size: tuple[int, int] | None = None
    for photo in photos:
        gray = np.asarray(cv2.cvtColor(load_picture(photo), cv2.COLOR_BGR2GRAY), np.uint8)
        if size is None:
            size = (gray.shape[1], gray.shape[0])
        elif size != (gray.shape[1], gray.shape[0]):
            raise ProfileError(f"{photo}: is {gray.shape[1]} x {gray.shape[0]} px, the others {size[0]} x {size[1]} px")
        view = _view(detector, target, gray)
        if view is None:
            skipped.append((photo, "the calibration board is not seen, or too little of it"))
        else:
            views.append(view)
            used.append(photo)
    if size is None or len(views) < MIN_PHOTOS:
        tried = len(views) + len(skipped)
        raise ProfileError(
            f"lens: only {len(views)} of {tried} photographs show the calibration board; {MIN_PHOTOS} are needed "
            f"(board: {board.squares_x} x {board.squares_y} squares, {board.dictionary})"
        )
    camera, focal_deviation = _solve(views, size)
    return LensCalibration(
        camera, tuple(used), tuple(skipped), corner_coverage([view.pixels for view in views], size), focal_deviation
    )


def charuco(board: CharucoBoard) -> cv2.aruco.CharucoBoard:
    """The board as an OpenCV object.  Raises ProfileError for an unknown dictionary."""
    target = cv2.aruco.CharucoBoard(
        (board.squares_x, board.squares_y), board.square_mm, board.marker_mm, dictionary(board.dictionary)
    )
    target.setLegacyPattern(board.legacy_pattern)
    return target


def find_board(image: npt.NDArray[np.uint8], board: CharucoBoard) -> npt.NDArray[np.float32] | None:
    """(n, 2) px, the board's corners in a picture (height, width, 3) uint8 BGR; None: it shows too few to be used."""
    view = find_view(image, board)
    return None if view is None else view.pixels


def find_view(image: npt.NDArray[np.uint8], board: CharucoBoard) -> BoardView | None:
    """The board in a picture (height, width, 3) uint8 BGR; None: it shows too little of it to be used."""
    target = charuco(board)
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
    return _view(cv2.aruco.CharucoDetector(target), target, gray)


def _view(
    detector: cv2.aruco.CharucoDetector, target: cv2.aruco.CharucoBoard, gray: npt.NDArray[np.uint8]
) -> BoardView | None:
    """The board in one photograph; None when it shows too few corners."""
    corners, ids, _, _ = detector.detectBoard(gray)
    if corners is None or ids is None or len(corners) < MIN_CORNERS:
        return None
    world, seen = target.matchImagePoints([np.asarray(corner) for corner in corners], np.asarray(ids))
    points = np.asarray(world, np.float32).reshape(-1, 3)
    pixels = np.asarray(seen, np.float32).reshape(-1, 2) - np.float32(CHARUCO_OFFSET_PX)
    if np.linalg.matrix_rank(points[:, :2] - points[0, :2]) < 2:  # all on one line: no plane, no pose
        return None
    return BoardView(points, pixels)


def _solve(views: list[BoardView], size: tuple[int, int]) -> tuple[Camera, float]:
    """The camera, and the standard deviation of its focal length as a share of it."""
    try:
        error, matrix, distortion, _, _, deviations, _, _ = cv2.calibrateCameraExtended(
            [view.points for view in views], [view.pixels for view in views], size, np.eye(3), np.zeros(5)
        )
    except cv2.error as failure:
        why = "the photographs do not determine a camera; vary angle and place"
        raise ProfileError(f"lens: {why} ({failure.err})") from None
    coefficients = np.asarray(distortion, np.float64).ravel()[:5]
    camera = Camera(size[0], size[1], np.asarray(matrix, np.float64), coefficients, float(error))
    return camera, float(np.asarray(deviations).ravel()[0] / camera.matrix[0, 0])


def corner_coverage(corners: Sequence[npt.NDArray[np.float32]], size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """(rows, columns) bool of :data:`GRID`: the parts of a picture of (width, height) px that had corners (n, 2) px."""
    seen = np.zeros((GRID[1], GRID[0]), bool)
    for pixels in corners:
        columns = np.clip((pixels[:, 0] * GRID[0] / size[0]).astype(int), 0, GRID[0] - 1)
        rows = np.clip((pixels[:, 1] * GRID[1] / size[1]).astype(int), 0, GRID[1] - 1)
        seen[rows, columns] = True
    return seen
