"""Observations: the pixels of every crop, as codes and as row numbers of the colour model."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.board_surface import board_log_likelihood, light_around
from vision.appearance.board_view import BoardView
from vision.appearance.colour_model import BINS, quantised
from vision.appearance.illumination import Illumination
from vision.appearance.saturation import SATURATED
from vision.appearance.tone_curve import OFFSET, codes_to_values, gain_at
from vision.compiled import compiled
from vision.scene.crops import Crops
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer
from vision.scene.materials import Materials
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Picture = npt.NDArray[np.uint8]

FLOOR, TABLE = Materials.FLOOR, Materials.TABLE


_NEXT, _SECOND = np.uint64(1), np.uint64(2)

NO_BOARD = np.zeros((0, 3, 0, 0), np.float32)
"""Value of :attr:`Observations.expected` where no board's appearance was learned."""


class Observations(NamedTuple):
    """The crops of some cells (n) of one picture.

    Attributes:
        codes: (n, rows, columns, 3) uint8, BGR.
        gain: (n, 3) float32, display value relative to white paper that one code adds, b g r.
        logs: (n, 3, 256) float32, log of the display value of every code plus
            :data:`vision.appearance.tone_curve.OFFSET`, so that light adds to it; b g r.
        rows: (n, 3, 256) int32, what each code of a channel, b g r, adds to the row of the colour model.
        bins: (n, rows, columns) int32, row of the colour model.
        floor: (n, rows, columns) float32, log-likelihood of each pixel if it shows the bare board.
        colour_model: (BINS³, materials) float32 log-likelihoods.
        expected: (n, 3, rows, columns) float32, display values b g r relative to white paper that the bare board would
            show, 0 where its appearance is not known; :data:`NO_BOARD` where none was learned.
    """

    codes: Picture
    gain: Array
    logs: Array
    rows: npt.NDArray[np.int32]
    bins: npt.NDArray[np.int32]
    floor: Array
    colour_model: Array
    expected: Array = NO_BOARD

    @property
    def is_board_learned(self) -> bool:
        """Whether ``floor`` is based on a board whose appearance was learned."""
        return len(self.expected) > 0


def observe(
    image: Picture,
    crops: Crops,
    cells: Indices | slice,
    light: Illumination,
    colour_model: Array,
    board: BoardView | None = None,
) -> Observations:
    """The crops of ``cells`` (n,) in a picture (height, width, 3) uint8 BGR, with its illumination divided out.

    ``colour_model``: (BINS³, materials) float32.  ``board``: the bare board in all crops, where it was learned.
    """
    maps = crops.map_px[:, cells]
    _, n, rows, columns = maps.shape
    x, y = maps.reshape(2, n, rows * columns)  # OpenCV is faster on few long rows than on many short ones
    sampled = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    codes = np.asarray(sampled, np.uint8).reshape(n, rows, columns, 3)
    gain = np.ascontiguousarray(gain_at(light.at(crops.centres_mm[cells]))[:, ::-1])
    values = codes_to_values(np.arange(256), gain[..., None])
    # Rows of the colour model are numbered with red as the most significant digit.
    channels = quantised(values)
    channels[..., SATURATED:] = BINS - 1
    rows_of_code = channels * np.array([[1], [BINS], [BINS**2]], np.int32)
    bins, floor = _look_up_pixels(codes, rows_of_code, np.ascontiguousarray(colour_model[:, FLOOR]))
    expected = NO_BOARD
    if board is not None:
        expected = np.empty((n, 3, rows, columns), np.float32)
        numbers = np.arange(len(crops.centres_mm))[cells]
        round_cells = light_around(light, gain, crops.centres_mm[cells])
        board_log_likelihood(board, numbers, codes, round_cells, (floor, expected))
    return Observations(codes, gain, np.log(values + OFFSET), rows_of_code, bins, floor, colour_model, expected)


def update_observations(observations: Observations, cells: Indices, latest: Observations) -> None:
    """Overwrite the observations of ``cells`` (b,) with their ``latest`` ones."""
    observations.codes[cells], observations.bins[cells] = latest.codes, latest.bins
    observations.floor[cells] = latest.floor
    observations.gain[cells], observations.logs[cells] = latest.gain, latest.logs
    observations.rows[cells] = latest.rows
    if observations.is_board_learned:
        observations.expected[cells] = latest.expected


