"""The signals that end the program: each as Ctrl-C does, so that everything that is open is closed in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """Somebody has ended the program by a signal other than Ctrl-C's."""

    def __init__(self, number: int) -> None:
        """``number``: of the signal."""
        super().__init__()
        self.number = number


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise :class:`Ended` in the main thread when one of SIGNALS comes; one that was ignored (``nohup``) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise Ended(number)
