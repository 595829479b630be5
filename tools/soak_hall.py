"""Fuzzes a hall's hub with 10,000 forged messages.  ``make soak``, or ``python -m tools.soak_hall --help``.

Tables play through a hub.  Forged messages arrive in the name of half of them and of tables that do not exist: bytes
are changed, fields are replaced by nonsense, or whole events are invented.  After every hundred messages, the states of
the other tables are fetched from the hub's page and must be correct.  In the end the hub is restarted on its store: it
must show the same states, and every stored match, also of forged tables, must pass the checks of its hash chain and of
the rules, and must be exportable.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from companion.errors import CompanionError
from companion.events import KINDS, Accepted, Event, Start, TakenBack
from companion.games import load_game
from companion.hall import topics
from companion.hall.hub import Hub
from companion.hall.page import HallPage
from companion.hall.tournament import Tournament
from companion.match import Match
from companion.recorder.proof import find_break
from companion.recorder.store import MatchInfo, Store
from companion.records.document import format_document, parse_document
from companion.records.record import load_record
from companion.records.sheet import format_sheet
from companion.replay import first_fault
from companion.rules.notation import format_move, format_position
from companion.web.feed import ChangeSignal

MESSAGES, SEED = 10_000, 1
GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond", "domination/4")
CHECKED_EVERY = 100
"""Number of messages between two checks."""

NONSENSE: tuple[Any, ...] = (
    None, True, -1, 0, 10**12, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "\x00", "a\nb", "R" * 5000, [], {},
    [[]], ["\ud800"], [None], {"a": 1}, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "1960-01-01T00:00:00+00:00", "citadel 5/5/5/5/5 R", ["z9"], ["c3", "c3", "c3"], "X-1",
)  # fmt: skip
"""Replacements of fields."""


@dataclass
class HonestTable:
    """A table that plays random moves, takes some back, and publishes its events; ``events``: those so far."""

    name: str
    info: MatchInfo
    match: Match
    rng: random.Random
    events: list[Event] = field(default_factory=list)

    def next(self) -> Event:
        """The next event: the start, a random legal move, or one taken back (always after the end of the match)."""
        t, n = float(len(self.events)), len(self.events) + 1
        game, position = self.match.game, self.match.position
        if not self.events:
            event: Event = Start(t=t, n=n, position=self.info.start)
        elif self.match.outcome is not None or (self.match.undoable and self.rng.random() < 0.2):
            earlier = self.match.take_back(1)
            move = self.match.plies[-1].move
            assert move is not None
            text = format_move(game, earlier.position, move)
            event = TakenBack(t=t, n=n, moves=(text,), position=format_position(game, earlier.position))
            self.match = earlier
        else:
            move = self.rng.choice(game.legal_moves(position))
            text = format_move(game, position, move)
            self.match = self.match.play(move)
            after = format_position(game, self.match.position)
            event = Accepted(t=t, n=n, player=position.to_move, move=text, position=after)
        self.events.append(event)
        return event

    def online(self) -> tuple[str, bytes]:
        """Topic and payload with which the table comes online."""
        return topics.topic(self.name, topics.ONLINE), topics.online_message(self.info)

    def message(self, event: Event) -> tuple[str, bytes]:
        """Topic and payload of an event."""
        return topics.topic(self.name, topics.EVENT), topics.event_message(topics.key_of(self.info), event)


def honest_table(name: str, tag: str, seed: int) -> HonestTable:
    """A table with a new match."""
    game = load_game(tag)
    start = format_position(game, game.start())
    started_at = datetime(2026, 11, 1 + seed % 28, tzinfo=UTC)
    info = MatchInfo(tag, game.players, start, started_at, "kit", tuple(f"P{p}" for p in game.players))
    return HonestTable(name, info, Match(game, game.start()), random.Random(seed))


def forged_message(tables: list[HonestTable], rng: random.Random) -> tuple[str, bytes]:
    """Topic and payload of a message that no table has sent: a mutated real one, or an invented one."""
    table = rng.choice(tables)
    topic, data = rng.choice([table.online(), table.message(rng.choice(table.events or [_start(table)]))])
    mode = rng.randrange(5)
    if mode == 0:
        return topic, _corrupted(data, rng)
    row = json.loads(data)
    if mode == 1:
        row = {"match": topics.key_of(table.info), "event": _random_event(len(table.events) + 1, rng)}
        topic = topics.topic(table.name, topics.EVENT)
    fields = row.get("event") or row.get("match") or row
    if isinstance(fields, dict):
        for _ in range(rng.randint(mode != 1, 2)):
            fields[rng.choice([*fields, "more"])] = rng.choice(NONSENSE)
        if "n" in fields and rng.random() < 0.7:
            fields["n"] = len(table.events) + 1
    if mode == 4:
        topic = topics.topic(f"x{rng.randrange(1000)}", rng.choice((topics.ONLINE, topics.EVENT)))
    return topic, json.dumps(row).encode("utf-8", "surrogatepass")


def _start(table: HonestTable) -> Event:
    return Start(t=0.0, n=1, position=table.info.start)


def _random_event(n: int, rng: random.Random) -> dict[str, Any]:
    """A random event with plausible values of its fields."""
    kind = rng.choice([*KINDS.values()])
    values = ("R", "c3", "c3-d3", "clear", "G-1", 1, 0.5, ["c3"], ["R", "G"], [1.0, 2.0], None)
    names = [name for name in kind.__dataclass_fields__ if name not in ("event", "t", "n")]
    return {"event": kind.event, "t": 1.0, "n": n} | {name: rng.choice(values) for name in names}


def _corrupted(data: bytes, rng: random.Random) -> bytes:
    """``data`` with some bytes changed, deleted or duplicated."""
    text = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text))
        match rng.randrange(3):
            case 0:
                text[at] = rng.randrange(256)
            case 1:
                del text[at : at + rng.randint(1, 20)]
            case _:
                text[at:at] = text[at : at + rng.randint(1, 20)]
        if not text:
            break
    return bytes(text)


class Hall:
    """A hub with its store and its web page."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path)
        self.hub = Hub(self.store, lambda *_: None, ChangeSignal())
        self.page = HallPage(("127.0.0.1", 0), self.hub, Tournament(path.with_name("rounds.txt")))

    def receive(self, message: tuple[str, bytes], now_s: float) -> None:
        """Pass a message to the hub."""
        self.hub.take(*message, now_s)

    def state(self, table: str) -> dict[str, Any]:
        """A table's state as served to browsers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.page.server.port, timeout=30)
        connection.request("GET", f"/table/{table}/state")
        row: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return row

    def close(self) -> None:
        """Close page and store."""
        self.page.close()
        self.store.close()


def campaign(path: Path, messages: int, seed: int) -> Iterator[str]:
    """Run the campaign; yield every fault as text."""
    rng = random.Random(seed)
    tables = [honest_table(f"t{i}", tag, seed + i) for i, tag in enumerate(GAMES)]
    hall = Hall(path)
    forged_tables, checked_tables = tables[::2], tables[1::2]
    for table in tables:
        hall.receive(table.online(), 0.0)
    for k in range(messages):
        if k % 10 == 0:
            table = rng.choice(tables)
            hall.receive(table.message(table.next()), float(k))
        hall.receive(forged_message(forged_tables, rng), float(k))
        if k % CHECKED_EVERY == 0:
            yield from wrong_states(hall, checked_tables, k)
    yield from wrong_states(hall, checked_tables, messages)
    print(f"{hall.hub.faults} of {messages} messages were refused")
    hall.close()
    hall = Hall(path)
    yield from wrong_states(hall, checked_tables, messages)
    yield from broken_matches(hall.store)
    hall.close()


def wrong_states(hall: Hall, tables: list[HonestTable], k: int) -> Iterator[str]:
    """Yield a fault for every table whose state on the page is wrong; ``k``: number of the message."""
    for table in tables:
        state = hall.state(table.name)
        position = format_position(table.match.game, table.match.position)
        sent, shown = (len(table.events), position), (state["n"], state["position"])
        if sent != shown:
            yield f"message {k}: table {table.name} told {sent}, shown is {shown}"


def broken_matches(store: Store) -> Iterator[str]:
    """Yield a fault for every match of the store that cannot be verified or exported."""
    for match in store.match_ids():
        try:
            fault = find_break(store, match) or first_fault(store.events(match))
            record = load_record(store, match)
            format_sheet(record)
            parse_document(format_document(record))
        except CompanionError as error:
            fault = error  # type: ignore[assignment]
        if fault is not None:
            yield f"match {match}: {fault}"


def main() -> int:
    """Run the campaign; return 1 if there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    options = parser.parse_args()
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        faults = list(campaign(Path(folder) / "hall.db", options.messages, options.seed))
    print("\n".join(faults[:20]))
    print(f"{options.messages} forged messages in {time.monotonic() - begun_s:.0f} s: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
