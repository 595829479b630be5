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

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

STEP_MM = 2.0
"""Distance between the two places that are compared: lens blur and bevels lie between them."""

UNIT_MM = 5.0
"""Length of a boundary over which contrast is one observation: texture, shadows and errors of place are correlated."""

CHANNELS = 3
"""Brightness, and two differences of colour, which shade hardly changes."""

PARTS = (3, 2, 4)
"""Parts of a code of which differences in these are whole numbers, see :func:`_opponents`."""

VARIED = np.array([35.0, 12.0, 12.0])
"""Standard deviation, in codes, of the difference between two surfaces, a channel, where the picture is as bright as
:data:`USUAL`: of one share of its brightness anywhere.  Chosen by eye."""

FAINT = 0.2
"""Standard deviation of such a difference where two surfaces differ faintly, as a share of the others'."""

USUAL = 128.0
"""Brightness, in codes, for which contrasts are given."""

BANDS, LEAST_SHARE = 8, 0.4
"""Bands of brightness that are told apart, and the least share of the usual one that counts."""

EVEN = np.array([2.5, 1.0, 1.0])
"""The same within one surface, besides noise: texture and shading.  Chosen by eye."""

FALSE_EDGE, MISSED_EDGE = 0.06, 0.15
"""Probability of a contrast within one surface, as at the edge of a shadow or of print, and of none where two surfaces
meet.  Chosen by eye."""

AREA_MM2 = 40.0
"""Area over which colours are one observation, as in crops (:mod:`vision.scene.crops`)."""

NOISE_STRIDE = 9
"""Every how many pixels noise, and the texture of the table, are measured."""

TABLE_ROUNDS = 8
"""Steps of expectation maximisation after which the share of contrasts on a table changes by less than 0.01."""

FEW = 50
"""Pairs of pixels of the table under which its texture is not measured."""

COLOUR_STRIDE = 3
"""Every how many pixels of a patch, each way, colours are looked up."""

PER_NAT, MOST_NATS = 16, 40
"""Steps of the table of log-likelihood ratios in a nat, and its last entry: more unlike pixels count as that."""

