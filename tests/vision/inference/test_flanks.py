"""The light on the sides of pyramids is found together with their colours."""

import numpy as np
import pytest

from vision.appearance.colour_model import display
from vision.inference.flanks import _light_on_sides, _off, _Sides

DARK, PALE = 0, 1
REFLECTANCE = np.array([[0.14, 0.12, 0.09], [0.35, 0.33, 0.26]])
LIGHT = np.log(np.array([[1.0] * 3, [2.4] * 3, [0.4] * 3, [0.7] * 3]))
"""On the second side a dark pyramid is about as bright as a pale one on the first."""


def pyramids(colours, seen):
    """The sides of pyramids of ``colours``, of which those ``seen`` are in view."""
    means = display(np.exp(LIGHT)[None] * REFLECTANCE[colours][:, None])
    means += np.random.default_rng(5).normal(0, 0.01, means.shape)
    return [_Sides(one[None], np.array([[side in seen for side in range(4)]])) for one in means]


@pytest.mark.parametrize("seen", [(0, 1), (0, 1, 3), (1, 2)])
def test_colours_follow_from_the_light_on_all_sides(seen):
    colours = np.array([DARK, PALE, PALE, DARK, PALE, DARK, DARK])
    sides = pyramids(colours, seen)
    light = _light_on_sides(sides, REFLECTANCE)
    off = np.array([_off(one, light, REFLECTANCE)[0] for one in sides])
    assert off.argmin(axis=1).tolist() == colours.tolist()
    assert (np.abs(off[:, DARK] - off[:, PALE]) > 3).all()


def test_a_side_that_nobody_sees_keeps_the_light_that_was_guessed():
    light = _light_on_sides(pyramids(np.array([DARK, PALE]), (0,)), REFLECTANCE)
    assert np.ptp(light[2]) == 0
    assert np.isfinite(light).all()


def test_one_side_in_a_shadow_speaks_only_so_much_against_a_colour():
    sides = _Sides(np.zeros((1, 4, 3)), np.array([[True, False, False, False]]))
    assert _off(sides, LIGHT, REFLECTANCE)[0] == pytest.approx([8.0, 8.0])
