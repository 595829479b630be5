import numpy as np
import pytest

from vision.appearance.logarithm import take_logs


@pytest.mark.parametrize("near", [1e-30, 1e-3, 0.7, 1.0, 1.4, 2.0, 1e3, 1e30])
def test_logarithms_are_those_of_numpy(near):
    values = (near * np.linspace(0.5, 2, 10_001)).astype(np.float32)
    logs = np.log(values.astype(np.float64))
    take_logs(values)
    np.testing.assert_allclose(values, logs, rtol=3e-7, atol=1e-7)
