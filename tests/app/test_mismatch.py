"""The warning that a board looks different from its kit."""

import numpy as np
import pytest

from companion.app.camera_reader import ReadResult
from companion.app.mismatch import LASTS_S, MismatchReporter
from vision.capture.frames import Frame
from vision.reading import EMPTY, Reading

LINE = "the board looks otherwise than the kit says on {}: learn its look again (--empty), or correct the kit"


def look(*mismatched):
    """Return a look in which ``mismatched`` cells differ from the kit."""
    cells = ("a1", "b1", "c1")
    return ReadResult(
        Reading(cells, (EMPTY,), np.zeros((3, 1), np.float32), np.zeros(3, np.float32), mismatched=mismatched)
    )


@pytest.fixture
def said():
    """Return the list of reported lines, and a function that reports a look at a time in s."""
    lines = []
    tell = MismatchReporter(lines.append)
    return lines, lambda t_s, seen: tell(Frame(np.zeros((4, 4, 3), np.uint8), 0, t_s), seen, ())


def test_it_is_said_once_until_the_board_looks_right_again(said):
    """A lasting mismatch is reported once, and again after the board has looked right."""
    lines, tell = said
    for t_s, seen in enumerate((look(), look(0, 2), ReadResult(None), look(0, 2), look(0, 1, 2), look())):
        tell(t_s * LASTS_S / 2, seen)
    assert lines == [LINE.format("a1, c1")]
    for t_s in (10.0, 10.0 + LASTS_S, 11.0 + LASTS_S):
        tell(t_s, look(1))
    assert lines[1:] == [LINE.format("b1")]


def test_what_does_not_last_is_not_said(said):
    """A mismatch shorter than LASTS_S is not reported."""
    lines, tell = said
    for t_s in (0.0, 0.9 * LASTS_S):
        tell(t_s, look(0))
    tell(LASTS_S, look())
    tell(1.1 * LASTS_S, look(0))
    assert not lines
