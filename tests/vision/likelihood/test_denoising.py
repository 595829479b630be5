"""Noise that would hide pale pieces is smoothed."""

import numpy as np
import pytest

from vision.likelihood.denoising import denoise

WIDTH, HEIGHT = 240, 160
MAT = np.array([(40.0, 30.0), (200.0, 30.0), (200.0, 130.0), (40.0, 130.0)])
GAIN = 1 / 200


@pytest.fixture
def picture():
    """Return a function that renders a uniform mat on a table, with Gaussian noise (in codes) on each."""

    def of(noise, table_noise=0.0):
        rng = np.random.default_rng(4)
        shown = np.full((HEIGHT, WIDTH, 3), 120.0)
        shown += rng.normal(0, table_noise, shown.shape)
        shown[20:140, 30:210] = 160 + rng.normal(0, noise, (120, 180, 3))
        return np.clip(np.rint(shown), 0, 255).astype(np.uint8)

    return of


def test_noise_that_hides_a_contrast_is_smoothed_to_what_the_colour_model_grants(picture):
    """Noise far above the contrast of the pieces is smoothed to the level of the colour model."""
    noisy = picture(noise=11)
    smooth = denoise(noisy, MAT, GAIN, contrast=0.07)
    assert noisy[40:120, 60:180].std() > 10
    assert smooth[40:120, 60:180].std() == pytest.approx(0.02 / GAIN, rel=0.2)
    assert smooth[40:120, 60:180].mean() == pytest.approx(160, abs=1)


def test_where_colours_are_told_apart_all_edges_are_kept(picture):
    """With strong contrast the picture is not smoothed."""
    noisy = picture(noise=11)
    assert denoise(noisy, MAT, GAIN, contrast=0.4) is noisy


def test_a_rough_table_round_an_even_mat_is_no_noise(picture):
    """Texture outside the mat does not trigger smoothing."""
    rough = picture(noise=1, table_noise=30)
    assert denoise(rough, MAT, GAIN, contrast=0.02) is rough
