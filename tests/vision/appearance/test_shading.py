"""Distribution of the display values of a surface under varying light."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.srgb import display, linear_light
from vision.appearance.shading import SAMPLES, SENSOR_NOISE, Shading, sample_display_values

EVEN = Shading(lit=1.0, spread=0.0, shade=(1.0, 1.0), mirrored=0.0, tint=0.0)
VARIED = Shading(lit=0.5, spread=0.2, shade=(0.1, 1.0), mirrored=0.03, tint=0.08, glare=0.2)


@pytest.mark.parametrize("gray", [0.05, 0.2, 0.6])
def test_a_surface_in_full_light_shows_its_colour_less_what_it_mirrored_when_it_was_enrolled(gray: float) -> None:
    """In uniform full light, the bright end of the distribution is the surface's own colour."""
    shown = sample_display_values(np.full(3, gray), EVEN)
    assert shown.shape == (SAMPLES, 3)
    assert shown.max() < display(np.array(gray)) + 6 * SENSOR_NOISE
    assert np.percentile(shown, 90) == pytest.approx(display(np.array(gray)), abs=0.05)


def test_of_two_surfaces_the_lighter_one_shows_lighter_in_every_light() -> None:
    """All colours share their random numbers, so the tables of two colours do not differ by chance."""
    dark, light = (sample_display_values(np.array(colour), VARIED) for colour in ((0.1, 0.2, 0.3), (0.15, 0.3, 0.45)))
    assert (dark <= light + 1e-5).all()


def test_shade_darkens_and_glare_bleaches() -> None:
    """Shade lowers the mean, glare raises it and reduces the difference between channels."""
    colour = np.array((0.3, 0.1, 0.1))
    full, shaded = (
        sample_display_values(colour, EVEN),
        sample_display_values(colour, Shading(0.0, 0.0, (0.2, 0.4), 0.0, 0.0)),
    )
    glaring = sample_display_values(colour, Shading(1.0, 0.0, (1.0, 1.0), 0.0, 0.0, glare=1.0))
    assert shaded.mean() < full.mean() < glaring.mean()
    assert np.ptp(glaring.mean(axis=0)) < np.ptp(full.mean(axis=0))


def test_what_the_board_reflects_tints_dark_sides_most_and_brightens_none() -> None:
    """Light from an orange board makes grey sides orange, the more the darker they are; their mean light stays."""
    orange, gray = (0.25, 0.15, 0.05), np.full(3, 0.3)
    shade = Shading(0.0, 0.0, (0.1, 1.0), 0.0, 0.0)
    white = sample_display_values(gray, shade)
    tinted = sample_display_values(gray, replace(shade, interreflected=orange))
    redder = (tinted - white)[:, 0] - (tinted - white)[:, 2]
    dark = white.mean(axis=1) < np.median(white.mean(axis=1))
    assert redder[dark].mean() > 1.5 * redder[~dark].mean() > 0
    assert redder.min() > -1e-6
    assert linear_light(tinted.astype(np.float64)).mean() == pytest.approx(
        linear_light(white.astype(np.float64)).mean(), rel=0.02
    )
