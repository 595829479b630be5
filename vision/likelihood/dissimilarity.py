"""Likelihood that two surfaces meet between two pixels of a picture, given how dissimilar these are.

Two points a few millimetres apart look alike on one surface, and mostly differ where two surfaces meet; where a table
has a texture, or a board a drawing, they differ there, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.noise import BANDS, CHANNELS, MIN_PAIRS, NOISE_STRIDE, brightness_band, opponent_differences

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

CONTRAST_DEVIATIONS = np.array([35.0, 12.0, 12.0])
"""Standard deviation, in codes, of the difference between two surfaces in each channel, where the picture is as bright
as :data:`USUAL_BRIGHTNESS`; elsewhere it is proportional to brightness.  Chosen by eye."""

FAINT_CONTRAST = 0.2
"""Standard deviation of such a difference between two surfaces that differ faintly, as a share of the usual one."""

USUAL_BRIGHTNESS = 128.0
"""Brightness, in codes, for which contrasts are given."""

MIN_SHARE = 0.4
"""Lower bound of a picture's brightness as a share of the usual one: contrasts do not scale below it."""

SURFACE_DEVIATIONS = np.array([2.5, 1.0, 1.0])
"""Standard deviation, in codes, of differences within one surface besides noise: texture and shading.  Chosen by
eye."""

FALSE_EDGE, MISSED_EDGE = 0.06, 0.15
"""Probability of a contrast within one surface, as at the edge of a shadow or of print, and of none where two surfaces
meet.  Chosen by eye."""

TABLE_SCALES, TABLE_ROUNDS = (0.1, 0.2, 0.35, 0.6, 1.0), 8
"""Possible strengths of the contrasts of a table's texture, as a share of those between surfaces; and number of steps
of expectation maximisation after which their share changes by less than 0.01."""

MAX_TEXTURE = 0.9
"""Largest share of contrasts on a table."""

PER_NAT, FINE_NATS, ENTRIES = 16, 20, 641
"""Table of log-likelihood ratios: entries per nat of dissimilarity, up to so many nats (one per nat from there on), and
their total number; still larger dissimilarities use the last entry."""

FINE_ENTRIES = PER_NAT * FINE_NATS
"""Number of finely spaced entries."""

_NATS = np.where(
    np.arange(ENTRIES) < FINE_ENTRIES,
    (np.arange(ENTRIES) + 0.5) / PER_NAT,
    np.arange(ENTRIES) - FINE_ENTRIES + FINE_NATS + 0.5,
)
"""Dissimilarity of two pixels at each entry: logarithm of a ratio of densities, offset to be 0 for equal pixels."""


class Dissimilarity(NamedTuple):
    """Likelihood ratios of two pixels by their dissimilarity (k entries), in a picture of a certain noise.

    Attributes:
        log_ratios: (bands, k) float64 log-likelihood ratio that two surfaces meet, in each band of brightness, against
            both being on one.
        on_table: (bands, k) float64 log-likelihood ratio that both are on the table, against one even surface.
        slopes: (bands, channels) float32 nats of dissimilarity per squared code of difference between two pixels.
        ratios: (bands, k) float64 ratio of the densities of two pixels where two surfaces meet, and on an even one.
        narrow: (bands, channels) float32 variances of the difference of two pixels on an even surface.
    """

    log_ratios: Floats
    on_table: Floats
    slopes: Array
    ratios: Floats
    narrow: Array


