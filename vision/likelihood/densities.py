"""Probability densities of measurements."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def normal_density(values: Floats | float, mean: Floats | float, deviation: Floats | float) -> Floats:
    """Normal density of ``values``, broadcast with ``mean`` and ``deviation``."""
    density: Floats = np.exp(-0.5 * ((values - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    return density
