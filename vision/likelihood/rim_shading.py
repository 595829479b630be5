"""Shading of the rims of stacked pieces: evidence of their number where neighbouring pieces have one colour.

The side of a piece is brighter near its upper rim than near its lower one, by a profile that is learned when the set is
enrolled.  A stack of h pieces repeats that profile h times, one below the other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.column_integrals import Lines, sum_line

Array = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]

SHADE_SPREAD, SHADE_KNOWN = 0.02, 2.0
"""Prior of the variance of a step's log brightness about the fitted shading (texture, noise, misplaced lines): its
square root, and the weight of the prior in observations.  Chosen by eye."""

SHADE_INDEPENDENT_MM2 = 80.0
"""Area over which these errors are correlated: one observation each.  Chosen by eye."""

RIM_MEAN, RIM_SPREAD = 0.65, 0.45
"""Mean and standard deviation of the contrast of a stack's rims relative to that of single pieces: light reaches the
gap between two pieces differently.  Measured in 1,300 stacks of three sets, 2026-11-22."""


@compiled
def measure_sides(lines: Lines, count: int, shifts: Scores, sides: Array) -> None:
    """Measure the brightness of the sides of a stack, step by step.

    Args:
        lines: of the displaced configuration.
        count: how many sides it has.
        shifts: (lines,) float64, rows by which the face's near edge and each side's lower edge are displaced.
        sides: (parts, steps, 2) float32, is overwritten: sum of log brightness, and number of pixels, of each step of
            each side from above; 0 beyond ``count``.
    """
    sides[:] = 0
    above, below = np.zeros(2), np.zeros(2)
    steps, brightness = sides.shape[1], lines.shape[2] - 2
    for number in range(count * steps + 1 if count > 0 else 0):
        place = number / steps  # sides below the face
        side = min(int(place), count - 1)
        part = place - side
        shift = shifts[side] * (1 - part) + shifts[side + 1] * part
        sum_line(lines, 1 + side, part, shift, brightness, below)
        if number > 0:
            sides[(number - 1) // steps, (number - 1) % steps] = below - above
        above[:] = below


@compiled
def rim_residuals(sides: Array) -> tuple[Array, Array]:
    """Mean log brightness of each step less that of its side, and number of pixels.

    Takes (k, steps, 2) float32 as of :func:`measure_sides`; returns (k, steps) float32 each.
    """
    residuals, counts = np.zeros(sides.shape[:2], np.float32), np.zeros(sides.shape[:2], np.float32)
    for k in range(len(sides)):
        # A difference of two large sums is inexact: less than a pixel counts as none.
        observed = sides[k, :, 1] >= 1
        pixels = (sides[k, :, 1] * observed).sum()
        mean = (sides[k, :, 0] * observed).sum() / max(pixels, 1.0)
        for step in range(sides.shape[1]):
            if observed[step]:
                counts[k, step] = sides[k, step, 1]
                residuals[k, step] = sides[k, step, 0] / counts[k, step] - mean
    return residuals, counts


@compiled
def rim_log_ratio(sides: Array, rim: Array, column_mm: float) -> float:
    """Log-likelihood ratio of sides with the shading of rims against evenly lit sides.

    The contrast of the shading and the variance about it are unknown: the contrast is fitted (ridge regression), the
    variance marginalised, which leaves Student's t distribution under both models.

    Args:
        sides: (k, steps, 2) float32, see :func:`measure_sides`.
        rim: (steps,) float32, log brightness of a single piece's side less its mean, from the lower rim up.
        column_mm: width of a crop column; rows are 1 mm high.
    """
    residuals, counts = rim_residuals(sides)
    area, alike, square, even = 0.0, 0.0, 0.0, 0.0
    for side in range(len(counts)):
        for step, shading in enumerate(rim[::-1]):
            weight, residual = counts[side, step] * column_mm / SHADE_INDEPENDENT_MM2, residuals[side, step]
            area, even = area + weight, even + weight * residual**2
            alike, square = alike + weight * shading * residual, square + weight * shading**2
    if square == 0:
        return 0.0
    known, degrees = SHADE_KNOWN * SHADE_SPREAD**2, SHADE_KNOWN + area
    alike = max(alike, 0.0)  # no light inverts the shading
    variance = (known + even - alike**2 / square) / degrees
    contrast = (alike / variance + RIM_MEAN / RIM_SPREAD**2) / (square / variance + 1 / RIM_SPREAD**2)
    left = even - 2 * contrast * alike + contrast**2 * square
    unusual = ((contrast - RIM_MEAN) / RIM_SPREAD) ** 2 + np.log(1 + RIM_SPREAD**2 * square / variance)
    return float(degrees * np.log((known + even) / (known + left)) - unusual) / 2