_UNLIKE = np.exp((np.arange(MOST_NATS * PER_NAT + 1) + 0.5) / PER_NAT)
"""Ratio of densities that each entry of that table stands for, were it 1 for pixels that are alike."""


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
        log_ratios: (bands, k) float64 of each band of brightness, see :func:`_log_ratios`.
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
def noise_of(image: Picture, step: int, outline_px: Floats) -> Array:
    """(channels,) float32 variance of the difference of two pixels ``step`` apart where a picture is even, codes².

    Measured within a convex outline (k, 2) px, that of the mat: a table's wood or cloth is never even.
    """
    height, width, _ = image.shape
    counts, variance, count = np.zeros((CHANNELS, 3 * 255 + 1), np.int32), np.zeros(CHANNELS, np.float32), 0
    for y in range(0, height, NOISE_STRIDE):
        for x in range(0, width - step, NOISE_STRIDE):
            if _is_inside(x, y, outline_px):
                brightness, first, second = _opponents(image, (y, x), (y, x + step))
                for channel, apart in enumerate((brightness, first, second)):
                    counts[channel, int(abs(apart) * PARTS[channel] + 0.5)] += 1
                count += 1
    for channel in range(CHANNELS if count else 0):
        between = ranked(counts[channel], (count - 1) // 2) + ranked(counts[channel], count // 2)
        # Half of a normal variable's absolute values are below 0.6745 standard deviations.
        variance[channel] = (between / 2 / PARTS[channel] / 0.6745) ** 2
    return variance


@compiled
def ranked(counts: npt.NDArray[np.int32], rank: int) -> int:
    """The number before which ``rank`` others come, of so many ``counts`` (k,) of each."""
    number, before = 0, counts[0]
    while before <= rank:
        number += 1
        before += counts[number]
    return number


@compiled
def _is_inside(x: float, y: float, outline_px: Floats) -> bool:
    """Whether a point is within a convex outline (k, 2)."""
    left, right = 0, 0
    for k in range(len(outline_px)):
        (ax, ay), (bx, by) = outline_px[k - 1], outline_px[k]
        side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        left, right = left + int(side < 0), right + int(side > 0)
    return left == 0 or right == 0


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

    ``noise``: of :func:`noise_of`.
    """
    (step, px_per_mm), (height, width, _), dissimilarity = scale, image.shape, dissimilarity_at(noise, FALSE_EDGE)
    ratios, slope = _weighted(dissimilarity.log_ratios, dissimilarity.slopes, 1 / (step * px_per_mm * UNIT_MM))
    across = np.zeros((height, width), np.float32)
    for row in range(height):
        for column in range(width - step):
            across[row, column] = _ratio(image, (row, column), (row, column + step), ratios, slope)
    return Contrasts(across, ratios_down(image, scale, dissimilarity, np.ones((height, width), np.bool_)), step)


@compiled
def dissimilarity_at(noise: Array, table_edge: float, faint_share: float = 0.0) -> Dissimilarity:
    """How likely two surfaces meet in a picture of this ``noise`` (channels,), see :func:`noise_of`.

    ``table_edge``: probability of a contrast within the table, see :func:`table_edge`.  ``faint_share``: of two
    surfaces that differ faintly.
    """
    log_ratios = np.empty((BANDS, MOST_NATS * PER_NAT + 1))
    on_table = np.empty_like(log_ratios)
    slopes = np.empty((BANDS, CHANNELS), np.float32)
    narrow, before = (EVEN**2 + noise).astype(np.float32), 0.0
    for band in range(BANDS):
        share = min(max((band + 0.5) * (256 / BANDS) / USUAL, LEAST_SHARE), 1.0)
        # The darkest bands, and the brightest ones, share all they have.
        if share == before:
            log_ratios[band], on_table[band] = log_ratios[band - 1], on_table[band - 1]
            slopes[band] = slopes[band - 1]
        else:
            wide = ((VARIED * share) ** 2 + narrow).astype(np.float32)
            slopes[band] = 0.5 * (1 / narrow - 1 / wide)
            faint = ((VARIED * share * FAINT) ** 2 + narrow).astype(np.float32)
            # Both densities are of one number, how unlike two pixels are, in units of the wider one.
            power = float(((1 / narrow - 1 / faint) / (1 / narrow - 1 / wide)).mean())
            plain = _UNLIKE * np.exp(-0.5 * float(np.log(wide / narrow).sum()))
            pale = _UNLIKE**power * np.exp(-0.5 * float(np.log(faint / narrow).sum()))
            ratio = (1 - faint_share) * plain + faint_share * pale
            log_ratios[band] = _log_ratios(ratio, 1 - MISSED_EDGE)
            on_table[band] = _log_ratios(ratio, table_edge)
        before = share
    return Dissimilarity(log_ratios, on_table, slopes)


@compiled
def table_edge_in(image: Picture, step: int, is_table: Mask, noise: Array) -> float:
    """Probability of a contrast between two places of the table, as by grain: no less than within a surface.

    The share of a mixture of pairs with and without a contrast, by expectation maximisation (Dempster, Laird and Rubin,
    1977).

    Args:
        image: (height, width, 3) uint8 BGR.
        step: pixels between two places.
        is_table: (height, width) where the table is seen, as far as is known.
        noise: see :func:`noise_of`.
    """
    height, width, _ = image.shape
    dissimilarity = dissimilarity_at(noise, 1.0)
    # How much likelier a contrast is than none: a table that is nothing but contrasts.
    ratios, slopes = _weighted(dissimilarity.on_table, dissimilarity.slopes, 1.0)
    likely, count = np.empty(height * width // NOISE_STRIDE**2 + height + width, np.float64), 0
    for y in range(0, height - step, NOISE_STRIDE):
        for x in range(0, width - step, NOISE_STRIDE):
            if is_table[y, x] and is_table[y + step, x] and is_table[y, x + step]:
                other = (y, x + step) if (x // NOISE_STRIDE) % 2 else (y + step, x)
                even_or_not = np.exp(_ratio(image, (y, x), other, ratios, slopes))
                likely[count] = (1 - FALSE_EDGE) * even_or_not / max(1 - FALSE_EDGE * even_or_not, 1e-9)
                count += 1
    share = FALSE_EDGE
    for _ in range(TABLE_ROUNDS if count >= FEW else 0):
        total = 0.0
        for number in range(count):
            total += share * likely[number] / (1 - share + share * likely[number])
        share = total / count
    return max(share, FALSE_EDGE)


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
def _opponents(image: Picture, one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float, float]:
    """Difference of two pixels, at their rows and columns: of brightness, and two of colour."""
    b = float(image[one[0], one[1], 0]) - image[other[0], other[1], 0]
    g = float(image[one[0], one[1], 1]) - image[other[0], other[1], 1]
    r = float(image[one[0], one[1], 2]) - image[other[0], other[1], 2]
    return (b + g + r) / 3, (b - r) / 2, g / 2 - (b + r) / 4


@compiled
def _ratio(image: Picture, one: tuple[int, int], other: tuple[int, int], ratios: Array, slope: Array) -> float:
    """Log-likelihood ratio that two surfaces meet between two pixels; tables as of :func:`_weighted`."""
    brightness, first, second = _opponents(image, one, other)
    bright = np.int64(0)
    for channel in range(CHANNELS):
        bright += np.int64(image[one[0], one[1], channel]) + image[other[0], other[1], channel]
    band = bright * BANDS // (6 * 256)
    off = slope[band, 0] * brightness * brightness + slope[band, 1] * first * first + slope[band, 2] * second * second
    return float(ratios[band, min(int(off * PER_NAT), MOST_NATS * PER_NAT)])


@compiled
def _log_ratios(ratio: Floats, edge: float) -> Floats:
    """Log-likelihood ratio of a place where a contrast has the probability ``edge``, against one within a surface.

    ``ratio``: of the densities of two pixels where surfaces meet, and where they do not, by how much unlike these are,
    in 1 / :data:`PER_NAT` nats.
    """
    log_ratio: Floats = np.log((1 - edge + edge * ratio) / (1 - FALSE_EDGE + FALSE_EDGE * ratio))
    return log_ratio
