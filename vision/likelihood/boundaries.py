"""A patch of the picture, prepared to tell how well a segmentation fits it.

Two places a few millimetres apart look alike on one surface, and mostly differ where two surfaces meet.  So a
segmentation is right when its boundaries lie where the picture changes (weak membrane: Blake and Zisserman, Visual
reconstruction, 1987), and when each surface's colour is one that its material can show.  Soft shadows change little in
so short a way, and a pale piece's outline is seen though its colour is the ground's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.noise import BANDS, CHANNELS, FEW, NOISE_STRIDE, band_of, opponents

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

STEP_MM = 2.0
"""Distance between the two places that are compared: lens blur and bevels lie between them."""

UNIT_MM = 5.0
"""Length of a boundary over which contrast is one observation: texture, shadows and errors of place are correlated."""

VARIED = np.array([35.0, 12.0, 12.0])
"""Standard deviation, in codes, of the difference between two surfaces, a channel, where the picture is as bright as
:data:`USUAL`: of one share of its brightness anywhere.  Chosen by eye."""

FAINT = 0.2
"""Standard deviation of such a difference where two surfaces differ faintly, as a share of the others'."""

USUAL = 128.0
"""Brightness, in codes, for which contrasts are given."""

LEAST_SHARE = 0.4
"""The least share of the usual brightness that counts."""

EVEN = np.array([2.5, 1.0, 1.0])
"""The same within one surface, besides noise: texture and shading.  Chosen by eye."""

FALSE_EDGE, MISSED_EDGE = 0.06, 0.15
"""Probability of a contrast within one surface, as at the edge of a shadow or of print, and of none where two surfaces
meet.  Chosen by eye."""

AREA_MM2 = 40.0
"""Area over which colours are one observation, as in crops (:mod:`vision.scene.crops`)."""

TABLE_SCALES, TABLE_ROUNDS = (0.1, 0.2, 0.35, 0.6, 1.0), 8
"""How strong the contrasts of a table's texture may be, as a share of those between surfaces; and steps of expectation
maximisation after which their share changes by less than 0.01."""

MOST_TEXTURE = 0.9
"""Largest share of contrasts on a table."""

COLOUR_STRIDE = 3
"""Every how many pixels of a patch, each way, colours are looked up."""

PER_NAT, FINE_NATS, ENTRIES = 16, 20, 641
"""Entries of the table of log-likelihood ratios in a nat, up to so many nats; from there on one a nat; and all of them:
more unlike pixels count as the last one."""

FINE = PER_NAT * FINE_NATS
"""Entries up to there."""

_NATS = np.where(
    np.arange(ENTRIES) < FINE, (np.arange(ENTRIES) + 0.5) / PER_NAT, np.arange(ENTRIES) - FINE + FINE_NATS + 0.5
)
"""How unlike two pixels are for each entry: logarithm of a ratio of densities, were it 0 for pixels that are alike."""


class Patch(NamedTuple):
    """A part of a picture in which segmentations are compared.

    Attributes:
        origin: x and y of its first pixel.
        step: pixels between two places that are compared.
        across: (height, width + 1) sums, along each second row from the first one on, of the log-likelihood ratio that
            two surfaces meet between a pixel and the one ``step`` to the right, against that both are on one.
        down: the same along each row for the one ``step`` below, of every second pixel.
        table_across, table_down: likewise, of the log-likelihood ratio that both are on the table, whose texture has
            contrasts of its own, against that both are on one even surface; 0 where no table is in the patch.
        colours: (height / stride, width / stride, materials) float32, log-likelihood of each material for the colour
            there, up to that of the likeliest one.
        area: observations of colour that one of these is worth.
    """

    origin: tuple[int, int]
    step: int
    across: Floats
    down: Floats
    table_across: Floats
    table_down: Floats
    colours: Array
    area: float


class Dissimilarity(NamedTuple):
    """How likely two surfaces meet between two pixels, by how much unlike these are, in a picture of some noise.

    Attributes:
        log_ratios: (bands, k) float64 log-likelihood ratio that two surfaces meet, in each band of brightness, against
            that both are on one.
        on_table: (bands, k) float64 log-likelihood ratio that both are on the table, against that both are on one even
            surface.
        slopes: (bands, channels) float32 nats by which two pixels are unlike for each squared code between them.
    """

    log_ratios: Floats
    on_table: Floats
    slopes: Array


