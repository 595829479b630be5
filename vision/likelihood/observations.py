"""What the pixels of every crop show: their codes, and where they stand in the palette."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import BINS, gain_in, quantised
from vision.appearance.illumination import Illumination
from vision.compiled import compiled
from vision.scene.crops import Crops
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Picture = npt.NDArray[np.uint8]

DARK = 0.05
"""Added to display values before the logarithm: below it noise rules."""


class Observations(NamedTuple):
    """The crops of some cells (n) of one picture.

    Attributes:
        codes: (n, rows, columns, 3) uint8, BGR.
        gain: (n, 3) float32, display value relative to white paper of one code, b g r.
        logs: (n, 3, 256) float32, log of the display value of every code.
        bins: (n, rows, columns) int32, row of the palette.
        colour_model: (BINS³, materials) float32 log-likelihoods.
    """

    codes: Picture
    gain: Array
    logs: Array
    bins: npt.NDArray[np.int32]
    colour_model: Array


def look(
    image: Picture, crops: Crops, cells: Indices | slice, light: Illumination, colour_model: Array
) -> Observations:
    """The evidence of these cells in a picture (height, width, 3) uint8 BGR, in this light."""
    maps = crops.map_px[:, cells]
    _, n, rows, columns = maps.shape
    x, y = maps.reshape(2, n, rows * columns)  # few long rows are quicker than many short ones
    seen = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    codes = np.asarray(seen, np.uint8).reshape(n, rows, columns, 3)
    gain = np.ascontiguousarray(gain_in(light.at(crops.centres_mm[cells]))[:, ::-1])
    values = (gain[..., None] * np.arange(256)).astype(np.float32)
    # As the palette's rows are counted: red first.
    bins = _bins(codes, quantised(values) * np.array([[1], [BINS], [BINS**2]], np.int32))
    return Observations(codes, gain, np.log(values + np.float32(DARK)), bins, colour_model)


def renew(observations: Observations, cells: Indices, shown: Observations) -> None:
    """Put what these cells (b,) show now in the place of what they showed."""
    observations.codes[cells], observations.bins[cells] = shown.codes, shown.bins
    observations.gain[cells], observations.logs[cells] = shown.gain, shown.logs


@compiled
def _bins(codes: Picture, table: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """(n, rows, columns) row of the palette: the sum of what ``table`` (n, 3, 256) has for each channel's code."""
    n, rows, columns, _ = codes.shape
    bins = np.empty((n, rows, columns), np.int32)
    for i in range(n):
        for row in range(rows):
            for column in range(columns):
                blue, green, red = codes[i, row, column]
                bins[i, row, column] = table[i, 0, blue] + table[i, 1, green] + table[i, 2, red]
    return bins


class Backdrop(NamedTuple):
    """What the crops of some cells (b) would show if nothing stood on them.

    Attributes:
        base: (b, rows, columns) float32 log-likelihood of each pixel if it shows what is painted there.
        seen: (b, rows, columns) bool, whether neither a nearer column nor a nearer piece hides the cell there.
    """

    base: Array
    seen: npt.NDArray[np.bool_]


@compiled
def log_likelihood(
    observations: Observations, visibility: Visibility, labels: LabelBuffer, cells: Indices, first_row: int
) -> float:
    """That of all pixels in the crops of ``cells`` (b,) from ``first_row`` on, if the board looks as painted."""
    bins, colour_model, rendered = observations.bins, observations.colour_model, labels.reshape(-1)
    total = 0.0
    for cell in cells:
        for row in range(first_row, bins.shape[1]):
            for column in range(bins.shape[2]):
                if visibility.visible[cell, row, column]:
                    nearest = rendered[visibility.flat_px[cell, row, column]]
                    total += colour_model[bins[cell, row, column], nearest & MATERIAL_MASK]
    return total


@compiled
def backdrop(observations: Observations, visibility: Visibility, labels: LabelBuffer, cells: Indices) -> Backdrop:
    """What is behind ``cells`` (b,), in their crops, if the board looks as painted."""
    bins, colour_model, rendered = observations.bins, observations.colour_model, labels.reshape(-1)
    flat_px, visible = visibility.flat_px, visibility.visible
    _, rows, columns = bins.shape
    base, seen = np.empty((len(cells), rows, columns), np.float32), np.empty((len(cells), rows, columns), np.bool_)
    for k in range(len(cells)):
        cell, own = cells[k], visibility.rank[cells[k]]
        for row in range(rows):
            for column in range(columns):
                nearest = rendered[flat_px[cell, row, column]]
                base[k, row, column] = colour_model[bins[cell, row, column], nearest & MATERIAL_MASK]
                seen[k, row, column] = visible[cell, row, column] and nearest >> RANK_BITS <= own
    return Backdrop(base, seen)
