"""Display values under another light, and with light added, against the sRGB curve."""

import numpy as np
import pytest

from calibration.srgb import display, linear_light
from vision.appearance.tone_curve import add_light, codes_to_values, gain_at, to_display, to_linear, to_linear_all

CODES = np.arange(256)


@pytest.mark.parametrize("light", [0.15, 0.6, 1.0, 1.3])
def test_what_a_code_shows_does_not_depend_on_the_light(light):
    """Display values normalised by the light agree with those in full light."""
    reflectances = np.geomspace(0.02, 1.0, 20)
    codes = 255 * display(light * reflectances)
    shown = codes_to_values(codes, gain_at(np.float32(light)))
    # The curve is linear only near black.
    np.testing.assert_allclose(shown[codes > 10], display(reflectances)[codes > 10], atol=1e-4)
    np.testing.assert_allclose(shown, display(reflectances), atol=0.02)


def test_black_is_not_black_in_dim_light():
    """In dim light the code 0 may stand for a visible brightness."""
    assert codes_to_values(CODES, gain_at(np.float32(0.2)))[0] > 0.04


def test_light_adds_up_nearly_as_it_does():
    """Adding light to display values is accurate to 0.004 (RMS)."""
    values, more = (each.ravel() for each in np.meshgrid(np.linspace(0.02, 1.0, 50), np.linspace(-0.2, 0.4, 61)))
    light = linear_light(values) + more
    is_lit = light > 0.002
    shown = add_light(np.repeat(values[:, None], 3, axis=1).astype(np.float32), more.astype(np.float32))
    off = shown[is_lit, 0] - display(light)[is_lit]
    assert np.sqrt((off**2).mean()) < 0.004
    assert np.abs(off).max() < 0.03


def test_no_light_added_changes_nothing():
    """Conversion to linear light and back is the identity."""
    values = np.linspace(0, 1.3, 40, dtype=np.float32)
    np.testing.assert_allclose([to_display(to_linear(value)) for value in values], values, atol=1e-3)
    np.testing.assert_array_equal(
        to_linear_all(np.repeat(values[:, None], 3, axis=1))[:, 1], [to_linear(value) for value in values]
    )


def test_less_light_than_none_shows_nothing():
    """Negative light gives a display value of 0."""
    assert to_display(np.float32(-2)) == 0
