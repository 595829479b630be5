"""The hub's handling of messages, without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.events import Accepted, Corrected, Event, GameOver, Start
from companion.games import load_game
from companion.hall import topics
from companion.hall.hub import ASK_AGAIN_S, Hub
from companion.hall.page import table_row
from companion.match import Match
from companion.recorder.store import MatchInfo, Store
from companion.rules.notation import format_move, format_position
from companion.web.feed import ChangeSignal

GAME = load_game("domination")
START = format_position(GAME, GAME.start())
INFO = MatchInfo(
    "domination", ("R", "G"), START, datetime(2026, 11, 21, 9, 30, tzinfo=UTC), "domination", ("Ann", "Bob")
)
KEY = topics.key_of(INFO)


def match_events(plies: int) -> list[Event]:
    """Return the events of a match in which the first legal move is always played."""
    match = Match(GAME, GAME.start())
    events: list[Event] = [Start(t=0.0, n=1, position=START)]
    for n in range(2, plies + 2):
        move, mover = GAME.legal_moves(match.position)[0], match.position.to_move
        text = format_move(GAME, match.position, move)
        match = match.play(move)
        position = format_position(GAME, match.position)
        events.append(Accepted(t=float(n), n=n, player=mover, move=text, position=position))
    return events


class Room:
    """A hub, and what it has requested from the tables."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path)
        self.wants: list[tuple[str, int]] = []
        self.now_s = 100.0
        self.hub = Hub(self.store, self.wanted, ChangeSignal())

    def wanted(self, topic: str, data: bytes) -> None:
        self.wants.append((topic, topics.read_want(data)[1]))

    def online(self, info: MatchInfo | None = INFO, table: str = "3") -> None:
        self.hub.take(topics.topic(table, topics.ONLINE), topics.online_message(info), self.now_s)

    def hear(self, *events: Event, table: str = "3", key: str = KEY) -> None:
        for event in events:
            self.hub.take(topics.topic(table, topics.EVENT), topics.event_message(key, event), self.now_s)

    def kept(self) -> list[Event]:
        return [event for number in self.store.match_ids() for event in self.store.events(number)]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """Return a hub with an empty store."""
    room = Room(tmp_path / "hall.db")
    yield room
    room.store.close()


def test_a_table_that_comes_is_asked_for_all_it_has_said(room: Room) -> None:
    room.online()
    assert room.wants == [("stacking/3/want", 0)]
    room.hear(*match_events(3))
    assert room.kept() == match_events(3)
    assert table_row(room.hub.seats["3"])["turns"] == 3


def test_what_comes_twice_is_kept_once(room: Room) -> None:
    room.online()
    room.hear(*match_events(3), *match_events(3))
    assert room.kept() == match_events(3)


def test_a_gap_is_asked_for_now_and_then_and_filled_in_order(room: Room) -> None:
    room.online()
    events = match_events(5)
    room.now_s += ASK_AGAIN_S
    room.hear(*events[:2], *events[3:])
    assert room.wants[1:] == [("stacking/3/want", 2)]
    assert room.kept() == events[:2]
    room.hear(*events[2:])
    assert room.kept() == events


def test_a_table_that_sends_nonsense_is_not_asked_for_ever(room: Room) -> None:
    room.online()
    events = match_events(4)
    room.hear(events[0])
    broken = Corrected(t=1.0, n=2, by="x", move="a3-a4")
    for _ in range(50):
        room.hear(broken, events[2])
    assert room.kept() == events[:1]
    assert len(room.wants) == 1
    assert room.hub.faults == 50


def test_a_table_that_goes_is_shown_as_away(room: Room) -> None:
    room.online()
    room.hear(*match_events(1))
    room.online(None)
    assert not room.hub.seats["3"].is_online
    assert table_row(room.hub.seats["3"])["turns"] == 1
    room.online(None, table="9")
    assert "9" not in room.hub.seats


def test_a_new_match_takes_the_seat_and_the_old_one_stays_kept(room: Room) -> None:
    room.online()
    room.hear(*match_events(2))
    later = replace(INFO, started_at=datetime(2026, 11, 21, 11, 0, tzinfo=UTC))
    room.online(later)
    room.hear(*match_events(1), key=topics.key_of(later))
    assert table_row(room.hub.seats["3"])["turns"] == 1
    assert room.kept() == match_events(2) + match_events(1)


def test_tables_do_not_mix(room: Room) -> None:
    room.online()
    room.online(table="4")
    room.hear(*match_events(2), table="4")
    assert table_row(room.hub.seats["3"])["turns"] == 0
    assert table_row(room.hub.seats["4"])["turns"] == 2


def test_a_hub_that_comes_back_goes_on_where_it_was(tmp_path: Path) -> None:
    first = Room(tmp_path / "hall.db")
    first.online()
    first.hear(*match_events(2))
    first.store.close()
    again = Room(tmp_path / "hall.db")
    assert not again.hub.seats["3"].is_online
    again.online()
    assert again.wants == [("stacking/3/want", 3)]
    again.hear(*match_events(4)[3:])
    assert again.kept() == match_events(4)
    again.store.close()


def test_nothing_that_strangers_send_is_kept(room: Room) -> None:
    room.online()
    for topic in (
        "stacking/3/event",
        "stacking/3/online",
        "stacking/a b/event",
        "x",
        "stacking/3/want",
        "stacking/3/x",
    ):
        for data in (b"", b"{}", b"\xff", b'{"online": true}', json.dumps({"match": KEY, "event": {}}).encode()):
            room.hub.take(topic, data, room.now_s)
    room.hear(*match_events(1), key="another match")
    assert room.kept() == []


def test_the_end_and_the_peoples_names_are_at_a_glance(room: Room) -> None:
    room.online()
    events = match_events(1)
    position = getattr(events[-1], "position", "")
    room.hear(*events, GameOver(t=9.0, n=3, winner="R", rule="arbiter", position=position))
    row = table_row(room.hub.seats["3"])
    assert row["outcome"] == {"winner": "R", "rule": "arbiter"}
    assert row["game"]["players"][0]["names"]["de"] == "Ann"
    assert row["said"]["texts"]["en"].startswith("Ann wins")
