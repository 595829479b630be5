"""Stacks whose pieces lie to all sides of each other, and what little is seen of some."""

import numpy as np
import pytest

from tools.boards import read_board
from vision.stacks import rim_residuals


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
