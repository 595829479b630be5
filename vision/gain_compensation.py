"""The change of light between two frames: a gain for each band of rows and channel.

It is the median over the band, so that an object that covers less than half of it does not count.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Array = npt.NDArray[np.float32]

BAND_ROWS = 3
"""Rows that share a gain.  Of the eight rows of the camera that each stands for, 24 are read within a millisecond; a
half-wave of mains light takes eight."""

PEDESTAL = 14.0
"""Light that is stronger by a factor multiplies c + 14, for a code c, by that factor to the power of 1/2.4: sRGB."""

GAIN_REACH, GAIN_BINS = 0.25, 128
"""Largest change of a gain that is measured, and the number of steps each way: a larger one is a lamp switched."""

SATURATED = 250.0
"""Code above which more light does not show."""

BAND_REACH = 0.1
"""A band's gain that differs from the whole picture's by more is no light: something covers most of the band."""

SAMPLE_STEP = 2
"""Light is measured in every second pixel of a row."""


def gain_compensated(picture: npt.NDArray[np.uint8], like: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """``picture`` (h, w, 3) uint8 in the light of ``like``, which shows much the same and has the same even size."""
    gains = gains_of(halved(like), halved(picture))
    usual = np.median(gains, axis=0)
    gains = np.where(np.abs(gains - usual) <= BAND_REACH, gains, usual)
    rows = gains[np.minimum(np.arange(len(picture)) // (2 * BAND_ROWS), len(gains) - 1), None]
    return np.clip(np.rint(picture + rows * (picture + np.float32(PEDESTAL))), 0, 255).astype(np.uint8)


@compiled
def halved(small: npt.NDArray[np.uint8]) -> Array:
    """(h / 2, w / 2, 3) means of two by two pixels of (h, w, 3)."""
    height, width = small.shape[0] // 2, small.shape[1] // 2
    means = np.empty((height, width, 3), np.float32)
    for y in range(height):
        for x in range(width):
            for c in range(3):
                upper = np.float32(small[2 * y, 2 * x, c]) + np.float32(small[2 * y, 2 * x + 1, c])
                lower = np.float32(small[2 * y + 1, 2 * x, c]) + np.float32(small[2 * y + 1, 2 * x + 1, c])
                means[y, x, c] = (upper + lower) / 4
    return means


@compiled
def gains_of(now: Array, before: Array) -> Array:
    """(bands, 3) median relative increase in brightness of each band's pixels of (h, w, 3)."""
    height, width, _ = now.shape
    gains = np.zeros((height // BAND_ROWS, 3), np.float32)
    counts = np.empty(2 * GAIN_BINS + 1, np.int32)
    for band in range(len(gains)):
        for c in range(3):
            counts[:] = 0
            for y in range(band * BAND_ROWS, (band + 1) * BAND_ROWS):
                for x in range(y % SAMPLE_STEP, width, SAMPLE_STEP):
                    was = before[y, x, c]
                    if was < SATURATED:
                        share = (now[y, x, c] - was) / (was + PEDESTAL)
                        bin_ = int(np.rint(share * (GAIN_BINS / GAIN_REACH)))
                        counts[min(max(bin_, -GAIN_BINS), GAIN_BINS) + GAIN_BINS] += 1
            total = counts.sum()
            if 2 * SAMPLE_STEP * total >= BAND_ROWS * width:
                gains[band, c] = _median(counts, total / 2)
    return gains


@compiled
def _median(counts: npt.NDArray[np.int32], half: float) -> float:
    """The gain below which ``half`` of all counted ones lie, interpolated within its bin."""
    below = 0
    for i in range(len(counts)):
        if below + counts[i] >= half:
            return float((i - GAIN_BINS - 0.5 + (half - below) / counts[i]) * (GAIN_REACH / GAIN_BINS))
        below += counts[i]
    return 0.0
