"""A hub among liars: 10,000 forged and mutated messages.  ``make soak``, or ``python -m tools.soak_hall --help``.

Tables play through a hub.  In the name of half of them, and of tables that there are not, liars send what messages
become when bytes are flipped, fields are exchanged for nonsense, or messages are made up.  After each hundred the state
of the other tables is fetched from the hub's page and must be what they said.  In the end the hub begins anew on its
store: it must show them again, and every match that it kept, the liars' too, must hold by its chain and by the rules,
and be exported.
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
from companion.recorder.proof import broken_at
from companion.recorder.store import MatchInfo, Store
from companion.records.document import format_document, parse_document
from companion.records.record import take_out
from companion.records.sheet import format_sheet
from companion.replay import first_fault
from companion.rules.notation import format_move, format_position
from companion.web.feed import Bell

MESSAGES, SEED = 10_000, 1
GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond", "domination/4")
CHECKED_EVERY = 100

NONSENSE: tuple[Any, ...] = (
    None, True, -1, 0, 10**12, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "\x00", "a\nb", "R" * 5000, [], {},
    [[]], ["\ud800"], [None], {"a": 1}, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "1960-01-01T00:00:00+00:00", "citadel 5/5/5/5/5 R", ["z9"], ["c3", "c3", "c3"], "X-1",
)  # fmt: skip
"""What a field is exchanged for."""


@dataclass
class HonestTable:
    """A table that plays at random and publishes it; it remembers its messages."""

    name: str
    info: MatchInfo
    match: Match
    chance: random.Random
    said: list[Event] = field(default_factory=list)

    def next(self) -> Event:
        """The next event of the match, or of the next one when it has ended."""
        t, n = float(len(self.said)), len(self.said) + 1
        game, position = self.match.game, self.match.position
        if not self.said:
            event: Event = Start(t=t, n=n, position=self.info.start)
        elif self.match.outcome is not None or (self.match.undoable and self.chance.random() < 0.2):
            earlier = self.match.take_back(1)
            move = self.match.plies[-1].move
            assert move is not None
            text = format_move(game, earlier.position, move)
            event = TakenBack(t=t, n=n, moves=(text,), position=format_position(game, earlier.position))
            self.match = earlier
        else:
            move = self.chance.choice(game.legal_moves(position))
            text = format_move(game, position, move)
            self.match = self.match.play(move)
            after = format_position(game, self.match.position)
            event = Accepted(t=t, n=n, player=position.to_move, move=text, position=after)
        self.said.append(event)
        return event

    def online(self) -> tuple[str, bytes]:
        """The message with which it comes."""
        return topics.topic(self.name, topics.ONLINE), topics.online_message(self.info)

    def message(self, event: Event) -> tuple[str, bytes]:
        """The message of an event."""
        return topics.topic(self.name, topics.EVENT), topics.event_message(topics.key_of(self.info), event)


def honest(name: str, tag: str, seed: int) -> HonestTable:
    """A table whose match begins now."""
    game = load_game(tag)
    start = format_position(game, game.start())
    begun = datetime(2026, 11, 1 + seed % 28, tzinfo=UTC)
    info = MatchInfo(tag, game.players, start, begun, "kit", tuple(f"P{p}" for p in game.players))
    return HonestTable(name, info, Match(game, game.start()), random.Random(seed))


def forged(tables: list[HonestTable], chance: random.Random) -> tuple[str, bytes]:
    """A message that no table sends: a mutation of one that might come next, or one made up."""
    table = chance.choice(tables)
    topic, data = chance.choice([table.online(), table.message(chance.choice(table.said or [_start(table)]))])
    way = chance.randrange(5)
    if way == 0:
        return topic, _flipped(data, chance)
    row = json.loads(data)
    if way == 1:
        row = {"match": topics.key_of(table.info), "event": _made_up(len(table.said) + 1, chance)}
        topic = topics.topic(table.name, topics.EVENT)
    inner = row.get("event") or row.get("match") or row
    if isinstance(inner, dict):
        for _ in range(chance.randint(way != 1, 2)):
            inner[chance.choice([*inner, "more"])] = chance.choice(NONSENSE)
        if "n" in inner and chance.random() < 0.7:
            inner["n"] = len(table.said) + 1
    if way == 4:
        topic = topics.topic(f"x{chance.randrange(1000)}", chance.choice((topics.ONLINE, topics.EVENT)))
    return topic, json.dumps(row).encode("utf-8", "surrogatepass")


def _start(table: HonestTable) -> Event:
    return Start(t=0.0, n=1, position=table.info.start)


def _made_up(n: int, chance: random.Random) -> dict[str, Any]:
    """An event of any kind with plausible fields."""
    kind = chance.choice([*KINDS.values()])
    values = ("R", "c3", "c3-d3", "clear", "G-1", 1, 0.5, ["c3"], ["R", "G"], [1.0, 2.0], None)
    names = [name for name in kind.__dataclass_fields__ if name not in ("event", "t", "n")]
    return {"event": kind.event, "t": 1.0, "n": n} | {name: chance.choice(values) for name in names}


def _flipped(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, cut out or doubled."""
    text = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text))
        match chance.randrange(3):
            case 0:
                text[at] = chance.randrange(256)
            case 1:
                del text[at : at + chance.randint(1, 20)]
            case _:
                text[at:at] = text[at : at + chance.randint(1, 20)]
        if not text:
            break
    return bytes(text)


