"""The bare board as learned (:mod:`calibration.board_appearance`), place by place, and in the crops of a camera."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_appearance import TEXEL_MM, WHITEST, BoardAppearance
from calibration.camera import Camera
from calibration.srgb import GAMMA
from vision.appearance.colour_model import FLOOR_SHADING
from vision.appearance.logarithm import log_in_place
from vision.appearance.shading import SENSOR_NOISE
from vision.appearance.tone_curve import OFFSET
from vision.compiled import compiled
from vision.pose.projection import Points, Registration, back_project
from vision.scene.crops import Crops

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]

MIRRORED = 0.007
"""Standard deviation of a board's specular reflection about its slowly varying part, as a share of what white
paper shows."""

DARKEST = 0.15
"""Display value below which mirrored light changes it no more than here: the curve is straight there."""

GRID = 4
"""Spacing, in rows and columns of a crop, of the pixels whose places on the board are computed.  Between them places
are interpolated: in twelve pictures of five folders that was off by 0.004 to 0.05 mm at most."""

VARIANCES = 1024
"""Number of steps of display values for which the variance due to light is tabulated: deviations are right to 0.1 %."""


class BoardView(NamedTuple):
    """The bare board as seen in the crops of cells (n), from one pose.

    Attributes:
        aside_mm: (n, 2, rows, columns) float32, x, y of each pixel on the board relative to the centre of its cell.
        values: (n, 3, rows, columns) float32, display values b g r relative to white paper.
        scale: (n, 3, rows, columns) float32, one over the standard deviation of each; 0 where they are not known.
        log_volume: (n, rows, columns) float32, logarithm of the product of these three; 0 where they are not known.
    """

    aside_mm: Array
    values: Array
    scale: Array
    log_volume: Array


def view_board(board: BoardAppearance, crops: Crops, pose: Registration, camera: Camera) -> BoardView:
    """The appearance of ``board`` in the ``crops`` of some cells."""
    centres, shape = crops.centres_mm[:, :2], (len(crops.v_mm), len(crops.u_mm))
    u, v = (
        along[0] + (along[1] - along[0]) * np.arange(0, len(along) + GRID, GRID) for along in (crops.u_mm, crops.v_mm)
    )
    grid = np.stack(np.meshgrid(u, v), axis=-1)
    pixels = crops.origin_px[:, None, None] + grid @ crops.to_picture[:, None].transpose(0, 1, 3, 2)
    aside_mm = _upsampled(back_project(pixels, pose, camera) - centres[:, None, None], shape)
    row, column = (
        sign * aside_mm[:, axis].reshape(len(centres), -1) + begin.astype(np.float32)[:, None]
        for axis, sign, begin in zip((1, 0), _PER_MM, to_texels(centres, board.seen.shape), strict=True)
    )
    colour, spread, known = _sampled(board, row, column)
    values, scale, log_volume = _scaled(colour, spread, known, _VARIANCE)
    return BoardView(
        aside_mm, values.reshape(-1, 3, *shape), scale.reshape(-1, 3, *shape), log_volume.reshape(-1, *shape)
    )


@compiled
def _upsampled(coarse: Points, shape: tuple[int, int]) -> Array:
    """(n, 2, rows, columns) float32, bilinear, of a ``shape``, from every :data:`GRID`-th value (n, …, …, 2)."""
    rows, columns = shape
    fine = np.empty((len(coarse), 2, rows, columns), np.float32)
    for k in range(len(coarse)):
        for axis in range(2):
            for i in range(rows):
                above, down = i // GRID, np.float32(i % GRID) / np.float32(GRID)
                for j in range(columns):
                    left, right = j // GRID, np.float32(j % GRID) / np.float32(GRID)
                    begin = coarse[k, above, left, axis]
                    across = coarse[k, above, left + 1, axis] - begin
                    below = coarse[k, above + 1, left, axis]
                    turned = coarse[k, above + 1, left + 1, axis] - below
                    fine[k, axis, i, j] = (
                        begin + right * across + down * (below + right * turned - begin - right * across)
                    )
    return fine


def sample_board(board: BoardAppearance, places_mm: Points) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """What ``board`` shows at places (n, …, 2) mm.

    Returns:
        (n, …, 3) float32 display values b g r relative to white paper, (n, …, 3) float32 the variance of these, and
        (n, …) bool, whether they are known.
    """
    shape = places_mm.shape[:-1]
    row, column = to_texels(places_mm.reshape(len(places_mm), -1, 2), board.seen.shape)
    colour, spread, known = _sampled(board, row.astype(np.float32), column.astype(np.float32))
    values = colour.reshape(*shape, 3)[..., ::-1]
    return values, variance_of(values, spread.reshape(shape)), known.reshape(shape) > 0


def _sampled(board: BoardAppearance, row: Array, column: Array) -> tuple[Array, Array, Picture]:
    """Colour (n, k, 3) r g b, spread (n, k) and whether they are known (n, k), at rows and columns (n, k) of texels."""
    colour, spread = (
        np.asarray(cv2.remap(layer, column, row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
        for layer in (board.colour, board.spread)
    )
    known = cv2.remap(
        interior_mask(board), column, row, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=0
    )
    return colour, spread, np.asarray(known, np.uint8)


def interior_mask(board: BoardAppearance) -> Picture:
    """(rows, columns) uint8, 1 where a texel and all its neighbours have been seen, 0 elsewhere."""
    return np.asarray(cv2.erode((board.seen > 0).astype(np.uint8), np.ones((3, 3), np.uint8)), np.uint8)


def variance_of(values: Array, spread: Array) -> Array:
    """(…, 3) variance of a bare board's display values (…, 3): noise, grain (``spread``, (…)), reflections, tint."""
    mirrored = MIRRORED / GAMMA * np.maximum(values, DARKEST) ** (1 - GAMMA)
    tint = FLOOR_SHADING.tint / GAMMA * (values + OFFSET)
    variance: Array = SENSOR_NOISE**2 + spread[..., None] ** 2 + mirrored**2 + tint**2
    return variance


