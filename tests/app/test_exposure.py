"""The calm frames so far as one picture."""

import numpy as np

from companion.app.exposure import MOST_FRAMES, Exposure


def test_noise_averages_out_until_something_moves():
    rng, exposure = np.random.default_rng(1), Exposure()
    frames = [np.clip(rng.normal(100, 10, (40, 40, 3)), 0, 255).astype(np.uint8) for _ in range(MOST_FRAMES)]
    for frame in frames:
        exposure.add(frame)
    assert exposure.picture().std() < 10 / np.sqrt(MOST_FRAMES) * 1.3
    exposure.clear()
    exposure.add(frames[0])
    assert np.array_equal(exposure.picture(), frames[0])


def test_a_slow_change_is_not_averaged_in():
    exposure = Exposure()
    for k in range(3 * MOST_FRAMES):
        exposure.add(np.full((2, 2, 3), 50 if k < MOST_FRAMES else 200, np.uint8))
    assert (exposure.picture() == 50).all()
