"""The newest picture of a live camera, at times given by the test."""

import numpy as np

from vision.capture.frame_buffer import FROZEN_S, FrameBuffer


def noise(seed):
    """Return a random (72, 128, 3) uint8 picture."""
    return np.random.default_rng(seed).integers(90, 110, (72, 128, 3), np.uint8)


def test_the_newest_picture_wins_and_is_given_once():
    """Only the newest picture is returned, and only once."""
    newest = FrameBuffer(camera=1)
    assert newest.newer_than(-1, 0.0) is None
    for i in range(3):
        assert newest.put(noise(i), i / 10)
    frame = newest.newer_than(-1, 0.25)
    assert (frame.seq, frame.t_s, frame.camera) == (2, 0.2, 1)
    assert (frame.image == noise(2)).all()
    assert newest.newer_than(frame.seq, 0.25) is None


def test_a_stale_picture_is_not_given():
    """A picture older than FROZEN_S is not returned."""
    newest = FrameBuffer()
    newest.put(noise(0), 0.0)
    assert newest.newer_than(-1, FROZEN_S - 0.01) is not None
    assert newest.newer_than(-1, FROZEN_S) is None


def test_a_silent_camera_is_lost_after_a_second_and_back_with_its_next_picture():
    """A camera without pictures for FROZEN_S counts as lost until the next picture."""
    newest = FrameBuffer()
    newest.put(noise(0), 5.0)
    assert not newest.is_lost(5.0 + FROZEN_S - 0.01)
    assert newest.is_lost(5.0 + FROZEN_S)
    assert newest.put(noise(1), 8.0)
    assert not newest.is_lost(8.0)


def test_a_frozen_camera_is_lost_though_pictures_come():
    """A camera that repeats one picture counts as lost."""
    newest = FrameBuffer()
    fresh = [newest.put(noise(0), i / 10) for i in range(9)]
    assert fresh == [True] + [False] * 8
    assert newest.is_lost(0.8)
    assert newest.newer_than(-1, 0.8) is None


def test_a_covered_lens_is_dark_and_not_frozen():
    """Black pictures count as new, because a covered lens has no noise."""
    newest = FrameBuffer()
    assert all(newest.put(np.zeros((72, 128, 3), np.uint8), i / 10) for i in range(12))
    assert not newest.is_lost(1.1)


def test_a_camera_that_was_opened_again_begins_afresh():
    """After a restart the old picture is discarded, and its repetition does not count as new."""
    newest = FrameBuffer()
    newest.put(noise(0), 0.0)
    newest.reopened(3.0)
    assert newest.newer_than(-1, 3.0) is None
    assert not newest.is_lost(3.5)
    assert not newest.put(noise(0), 3.1)
    assert newest.put(noise(1), 3.2)
    assert newest.newer_than(0, 3.3).seq == 1
