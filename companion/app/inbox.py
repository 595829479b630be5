"""People's orders to the table, from any thread: the deciding thread drains them and reports each order's outcome.

How to use it::

    inbox = Inbox()
    outcome = inbox.put(Pause(), by="arbiter")      # any thread: a button, the page
    inbox.drain(take)                               # the deciding thread, with every frame
    outcome.result(timeout=1)                       # the events that followed; raises OrderRefused
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from threading import Lock

from companion.errors import CompanionError
from companion.events import Event
from companion.referee.orders import Order, OrderRefused
from companion.referee.referee import Referee

DeferredOrder = Callable[[Referee], Order | None]
"""An order that depends on how the match stands when it is taken, such as an answer to the question then open.

Called in the deciding thread; raises CompanionError if nothing fits.  None: nothing is to be done.
"""

CAPACITY = 100
"""More than people can press between two frames; beyond it somebody leans on a button, or means harm."""

CLOSED = "the table is closed"
FULL = "too much is asked of the table at once; try again"

Outcome = Future[tuple[Event, ...]]
"""The result of an order: the events that followed, or the CompanionError that refused it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One order, who gives it, and where to report its outcome."""

    order: Order | DeferredOrder
    by: str
    outcome: Outcome


@dataclass
class Inbox:
    """A bounded queue of orders.  :meth:`put` may be called from any thread, the rest only from the deciding one."""

    _requests: Queue[Request] = field(default_factory=lambda: Queue(CAPACITY))
    _is_closed: bool = False
    _gate: Lock = field(default_factory=Lock)

    def put(self, order: Order | DeferredOrder, by: str = "arbiter") -> Outcome:
        """Submit ``order``; returns at once, also if the table is closed or the queue full (then it is refused)."""
        request = Request(order, by, Future())
        with self._gate:
            if self._is_closed:
                request.outcome.set_exception(OrderRefused(CLOSED))
                return request.outcome
            try:
                self._requests.put_nowait(request)
            except Full:
                request.outcome.set_exception(OrderRefused(FULL))
        return request.outcome

    def drain(self, take: Callable[[Order | DeferredOrder, str], tuple[Event, ...]]) -> None:
        """Pass every waiting order to ``take``; the CompanionErrors that it raises go to whoever gave the order."""
        with suppress(Empty):
            while True:
                request = self._requests.get_nowait()
                if not request.outcome.set_running_or_notify_cancel():
                    continue
                try:
                    request.outcome.set_result(take(request.order, request.by))
                except CompanionError as error:
                    request.outcome.set_exception(error)

    def close(self) -> None:
        """Refuse all waiting and future orders."""
        with self._gate:
            self._is_closed = True

        def refuse(_order: Order | DeferredOrder, _by: str) -> tuple[Event, ...]:
            raise OrderRefused(CLOSED)

        self.drain(refuse)
