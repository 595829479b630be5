"""Natural logarithms and exponentials of whole arrays, eight at a time: the compiler's own are computed one by one.

A loop without branches and calls is vectorised.  So exponents are read from a number's bits, or written into them, and
the rest is approximated by a polynomial (Moshier, Cephes Math Library, logf and expf).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

_EXPONENT_BEGINS = np.int32(23)
_MANTISSA = np.int32((1 << 23) - 1)
_HALF_ROOT = np.int32(np.float32(np.sqrt(0.5)).view(np.int32))
"""Bits of the square root of 1/2: numbers are split so that the mantissa lies between it and the square root of 2."""

_OF_LOG = (
    np.float32(7.0376836292e-2),
    np.float32(-1.1514610310e-1),
    np.float32(1.1676998740e-1),
    np.float32(-1.2420140846e-1),
    np.float32(1.4249322787e-1),
    np.float32(-1.6668057665e-1),
    np.float32(2.0000714765e-1),
    np.float32(-2.4999993993e-1),
    np.float32(3.3333331174e-1),
)
_OF_EXP = (
    np.float32(1.9875691500e-4),
    np.float32(1.3981999507e-3),
    np.float32(8.3334519073e-3),
    np.float32(4.1665795894e-2),
    np.float32(1.6666665459e-1),
    np.float32(5.0000001201e-1),
)
_BIAS = np.int32(127)
"""Bias of the exponent in a number's bits."""

_LEAST = np.float32(-87)
"""Smaller arguments are clamped to this: its exponential is the least number that is computed with at full speed."""

_PER_LOG_2 = np.float32(1 / np.log(2))
_LOG_2, _LOG_2_REST = np.float32(0.693359375), np.float32(-2.12194440e-4)
"""ln 2, split into a number of few bits, whose products with exponents are exact, and the remainder."""


@compiled
def log_in_place(values: npt.NDArray[np.float32]) -> None:
    """Replace ``values`` (k,), all positive, by their logarithms, accurate to a few parts in ten million."""
    a, b, c, d, e, f, g, h, i = _OF_LOG
    bits, one, half = values.view(np.int32), np.float32(1), np.float32(0.5)
    for number in range(len(values)):
        apart = bits[number] - _HALF_ROOT
        exponent = np.float32(apart >> _EXPONENT_BEGINS)
        x = np.int32((apart & _MANTISSA) + _HALF_ROOT).view(np.float32) - one
        square = x * x
        series = (((((((a * x + b) * x + c) * x + d) * x + e) * x + f) * x + g) * x + h) * x + i
        rest = square * x * series + exponent * _LOG_2_REST - half * square
        values[number] = x + rest + exponent * _LOG_2


@compiled
def exp_in_place(values: npt.NDArray[np.float32]) -> None:
    """Replace ``values`` (k,), none above 88, by their exponentials, accurate to a few parts in ten million."""
    a, b, c, d, e, f = _OF_EXP
    one, half = np.float32(1), np.float32(0.5)
    for number in range(len(values)):
        value = max(values[number], _LEAST)
        power = np.floor(value * _PER_LOG_2 + half)
        x = value - power * _LOG_2 - power * _LOG_2_REST
        series = (((((a * x + b) * x + c) * x + d) * x + e) * x + f) * x * x + x + one
        values[number] = series * np.int32((np.int32(power) + _BIAS) << _EXPONENT_BEGINS).view(np.float32)
