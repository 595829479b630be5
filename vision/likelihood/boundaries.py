"""A patch of the picture, preprocessed for scoring segmentations against it.

Two points a few millimetres apart look alike on one surface, and mostly differ where two surfaces meet.  So a
segmentation is right when its boundaries lie where the picture changes (weak membrane: Blake and Zisserman, Visual
reconstruction, 1987), and when each surface's colour is one that its material can show.  Soft shadows change little
over so short a distance, and a pale piece's outline is visible even if its colour is the ground's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.dissimilarity import Dissimilarity, dissimilarity_at, dissimilarity_index
from vision.likelihood.ground_contrasts import SeenGround, ground_sums

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

STEP_MM = 2.0
"""Distance between the two pixels that are compared: lens blur and bevels lie between them."""

UNIT_MM = 5.0
"""Boundary length that counts as one observation of contrast: texture, shadows and placement errors are correlated."""

AREA_MM2 = 40.0
"""Area that counts as one observation of colour, as in crops (:mod:`vision.scene.crops`)."""

COLOUR_STRIDE = 3
"""Stride in pixels, along both axes, at which the colours of a patch are sampled."""


class Patch(NamedTuple):
    """A part of a picture in which segmentations are compared.

    Attributes:
        origin: x and y of its first pixel.
        step: pixels between two pixels that are compared.
        across: (height, width + 1) cumulative sums, along every second row from the first one on, of the log-likelihood
            ratio that two surfaces meet between a pixel and the one ``step`` to the right, against one surface.
        down: the same along each row for the pixel ``step`` below, of every second pixel.
        ground_across, ground_down: likewise, of the log-likelihood ratio that both are on the ground, which has
            contrasts of its own, against one even surface.
        colours: (height / stride, width / stride, materials) float32, log-likelihood of each material for the colour
            there, relative to the likeliest one.
        area: observations of colour that each of these samples is worth.
    """

    origin: tuple[int, int]
    step: int
    across: Floats
    down: Floats
    ground_across: Floats
    ground_down: Floats
    colours: Array
    area: float


class Contrasts(NamedTuple):
    """Log-likelihood ratio that two surfaces meet between two pixels, against both being on one.

    Attributes:
        across: (height, width) float32, of each pixel and the one ``step`` to the right.
        down: likewise, of each pixel and the one ``step`` below.
        step: pixels between the two.
    """

    across: Array
    down: Array
    step: int


@compiled
def make_patch(
    image: Picture,
    box: tuple[int, int, int, int],
    scale: tuple[int, float],
    dissimilarity: Dissimilarity,
    table: npt.NDArray[np.int32],
    colour_model: Array,
    ground: SeenGround,
) -> Patch:
    """The patch of a picture (height, width, 3) uint8 BGR within a box.

    Args:
        image: the picture.
        box: left, top, right, bottom, px.
        scale: pixels between two pixels that are compared, and pixels per millimetre.
        dissimilarity: of this picture, shared by all of its patches.
        table: (3, 256) int32, what each code of a channel adds to the row of the colour model.
        colour_model: (rows, materials) float32 log-likelihoods.
        ground: in the picture.
    """
    step, px_per_mm = scale
    # Horizontal pairs are sampled in every second row, vertical pairs in every second column.
    weight = 2 / (step * px_per_mm * UNIT_MM)
    across, down = _sums(image, box, step, *_weighted(dissimilarity.log_ratios, dissimilarity.slopes, weight))
    on_ground = ground_sums(image, box, step, ground, dissimilarity, weight)
    colours = _colours(image, box, table, colour_model)
    area = COLOUR_STRIDE**2 / (px_per_mm**2 * AREA_MM2)
    return Patch((box[0], box[1]), step, across, down, *on_ground, colours, area)


@compiled
def _sums(
    image: Picture, box: tuple[int, int, int, int], step: int, ratios: Array, slope: Array
) -> tuple[Floats, Floats]:
    """Cumulative sums of ``ratios``, laid out as :attr:`Patch.across` and :attr:`Patch.down`."""
    left, top, right, bottom = box
    height, width = bottom - top, right - left
    across, down = np.zeros((height, width + 1)), np.zeros((height, width + 1))
    for row in range(0, height, 2):
        total = 0.0
        for column in range(width - step):
            one, other = (top + row, left + column), (top + row, left + column + step)
            total += _ratio(image, one, other, ratios, slope)
            across[row, column + 1] = total
    for row in range(height - step):
        total = 0.0
        for column in range(0, width, 2):
            one, other = (top + row, left + column), (top + row + step, left + column)
            total += _ratio(image, one, other, ratios, slope)
            down[row, column + 1] = total
            if column + 2 <= width:
                down[row, column + 2] = total
    return across, down


@compiled
def vertical_ratios(image: Picture, scale: tuple[int, float], dissimilarity: Dissimilarity, counted: Mask) -> Array:
    """(height, width) float32 ratios that :attr:`Patch.down` sums, of a whole picture (height, width, 3) uint8 BGR.

    In every column; 0 unless both pixels are ``counted`` (height, width).  ``scale`` and ``dissimilarity``: see
    :func:`make_patch`.
    """
    (step, px_per_mm), (height, width, _) = scale, image.shape
    ratios, slope = _weighted(dissimilarity.log_ratios, dissimilarity.slopes, 1 / (step * px_per_mm * UNIT_MM))
    down = np.zeros((height, width), np.float32)
    for row in range(height - step):
        for column in range(width):
            if counted[row, column] and counted[row + step, column]:
                down[row, column] = _ratio(image, (row, column), (row + step, column), ratios, slope)
    return down


@compiled
def measure_contrasts(image: Picture, scale: tuple[int, float], noise: Array) -> Contrasts:
    """The contrasts of a picture (height, width, 3) uint8 BGR; ``scale`` as in :func:`make_patch`.

    ``noise``: see :func:`.noise.noise_by_brightness`.
    """
    (step, px_per_mm), (height, width, _), dissimilarity = scale, image.shape, dissimilarity_at(noise)
    ratios, slope = _weighted(dissimilarity.log_ratios, dissimilarity.slopes, 1 / (step * px_per_mm * UNIT_MM))
    across = np.zeros((height, width), np.float32)
    for row in range(height):
        for column in range(width - step):
            across[row, column] = _ratio(image, (row, column), (row, column + step), ratios, slope)
    return Contrasts(across, vertical_ratios(image, scale, dissimilarity, np.ones((height, width), np.bool_)), step)


@compiled
def _weighted(log_ratios: Floats, slopes: Array, weight: float) -> tuple[Array, Array]:
    """Tables (bands, k) float32 of log-likelihood ratios times ``weight``, and (bands, channels) of slopes."""
    return (weight * log_ratios).astype(np.float32), slopes


@compiled
def _colours(
    image: Picture, box: tuple[int, int, int, int], table: npt.NDArray[np.int32], colour_model: Array
) -> Array:
    """See :attr:`Patch.colours`."""
    left, top, right, bottom = box
    rows, columns = (bottom - top - 1) // COLOUR_STRIDE + 1, (right - left - 1) // COLOUR_STRIDE + 1
    materials = colour_model.shape[1]
    colours = np.empty((rows, columns, materials), np.float32)
    for row in range(rows):
        for column in range(columns):
            y, x, best = top + COLOUR_STRIDE * row, left + COLOUR_STRIDE * column, np.float32(-np.inf)
            likely = table[0, image[y, x, 0]] + table[1, image[y, x, 1]] + table[2, image[y, x, 2]]
            for material in range(materials):
                best = max(best, colour_model[likely, material])
            for material in range(materials):
                colours[row, column, material] = colour_model[likely, material] - best
    return colours


@compiled
def _ratio(image: Picture, one: tuple[int, int], other: tuple[int, int], ratios: Array, slope: Array) -> float:
    """Log-likelihood ratio that two surfaces meet between two pixels; tables from :func:`_weighted`."""
    return float(ratios[dissimilarity_index(image, one, other, slope)])
