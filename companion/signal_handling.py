"""The signals that end the program: each raises an exception, so that everything open is closed in order."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

CALLED_FROM_C = "llvmlite.binding"
"""While compiling, LLVM calls back functions of this package; no exception can pass through C++, and Numba fails
without what these functions return."""

RETRY_S = 0.02
"""A signal that arrived during such a call is sent again after this time."""


class TerminationSignal(KeyboardInterrupt):
    """Somebody has ended the program by a signal."""

    def __init__(self, number: int) -> None:
        """``number``: the signal's number."""
        super().__init__()
        self.number = number


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise :class:`TerminationSignal` in the main thread on any of SIGNALS; an ignored one (nohup) stays ignored."""
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
    if not _must_defer(frame):
        raise TerminationSignal(number)
    again = threading.Timer(RETRY_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _must_defer(frame: FrameType | None) -> bool:
    """Whether an exception raised in ``frame`` would be lost on its way: in a finalizer, or called from C++."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__", "").startswith(CALLED_FROM_C):
            return True
        frame = frame.f_back
    return False
