"""Shading of the rims of stacked pieces: how it is measured, and what it shows."""

import numpy as np

from vision.likelihood.column_integrals import Lines
from vision.likelihood.rim_shading import measure_sides, rim_log_ratio, rim_residuals


def test_each_step_of_a_side_is_summed():
    """Two sides of six rows each lie under a face, shifted by one row, and are measured in three steps each."""
    logs = np.random.default_rng(5).normal(-1, 0.3, (30, 4)).astype(np.float32)
    sums = np.zeros((31, 4, 3), np.float32)  # a material, log brightness, pixels
    sums[1:, :, 1], sums[1:, :, 2] = logs.cumsum(axis=0), np.arange(1, 31)[:, None]
    edges = np.broadcast_to(np.array([2.0, 8.0, 14.0, 20.0])[:, None], (4, 4)).astype(np.float32)
    sides = np.full((3, 3, 2), 7, np.float32)
    measure_sides(Lines(sums.reshape(-1), sums.shape, edges, (1, 3), 0, 0.0, 0), 2, np.ones(3), sides)
    for step in range(6):
        rows = slice(9 + 2 * step, 11 + 2 * step)
        np.testing.assert_allclose(sides[step // 3, step % 3], [logs[rows, 1:3].sum(), 4], atol=1e-4)
    assert not sides[2].any()


def test_less_than_a_pixel_of_a_side_says_nothing_of_its_shading():
    """A side with a negligible number of pixels has no residual."""
    steps = np.array([[[-40.0, 50.0], [-2e-3, 1e-5]]], np.float32)  # log brightness and pixels of each step
    residual, count = rim_residuals(steps)
    assert np.abs(residual).max() < 1e-6
    assert count.tolist() == [[50.0, 0.0]]


RIM = np.array([-0.14, -0.10, -0.03, 0.03, 0.08, 0.13], np.float32)
"""From the lower edge to the upper one."""


def sides(*contrasts):
    """Return sums of log brightness and pixels over six steps of each side, shaded like the rim times ``contrasts``."""
    shown = np.array([contrast * RIM[::-1] for contrast in contrasts], np.float32)
    return np.stack([20 * (shown - 0.7), np.full_like(shown, 20)], axis=2)


def test_sides_shaded_like_the_rim_are_likelier_whatever_the_light():
    """Sides shaded like the rim are likelier at any contrast."""
    gains = [rim_log_ratio(sides(contrast, contrast), RIM, 2.0) for contrast in (1.0, 0.6, 0.3)]
    assert min(gains) > 2


def test_sides_shaded_the_other_way_round_are_less_likely():
    """Sides with inverted shading are less likely."""
    assert rim_log_ratio(sides(-0.6, -0.6), RIM, 2.0) < -1


def test_two_sides_taken_for_three_are_less_likely():
    """The two sides that are seen are cut into three parts."""
    two = sides(0.6, 0.6).reshape(12, 2)
    three = np.stack([two[np.minimum(np.arange(part, part + 4).repeat(2)[:6], 11)] / 1.5 for part in (0, 4, 8)])
    assert rim_log_ratio(sides(0.6, 0.6), RIM, 2.0) > rim_log_ratio(np.ascontiguousarray(three), RIM, 2.0) + 2


def test_a_rim_that_is_not_known_says_nothing():
    """Without a learned rim the ratio is 0."""
    assert rim_log_ratio(sides(1.0), np.zeros(6, np.float32), 2.0) == 0
