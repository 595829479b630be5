"""Rendering of a learned board as a camera would see it."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.board_appearance import BoardAppearance
from calibration.camera import Camera
from vision.appearance.bare_picture import APART_TEXELS, MIN_NOISE, PER_VALUE, bare_levels, bare_picture
from vision.pose.projection import Registration, project

SIZE_MM = 200
CAMERA = Camera(400, 360, np.array([[420.0, 0, 203.5], [0, 415, 178.5], [0, 0, 1]]), np.array([-0.1, 0.02, 0, 0, 0]), 0)
SLOPE = 0.5
ROTATION = np.array([[1, 0, 0], [0, -np.cos(SLOPE), -np.sin(SLOPE)], [0, np.sin(SLOPE), -np.cos(SLOPE)]])
POSE = Registration(ROTATION, np.array([5.0, 0.0, 420.0]), (), 0.0)


@pytest.fixture
def board():
    """Return a board whose channels increase or decrease across it, so that each place has its own colour."""
    y, x = np.mgrid[:SIZE_MM, :SIZE_MM] / SIZE_MM
    colour = np.stack([0.2 + 0.6 * x, 0.9 - 0.5 * y, 0.3 + 0.3 * (x + y)], axis=-1).astype(np.float32)
    flat = np.zeros((SIZE_MM, SIZE_MM))
    return BoardAppearance(colour, flat.astype(np.float32), np.ones_like(flat, np.uint8))


@pytest.mark.parametrize("shrink", [1, 2])
def test_each_pixel_shows_the_texel_that_is_seen_there(board, shrink):
    """Projected texels have the board's colours within 1.5 levels, at full and at half resolution."""
    size = 360 // shrink, 400 // shrink
    shown = bare_picture(bare_levels(board), size, shrink, POSE, CAMERA)
    assert shown.levels.shape == (*size, 3)
    for row, column in ((30, 40), (100, 100), (150, 20), (99, 171)):
        x_mm, y_mm = column - (SIZE_MM - 1) / 2, (SIZE_MM - 1) / 2 - row
        pixel = (project(np.array([[x_mm, y_mm, 0.0]]), POSE, CAMERA)[0] + 0.5) / shrink - 0.5
        at = tuple(np.rint(pixel[::-1]).astype(int))
        assert shown.known[at]
        np.testing.assert_allclose(shown.levels[at], board.colour[row, column, ::-1] * PER_VALUE, atol=1.5)


def test_what_was_not_seen_and_what_is_no_board_is_unknown(board):
    """Texels never seen, and pixels outside the board, are marked as unknown."""
    seen = board.seen.copy()
    seen[:, : SIZE_MM // 2] = 0
    known = bare_picture(bare_levels(replace(board, seen=seen)), (360, 400), 1, POSE, CAMERA).known
    assert not known[:, :190].any()
    assert known[180, 230]
    assert not known[180, 395]


def test_noise_is_that_between_two_places_and_not_that_of_edges(board):
    """The noise level comes from neighbouring texels, and is not raised by stripes or gradients."""
    assert bare_picture(bare_levels(board), (360, 400), 1, POSE, CAMERA).noise.max() < 3
    rng = np.random.default_rng(1)
    stripes = np.where(np.arange(SIZE_MM) // 20 % 2, 0.3, 0.7)[None, :, None]
    noisy = replace(board, colour=(stripes + rng.normal(0, 0.03, board.colour.shape)).astype(np.float32))
    expected = MIN_NOISE + 0.03 * PER_VALUE * np.sqrt(2)
    assert APART_TEXELS < 20
    np.testing.assert_allclose(bare_picture(bare_levels(noisy), (360, 400), 1, POSE, CAMERA).noise, expected, rtol=0.15)


def test_a_board_of_which_nothing_was_seen_has_no_noise(board):
    """A board that was never seen gets the minimum noise."""
    unseen = replace(board, seen=np.zeros_like(board.seen))
    np.testing.assert_allclose(bare_picture(bare_levels(unseen), (360, 400), 1, POSE, CAMERA).noise, MIN_NOISE)
