"""The light on a board whose look was learned: measured all over it, wherever nothing stands.

A place of display value e (:mod:`calibration.board_look`) shows ``e`` times the light there, and besides what the board
mirrors of lamps: a sheen that changes slowly from place to place.  Both are added as squares of display values, which
are nearly linear in light.  A sheen is less than 0 where a lamp was mirrored when the board's look was learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_look import TEXEL_MM, BoardLook
from calibration.camera import Camera
from vision.appearance.colour_model import GAMMA
from vision.appearance.illumination import (
    LEAST_REFERENCES,
    Illumination,
    References,
    curved_terms,
    fit_plane,
    log_light_at,
    refit,
    usable_references,
)
from vision.compiled import compiled
from vision.errors import VisionError
from vision.pose.projection import Points, Registration, project

Array = npt.NDArray[np.float32]

BLOCK_MM = 5
"""Side of the blocks in which the board is looked at: noise, grain and half a millimetre's error count less in them."""

SHEEN_MM = 20.0
"""Standard deviation of the window over which a sheen is averaged: a few squares wide, narrower than a lamp's image."""

SHEEN_KNOWN = 0.05
"""Share of a window that would have to be seen without a sheen to say that there is none as firmly as is assumed."""

EVEN_KNOWN = 0.01
"""How firmly it is assumed, likewise, that nothing shades what shows less than was learned: a lamp may have been
mirrored there then.  Chosen by eye."""

WHITE_SHARE = 0.2
"""Weight of all that is known to be white together, as a share of that of all blocks: a board of one hue cannot tell
light from what it mirrors of lamps.  Chosen by eye."""

TOLERANCES = (0.3, 0.2, 0.15, 0.1, 0.08)
"""Difference of display values at which a block counts for a third, fit after fit: it may be covered or shaded."""

LEAST_KNOWN, LEAST_BLOCKS = 0.2, 12
"""How well blocks must be known to begin with, and how many of them are needed."""

PALEST = 60.0
"""Percentile of the paleness of known blocks from which on they are pale."""

EVEN_LOG, SHEEN_LOG = 0.1, 0.06
"""Standard deviation of the log light that a white block shows, and what a sheen adds to it."""

DARK = 0.05
"""Display value below which noise rules."""

LEAST_SHOWN, MOST_SHOWN = 0.02, 0.985
"""Range of display values that are not cut off."""


@dataclass(frozen=True, eq=False)
class BoardBlocks:
    """A board in blocks of :data:`BLOCK_MM`.

    Attributes:
        points_mm: (rows, columns, 4, 3) places in each block.
        middles_mm: (rows · columns, 3) the middles of them all.
        values: (rows, columns, 3) float32 mean display value of each, r g b.
        known: (rows, columns) float32, 0 where it is not wholly known, less than 1 where its colour is uneven.
        half_mm: half of the board's width and height.
        white: the kit's references, such as the white of its markers: what they show is the light.
    """

    points_mm: Points
    middles_mm: Points
    values: Array
    known: Array
    half_mm: tuple[float, float]
    white: References


