"""The hub's handling of forged messages, and of a store that contains invalid data."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.hall import topics
from companion.hall.hub import MAX_TABLES, SAY_AGAIN_S, Hub
from companion.hall.page import table_row
from companion.recorder.chain import next_hash
from companion.recorder.proof import find_break
from companion.recorder.store import Store
from companion.replay import first_fault
from companion.web.feed import ChangeSignal
from tests.hall.test_hub import INFO, KEY, Room, match_events

EVENTS = match_events(5)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """Return a hub with two playing tables."""
    room = Room(tmp_path / "hall.db")
    for table in ("3", "4"):
        room.online(table=table)
        room.hear(*EVENTS[:2], table=table)
    yield room
    room.store.close()


def online(**fields: object) -> tuple[str, bytes]:
    """Return topic and data of an online message with forged match fields."""
    row = json.loads(topics.online_message(INFO))
    row["match"] |= fields
    return topics.topic("3", topics.ONLINE), json.dumps(row).encode()


def event(kind: object, **fields: object) -> tuple[str, bytes]:
    """Return topic and data of an event message with forged fields."""
    row = {"match": KEY, "event": {"event": kind, "t": 9.0, "n": 3, **fields}}
    return topics.topic("3", topics.EVENT), json.dumps(row).encode()


POSITION = getattr(EVENTS[1], "position", "")
FORGED = {
    "names of another length": online(names=["Ann"], started_at="2026-11-21T10:00:00+00:00"),
    "the year 1": online(started_at="0001-01-01T00:00:00+14:00"),
    "the year 9999": online(started_at="9999-12-31T23:59:59-14:00"),
    "half a character in a name": online(names=["\ud800", ""]),
    "half a character in a kit": online(kit="\ud800"),
    "a kind that is a list": event([]),
    "a kind that is an object": event({}),
    "half a character in a text": event("unsure", options=[], question="\ud800"),
    "more stacks than squares": event("unfinished", todo="x", cells=["c3"], stacks=["R", "G"]),
    "a square of another board": event("unfinished", todo="x", cells=["z9"]),
    "a rule that there is not": event(
        "illegal", player="R", attempt=None, rules=["X-1"], reason="", cells=[], seen="", expected=""
    ),
    "a player that there is not": event("skipped", player="Q"),
    "the end without an end": event("game-over", winner="R", rule="DOM-8", position=POSITION),
    "a position from nowhere": event("accepted", player="R", move="c3-d3", position=POSITION),
    "a ruling of another game": event("corrected", by="x", position="citadel 5/5/5/5/5 R"),
    "a ruling without a move": event("corrected", by="x"),
    "a state that there is not": event("view", state="x"),
    "a second start": event("start", position=INFO.start),
    "a number of the wrong kind": event("repeated", times=1e3, position=POSITION),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_message_ends_nothing_and_is_not_kept(room: Room, tmp_path: Path, name: str) -> None:
    room.hub.take(*FORGED[name], room.now_s)
    assert room.hub.faults == 1
    assert room.hub.seats["3"].fault
    room.hear(*EVENTS[2:], table="4")
    assert table_row(room.hub.seats["4"])["turns"] == 5
    room.hear(*EVENTS[2:], table="3")
    assert not room.hub.seats["3"].fault
    assert room.kept() == EVENTS + EVENTS
    again = Room(tmp_path / "hall.db")
    assert [table_row(seat)["turns"] for seat in again.hub.seats.values()] == [5, 5]
    again.store.close()


def test_a_table_that_is_left_out_is_named_now_and_then(tmp_path: Path) -> None:
    said = list[str]()
    with Store.open(tmp_path / "hall.db") as store:
        hub = Hub(store, lambda *_: None, ChangeSignal(), said.append)
        hub.take(topics.topic("3", topics.ONLINE), topics.online_message(INFO), 0.0)
        for i in range(100):
            hub.take(*event("dance"), i * SAY_AGAIN_S / 100)
        assert len(said) == 1
        assert said[0].startswith("table 3: left out from event 1 on: event 'dance' is not known")
        hub.take(*event("dance"), 2 * SAY_AGAIN_S)
    assert len(said) == 2


def test_who_invents_tables_and_matches_fills_neither_store_nor_memory(room: Room) -> None:
    for i in range(2 * MAX_TABLES):
        room.online(table=f"x{i}")
    assert len(room.hub.seats) == MAX_TABLES
    for day in range(1, 29):
        room.hub.take(*online(started_at=f"2026-10-{day:02}T10:00:00+00:00"), room.now_s)
    room.hear(*EVENTS[:3], table="3")
    assert len(room.store.match_ids()) == 2
    assert table_row(room.hub.seats["3"])["turns"] == 2


def test_two_tables_of_one_name_are_noticed(room: Room) -> None:
    room.hear(replace(EVENTS[1], t=77.0))
    assert "two tables" in room.hub.seats["3"].fault
    assert room.kept() == EVENTS[:2] + EVENTS[:2]


def damaged(path: Path, spoil: Callable[[sqlite3.Connection], Any]) -> None:
    """Modify the file of a store by SQL after dropping its triggers."""
    other = sqlite3.connect(path, isolation_level=None)
    for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        other.execute(f"DROP TRIGGER {name}")
    spoil(other)
    other.close()


def with_event(text: str) -> Callable[[sqlite3.Connection], Any]:
    """Return a function that replaces the last event of match 1 by ``text``, with a matching hash."""

    def spoil(other: sqlite3.Connection) -> None:
        ((before,),) = other.execute("SELECT hash FROM event WHERE match = 1 AND n = 1").fetchall()
        row = (text, next_hash(bytes(before), text, None))
        other.execute("UPDATE event SET body = ?, hash = ? WHERE match = 1 AND n = 2", row)

    return spoil


STORED = {
    "half a character": with_event('{"event":"unsure","t":1.0,"n":2,"options":[],"question":"\\ud800","cells":[]}'),
    "more stacks than squares": with_event(
        '{"event":"unfinished","t":1,"n":2,"todo":"x","cells":["c3"],"stacks":["R","G"],"levels":[],"rule":""}'
    ),
    "a rule that there is not": with_event(
        '{"event":"unfinished","t":1,"n":2,"todo":"x","cells":["c3"],"stacks":[],"levels":[],"rule":"X-1"}'
    ),
    "no JSON": with_event("\x00"),
    "the year 1960": lambda other: other.execute(
        "UPDATE match SET started_at = '1960-01-01T00:00:00+00:00' WHERE id = 1"
    ),
    "no players": lambda other: other.execute("UPDATE match SET players = '[]' WHERE id = 1"),
    "no position": lambda other: other.execute("UPDATE match SET start = 'x' WHERE id = 1"),
}


@pytest.mark.parametrize("name", STORED)
def test_what_lies_damaged_in_the_store_is_said_and_told_anew(room: Room, tmp_path: Path, name: str) -> None:
    room.store.close()
    damaged(tmp_path / "hall.db", STORED[name])
    said = list[str]()
    room.store = Store.open(tmp_path / "hall.db")
    room.hub = Hub(room.store, room.wanted, ChangeSignal(), said.append)
    assert len(said) == 1
    assert "match 1 is damaged" in said[0]
    assert all(seat.fault == "match 1 is damaged" for seat in room.hub.seats.values() if seat.name == "3")
    assert table_row(room.hub.seats["4"])["turns"] == 1
    room.online(table="3")
    assert room.wants[-1] == ("stacking/3/want", 0)
    room.hear(*EVENTS, table="3")
    assert table_row(room.hub.seats["3"])["turns"] == 5
    assert not room.hub.seats["3"].fault
    new = room.store.match_ids()[-1]
    assert find_break(room.store, new) is None
    assert first_fault(room.store.events(new)) is None
