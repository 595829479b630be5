"""A table without a camera: perfect readings of what the test puts on it, judged in a thread of its own."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Event as Flag
from threading import Thread
from typing import Any

import numpy as np
import pytest
from starlette.routing import BaseRoute

from companion.app.inbox import DeferredOrder, Inbox
from companion.app.station import Station
from companion.events import Event
from companion.games import load_game
from companion.match import Match
from companion.referee.orders import Order
from companion.referee.referee import Referee
from companion.rules.board import Stack
from companion.rules.notation import format_position, parse_move, parse_position
from companion.simulate.readings import Noise, kit_states, next_frame, read_table
from companion.web.feed import Feed
from companion.web.page import Page
from vision.capture.frames import Frame

FRAME_S = 1 / 12
PACE_S, IDLE_S, IDLE_FRAMES = 0.002, 0.02, 5 * 12
"""Real time per frame, in s, and the longer one after IDLE_FRAMES without a change on the board.

These are five seconds at the table, longer than any delay of the referee.
"""

WAIT_S = 300
"""Timeout that is long enough for a busy machine."""

HIGHEST = 10
CLEAR = Noise(height_nats=60.0, top_nats=60.0, frame_nats=0.1)
PICTURE = b"\xff\xd8\xff\xe0 no real picture \xff\xd9"


class WebTable:
    """A referee, its page, and the board; ``lay`` and ``play`` act as the players' hands."""

    def __init__(
        self, tag: str, start: str | None = None, routes: Sequence[BaseRoute] = (), station: Station | None = None
    ) -> None:
        self.station = station or Station(())
        self.game = load_game(tag)
        self.inbox, self.events = Inbox(), list[Event]()
        start = start or format_position(self.game, self.game.start())
        self.referee = Referee(Match(self.game, parse_position(self.game, start)))
        self.feed = Feed(start)
        self.page = Page(("127.0.0.1", 0), self.feed, token="secret", routes=routes)
        self.page.serve(self.inbox.put, lambda: PICTURE)
        self._table = self.game.table(self.referee.match.position)
        self._scene: tuple[Stack, ...] = self._table.stacks
        self._laid: tuple[Stack, ...] | None = self._scene
        self._rng = np.random.default_rng(1)
        self._is_closed = Flag()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self.page.server.port

    def lay(self, **stacks: Stack) -> None:
        """Set these stacks; all other cells are as in the accepted position."""
        board = list(self.game.table(self.referee.match.position).stacks)
        for cell, stack in stacks.items():
            board[self.game.layout.index[cell]] = stack
        self._laid = tuple(board)

    def play(self, text: str) -> Event:
        """Make a move on the board, and return the first event after it."""
        match = self.referee.match
        move = parse_move(self.game, match.position, text)
        begun = len(self.events)
        self._laid = self.game.table(self.game.play(match.position, move)).stacks
        return self.wait_for(lambda: self.events[begun] if len(self.events) > begun else None)

    def restore(self) -> None:
        """Show the accepted position again."""
        self.lay()

    def wait_for(self, what: Callable[[], Any]) -> Any:
        """Wait for the first truthy value of ``what`` and return it."""
        until = time.monotonic() + WAIT_S
        while not (value := what()):
            assert time.monotonic() < until, f"waited in vain; said so far: {self.events}"
            time.sleep(0.005)
        return value

    def said(self, kind: str) -> Event:
        """Return the last event of this kind, waiting for one if necessary."""
        event: Event = self.wait_for(lambda: next((e for e in reversed(self.events) if e.event == kind), None))
        return event

    def close(self) -> None:
        """Stop the thread and close everything."""
        self._is_closed.set()
        self._thread.join()
        self.inbox.close()
        self.station.close()
        self.page.close()

    def _publish(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in events:
            self.events.append(event)
            self.station.tell(event)
            self.feed(event)
        return events

    def _take(self, t_s: float, order: Order | DeferredOrder, by: str) -> tuple[Event, ...]:
        wanted = order if isinstance(order, Order) else order(self.referee)
        return () if wanted is None else self._publish(self.referee.order(t_s, wanted, by))

    def _run(self) -> None:
        states = kit_states(self.game.pieces, HIGHEST, hides=True)
        self._publish(self.referee.begin(0.0))
        seq, scene, laid_at = 0, None, 0
        while not self._is_closed.wait(PACE_S if seq - laid_at < IDLE_FRAMES else IDLE_S):
            seq += 1
            t_s = seq * FRAME_S
            self.inbox.drain(partial(self._take, t_s))
            laid, self._laid = self._laid, None
            if laid is not None:
                sights = [self.game.sight(stack) for stack in laid]
                scene, laid_at = read_table(self.game.layout.cells, states, sights, CLEAR, self._rng), seq
            glance = self.referee.glance(t_s, moving=laid is not None)
            self._publish(glance.events)
            if glance.read and scene is not None:
                self._publish(self.referee.observe(t_s, next_frame(scene, t_s, CLEAR, self._rng)))
            self.feed.see(Frame(np.zeros((2, 2, 3), np.uint8), seq, t_s))
            self.station.follow(t_s, self.referee.snapshot, None)
            self.feed.follow(t_s, self.referee.snapshot, None)


@pytest.fixture
def open_table() -> Iterator[Callable[..., WebTable]]:
    """Return a function that opens tables, which are closed after the test."""
    tables = list[WebTable]()

    def opened(tag: str, start: str | None = None) -> WebTable:
        tables.append(WebTable(tag, start))
        return tables[-1]

    yield opened
    for table in tables:
        table.close()


@pytest.fixture
def table(open_table: Callable[..., WebTable]) -> WebTable:
    """Return a table for Domination at the start position."""
    table = open_table("domination")
    table.wait_for(lambda: table.referee.snapshot.mode == "watching")
    return table


class Client:
    """An HTTP client as used by scripts."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, method: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Return the status, headers (lower case) and body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def order(self, action: str, token: str = "secret", **fields: Any) -> tuple[int, dict[str, Any]]:
        """Send an arbiter's action and return status and answer; repeat it while the table is too busy (503)."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        until = time.monotonic() + WAIT_S
        while True:
            status, _, data = self.ask("POST", f"/arbiter/{action}", json.dumps(fields), headers)
            if status != 503 or time.monotonic() > until:
                return status, json.loads(data)

    def state(self) -> dict[str, Any]:
        """Return the whole state."""
        row: dict[str, Any] = json.loads(self.ask("GET", "/state")[2])
        return row


@pytest.fixture(scope="module")
def still() -> Iterator[WebTable]:
    """Return a table whose match must not be changed by tests."""
    table = WebTable("domination")
    table.wait_for(lambda: table.referee.snapshot.mode == "watching")
    yield table
    assert [event.event for event in table.events] == ["start"]
    table.close()


@pytest.fixture
def stranger(still: WebTable) -> Client:
    """Return a client of the ``still`` table's page."""
    return Client(still.port)


@pytest.fixture
def client(table: WebTable) -> Client:
    """Return a client of the page of ``table``."""
    return Client(table.port)