@compiled
def _look_up_pixels(codes: Picture, table: npt.NDArray[np.int32], bare: Array) -> tuple[npt.NDArray[np.int32], Array]:
    """(n, rows, columns) int32 row of the colour model of each pixel, and float32 value of ``bare`` (BINS³,) there.

    The row is the sum over channels of ``table`` (n, 3, 256) at each of ``codes`` (n, rows, columns, 3).
    """
    n, rows, columns, _ = codes.shape
    bins, floor = np.empty((n, rows * columns), np.int32), np.empty((n, rows * columns), np.float32)
    flat = codes.reshape(n, -1)
    for i in range(n):
        blues, greens, reds = table[i, 0], table[i, 1], table[i, 2]
        for pixel in range(rows * columns):
            # Unsigned: Numba tests every signed index for being negative.
            at = np.uint64(3 * pixel)
            row = blues[flat[i, at]] + greens[flat[i, at + _NEXT]] + reds[flat[i, at + _SECOND]]
            bins[i, pixel], floor[i, pixel] = row, bare[np.uint64(row)]
    return bins.reshape(n, rows, columns), floor.reshape(n, rows, columns)


class Background(NamedTuple):
    """The background of some cells (b) in their crops.

    Attributes:
        base: (b, rows, columns) float32 log-likelihood of each pixel under the surface rendered there.
        visible: (b, rows, columns) bool, in the picture, and occluded by neither a nearer column nor a nearer piece.
    """

    base: Array
    visible: npt.NDArray[np.bool_]


@compiled
def log_likelihood(
    observations: Observations, visibility: Visibility, labels: LabelBuffer, cells: Indices, first_row: int
) -> float:
    """Log-likelihood of the pixels in crops of ``cells`` (b,) from ``first_row`` on, under the surfaces rendered there.

    ``labels``: (height, width) uint16.  Pixels behind terrain or pillars, or outside the picture, do not count.
    """
    bins, floor, colour_model = observations.bins, observations.floor, observations.colour_model
    rendered, total = labels.reshape(-1), 0.0
    for cell in cells:
        for row in range(first_row, bins.shape[1]):
            for column in range(bins.shape[2]):
                if visibility.visible[cell, row, column]:
                    material = rendered[visibility.flat_px[cell, row, column]] & MATERIAL_MASK
                    likely = colour_model[bins[cell, row, column], material]
                    total += floor[cell, row, column] if material == FLOOR else likely
    return total


@compiled
def unlikely_shares(
    observations: Observations,
    visibility: Visibility,
    labels: LabelBuffer,
    rows: tuple[int, int],
    unlikely_in: tuple[float, Array],
) -> Array:
    """(n,) float32, share of pixels that are unlikely under the surface rendered there.

    Among the visible ones in crop rows from the first of ``rows`` up to the second; 0 where there are none.
    ``labels``: (height, width) uint16; ``unlikely_in``: the log-likelihood up to which pixels are unlikely, and the
    (BINS³, materials) float32 colour model for it, except for the floor and what lies beside the mat.
    """
    (limit, colour_model), bins, floor = unlikely_in, observations.bins, observations.floor
    rendered = labels.reshape(-1)
    shares = np.zeros(len(bins), np.float32)
    for cell in range(len(bins)):
        visible, unlikely = 0, 0
        for row in range(rows[0], rows[1]):
            for column in range(bins.shape[2]):
                if visibility.visible[cell, row, column]:
                    material = rendered[visibility.flat_px[cell, row, column]] & MATERIAL_MASK
                    visible += 1
                    if material == FLOOR:
                        unlikely += floor[cell, row, column] <= limit
                    elif material == TABLE:  # which differs from picture to picture
                        unlikely += observations.colour_model[bins[cell, row, column], material] <= limit
                    else:
                        unlikely += colour_model[bins[cell, row, column], material] <= limit
        shares[cell] = unlikely / max(visible, 1)
    return shares


@compiled
def background(observations: Observations, visibility: Visibility, labels: LabelBuffer, cells: Indices) -> Background:
    """The background of ``cells`` (b,): ``labels`` (height, width) uint16 are rendered with nothing on them."""
    bins, floor, colour_model = observations.bins, observations.floor, observations.colour_model
    rendered = labels.reshape(-1)
    flat_px, visible = visibility.flat_px, visibility.visible
    _, rows, columns = bins.shape
    base, is_visible = (
        np.empty((len(cells), rows, columns), np.float32),
        np.empty((len(cells), rows, columns), np.bool_),
    )
    for k in range(len(cells)):
        cell, own = cells[k], visibility.rank[cells[k]]
        for row in range(rows):
            for column in range(columns):
                nearest = rendered[flat_px[cell, row, column]]
                material = nearest & MATERIAL_MASK
                likely = colour_model[bins[cell, row, column], material]
                base[k, row, column] = floor[cell, row, column] if material == FLOOR else likely
                is_visible[k, row, column] = visible[cell, row, column] and nearest >> RANK_BITS <= own
    return Background(base, is_visible)
