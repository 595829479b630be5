"""The program's own logarithm and exponential against NumPy's."""

import numpy as np
import pytest

from vision.appearance.logarithm import exp_in_place, log_in_place


@pytest.mark.parametrize("near", [1e-30, 1e-3, 0.7, 1.0, 1.4, 2.0, 1e3, 1e30])
def test_logarithms_are_those_of_numpy(near):
    values = (near * np.linspace(0.5, 2, 10_001)).astype(np.float32)
    logs = np.log(values.astype(np.float64))
    log_in_place(values)
    np.testing.assert_allclose(values, logs, rtol=3e-7, atol=1e-7)


@pytest.mark.parametrize(("low", "high"), [(-87, -40), (-40, -1), (-1, 1), (1, 40), (40, 88)])
def test_exponentials_are_those_of_numpy(low, high):
    values = np.linspace(low, high, 10_001).astype(np.float32)
    powers = np.exp(values.astype(np.float64))
    exp_in_place(values)
    np.testing.assert_allclose(values, powers, rtol=3e-7)


def test_what_is_almost_nothing_is_computed_with_at_full_speed():
    """Exponentials of very negative values are tiny normal numbers, because denormals would be slow."""
    values = np.float32([-88, -1e4, -np.inf])
    exp_in_place(values)
    assert (np.finfo(np.float32).tiny <= values).all()
    assert (values < 1e-36).all()