class Contrasts(NamedTuple):
    """Log-likelihood ratio that two surfaces meet between two pixels, against that both are on one.

    Attributes:
        across: (height, width) float32, of each pixel and the one ``step`` to the right.
        down: likewise, and the one ``step`` below.
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
    shows_table: bool,  # noqa: FBT001
) -> Patch:
    """The patch of a picture (height, width, 3) uint8 BGR that a box covers.

    Args:
        image: the picture.
        box: left, top, right, bottom, px.
        scale: pixels between two places that are compared, and pixels a millimetre.
        dissimilarity: in this picture, which all of its patches share.
        table: (3, 256) int32, what each code of a channel adds to the row of the colour model.
        colour_model: (rows, materials) float32 log-likelihoods.
        shows_table: whether what lies beside the mat is in the box.
    """
    step, px_per_mm = scale
    # Of pairs side by side every second row is looked at, of pairs one above the other every second column.
    weight = 2 / (step * px_per_mm * UNIT_MM)
    across, down = _sums(image, box, step, *_weighted(dissimilarity.log_ratios, dissimilarity.slopes, weight))
    if shows_table:
        on_table = _weighted(dissimilarity.on_table, dissimilarity.slopes, weight)
        table_across, table_down = _sums(image, box, step, *on_table)
    else:
        table_across, table_down = np.zeros_like(across), np.zeros_like(down)
    colours = _colours(image, box, table, colour_model)
    area = COLOUR_STRIDE**2 / (px_per_mm**2 * AREA_MM2)
    return Patch((box[0], box[1]), step, across, down, table_across, table_down, colours, area)


@compiled
def _sums(
    image: Picture, box: tuple[int, int, int, int], step: int, ratios: Array, slope: Array
) -> tuple[Floats, Floats]:
    """Sums of ``ratios`` as of :attr:`Patch.across` and :attr:`Patch.down`."""
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
def ratios_down(image: Picture, scale: tuple[int, float], dissimilarity: Dissimilarity, counted: Mask) -> Array:
    """(height, width) float32 as :attr:`Patch.down` of a picture (height, width, 3) uint8 BGR, in every column.

    0 unless both pixels are ``counted`` (height, width).  ``scale`` and ``dissimilarity``: see :func:`make_patch`.
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
def contrasts_in(image: Picture, scale: tuple[int, float], noise: Array) -> Contrasts:
    """The contrasts of a picture (height, width, 3) uint8 BGR; ``scale`` as in :func:`make_patch`.

    ``noise``: see :func:`.noise.noise_by_brightness`.
    """
    (step, px_per_mm), (height, width, _), dissimilarity = scale, image.shape, dissimilarity_at(noise)
    ratios, slope = _weighted(dissimilarity.log_ratios, dissimilarity.slopes, 1 / (step * px_per_mm * UNIT_MM))
    across = np.zeros((height, width), np.float32)
    for row in range(height):
        for column in range(width - step):
            across[row, column] = _ratio(image, (row, column), (row, column + step), ratios, slope)
    return Contrasts(across, ratios_down(image, scale, dissimilarity, np.ones((height, width), np.bool_)), step)


@compiled
def dissimilarity_at(
    noise: Array, texture: tuple[float, float] = (0.0, 1.0), faint_share: float = 0.0
) -> Dissimilarity:
    """How likely two surfaces meet in a picture of this ``noise``, see :func:`.noise.noise_by_brightness`.

    ``texture``: of the table, see :func:`texture_in`.  ``faint_share``: of two surfaces that differ faintly.
    """
    log_ratios, on_table = np.empty((BANDS, ENTRIES)), np.empty((BANDS, ENTRIES))
    plain, slopes = _densities(noise, 1.0), _slopes(noise)
    pale = _densities(noise, FAINT) if faint_share > 0 else plain
    own = _densities(noise, texture[1]) if texture[0] > 0 else plain
    for band in range(BANDS):
        ratio = (1 - faint_share) * plain[band] + faint_share * pale[band]
        within = 1 - FALSE_EDGE + FALSE_EDGE * ratio
        log_ratios[band] = np.log((MISSED_EDGE + (1 - MISSED_EDGE) * ratio) / within)
        on_table[band] = np.log(within + texture[0] * (own[band] - 1)) - np.log(within)
    return Dissimilarity(log_ratios, on_table, slopes)


@compiled
def _slopes(noise: Array) -> Array:
    """See :attr:`Dissimilarity.slopes`."""
    slopes = np.empty((BANDS, CHANNELS), np.float32)
    for band in range(BANDS):
        narrow, wide = _variances(noise, band, 1.0)
        slopes[band] = 0.5 * (1 / narrow - 1 / wide)
    return slopes


