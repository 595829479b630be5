"""Noise of a picture, estimated from differences of pixels a few millimetres apart where it is even."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int32]

CHANNELS = 3
"""Brightness, and two colour differences, which shade hardly changes."""

PARTS = (3, 2, 4)
"""Factors that make differences in these channels whole numbers, see :func:`opponent_differences`."""

BANDS = 8
"""Number of bands of brightness."""

NOISE_STRIDE = 9
"""Stride in pixels at which noise, and the texture of the table, are measured."""

MIN_PAIRS = 50
"""Pairs of pixels, in a band of brightness or of the table, below which nothing is measured."""

SMEAR_VARIANCE = 1.25
"""Variance, in codes² and in each channel of colour, that is added to the difference of two pixels by the colour that
cameras smear across boundaries, a few pixels wide.  Of 0, 1.25, 3 and 8, 85 sets and boards were read worst with 0; all
squares of two real photographs are right with 0 and 1.25."""

MEDIAN_DEVIATIONS = 0.954
"""Median absolute difference of two normal values, in their standard deviations."""

MAX_DARK_NOISE = 4.0
"""Largest standard deviation of noise in the dark, as a multiple of that of the usual noise."""


@compiled
def pair_variance(apart: npt.NDArray[np.floating]) -> float:
    """Variance of normal values, from the absolute differences (n,) of pairs of them; 0 where there are none."""
    return float((np.median(apart) / MEDIAN_DEVIATIONS) ** 2) if len(apart) else 0.0


@compiled
def counted_pair_variance(counts: npt.NDArray[np.integer]) -> float:
    """The same, where differences are whole numbers, from their histogram (k,)."""
    return float((_counted_median(counts) / MEDIAN_DEVIATIONS) ** 2) if counts.any() else 0.0


@compiled
def measure_noise(image: Picture, step: int, outline_px: Floats) -> Array:
    """(channels,) float32 variance of the difference of two pixels ``step`` apart where a picture is even, codes².

    Measured within a convex outline (k, 2) px, that of the mat: a table's wood or cloth is never even.
    """
    return usual_noise(count_pairs(image, step, outline_px))


@compiled
def count_pairs(image: Picture, step: int, outline_px: Floats) -> Counts:
    """(2, bands, channels, k) histograms of the absolute differences of horizontal pairs of pixels ``step`` apart.

    First those outside a convex outline (k, 2) px, that of the mat, then those within it; the unit of differences is
    a code divided by :data:`PARTS`.
    """
    height, width, _ = image.shape
    counts = np.zeros((2, BANDS, CHANNELS, 3 * 255 + 1), np.int32)
    for y in range(0, height, NOISE_STRIDE):
        for x in range(0, width - step, NOISE_STRIDE):
            side, band = int(_is_inside(x, y, outline_px)), brightness_band(image, (y, x), (y, x + step))
            for channel, apart in enumerate(opponent_differences(image, (y, x), (y, x + step))):
                counts[side, band, channel, int(abs(apart) * PARTS[channel] + 0.5)] += 1
    return counts


@compiled
def usual_noise(counts: Counts) -> Array:
    """See :func:`measure_noise`; from the counts of all bands of brightness, see :func:`count_pairs`."""
    variance, on_mat = np.zeros(CHANNELS, np.float32), counts[1].sum(axis=0)
    for channel in range(CHANNELS if on_mat[0].any() else 0):
        # The median of a normal variable's absolute values is 0.6745 standard deviations.
        variance[channel] = (_counted_median(on_mat[channel]) / PARTS[channel] / 0.6745) ** 2
    return variance


@compiled
def noise_by_brightness(counts: Counts) -> Array:
    """(bands, channels) float32 variances as of :func:`measure_noise` in each band of brightness, the darkest first.

    A sensor's noise in linear light is larger in codes where the picture is dark: by up to 2.6 times in a dim room, in
    colour by up to 8.  There little of a mat may be visible, or nothing even.  So it is estimated from the lower
    quartile of the differences on the mat, or on what lies round it, and bounded by that of darker bands: some pairs
    lie across an edge.  The two of colour include what is smeared.  ``counts``: from :func:`count_pairs`.
    """
    variance, usual = _monotone_variances(counts), usual_noise(counts)
    for channel in range(CHANNELS):
        for band in range(BANDS):
            variance[band, channel] = max(
                min(variance[band, channel], MAX_DARK_NOISE**2 * usual[channel]), usual[channel]
            )
    variance[:, 1:] += np.float32(SMEAR_VARIANCE)
    return variance


@compiled
def _monotone_variances(counts: Counts) -> Array:
    """(bands, channels) variances, from the lower quartiles of the counted differences.

    The darkest bands with too few pairs have that of the next; infinite if there are none at all.
    """
    variance = np.empty((BANDS, CHANNELS), np.float32)
    for channel in range(CHANNELS):
        least = np.inf
        for band in range(BANDS):
            for side in range(2):
                many = counts[side, band, channel].sum()
                if many >= MIN_PAIRS:
                    # The lower quartile of a normal variable's absolute values is 0.3186 standard deviations.
                    between = order_statistic(counts[side, band, channel], many // 4) - 0.5
                    least = min(least, (between / PARTS[channel] / 0.3186) ** 2)
            variance[band, channel] = least
        for band in range(BANDS - 2, -1, -1):
            if variance[band, channel] == np.inf:
                variance[band, channel] = variance[band + 1, channel]
    return variance


@compiled
def _counted_median(counts: npt.NDArray[np.integer]) -> float:
    """The median of some values, one at least, whose histogram is ``counts`` (k,)."""
    count = counts.sum()
    return float((order_statistic(counts, (count - 1) // 2) + order_statistic(counts, count // 2)) / 2)


@compiled
def order_statistic(counts: npt.NDArray[np.integer], rank: int) -> int:
    """The value of a ``rank``, from 0, in the order of values whose histogram is ``counts`` (k,)."""
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


@allocation_free
def opponent_differences(image: Picture, one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float, float]:
    """Differences of two pixels, given by rows and columns: of brightness, and two of colour."""
    b = float(image[one[0], one[1], 0]) - image[other[0], other[1], 0]
    g = float(image[one[0], one[1], 1]) - image[other[0], other[1], 1]
    r = float(image[one[0], one[1], 2]) - image[other[0], other[1], 2]
    return opponent(b, g, r)


@allocation_free
def opponent(blue: float, green: float, red: float) -> tuple[float, float, float]:
    """Brightness and two colour differences (opponent channels) of three channels."""
    return (blue + green + red) / 3, (blue - red) / 2, green / 2 - (blue + red) / 4


@allocation_free
def brightness_band(image: Picture, one: tuple[int, int], other: tuple[int, int]) -> int:
    """The band of brightness of two pixels, given by rows and columns, from 0 to :data:`BANDS` - 1."""
    bright = np.int64(0)
    for channel in range(CHANNELS):
        bright += np.int64(image[one[0], one[1], channel]) + image[other[0], other[1], channel]
    return int(bright * BANDS // (6 * 256))