def make_blocks(board: BoardLook, white: References) -> BoardBlocks:
    """The blocks of a board; ``white`` as in :class:`BoardBlocks`."""
    step = round(BLOCK_MM / TEXEL_MM)
    rows, columns = (size // step for size in board.seen.shape)
    whole = np.s_[: rows * step, : columns * step]
    squares, spread = (
        np.asarray(cv2.resize(layer, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)
        for layer in (board.colour[whole] ** 2, board.spread[whole])
    )
    seen = board.seen[whole].reshape(rows, step, columns, step) > 0
    y, x = np.mgrid[:rows, :columns]
    half_mm = board.seen.shape[1] * TEXEL_MM / 2, board.seen.shape[0] * TEXEL_MM / 2
    middle_x, middle_y = (x + 0.5) * BLOCK_MM - half_mm[0], half_mm[1] - (y + 0.5) * BLOCK_MM
    quarter = BLOCK_MM / 4
    around = np.array([(dx, dy) for dx in (-quarter, quarter) for dy in (-quarter, quarter)])
    flat = np.stack([middle_x, middle_y], axis=-1)[:, :, None] + around
    points = np.concatenate([flat, np.zeros((*flat.shape[:-1], 1))], axis=-1)
    known = seen.all(axis=(1, 3)) / (1 + (spread / TOLERANCES[-1]) ** 2)
    middles = points.mean(axis=2).reshape(-1, 3)
    return BoardBlocks(points, middles, np.sqrt(squares), known.astype(np.float32), half_mm, white)


def measure_on_board(
    image: npt.NDArray[np.uint8], blocks: BoardBlocks, pose: Registration, camera: Camera
) -> Illumination:
    """The light in a picture (height, width, 3) uint8 BGR, and what the board mirrors of lamps.

    Raises VisionError when it is too dark, or too little of the board is seen.
    """
    shown, in_range = _shown(image, blocks, pose, camera)
    known = blocks.known * in_range
    begun = known > LEAST_KNOWN
    if begun.sum() < LEAST_BLOCKS:
        raise VisionError("too little of the bare board is to be seen: uncover it, or turn a lamp on")
    places = blocks.middles_mm
    # What is pale in all channels tells the light whatever is mirrored.
    paleness = blocks.values.min(axis=2)
    pale = begun & (paleness >= np.percentile(paleness[begun], PALEST))
    sheen = np.zeros(known.shape, np.float32)
    logs = _light_logs(shown, blocks.values, sheen)
    white_at, white_logs = usable_references(image, blocks.white, pose, camera)
    light = _begin((white_at, white_logs), (places[pale.ravel()], logs[pale]), blocks.half_mm)
    variance = EVEN_LOG**2 + (SHEEN_LOG / np.maximum(blocks.values, DARK) ** 2) ** 2
    precision = (known[..., None] / variance).reshape(-1, 3)
    of_white = np.broadcast_to(WHITE_SHARE * precision.sum(axis=0) / max(len(white_at), 1), white_at.shape)
    squares, weights = blocks.values**2, np.vstack([precision, of_white])
    terms = curved_terms(np.vstack([places, white_at]), blocks.half_mm)
    for tolerance in TOLERANCES:
        logs = np.vstack([_light_logs(shown, blocks.values, sheen).reshape(-1, 3), white_logs])
        light = refit(light, terms, logs, weights, GAMMA * tolerance)
        gain = np.exp(log_light_at(light, terms[: len(places)]) * (-1 / GAMMA)).astype(np.float32)
        sheen = _sheen(_layers(shown, gain.reshape(shown.shape), (squares, sheen), known, tolerance))
    return replace(light, sheen=sheen)


def _begin(told: tuple[Points, Points], pale: tuple[Points, Points], half_mm: tuple[float, float]) -> Illumination:
    """A plane of log light from places and logs (n, 3) that are ``told``, or from ``pale`` ones if these do not do."""
    try:
        return fit_plane(*(told if len(told[0]) >= LEAST_REFERENCES else pale), half_mm)
    except VisionError:
        return fit_plane(*pale, half_mm)


def _shown(
    image: npt.NDArray[np.uint8], blocks: BoardBlocks, pose: Registration, camera: Camera
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(rows, columns, 3) display values r g b of blocks in a picture, and (rows, columns) whether they are in range."""
    pixels = project(blocks.points_mm.reshape(-1, 3), pose, camera).reshape(-1, 4, 2)
    inside = ((pixels >= 0) & (pixels < (camera.width_px, camera.height_px))).all(axis=(1, 2))
    # OpenCV is faster on few long rows than on many short ones.
    across, down = (pixels[..., axis].astype(np.float32).reshape(len(blocks.values), -1) for axis in (0, 1))
    codes = cv2.remap(image, across, down, cv2.INTER_LINEAR)
    shown, in_range = _root_mean_squares(np.asarray(codes, np.uint8).reshape(*blocks.values.shape[:2], 4, 3))
    return shown, in_range & inside.reshape(in_range.shape)


@compiled
def _root_mean_squares(codes: npt.NDArray[np.uint8]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """What :func:`_shown` returns, of ``codes`` (rows, columns, 4, 3) b g r."""
    rows, columns = codes.shape[:2]
    shown, in_range = np.empty((rows, columns, 3), np.float32), np.ones((rows, columns), np.bool_)
    for row in range(rows):
        for column in range(columns):
            for channel in range(3):
                total = 0
                for place in range(4):
                    code = int(codes[row, column, place, 2 - channel])
                    total += code * code
                value = np.float32(np.sqrt(total / 4) / 255)
                shown[row, column, channel] = value
                in_range[row, column] &= LEAST_SHOWN < value < MOST_SHOWN
    return shown, in_range


def _light_logs(shown: Array, values: Array, sheen: Array) -> Points:
    """(rows, columns, 3) log of the light in which blocks of these display values show others, less the sheen."""
    logs: Points = GAMMA * np.log(
        np.maximum(shown, LEAST_SHOWN) / np.sqrt(np.maximum(values**2 + sheen[..., None], DARK**2))
    )
    return logs.astype(np.float64)


@compiled
def _layers(shown: Array, gain: Array, expected: tuple[Array, Array], known: Array, tolerance: float) -> Array:
    """(5, rows, columns) float32, what is summed up in a window to tell a sheen, see :func:`_sheen`.

    Args:
        shown: (rows, columns, 3) display values.
        gain: (rows, columns, 3) what they are multiplied by to be those under even light.
        expected: (rows, columns, 3) squares of those of the blocks; and (rows, columns) the sheen so far.
        known: (rows, columns) as in :class:`BoardBlocks`.
        tolerance: one of :data:`TOLERANCES`.
    """
    (squares, sheen), layers = expected, np.empty((5, *known.shape), np.float32)
    for row in range(known.shape[0]):
        for column in range(known.shape[1]):
            off = np.float32(0)
            total, own, both = np.float32(0), np.float32(0), np.float32(0)
            own_squares = np.float32(0)
            for channel in range(3):
                value, square = shown[row, column, channel] * gain[row, column, channel], squares[row, column, channel]
                more = value * value - square
                off = max(off, abs(value - np.sqrt(max(square + sheen[row, column], np.float32(0)))))
                total, own, both = total + more, own + square, both + square * more
                own_squares += square * square
            weight = known[row, column] * np.exp(-((off / tolerance) ** 2))
            layers[0, row, column] = weight
            for number, layer in enumerate((own, total, own_squares, both)):
                layers[1 + number, row, column] = weight * layer / 3
    return layers


def _sheen(layers: Array) -> Array:
    """(rows, columns) white that is mirrored, averaged over a window.

    ``layers`` (5, rows, columns) are weights, and weighted means over channels: of the squares of the blocks' own
    display values, of how much more than these is shown, of the squares of the former, and of their product.  Where
    less is shown, either a shade takes a share of their own, or white that was mirrored when they were learned is
    missing in all channels alike: both are fitted by least squares.
    """
    known, squares, total, own_squares, product = (
        cv2.GaussianBlur(layer, (0, 0), SHEEN_MM / BLOCK_MM, borderType=cv2.BORDER_CONSTANT) for layer in layers
    )
    known, own_squares = known + np.float32(SHEEN_KNOWN), own_squares + np.float32(EVEN_KNOWN)
    white = total / known
    missing = (own_squares * total - squares * product) / (own_squares * known - squares**2)
    return np.asarray(np.where(white > 0, white, np.clip(missing, white, 0)), np.float32)
