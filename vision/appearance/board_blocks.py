"""A learned board divided into blocks, on which its illumination is measured, and their projections."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_appearance import TEXEL_MM, WHITEST, BoardAppearance
from calibration.camera import Camera
from vision.appearance.illumination import curved_terms
from vision.appearance.light_references import References
from vision.appearance.tone_curve import to_linear_all
from vision.pose.projection import Points, Registration, project

Array = npt.NDArray[np.float32]

BLOCK_MM = 5
"""Side of the blocks over which the board is averaged, which reduces noise, grain and half a millimetre's error."""

SPECULAR_MM = 20.0
"""Standard deviation of the window over which specular reflection is averaged: a few squares wide, narrower than
a lamp's reflection."""

NEXT_MM = 5.0
"""Standard deviation of the window in which blocks are compared to tell a shade from a lamp that is missing: both are
constant over so short a distance.  Across a whole lamp's reflection, what it had made paler lacks more, as if it were
shaded.  In one picture of ``own-r89269`` 0.19 of at least 0.35 were recognised with this, 0.16 with 10."""

EVEN_LOG, SPECULAR_LOG = 0.1, 0.06
"""Standard deviation of the log light that a white block shows, and what specular reflection adds to it."""

NOISE_FLOOR = 0.05
"""Display value below which noise dominates."""

BLOCK_SPREAD = 0.08
"""Spread of display values within a block at which it counts for half, as its colour is uneven."""


@dataclass(frozen=True, eq=False)
class BoardBlocks:
    """A board in k blocks of :data:`BLOCK_MM`, in row-major order.  Channels come first: loops over one are faster so.

    Attributes:
        points_mm: (rows, columns, 4, 3) sample points in each block.
        middles_mm: (k, 3) centres of all blocks.
        terms: (6, k) float32 of these, see :func:`vision.appearance.illumination.curved_terms`.
        own: (3, k) float32 light that each shows in even light, r g b, relative to white paper.
        paleness: (k,) float32, the least of the three.
        precision: (3, k) float32, one over the variance of the log light that each shows.
        known: (k,) float32 weight, 0 where the block is not wholly known, less than 1 where its colour is uneven.
        windows: (rows, rows) and (columns, columns) float32, weights of all rows and columns in the window round each.
        next_to: the same for the window of :data:`NEXT_MM`.
        least: (k,) float32, the least light that it or a block next to it shows, in any channel.
        half_mm: half of the board's width and height.
        white: the kit's references, such as the white of its markers, which show the light itself.
    """

    points_mm: Points
    middles_mm: Points
    terms: Array
    own: Array
    paleness: Array
    precision: Array
    known: Array
    windows: tuple[Array, Array]
    next_to: tuple[Array, Array]
    least: Array
    half_mm: tuple[float, float]
    white: References


@dataclass(frozen=True, eq=False)
class PlacedBlocks:
    """Blocks as a camera sees them.

    Attributes:
        blocks: see :class:`BoardBlocks`.
        pose: of the board.
        camera: its intrinsics.
        map_px: two of (rows, 4 · columns) float32, x and y of the sample points in each block.
        inside: (k,) whether all sample points of a block are in the picture.
    """

    blocks: BoardBlocks
    pose: Registration
    camera: Camera
    map_px: tuple[Array, Array]
    inside: npt.NDArray[np.bool_]


def make_blocks(board: BoardAppearance, white: References) -> BoardBlocks:
    """The blocks of a board; ``white`` as in :class:`BoardBlocks`."""
    step = round(BLOCK_MM / TEXEL_MM)
    rows, columns = (size // step for size in board.seen.shape)
    whole = np.s_[: rows * step, : columns * step]
    light = to_linear_all(board.colour[whole].reshape(-1, 3)).reshape(rows * step, columns * step, 3)
    lights, spread = (
        np.asarray(cv2.resize(layer, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)
        for layer in (light, board.spread[whole])
    )
    seen = board.seen[whole].reshape(rows, step, columns, step) > 0
    half_mm = board.seen.shape[1] * TEXEL_MM / 2, board.seen.shape[0] * TEXEL_MM / 2
    points = block_points(rows, columns, half_mm)
    is_seen = seen.all(axis=(1, 3))
    known = is_seen / (1 + (spread / BLOCK_SPREAD) ** 2)
    middles = points.mean(axis=2).reshape(-1, 3)
    own = np.ascontiguousarray(lights.reshape(-1, 3).T)
    return BoardBlocks(
        points,
        middles,
        np.ascontiguousarray(curved_terms(middles, half_mm).T, np.float32),
        own,
        own.min(axis=0),
        (1 / (EVEN_LOG**2 + (SPECULAR_LOG / np.maximum(own, NOISE_FLOOR**2)) ** 2)).astype(np.float32),
        known.ravel().astype(np.float32),
        (_window(rows, SPECULAR_MM), _window(columns, SPECULAR_MM)),
        (_window(rows, NEXT_MM), _window(columns, NEXT_MM)),
        _least(np.where(is_seen, lights.min(axis=2), np.float32(WHITEST**2))).ravel(),
        half_mm,
        white,
    )


def place_blocks(blocks: BoardBlocks, pose: Registration, camera: Camera) -> PlacedBlocks:
    """``blocks`` projected into a picture of ``camera``."""
    return PlacedBlocks(blocks, pose, camera, *project_blocks(blocks.points_mm, pose, camera))


def block_points(rows: int, columns: int, half_mm: tuple[float, float]) -> Points:
    """(rows, columns, 4, 3) mm, sample points in the blocks of a board, whose half width and height are ``half_mm``."""
    y, x = np.mgrid[:rows, :columns]
    middle_x, middle_y = (x + 0.5) * BLOCK_MM - half_mm[0], half_mm[1] - (y + 0.5) * BLOCK_MM
    quarter = BLOCK_MM / 4
    around = np.array([(dx, dy) for dx in (-quarter, quarter) for dy in (-quarter, quarter)])
    flat = np.stack([middle_x, middle_y], axis=-1)[:, :, None] + around
    return np.concatenate([flat, np.zeros((*flat.shape[:-1], 1))], axis=-1)


def project_blocks(
    points_mm: Points, pose: Registration, camera: Camera
) -> tuple[tuple[Array, Array], npt.NDArray[np.bool_]]:
    """``map_px`` and ``inside`` of :class:`PlacedBlocks` for blocks with these sample points (rows, columns, 4, 3)."""
    pixels = project(points_mm.reshape(-1, 3), pose, camera).reshape(-1, 4, 2)
    inside = np.all((pixels >= 0) & (pixels < (camera.width_px, camera.height_px)), axis=(1, 2))
    # OpenCV is faster on few long rows than on many short ones.
    across, down = (pixels[..., axis].astype(np.float32).reshape(len(points_mm), -1) for axis in (0, 1))
    return (across, down), inside


def _least(values: Array) -> Array:
    """(rows, columns) minimum of each value and its neighbours."""
    return np.asarray(cv2.erode(values, np.ones((3, 3), np.uint8)), np.float32)


def _window(size: int, deviation_mm: float) -> Array:
    """(size, size) float32 Gaussian weights round each of ``size`` blocks, without those beyond the board."""
    reach = round(4 * deviation_mm / BLOCK_MM)
    weights = cv2.getGaussianKernel(2 * reach + 1, deviation_mm / BLOCK_MM, cv2.CV_32F).ravel()
    off = np.subtract.outer(np.arange(size), np.arange(size))
    return np.where(np.abs(off) <= reach, weights[np.clip(off + reach, 0, 2 * reach)], 0).astype(np.float32)