@compiled
def dissimilarity_at(
    noise: Array, texture: tuple[float, float] = (0.0, 1.0), faint_share: float = 0.0
) -> Dissimilarity:
    """The likelihood ratios in a picture of this ``noise``, see :func:`.noise.noise_by_brightness`.

    ``texture``: of the table, see :func:`estimate_texture`.  ``faint_share``: share of boundaries whose surfaces differ
    faintly.
    """
    log_ratios, on_table = np.empty((BANDS, ENTRIES)), np.zeros((BANDS, ENTRIES))
    narrow = np.empty((BANDS, CHANNELS), np.float32)
    plain, slopes = _densities(noise, 1.0), _slopes(noise)
    pale = _densities(noise, FAINT_CONTRAST) if faint_share > 0 else plain
    own = _densities(noise, texture[1]) if texture[0] > 0 else plain
    for band in range(BANDS):
        ratio = (1 - faint_share) * plain[band] + faint_share * pale[band]
        within = 1 - FALSE_EDGE + FALSE_EDGE * ratio
        log_ratios[band] = np.log((MISSED_EDGE + (1 - MISSED_EDGE) * ratio) / within)
        if texture[0] > 0:
            on_table[band] = np.log(within + texture[0] * (own[band] - 1)) - np.log(within)
        narrow[band] = _variances(noise, band, 1.0)[0]
    return Dissimilarity(log_ratios, on_table, slopes, plain, narrow)


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

    In a band of brightness; ``scale``: strength of contrasts, as a share of the usual one.
    """
    share = scale * min(max((band + 0.5) * (256 / BANDS) / USUAL_BRIGHTNESS, MIN_SHARE), 1.0)
    narrow = (SURFACE_DEVIATIONS**2 + noise[band]).astype(np.float32)
    return narrow, ((CONTRAST_DEVIATIONS * share) ** 2 + narrow).astype(np.float32)


@compiled
def _densities(noise: Array, scale: float) -> Floats:
    """(bands, k) ratio of the densities of two pixels where contrasts have a ``scale``, and on one even surface.

    As functions of their dissimilarity for the usual contrasts: both are densities of that one number.
    """
    ratios, powers = np.empty((BANDS, ENTRIES)), _powers(noise, scale)
    for band in range(BANDS):
        # The darkest bands, and the brightest ones, have equal ratios.
        if band > 0 and powers[band, 0] == powers[band - 1, 0] and powers[band, 1] == powers[band - 1, 1]:
            ratios[band] = ratios[band - 1]
        else:
            ratios[band] = np.exp(powers[band, 0] * _NATS - powers[band, 1])
    return ratios


@compiled
def _powers(noise: Array, scale: float) -> Floats:
    """(bands, 2) slope and negative intercept of the logarithm of the ratios of :func:`_densities`."""
    powers = np.empty((BANDS, 2))
    for band in range(BANDS):
        narrow, wide = _variances(noise, band, 1.0)
        _, scaled = _variances(noise, band, scale)
        powers[band, 0] = ((1 / narrow - 1 / scaled) / (1 / narrow - 1 / wide)).mean()
        powers[band, 1] = 0.5 * np.log(scaled / narrow).sum()
    return powers


@compiled
def estimate_texture(image: Picture, step: int, is_table: Mask, noise: Array) -> tuple[float, float]:
    """How often two points of the table differ, as by grain, and how strongly, beyond what differs on any surface.

    The mixing proportion of pairs with such a contrast, by expectation maximisation (Dempster, Laird and Rubin, 1977),
    at the likeliest of :data:`TABLE_SCALES`.

    Args:
        image: (height, width, 3) uint8 BGR.
        step: pixels between two points.
        is_table: (height, width) where the table is visible, as far as is known.
        noise: see :func:`.noise.noise_by_brightness`.

    Returns:
        The share, 0 where too little of a table is visible, and the scale.
    """
    height, width, _ = image.shape
    counts, count, slopes = np.zeros((BANDS, ENTRIES), np.int32), 0, _slopes(noise)
    for y in range(0, height - step, NOISE_STRIDE):
        for x in range(0, width - step, NOISE_STRIDE):
            if is_table[y, x] and is_table[y + step, x] and is_table[y, x + step]:
                other = (y, x + step) if (x // NOISE_STRIDE) % 2 else (y + step, x)
                counts[dissimilarity_index(image, (y, x), other, slopes)] += 1
                count += 1
    best, most = (0.0, 1.0), -np.inf
    if count < MIN_PAIRS:
        return best
    bands, entries = np.nonzero(counts)
    often, nats = np.empty(len(bands)), np.empty(len(bands))
    for k in range(len(bands)):
        often[k], nats[k] = counts[bands[k], entries[k]], _NATS[entries[k]]
    plain = _densities_at(_powers(noise, 1.0), bands, nats)
    for scale in TABLE_SCALES:
        share, likely = _share_of(often, plain, _densities_at(_powers(noise, scale), bands, nats))
        if likely > most:
            best, most = (share, scale), likely
    return best


@compiled
def _densities_at(powers: Floats, bands: Indices, nats: Floats) -> Floats:
    """(k,) the ratios of :func:`_densities` in ``bands`` (k,) at dissimilarities of ``nats`` (k,)."""
    ratios = np.empty(len(bands))
    for k in range(len(bands)):
        ratios[k] = np.exp(powers[bands[k], 0] * nats[k] - powers[bands[k], 1])
    return ratios


@compiled
def _share_of(often: Floats, plain: Floats, own: Floats) -> tuple[float, float]:
    """The share of textured pairs in a histogram ``often`` (k,) of dissimilarities, and its log-likelihood.

    ``plain`` and ``own`` (k,): see :func:`_densities`, at the usual scale and at that of the texture.
    """
    share, likely, count = FALSE_EDGE, 0.0, often.sum()
    for step in range(TABLE_ROUNDS):
        total = 0.0
        for k in range(len(often)):
            all_of_it = 1 - FALSE_EDGE - share + FALSE_EDGE * plain[k] + share * own[k]
            total += often[k] * share * own[k] / all_of_it
            if step == TABLE_ROUNDS - 1:
                likely += often[k] * np.log(all_of_it)
        share = min(total / count, MAX_TEXTURE)
    return share, likely


@allocation_free
def dissimilarity_index(image: Picture, one: tuple[int, int], other: tuple[int, int], slope: Array) -> tuple[int, int]:
    """Band of brightness of two pixels, and the table entry of their dissimilarity."""
    (brightness, first, second), band = opponent_differences(image, one, other), brightness_band(image, one, other)
    off = slope[band, 0] * brightness * brightness + slope[band, 1] * first * first + slope[band, 2] * second * second
    # Without a branch, which a processor could not predict.
    fine = min(off, FINE_NATS)
    return band, int(min(fine * PER_NAT + (off - fine), ENTRIES - 1))
