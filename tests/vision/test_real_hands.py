"""The motion gate before a real film of real hands: a game of chess by two quick players, 20 frames a second.

The film lies beside the repository (real/scholarsmate.avi, by Wolfgang Fahl, Apache License 2.0).  The lists below were
made by looking at its frames.
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.kit import load_kit
from companion.tracker.settle import Calm, step
from vision.motion import Watch

FPS = 20
BOARD_PX = ((111, 0), (535, 0), (535, 405), (111, 405))
"""The chessboard's frame in the picture; its far edge is cut off."""

GAPS = ((60, 61), (86, 87), (108, 144), (184, 191), (208, 215), (273, 284), (300, 333))
"""First and last frames in which nothing is over the board or throws a moving shadow on it: between the moves, and
while nobody plays."""

BUSY = ((13, 28), (30, 59), (63, 85), (89, 107), (146, 183), (193, 207), (217, 261), (288, 299))
"""First and last frames in which a hand, an arm or its shadow moves over the board."""


@pytest.fixture(scope="module")
def still(shared) -> list[bool]:
    """By frame: whether the gate says that nothing moves."""
    film = cv2.VideoCapture(str(shared / "real" / "scholarsmate.avi"))
    watch = Watch(load_kit("cheight"), Camera(640, 480, np.eye(3), np.zeros(5), 0.0))
    watch.attend(np.array(BOARD_PX, float))
    still = []
    while (read := film.read())[0]:
        still.append(not watch.glimpse(np.asarray(read[1], np.uint8)).moving)
    return still


def test_a_moving_hand_is_never_called_calm(still: list[bool]) -> None:
    """In none of the 198 frames with one."""
    assert [i for first, last in BUSY for i in range(first, last + 1) if still[i]] == []


def test_every_calm_between_two_moves_is_found(still: list[bool]) -> None:
    """With its first frame that does not differ from the one before, even where that is the only one."""
    found = [[i for i in range(first, last + 1) if still[i]] for first, last in GAPS]
    assert all(found)
    assert all(frames[0] - first <= 1 for frames, (first, _) in zip(found, GAPS, strict=True))
    assert sum(last - first - len(frames) for frames, (first, last) in zip(found, GAPS, strict=True)) <= 12


def test_each_calm_is_read(still: list[bool]) -> None:
    """Once at least, and never while something moves."""
    calm, read = Calm(), []
    for i, is_still in enumerate(still):
        calm, wanted = step(calm, i / FPS, moving=not is_still)
        if wanted:
            read.append(i)
    assert all(any(first <= i <= last for i in read) for first, last in GAPS)
    assert all(still[i] for i in read)
