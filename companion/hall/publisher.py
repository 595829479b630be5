"""Publishes a table's events to the hall.  The table's own store stays authoritative; a dead broker does no harm.

How to use it::

    publisher = Publisher(parse_broker("mqtt://hall:1883/table-3", with_table=True), info, past=())
    table.listeners.append(publisher)
    publisher.close()
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from companion.errors import BadText
from companion.events import Event
from companion.hall import topics
from companion.hall.link import Link, Will
from companion.hall.topics import Broker
from companion.recorder.store import MatchInfo

LEAVING_S = 2.0
"""Time that the last messages may take when the program ends."""


class Publisher:
    """Publishes every event of one match, and again those that the hub has missed."""

    def __init__(
        self, broker: Broker, info: MatchInfo, past: tuple[Event, ...] = (), say: Callable[[str], None] = lambda _: None
    ) -> None:
        """``past``: events before a restart; ``say`` is called, in any thread, when the hall cannot be reached."""
        self._info, self._key, self._table = info, topics.key_of(info), broker.table
        self._events: list[Event] = list(past)
        self._say, self._is_told = say, False
        self._lock = Lock()
        self._link = Link(
            broker,
            f"table-{broker.table}",
            topics=(topics.topic(broker.table, topics.WANT),),
            connected=self._come,
            heard=self._hear,
            lost=self._miss,
            will=Will(topics.topic(broker.table, topics.ONLINE), topics.online_message(None)),
        )
        self._link.start()

    def __call__(self, event: Event) -> None:
        """Publish an event, now or as soon as the broker can be reached."""
        with self._lock:
            self._events.append(event)
            if self._link.is_up:
                self._send(event)

    def close(self) -> None:
        """Announce that the table goes offline, if the broker can be reached, and disconnect."""
        if self._link.is_up:
            gone = self._link.say(topics.topic(self._table, topics.ONLINE), topics.online_message(None), retain=True)
            with suppress(RuntimeError, ValueError):  # The connection was lost meanwhile: the last will says it.
                gone.wait_for_publish(LEAVING_S)
        self._link.close()

    def _come(self) -> None:
        """Announce the match once connected; the hub answers with the events that it wants."""
        self._is_told = False
        message = topics.online_message(self._info)
        self._link.say(topics.topic(self._table, topics.ONLINE), message, retain=True)

    def _miss(self, why: str) -> None:
        if not self._is_told:
            self._is_told = True
            self._say(f"hall: {why}; the match goes on, and is told when the broker is back")

    def _hear(self, _topic: str, data: bytes) -> None:
        try:
            key, after = topics.read_want(data)
        except BadText:
            return  # Anybody may write to a broker without passwords; invalid requests are ignored.
        if key != self._key:
            return
        with self._lock:
            for event in self._events:
                if event.n > after:
                    self._send(event)

    def _send(self, event: Event) -> None:
        self._link.say(topics.topic(self._table, topics.EVENT), topics.event_message(self._key, event))
