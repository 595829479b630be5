"""Stacks whose pieces lie to all sides of each other, and what little is seen of some."""

import numpy as np
import pytest

from tools.boards import read_board
from vision.likelihood.stacks import _rim_gain, rim_residuals


@pytest.mark.parametrize(
    ("seed", "cell"),
    [
        pytest.param(127, "b7", id="off the middle by half a column"),
        pytest.param(303, "h6", id="discs that step to all sides"),
        pytest.param(1034, "f4", id="two higher than it would be if it stood straight"),
    ],
)
def test_heights_of_stacks_that_stand_askew(seed, cell):
    told = {one.name: one for one in read_board(seed)}[cell]
    assert told.right, f"{told.stack} was read as {told.read}"


def test_less_than_a_pixel_of_a_side_says_nothing_of_its_shading():
    steps = np.array([[[-40.0, 50.0], [-2e-3, 1e-5]]], np.float32)  # log brightness and pixels, of each step
    residual, count = rim_residuals(steps)
    assert np.abs(residual).max() < 1e-6
    assert count.tolist() == [[50.0, 0.0]]


RIM = np.array([-0.14, -0.10, -0.03, 0.03, 0.08, 0.13], np.float32)
"""From the lower edge to the upper one."""


def sides(*contrasts):
    """Sums of log brightness and pixels over six steps of each side, of which the rim's shading is so strong."""
    shown = np.array([contrast * RIM[::-1] for contrast in contrasts], np.float32)
    return np.stack([20 * (shown - 0.7), np.full_like(shown, 20)], axis=2)


def test_sides_shaded_like_the_rim_are_likelier_whatever_the_light():
    gains = [_rim_gain(sides(contrast, contrast), RIM, 2.0) for contrast in (1.0, 0.6, 0.3)]
    assert min(gains) > 2


def test_sides_shaded_the_other_way_round_are_less_likely():
    assert _rim_gain(sides(-0.6, -0.6), RIM, 2.0) < -1


def test_two_sides_taken_for_three_are_less_likely():
    """What is seen of two pieces, cut into three parts."""
    two = sides(0.6, 0.6).reshape(12, 2)
    three = np.stack([two[np.minimum(np.arange(part, part + 4).repeat(2)[:6], 11)] / 1.5 for part in (0, 4, 8)])
    assert _rim_gain(sides(0.6, 0.6), RIM, 2.0) > _rim_gain(np.ascontiguousarray(three), RIM, 2.0) + 2


def test_a_rim_that_is_not_known_says_nothing():
    assert _rim_gain(sides(1.0), np.zeros(6, np.float32), 2.0) == 0
