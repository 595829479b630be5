"""The curve of sRGB between linear light and the values that pictures hold of it (IEC 61966-2-1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

GAMMA = 2.4
"""Exponent of the curve: a factor on linear light is close to this root of itself on display values."""

CURVE_OFFSET = 0.055
"""What is added to a value before its power is taken."""

STEEPEST = 12.92
"""Slope of the curve near black, where it is straight."""


def linear_light(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Linear light of display values, of the same shape, 1 being white."""
    curve = ((values + CURVE_OFFSET) / (1 + CURVE_OFFSET)) ** GAMMA
    return np.where(values <= 0.04045, values / STEEPEST, curve)


def display(linear: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Display values of linear light, of the same shape, 1 being white."""
    curve = (1 + CURVE_OFFSET) * np.maximum(linear, 1e-9) ** (1 / GAMMA) - CURVE_OFFSET
    return np.where(linear <= 0.0031308, STEEPEST * linear, curve)
