"""How far long work is, on standard error where that is a terminal; elsewhere nothing is said of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TypeVar

SHORT_S = 1.0
"""What is done sooner is not announced: words that vanish at once are only a flicker."""

COMPILING = "compiling the loops over pixels, for the first time on this machine: some minutes"
"""What :func:`vision.warm_up.warm_up` does when it takes long."""

T = TypeVar("T")


def followed(things: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The same things one after the other, ``total`` of them, with a bar that grows with each and goes with the last.

    Nothing may be printed meanwhile.
    """
    if not sys.stderr.isatty():
        yield from things
        return
    # Only here: a tenth of a second to import, for scripts in vain.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    with bar:
        yield from bar.track(things, total, description=what)


@contextmanager
def waited_for(what: str) -> Iterator[None]:
    """While something is done that cannot say how far it is: a line says what, after :data:`SHORT_S`."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415

    status = Console(stderr=True).status(what)
    timer = Timer(SHORT_S, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
