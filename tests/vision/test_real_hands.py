"""The motion gate on a real film of hands: a game of chess by two quick players at 20 frames per second.

The film lies beside the repository (real/scholarsmate.avi, by Wolfgang Fahl, Apache License 2.0). The lists below were
made by looking at its frames.
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.kit import load_kit
from companion.tracker.settle import Calm, step
from vision.motion import MotionDetector

FPS = 20
BOARD_PX = ((111, 0), (535, 0), (535, 405), (111, 405))
"""Outline of the chessboard in the picture; its far edge is cut off."""

GAPS = ((60, 61), (86, 87), (108, 144), (184, 191), (208, 215), (273, 284), (300, 333))
"""First and last frames of the phases without anything, or a moving shadow, over the board.

These lie between moves and where nobody plays.
"""

BUSY = ((13, 28), (30, 59), (63, 85), (89, 107), (146, 183), (193, 207), (217, 261), (288, 299))
"""First and last frames of the phases in which a hand, an arm or its shadow moves over the board."""


@pytest.fixture(scope="module")
def still(shared) -> list[bool]:
    """Return for each frame whether the gate reports no motion."""
    film = cv2.VideoCapture(str(shared / "real" / "scholarsmate.avi"))
    watch = MotionDetector(load_kit("cheight"), Camera(640, 480, np.eye(3), np.zeros(5), 0.0))
    watch.set_region(np.array(BOARD_PX, float))
    still = []
    while (read := film.read())[0]:
        still.append(not watch.process(np.asarray(read[1], np.uint8)).moving)
    return still


def test_a_moving_hand_is_never_called_calm(still: list[bool]) -> None:
    """None of the frames with a moving hand is reported as still."""
    assert [i for first, last in BUSY for i in range(first, last + 1) if still[i]] == []


def test_every_calm_between_two_moves_is_found(still: list[bool]) -> None:
    """Every calm phase has still frames, at latest from its second frame on, with at most 12 frames missed in all.

    The first frame that does not differ from the one before must count, even where it is the only one.
    """
    found = [[i for i in range(first, last + 1) if still[i]] for first, last in GAPS]
    assert all(found)
    assert all(frames[0] - first <= 1 for frames, (first, _) in zip(found, GAPS, strict=True))
    assert sum(last - first - len(frames) for frames, (first, last) in zip(found, GAPS, strict=True)) <= 12


def test_each_calm_is_read(still: list[bool]) -> None:
    """A reading is requested at least once in each calm phase, and only in still frames."""
    calm, read = Calm(), []
    for i, is_still in enumerate(still):
        calm, wanted = step(calm, i / FPS, moving=not is_still)
        if wanted:
            read.append(i)
    assert all(any(first <= i <= last for i in read) for first, last in GAPS)
    assert all(still[i] for i in read)
