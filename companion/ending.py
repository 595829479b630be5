"""The signals that end the program: each raises an exception, so that everything that is open is closed in order."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

CALLED_FROM_C = "llvmlite.binding"
"""While it compiles, LLVM calls functions of this package back; no exception comes through C++, and without what they
hand over Numba fails."""

AGAIN_S = 0.02
"""A signal that came just then is sent again after so long."""


class Ended(KeyboardInterrupt):
    """Somebody has ended the program by a signal."""

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
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    if not _holds_back(frame):
        raise Ended(number)
    again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _holds_back(frame: FrameType | None) -> bool:
    """Whether an exception raised in ``frame`` would be lost on its way: in a finalizer, or called from C++."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__", "").startswith(CALLED_FROM_C):
            return True
        frame = frame.f_back
    return False
