"""Densities of what is measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def normal_density(values: Floats | float, mean: Floats | float, deviation: Floats | float) -> Floats:
    """Normal density of ``values``, whose shape, with those of ``mean`` and ``deviation``, it has."""
    density: Floats = np.exp(-0.5 * ((values - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    return density
