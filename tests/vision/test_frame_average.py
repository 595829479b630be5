"""Averaging of calm frames into one picture."""

import numpy as np

from vision.frame_average import MAX_FRAMES, TOGETHER_S, FrameAverage


def noisy(n):
    """Return ``n`` pictures (40, 40, 3) of one scene with independent noise."""
    rng = np.random.default_rng(1)
    return [np.clip(rng.normal(100, 10, (40, 40, 3)), 0, 255).astype(np.uint8) for _ in range(n)]


def test_noise_averages_out_until_something_moves():
    """The standard deviation falls with the number of frames; clearing starts anew."""
    exposure, frames = FrameAverage(), noisy(MAX_FRAMES)
    for k, frame in enumerate(frames):
        exposure.add(frame, 0.1 * k)
    assert exposure.is_enough
    assert exposure.picture().std() < 10 / np.sqrt(MAX_FRAMES) * 1.3
    exposure.clear()
    exposure.add(frames[0], 0.9)
    assert np.array_equal(exposure.picture(), frames[0])


def test_a_frame_counts_once():
    """A frame added twice counts once."""
    exposure, (first, second) = FrameAverage(), noisy(2)
    for frame, t_s in ((first, 0.0), (second, 0.1), (second, 0.1)):
        exposure.add(frame, t_s)
    assert np.allclose(exposure.picture(), (first / 2 + second / 2), atol=0.6)


def test_a_slow_change_comes_through():
    """The average follows a lasting change."""
    exposure = FrameAverage()
    for k in range(5 * MAX_FRAMES):
        exposure.add(np.full((2, 2, 3), 50 if k < MAX_FRAMES else 200, np.uint8), 0.1 * k)
    assert (exposure.picture() > 190).all()


def test_a_frame_long_after_the_others_stands_alone():
    """A frame after a long gap is not averaged with the earlier ones."""
    exposure, (first, second) = FrameAverage(), noisy(2)
    exposure.add(first, 0.0)
    exposure.add(second, 0.1 + TOGETHER_S)
    assert np.array_equal(exposure.picture(), second)
