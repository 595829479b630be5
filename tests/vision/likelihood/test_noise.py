"""Estimation of noise in bright and in dark regions."""

import numpy as np
import pytest

from vision.likelihood.noise import count_pairs, noise_by_brightness

WIDTH, HEIGHT, STEP = 640, 480, 3
MAT = np.array([(160.0, 120.0), (480.0, 120.0), (480.0, 360.0), (160.0, 360.0)])
BRIGHT, DARK = 5, 1
"""Brightness bands of the mat and of its surroundings."""


def picture(on_mat, round_it, grain=0.0):
    """Return a mat of code 180 on a table of code 50; noise and ``grain`` are in codes."""
    rng = np.random.default_rng(7)
    shown = 50 + rng.normal(0, round_it, (HEIGHT, WIDTH, 3))
    # Coherent grain, as of wood: five of six pixel pairs lie within one strip of it.
    shown += grain * np.where(np.arange(WIDTH) // (6 * STEP) % 2, 1, -1)[:, None]
    shown[120:361, 160:481] = 180 + rng.normal(0, on_mat, (241, 321, 3))
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8)


def by_brightness(image):
    """Return the noise measured in each brightness band."""
    return noise_by_brightness(count_pairs(image, STEP, MAT))


def test_noise_in_the_dark_is_measured_there():
    """The noise is measured separately in the bright and the dark band."""
    found = by_brightness(picture(on_mat=5, round_it=12))
    assert found[BRIGHT, 0] == pytest.approx(2 * 5**2 / 3, rel=0.15)
    assert found[DARK, 0] == pytest.approx(2 * 12**2 / 3, rel=0.3)
    assert (np.diff(found, axis=0) <= 0).all(), "the darker, the noisier"


def test_grain_of_a_table_is_not_noise():
    """Coherent grain does not raise the measured noise."""
    found = by_brightness(picture(on_mat=3, round_it=3, grain=12.0))
    assert found[DARK, 0] == pytest.approx(2 * 3**2 / 3, rel=0.6)


def test_it_is_never_less_than_usual_nor_many_times_as_much():
    """The noise in the dark is at least that in the light, and at most 16 times its variance."""
    quiet = by_brightness(picture(on_mat=8, round_it=2))
    assert (quiet == quiet[BRIGHT]).all()
    wild = by_brightness(picture(on_mat=1, round_it=20))
    assert (wild[:, 0] <= 16.01 * wild[-1, 0]).all()
