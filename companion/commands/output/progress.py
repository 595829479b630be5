"""Progress of long work, shown on standard error if that is a terminal, else not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TypeVar

SHORT_S = 1.0
"""Work that is done sooner is not announced: a text that vanishes at once would only flicker."""

COMPILING = "compiling the loops over pixels, for the first time on this machine: some minutes"
"""What :func:`vision.warm_up.warm_up` is doing when it takes long."""

T = TypeVar("T")


def track_progress(things: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yields ``things``, ``total`` of them, with a progress bar that disappears after the last.

    Nothing may be printed meanwhile.
    """
    if not sys.stderr.isatty():
        yield from things
        return
    # Imported here only: it takes a tenth of a second, which scripts would waste.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    with bar:
        yield from bar.track(things, total, description=what)


@contextmanager
def progress_status(what: str) -> Iterator[None]:
    """Context for work of unknown progress: after :data:`SHORT_S` a line says what is being done."""
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
