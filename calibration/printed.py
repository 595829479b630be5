"""A kit's mat as pixels, as it is printed, and the appearance that follows for a board of several colours.

The same mat is drawn for printers by :mod:`calibration.sheets`.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_appearance import TEXEL_MM, BoardAppearance, unknown_board
from calibration.kit import Colour, Kit, Marker
from calibration.markers import dictionary

Picture = npt.NDArray[np.uint8]
Size = tuple[float, float]

LINE_MM = 0.6
"""Width of the lines between squares."""

DRAWN_PX_PER_MM = 8
"""Resolution in which a mat is drawn before its texels are taken: a marker's module of 4.5 mm has 36 dots."""


def printed_mat(kit: Kit, px_per_mm: int) -> Picture:
    """(height, width, 3) uint8 RGB, the printed mat, its far edge in the first row."""
    mat = kit.mat
    size = (round(mat.height_mm * px_per_mm), round(mat.width_mm * px_per_mm))
    print_ = np.empty((*size, 3), np.uint8)
    cv2.rectangle(print_, (0, 0, *size[::-1]), mat.paper, cv2.FILLED)
    for patch in mat.patches:
        _fill(print_, kit, patch.at_mm, (patch.size_mm,) * 2, patch.colour)
    for marker in mat.markers:
        _print_marker(print_, kit, marker)
    if kit.pillars is None:
        for cell in kit.cells:
            _fill(print_, kit, kit.centre_mm(cell), _wider(kit.board.pitch_mm, LINE_MM), kit.board.line_colour)
        for cell in kit.cells:
            _fill(print_, kit, kit.centre_mm(cell), _wider(kit.board.pitch_mm, -LINE_MM), kit.ground(cell))
    return print_


def printed_appearance(kit: Kit) -> BoardAppearance:
    """The appearance of a kit's mat as printed, every texel seen once."""
    texels = unknown_board(kit.mat.width_mm, kit.mat.height_mm)
    rows, columns = texels.seen.shape
    dots = round(DRAWN_PX_PER_MM * TEXEL_MM)
    fine = cv2.resize(printed_mat(kit, DRAWN_PX_PER_MM), (columns * dots, rows * dots), interpolation=cv2.INTER_AREA)
    codes = fine.astype(np.float32)
    mean = _mean_of_texels(codes, columns, rows)
    variance = np.maximum(_mean_of_texels(np.square(codes, out=codes), columns, rows) - mean**2, 0)
    spread = np.sqrt(variance.mean(axis=2)) / 255
    return BoardAppearance(
        (mean / 255).astype(np.float32), spread.astype(np.float32), np.ones((rows, columns), np.uint8)
    )


def _mean_of_texels(values: npt.NDArray[np.float32], columns: int, rows: int) -> npt.NDArray[np.float64]:
    """(rows, columns, 3) mean of each texel's dots (height, width, 3): whole numbers, whose sums float32 holds."""
    return np.asarray(cv2.resize(values, (columns, rows), interpolation=cv2.INTER_AREA), np.float64)


def _print_marker(print_: Picture, kit: Kit, marker: Marker) -> None:
    px_per_mm = print_.shape[1] / kit.mat.width_mm
    side = round(kit.mat.marker_mm * px_per_mm)
    image = np.asarray(cv2.aruco.generateImageMarker(dictionary(kit.mat.dictionary), marker.id, side))
    x, y = np.array(marker.corners_mm).T
    corners = np.stack([x + kit.mat.width_mm / 2, kit.mat.height_mm / 2 - y], axis=1) * px_per_mm
    left, top = np.floor(corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    own = np.array([(0, 0), (side, 0), (side, side), (0, side)], np.float32) - np.float32(0.5)
    place = cv2.getPerspectiveTransform(own, (corners - (left, top) - 0.5).astype(np.float32))
    size = (int(right - left), int(bottom - top))
    inside = np.asarray(cv2.warpPerspective(np.full_like(image, 255), place, size, flags=cv2.INTER_NEAREST)) > 0
    here = print_[top:bottom, left:right]
    here[inside] = np.asarray(cv2.warpPerspective(image, place, size))[inside][:, None]


def _wider(sides_mm: Size, more_mm: float) -> Size:
    return sides_mm[0] + more_mm, sides_mm[1] + more_mm


def _fill(print_: Picture, kit: Kit, at_mm: tuple[float, float], sides_mm: Size, colour: Colour) -> None:
    px_per_mm = print_.shape[1] / kit.mat.width_mm
    left = round((at_mm[0] - sides_mm[0] / 2 + kit.mat.width_mm / 2) * px_per_mm)
    top = round((kit.mat.height_mm / 2 - at_mm[1] - sides_mm[1] / 2) * px_per_mm)
    width, height = (round(side_mm * px_per_mm) for side_mm in sides_mm)
    cv2.rectangle(print_, (left, top, width, height), colour, cv2.FILLED)