_VARIANCE = variance_of(
    np.linspace(0, WHITEST, VARIANCES + 1, dtype=np.float32)[:, None], np.zeros(1, np.float32)
).ravel()
"""(VARIANCES + 1,) float32, the variance of display values from 0 to :data:`WHITEST` where there is no grain."""


@compiled
def _scaled(colour: Array, spread: Array, known: Picture, variances: Array) -> tuple[Array, Array, Array]:
    """``values`` and ``scale`` (n, 3, k) and ``log_volume`` (n, k) of :class:`BoardView`.

    From what :func:`_sampled` gives, and the ``variances`` of display values without grain, tabulated.
    """
    count, steps = colour.shape[1], np.float32(VARIANCES / WHITEST)
    values, scale = np.empty((len(colour), 3, count), np.float32), np.empty((len(colour), 3, count), np.float32)
    log_volume, zero, one, half = (
        np.empty((len(colour), count), np.float32),
        np.float32(0),
        np.float32(1),
        np.float32(-0.5),
    )
    for k in range(len(colour)):
        volume, shown = np.ones(count, np.float32), known[k]
        for channel in range(3):
            of_channel, scaled = values[k, channel], scale[k, channel]
            for i in range(count):
                value = colour[k, i, 2 - channel]
                place = min(max(value, zero) * steps, np.float32(VARIANCES - 1))
                step = int(place)
                grain = spread[k, i]
                variance = variances[step] + (variances[step + 1] - variances[step]) * (place - step) + grain * grain
                of_channel[i], scaled[i] = value, variance
            for i in range(count):
                volume[i] *= scaled[i] if shown[i] else one
                scaled[i] = one / np.sqrt(scaled[i]) if shown[i] else zero
        log_in_place(volume)
        for i in range(count):
            log_volume[k, i] = half * volume[i]
    return values, scale, log_volume


def to_texels(places_mm: Points, size: tuple[int, ...]) -> tuple[Points, Points]:
    """Rows and columns (…) of places (…, 2) mm in a map of a ``size``."""
    per_row, per_column = _PER_MM
    return (size[0] - 1) / 2 + per_row * places_mm[..., 1], (size[1] - 1) / 2 + per_column * places_mm[..., 0]


_PER_MM = -1 / TEXEL_MM, 1 / TEXEL_MM
"""Rows of texels per millimetre of y, and columns per millimetre of x."""