@compiled
def _variances(noise: Array, band: int, scale: float) -> tuple[Array, Array]:
    """(channels,) variances of the difference of two pixels on one surface, and where two meet.

    In a band of brightness; ``scale``: how strong contrasts are, as a share of the usual ones.
    """
    share = scale * min(max((band + 0.5) * (256 / BANDS) / USUAL, LEAST_SHARE), 1.0)
    narrow = (EVEN**2 + noise[band]).astype(np.float32)
    return narrow, ((VARIED * share) ** 2 + narrow).astype(np.float32)


@compiled
def _densities(noise: Array, scale: float) -> Floats:
    """(bands, k) ratio of the densities of two pixels where contrasts have a ``scale``, and on one even surface.

    By how unlike they are, in units of the usual contrasts: both densities are of that one number.
    """
    ratios, before = np.empty((BANDS, ENTRIES)), -1.0
    for band in range(BANDS):
        narrow, wide = _variances(noise, band, 1.0)
        _, scaled = _variances(noise, band, scale)
        # The darkest bands, and the brightest ones, share all they have.
        if scaled[0] == before:
            ratios[band] = ratios[band - 1]
        else:
            power = float(((1 / narrow - 1 / scaled) / (1 / narrow - 1 / wide)).mean())
            ratios[band] = np.exp(power * _NATS - 0.5 * float(np.log(scaled / narrow).sum()))
        before = float(scaled[0])
    return ratios


@compiled
def texture_in(image: Picture, step: int, is_table: Mask, noise: Array) -> tuple[float, float]:
    """How often two places of the table differ, as by grain, and how strongly, beside what differs on any surface.

    The share of a mixture of pairs with and without such a contrast, by expectation maximisation (Dempster, Laird and
    Rubin, 1977), at the likeliest of :data:`TABLE_SCALES`.

    Args:
        image: (height, width, 3) uint8 BGR.
        step: pixels between two places.
        is_table: (height, width) where the table is seen, as far as is known.
        noise: see :func:`.noise.noise_by_brightness`.

    Returns:
        The share, 0 where too little of a table is seen, and the scale.
    """
    height, width, _ = image.shape
    counts, count, slopes = np.zeros((BANDS, ENTRIES), np.int32), 0, _slopes(noise)
    for y in range(0, height - step, NOISE_STRIDE):
        for x in range(0, width - step, NOISE_STRIDE):
            if is_table[y, x] and is_table[y + step, x] and is_table[y, x + step]:
                other = (y, x + step) if (x // NOISE_STRIDE) % 2 else (y + step, x)
                counts[_unlike(image, (y, x), other, slopes)] += 1
                count += 1
    best, most = (0.0, 1.0), -np.inf
    if count < FEW:
        return best
    plain = _densities(noise, 1.0)
    for scale in TABLE_SCALES:
        share, likely = _share_of(counts, plain, _densities(noise, scale))
        if likely > most:
            best, most = (share, scale), likely
    return best


@compiled
def _share_of(counts: npt.NDArray[np.int32], plain: Floats, own: Floats) -> tuple[float, float]:
    """The share of contrasts in so many pairs (bands, k), and its log-likelihood; see :func:`_densities`."""
    share, likely, count = FALSE_EDGE, 0.0, counts.sum()
    for _ in range(TABLE_ROUNDS):
        total, likely = 0.0, 0.0
        for band in range(BANDS):
            for entry in range(ENTRIES):
                if counts[band, entry] > 0:
                    all_of_it = 1 - FALSE_EDGE - share + FALSE_EDGE * plain[band, entry] + share * own[band, entry]
                    total += counts[band, entry] * share * own[band, entry] / all_of_it
                    likely += counts[band, entry] * np.log(all_of_it)
        share = min(total / count, MOST_TEXTURE)
    return share, likely


@compiled
def _weighted(log_ratios: Floats, slopes: Array, weight: float) -> tuple[Array, Array]:
    """Tables (bands, k) float32 of log-likelihood ratios that count so much, and (bands, channels) of slopes."""
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
    """Log-likelihood ratio that two surfaces meet between two pixels; tables as of :func:`_weighted`."""
    return float(ratios[_unlike(image, one, other, slope)])


@compiled
def _unlike(image: Picture, one: tuple[int, int], other: tuple[int, int], slope: Array) -> tuple[int, int]:
    """Band of brightness of two pixels, and entry of the tables for how unlike they are."""
    (brightness, first, second), band = opponents(image, one, other), band_of(image, one, other)
    off = slope[band, 0] * brightness * brightness + slope[band, 1] * first * first + slope[band, 2] * second * second
    # Without a branch, which a processor could not foresee.
    fine = min(off, FINE_NATS)
    return band, int(min(fine * PER_NAT + (off - fine), ENTRIES - 1))
