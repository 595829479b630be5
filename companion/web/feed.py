"""Passes events from the referee's thread, which never waits, to the server's loop and its event streams.

Nothing is queued per browser: all events of a match are kept, and each stream remembers how far it has read.  So a
slow browser delays nobody, and one that comes back goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibration.kit import Kit
from companion.events import Event, to_json
from companion.referee.snapshot import Snapshot
from companion.web.move_history import MoveHistory, apply_event
from companion.web.view import PageState, state_row

if TYPE_CHECKING:
    from vision.capture.frames import Frame

ALIVE_S = 15.0
"""Interval of keep-alive messages in a quiet stream; browsers and proxies give up after a minute or two."""

RETRY_MS = 1000
"""Time after which a browser that lost its stream reconnects."""


class Feed:
    """The events of a table's match so far, and the table's state.

    :meth:`begin`, :meth:`__call__`, :meth:`see`, :meth:`follow` and :meth:`close` are called in the referee's
    thread, the rest in the loop.
    """

    def __init__(
        self,
        start: str,
        past: tuple[Event, ...] = (),
        people: tuple[str, ...] = (),
        kit: Kit | None = None,
        change_signal: ChangeSignal | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A feed without any listener, of a match (:meth:`begin`).

        Args:
            start: see :meth:`begin`.
            past: likewise.
            people: likewise.
            kit: likewise.
            change_signal: notified of every change; by default the feed has its own.
            clock: seconds; gives the age of the last event where no snapshot of the table is known.
        """
        self.change_signal = change_signal or ChangeSignal()
        self._clock, self._heard_s = clock, 0.0
        self._is_closed = False
        self._state_text = ""
        self._state_of: PageState | None = None
        self.begin(start, past, people, kit)

    def begin(
        self,
        start: str,
        past: tuple[Event, ...] = (),
        people: tuple[str, ...] = (),
        kit: Kit | None = None,
        *,
        is_idle: bool = False,
    ) -> None:
        """Switch to another match.

        Args:
            start: text of the position in which the match begins.
            past: what was said before a restart.
            people: the players' names in turn order; empty if they were not given.
            kit: the set on the table, with which boards are drawn; None: that of the game.
            is_idle: no match is being played; only the start position is shown.
        """
        self._messages: list[bytes] = []
        self._page_state = PageState(
            secrets.token_hex(4), (), MoveHistory(start), people=people, kit=kit, is_idle=is_idle
        )
        for event in past:
            self(event)
        self.change_signal.notify_all()

    def __call__(self, event: Event) -> None:
        """Take an event and wake the streams."""
        page_state, history = self._page_state, apply_event(self._page_state.history, event)
        self._messages.append(message(to_json(event), event.n))
        self._page_state = replace(page_state, events=(*page_state.events, event), history=history, t_s=event.t)
        self._heard_s = self._clock()
        self.change_signal.notify_all()

    def see(self, frame: Frame) -> None:
        """Ignore frames."""

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:
        """Take the table's state, and wake the streams if it has changed."""
        before = self._page_state
        self._page_state = replace(before, snapshot=snapshot, t_s=t_s, warning=warning)
        if (before.snapshot, before.warning) != (snapshot, warning):
            self.change_signal.notify_all()

    def rest(self) -> None:
        """Mark the match as no longer being played."""
        self._page_state = replace(self._page_state, is_idle=True)
        self.change_signal.notify_all()

    def close(self) -> None:
        """End every stream."""
        self._is_closed = True
        self.change_signal.notify_all()

    @property
    def page_state(self) -> PageState:
        """The table's present state."""
        return self._page_state

    def state_text(self) -> str:
        """The whole state as JSON."""
        page_state = self._page_state
        if page_state.snapshot is None:
            return compact(state_row(replace(page_state, t_s=page_state.t_s + self._clock() - self._heard_s)))
        if self._state_of is not page_state:
            self._state_text, self._state_of = compact(state_row(page_state)), page_state
        return self._state_text

    async def stream(self, after: int, *, with_state: bool) -> AsyncIterator[bytes]:
        """The events after number ``after``, as server-sent events, as they come; if wanted with each changed state.

        A browser that knows more events than there are has seen another match, and gets this one from its start; so
        does every browser when another match begins.
        """
        messages = self._messages
        first_n = self._page_state.events[0].n if self._page_state.events else 1
        place = max(0, after - first_n + 1)
        place = place if place <= len(messages) else 0
        shown: tuple[object, ...] = ()
        yield b"retry: %d\n\n" % RETRY_MS
        while True:
            news = self.change_signal.next()
            if messages is not self._messages:
                messages, place = self._messages, 0
            block = b"".join(messages[place:])
            place = len(messages)
            page_state = self._page_state
            showing = (page_state.match, page_state.n, page_state.snapshot, page_state.warning, page_state.is_idle)
            if with_state and shown != showing:
                shown = showing
                block += b"event: state\ndata: %s\n\n" % self.state_text().encode()
            if block:
                yield block
            if self._is_closed:
                return
            try:
                await asyncio.wait_for(news.wait(), ALIVE_S)
            except TimeoutError:
                yield b": alive\n\n"


class ChangeSignal:
    """Wakes, from any thread, all tasks that wait in an event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()

    def attach(self) -> None:
        """Use the running event loop for those who wait."""
        self._loop = asyncio.get_running_loop()

    def next(self) -> asyncio.Event:
        """The event that is set at the next notification."""
        return self._news

    def notify_all(self) -> None:
        """Wake all who wait."""
        if self._loop is None:
            return
        with suppress(RuntimeError):  # The loop has ended: nobody waits any more.
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def message(row: Mapping[str, Any], n: int) -> bytes:
    """A server-sent event with number ``n`` and ``row`` as its data."""
    return f"id: {n}\ndata: {compact(row)}\n\n".encode()


def compact(row: Mapping[str, Any]) -> str:
    """``row`` as JSON in one line without spaces."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
