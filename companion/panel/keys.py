"""The panel's buttons as keys of a terminal."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Callable
from threading import Thread
from typing import TextIO

from companion.panel.buttons import Button, Press

KEYS = {
    "\n": Press(Button.DONE),
    "\r": Press(Button.DONE),
    " ": Press(Button.DONE),
    "d": Press(Button.DONE),
    "u": Press(Button.UNDO),
    "\x7f": Press(Button.UNDO),
    "a": Press(Button.ARBITER, is_held=True),
    **{str(number): Press(Button.DONE, number=number) for number in range(1, 10)},
}
"""A key cannot be held: ``a`` stands for the arbiter's button held down."""


class TerminalKeys:
    """Reads single keys, without echo, in a thread of its own, and restores the terminal afterwards.

    Args:
        stream: a terminal in whose foreground this process is (:func:`is_ours`).
        press: called with every press; must be quick.
    """

    def __init__(self, stream: TextIO, press: Callable[[Press], None]) -> None:
        self._press = press
        self._terminal = stream.fileno()
        self._before = termios.tcgetattr(self._terminal)
        tty.setcbreak(self._terminal)
        self._wake_in, self._wake_out = os.pipe()
        self._is_closed = False
        self._thread = Thread(target=self._run, name="keys", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        os.write(self._wake_out, b".")
        self._thread.join()
        os.close(self._wake_in)
        os.close(self._wake_out)
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def _run(self) -> None:
        while True:
            ready, _, _ = select.select([self._terminal, self._wake_in], [], [])
            if self._wake_in in ready:
                return
            try:
                typed = os.read(self._terminal, 64)
            except OSError:
                return  # The terminal was closed; the match goes on without its keys.
            if not typed:
                return
            for key in typed.decode("utf-8", "replace").lower():
                if key in KEYS:
                    self._press(KEYS[key])


def is_ours(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal that this process may read: reading in the background would stop the process."""
    try:
        return stream.isatty() and os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
