"""Detection of pictures that never become still, and of the reason."""

from functools import reduce

import pytest

from companion.app.instability import RESTLESS_S, Instability, may_be_hand, step
from vision.differencing import Difference

PIECE_PX2 = 40.0
FPS = 12


def after(difference, seconds, *, moving=True):
    """Return the state after so many seconds of frames with the same difference."""
    times = (number / FPS for number in range(1, round(seconds * FPS) + 1))
    return reduce(
        lambda instability, t_s: step(instability, t_s, difference, PIECE_PX2, moving=moving), times, Instability(0.0)
    )


def differing(patch_px, flicker=0.1, shake=0.0):
    """Return a difference between frames with a moving patch of this size, in px."""
    return Difference(moving_px=3 * patch_px, patch_px=patch_px, noise=3.0, flicker=flicker, shake=shake)


@pytest.mark.parametrize(
    ("difference", "why"),
    [
        (differing(12), "noise"),
        (differing(12, flicker=8), "flicker"),
        (differing(90, flicker=8), "flicker"),
        (differing(90, shake=3), "shaking"),
        (differing(90), ""),
        (differing(900, flicker=8), ""),
    ],
)
def test_why_a_picture_never_rests(difference, why):
    assert after(difference, RESTLESS_S + 0.2).why == why
    assert after(difference, RESTLESS_S - 0.2).why == ""


def test_a_still_frame_ends_it():
    restless = after(differing(12), RESTLESS_S + 1)
    assert step(restless, RESTLESS_S + 2, differing(0), PIECE_PX2, moving=False) == Instability(RESTLESS_S + 2)


def test_a_hand_is_motion_in_a_restless_picture_too():
    restless = after(differing(12), RESTLESS_S + 1)
    assert not may_be_hand(restless, differing(20), PIECE_PX2)
    assert may_be_hand(restless, differing(60), PIECE_PX2)
    flickering = after(differing(60, flicker=8), RESTLESS_S + 1)
    assert not may_be_hand(flickering, differing(60), PIECE_PX2)
    assert may_be_hand(flickering, differing(200), PIECE_PX2)
