"""Robust non-linear least squares: Levenberg-Marquardt with Huber's weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Residuals = Callable[[Points], Points]

OUTLIER = 2.5
"""Residuals of more than so many standard deviations count less (Huber's function)."""

ROUNDS = 40
DAMPING, DAMPED_BY = 1e-2, 5.0
TOLERANCE = 1e-6
"""The search ends with a step that lowers the cost by less than this share of it."""


class Fit(NamedTuple):
    """The parameters at the nearest minimum of the cost.

    Attributes:
        values: (n,) the parameters.
        cost: the sum of the squared residuals, less for those beyond OUTLIER.
        covariance: (n, n) of the parameters.
    """

    values: Points
    cost: float
    covariance: Points


def fit(residuals: Residuals, begin: Points) -> Fit:
    """Minimise the cost, starting at ``begin`` (n,); ``residuals`` gives (m,) residuals in standard deviations."""
    values, damping = begin, DAMPING
    off = residuals(values)
    cost = _cost(off)
    for _ in range(ROUNDS):
        slopes, weights = _slopes(residuals, values), _weights(off)
        normal = slopes.T @ (weights[:, None] * slopes)
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -slopes.T @ (weights * off))
        tried = residuals(values + step)
        tried_cost = _cost(tried)
        if tried_cost < cost:
            done = cost - tried_cost < TOLERANCE * cost
            values, off, cost, damping = values + step, tried, tried_cost, damping / DAMPED_BY
            if done:
                break
        else:
            damping *= DAMPED_BY
    slopes = _slopes(residuals, values)
    covariance: Points = np.linalg.inv(slopes.T @ (_weights(off)[:, None] * slopes)).astype(np.float64)
    return Fit(values, cost, covariance)


def _weights(off: Points) -> Points:
    return OUTLIER / np.maximum(np.abs(off), OUTLIER)


def _cost(off: Points) -> float:
    far = np.abs(off) > OUTLIER
    cost = np.where(far, 2 * OUTLIER * np.abs(off) - OUTLIER**2, off**2).sum()
    return float(cost) if np.isfinite(cost) else np.inf


def _slopes(residuals: Residuals, values: Points) -> Points:
    """(residuals, parameters) Jacobian, by central differences."""
    steps = 1e-6 * np.maximum(1.0, np.abs(values))
    columns = []
    for number, step in enumerate(steps):
        ahead, back = values.copy(), values.copy()
        ahead[number] += step
        back[number] -= step
        columns.append((residuals(ahead) - residuals(back)) / (2 * step))
    return np.stack(columns, axis=1)
