"""The bare board as a picture would show it, pixel by pixel, wherever its appearance was learned."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_appearance import BoardAppearance
from calibration.camera import Camera
from vision.appearance.board_view import interior_mask, to_texels
from vision.pose.projection import Registration, back_project

Picture = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PER_VALUE = 200
"""Levels per display value of 1 (white paper): the whitest texels have 250."""

GRID_PX = 8
"""Spacing of the pixels whose places on the board are computed: lens distortion between two of them is negligible."""

STRIP_PX = 128
"""Rows computed at once, a multiple of the grid's spacing: maps of a whole picture take three times its memory."""

APART_TEXELS = 2
"""Texels between the two of a pair: about the distance of places that :mod:`vision.likelihood.boundaries` compares."""

MIN_NOISE = 0.3
"""Standard deviation of the difference of two levels that is due to rounding."""


class BareLevels(NamedTuple):
    """A bare board under even light, in board coordinates.

    Attributes:
        levels: (rows, columns, 3) uint8, display values b g r of each texel times :data:`PER_VALUE`.
        known: (rows, columns) uint8, 1 where a texel and all its neighbours have been seen, 0 elsewhere.
        noise: (3,) standard deviation of the difference of two levels on a uniform part of the board.
    """

    levels: Picture
    known: Picture
    noise: Floats


class BarePicture(NamedTuple):
    """A bare board under even light, rendered into a picture (height, width).

    Attributes:
        levels: (height, width, 3) uint8, display values b g r times :data:`PER_VALUE`.
        known: (height, width) bool, whether the board is visible there and its appearance known.
        noise: (3,) standard deviation of the difference of two levels on a uniform part of the board.
    """

    levels: Picture
    known: Mask
    noise: Floats


NO_BARE = BarePicture(np.zeros((0, 0, 3), np.uint8), np.zeros((0, 0), np.bool_), np.zeros(3))
"""The bare picture of a board whose appearance was not learned."""


def bare_levels(board: BoardAppearance) -> BareLevels:
    """A ``board`` as it is rendered."""
    levels = np.ascontiguousarray(np.asarray(cv2.convertScaleAbs(board.colour, alpha=PER_VALUE), np.uint8)[..., ::-1])
    return BareLevels(levels, interior_mask(board), _noise(levels, board.seen > 0))


def bare_picture(
    board: BareLevels, size: tuple[int, ...], shrink: int, pose: Registration, camera: Camera
) -> BarePicture:
    """``board`` seen from ``pose``, in the camera's picture shrunk by ``shrink`` to ``size`` (height, width)."""
    # The grid reaches one step beyond the picture on each side.
    grid = [(np.arange(-1, -(-length // GRID_PX) + 1) + 0.5) * GRID_PX for length in size]
    rows, columns = np.meshgrid(*grid, indexing="ij")
    places_mm = back_project(np.stack([columns, rows], axis=-1) * shrink - 0.5, pose, camera)
    coarse = [axis.astype(np.float32) for axis in to_texels(places_mm, board.known.shape)]
    shown, known = np.empty((*size, 3), np.uint8), np.empty(size, np.bool_)
    for top in range(0, size[0], STRIP_PX):
        bottom, first = min(top + STRIP_PX, size[0]), top // GRID_PX
        # This part of the grid is upsampled, and its margin cropped.
        row, column = (
            cv2.resize(axis[first : first + STRIP_PX // GRID_PX + 2], None, fx=GRID_PX, fy=GRID_PX)[
                GRID_PX : GRID_PX + bottom - top, GRID_PX : GRID_PX + size[1]
            ]
            for axis in coarse
        )
        shown[top:bottom] = cv2.remap(board.levels, column, row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        known[top:bottom] = cv2.remap(board.known, column, row, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT)
    return BarePicture(shown, known, board.noise)


def _noise(levels: Picture, seen: Mask) -> Floats:
    """See :attr:`BarePicture.noise`; most of the texels that were ``seen`` (rows, columns) lie on uniform parts."""
    is_pair = seen[:, APART_TEXELS:] & seen[:, :-APART_TEXELS]
    apart = np.asarray(cv2.absdiff(levels[:, APART_TEXELS:], levels[:, :-APART_TEXELS]))[is_pair]
    # The median absolute value of a normal variable is 0.6745 standard deviations.
    noise: Floats = MIN_NOISE + (np.median(apart, axis=0) / 0.6745 if len(apart) else np.zeros(3))
    return noise
