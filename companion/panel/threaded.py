"""A panel controller in its own thread, for panels whose lights blink while nothing happens."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from companion.errors import CompanionError
from companion.events import Event
from companion.panel.controller import PanelController


class ThreadedPanel:
    """Passes everything to its controller from one thread; never makes the caller wait for a lamp.

    Attributes:
        failure: why the panel went dark during the match; empty while it works.  The match goes on without it.
    """

    def __init__(self, announcer: PanelController) -> None:
        self.failure = ""
        self._controller = announcer
        self._tasks: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="panel", daemon=True)
        self._thread.start()

    def tell(self, event: Event) -> None:
        """Show an event, as soon as the thread gets to it."""
        self._tasks.put(lambda: self._controller.tell(event))

    def warn(self, warning: str | None) -> None:
        """Show the store's standing warning, or that there is none."""
        self._tasks.put(lambda: self._controller.warn(warning))

    def note(self, text: str) -> None:
        """Show a sentence that is no event."""
        self._tasks.put(lambda: self._controller.note(text))

    def pause(self, *, is_paused: bool) -> None:
        """Show that the match is paused, or that it goes on."""
        self._tasks.put(lambda: self._controller.pause(is_paused=is_paused))

    def close(self) -> None:
        """Show what has been passed on, then turn everything off; a second call does nothing."""
        self._tasks.put(None)
        self._thread.join()
        self._controller.close()

    def _run(self) -> None:
        try:
            wait_s = self._controller.tick()
            while (task := self._next_task(wait_s)) is not None:
                task()
                wait_s = self._controller.tick()
        except CompanionError as error:
            self.failure = str(error)

    def _next_task(self, wait_s: float | None) -> Callable[[], object] | None:
        """The next task; an empty one if it is only time for the next step; None if that was all."""
        try:
            return self._tasks.get(timeout=wait_s)
        except Empty:
            return _nothing


def _nothing() -> None:
    """A task for when only time has passed."""