class Hall:
    """A hub with its page on a store."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path)
        self.hub = Hub(self.store, lambda *_: None, Bell())
        self.page = HallPage(("127.0.0.1", 0), self.hub, Tournament(path.with_name("rounds.txt")))

    def hear(self, message: tuple[str, bytes], now_s: float) -> None:
        """Take a message."""
        self.hub.take(*message, now_s)

    def state(self, table: str) -> dict[str, Any]:
        """A table's state as browsers get it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.page.server.port, timeout=30)
        connection.request("GET", f"/table/{table}/state")
        row: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return row

    def close(self) -> None:
        """End."""
        self.page.close()
        self.store.close()


def campaign(path: Path, messages: int, seed: int) -> Iterator[str]:
    """Every fault in words."""
    chance = random.Random(seed)
    tables = [honest(f"t{i}", tag, seed + i) for i, tag in enumerate(GAMES)]
    hall = Hall(path)
    liars, others = tables[::2], tables[1::2]
    for table in tables:
        hall.hear(table.online(), 0.0)
    for k in range(messages):
        if k % 10 == 0:
            table = chance.choice(tables)
            hall.hear(table.message(table.next()), float(k))
        hall.hear(forged(liars, chance), float(k))
        if k % CHECKED_EVERY == 0:
            yield from missed(hall, others, k)
    yield from missed(hall, others, messages)
    print(f"{hall.hub.faults} of {messages} messages were refused")
    hall.close()
    hall = Hall(path)
    yield from missed(hall, others, messages)
    yield from broken(hall.store)
    hall.close()


def missed(hall: Hall, tables: list[HonestTable], k: int) -> Iterator[str]:
    """Tables whose events the page does not show."""
    for table in tables:
        state = hall.state(table.name)
        position = format_position(table.match.game, table.match.position)
        told, shown = (len(table.said), position), (state["n"], state["position"])
        if told != shown:
            yield f"message {k}: table {table.name} told {told}, shown is {shown}"


def broken(store: Store) -> Iterator[str]:
    """Matches of the store that cannot be verified or exported."""
    for match in store.match_ids():
        try:
            fault = broken_at(store, match) or first_fault(store.events(match))
            record = take_out(store, match)
            format_sheet(record)
            parse_document(format_document(record))
        except CompanionError as error:
            fault = error  # type: ignore[assignment]
        if fault is not None:
            yield f"match {match}: {fault}"


def main() -> int:
    """Run the campaign; exit code 1 when there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    told = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        faults = list(campaign(Path(folder) / "hall.db", told.messages, told.seed))
    print("\n".join(faults[:20]))
    print(f"{told.messages} forged messages in {time.monotonic() - begun:.0f} s: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
