"""The panel's buttons as keys, on a real pseudo-terminal."""

import os
import subprocess
import sys
import termios
from collections.abc import Iterator
from queue import SimpleQueue
from typing import TextIO

import pytest

from companion.panel.buttons import Button, Press
from companion.panel.keys import TerminalKeys, is_ours

PATIENCE_S = 60.0


@pytest.fixture
def terminal() -> Iterator[tuple[int, TextIO]]:
    """Return the typing side, and the terminal as the program sees it."""
    typist, terminal = os.openpty()
    with os.fdopen(typist, "wb", buffering=0), os.fdopen(terminal, "r") as stream:
        yield typist, stream


def test_keys_are_presses_and_the_terminal_is_left_as_it_was(terminal: tuple[int, TextIO]) -> None:
    typist, stream = terminal
    before = termios.tcgetattr(stream.fileno())
    told: SimpleQueue[Press] = SimpleQueue()
    keys = TerminalKeys(stream, told.put)
    os.write(typist, "\nuxé2A".encode())
    assert [told.get(timeout=PATIENCE_S) for _ in range(4)] == [
        Press(Button.DONE),
        Press(Button.UNDO),
        Press(Button.DONE, number=2),
        Press(Button.ARBITER, is_held=True),
    ]
    assert not termios.tcgetattr(stream.fileno())[3] & (termios.ECHO | termios.ICANON)
    keys.close()
    keys.close()
    assert termios.tcgetattr(stream.fileno()) == before
    assert told.empty()


def test_what_is_no_terminal_has_no_keys() -> None:
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read) as stream:
        assert not is_ours(stream)


def test_only_the_foreground_may_read() -> None:
    script = """
import os, pty, sys
from companion.panel.keys import is_ours
child, fd = pty.fork()
if child == 0:
    os._exit(10 * is_ours(sys.stdin))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
with open(os.open("/dev/null", os.O_RDONLY)) as stream:
    print(is_ours(stream))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == ["10", "False"]
