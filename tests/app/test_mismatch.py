"""A board that looks otherwise than its kit says, at the table."""

import numpy as np

from companion.app.eyes import Look
from companion.app.mismatch import MismatchTeller
from vision.capture.frames import Frame
from vision.reading import EMPTY, Reading

FRAME = Frame(np.zeros((4, 4, 3), np.uint8), 0, 0.0)


def look(*unlike):
    cells = ("a1", "b1", "c1")
    return Look(Reading(cells, (EMPTY,), np.zeros((3, 1), np.float32), np.zeros(3, np.float32), unlike=unlike))


def test_it_is_said_once_until_the_board_looks_right_again():
    said = []
    tell = MismatchTeller(said.append)
    for seen in (look(), look(0, 2), Look(None), look(0, 1, 2), look(), look(1)):
        tell(FRAME, seen, ())
    line = "the board looks otherwise than the kit says on {}: learn its look again (--empty), or correct the kit"
    assert said == [line.format("a1, c1"), line.format("b1")]
