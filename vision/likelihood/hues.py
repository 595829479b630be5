"""Hues: the part of a colour that shade hardly changes, and its density on surfaces of one colour."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import display

Floats = npt.NDArray[np.float64]


def hue(values: Floats) -> Floats:
    """(…, 2) logarithms of blue and red over green of display ``values`` (…, 3), b g r, or of sums of these."""
    logs = np.log(np.maximum(values, 1e-3))
    apart: Floats = logs[..., [0, 2]] - logs[..., 1:2]
    return apart


def hue_of(reflectances: Floats) -> Floats:
    """(…, 2) the :func:`hue` of surfaces of these ``reflectances`` (…, 3), r g b."""
    return hue(display(reflectances)[..., ::-1])


def hue_density(shown: Floats, expected: Floats, spread: Floats | float, strays: tuple[float, float]) -> Floats:
    """(…) density of a hue, or a difference of hues, ``shown`` (…, 2), where ``expected`` (…, 2) is the mean.

    Normal with a standard deviation of ``spread`` (…); ``strays``: share of outliers, and the area over which these are
    uniform.
    """
    share, area = strays
    off = ((shown - expected) ** 2).sum(axis=-1)
    density: Floats = (1 - share) * np.exp(-0.5 * off / spread**2) / (2 * np.pi * spread**2) + share / area
    return density
