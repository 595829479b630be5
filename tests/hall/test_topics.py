"""MQTT addresses and messages of a hall."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.errors import BadText, CompanionError
from companion.events import Accepted, ClockChanged, Event, GameOver, Illegal
from companion.games import load_game
from companion.hall import topics
from companion.hall.topics import Broker, parse_broker
from companion.recorder.store import MatchInfo
from companion.rules.notation import format_position

GAME = load_game("domination")
START = format_position(GAME, GAME.start())
INFO = MatchInfo(
    "domination", ("R", "G"), START, datetime(2026, 11, 21, 9, 30, 1, 5, UTC), "domination", ("Ann", "Bob")
)
ACCEPTED = Accepted(t=2.5, n=2, player="R", move="c3-d3", position=START)


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("mqtt://hall/3", Broker("hall", 1883, table="3")),
        ("mqtt://127.0.0.1:1884/table-3", Broker("127.0.0.1", 1884, table="table-3")),
        ("mqtts://ann:se%40cret@hall/T.1", Broker("hall", 8883, True, "ann", "se@cret", "T.1")),
        ("mqtt://[::1]:1883/a", Broker("::1", 1883, table="a")),
    ],
)
def test_addresses_of_tables_are_understood(url: str, broker: Broker) -> None:
    assert parse_broker(url, with_table=True) == broker


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hall:1883/3",
        "http://hall/3",
        "mqtt://hall",
        "mqtt://hall/",
        "mqtt:///3",
        "mqtt://hall:99999/3",
        "mqtt://h/+",
        "mqtt://h/a/b",
        "mqtt://h/%23",
        "mqtt://h/3?x=1",
        "mqtt://h:x/3",
        "mqtt://[::1/3",
    ],
)
def test_other_addresses_are_refused_with_the_right_form(url: str) -> None:
    with pytest.raises(BadText, match="mqtt://HOST:PORT/TABLE"):
        parse_broker(url, with_table=True)


def test_the_hub_has_no_table() -> None:
    assert parse_broker("mqtt://hall:1883", with_table=False) == Broker("hall", 1883)
    with pytest.raises(BadText, match="leave out"):
        parse_broker("mqtt://hall:1883/3", with_table=False)


def test_a_password_is_never_said() -> None:
    assert "secret" not in parse_broker("mqtt://ann:secret@hall", with_table=False).name


def test_messages_come_back_as_they_were() -> None:
    assert topics.read_online(topics.online_message(INFO)) == INFO
    assert topics.read_online(topics.online_message(None)) is None
    assert topics.read_event(topics.event_message("k", ACCEPTED)) == ("k", ACCEPTED)
    assert topics.read_want(topics.want_message("k", 7)) == ("k", 7)
    assert topics.read_topic(topics.topic("t-1", topics.EVENT)) == ("t-1", "event")


@pytest.mark.parametrize("text", ["", "stacking", "stacking/a", "stacking/a/b/c", "other/a/event", "stacking/+/event"])
def test_other_topics_are_refused(text: str) -> None:
    with pytest.raises(BadText):
        topics.read_topic(text)


def altered(event: Event, /, **fields: object) -> bytes:
    """Return an event message with some fields replaced."""
    row = json.loads(topics.event_message("k", event))
    row["event"] |= fields
    return json.dumps(row).encode()


OVER = GameOver(t=1.0, n=3, winner=None, rule="G-4", position=START)
CLOCK = ClockChanged(t=1.0, n=2, state="running", player="R", players=("R", "G"), left=(60.0, 60.0), control="1m")
ILLEGAL = Illegal(
    t=1.0, n=2, player="R", attempt=None, rules=("G-2",), reason="x", cells=("c3",), seen="s", expected="e"
)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 20_000,
        b'{"match": "k"}',
        b'{"match": "k", "event": {"event": "dance", "t": 1, "n": 1}}',
        b'{"match": "k", "event": ' + b" " * topics.LARGEST_MESSAGE + b"{}}",
        altered(ACCEPTED, n="2"),
        altered(ACCEPTED, n=True),
        altered(ACCEPTED, n=10**30),
        altered(ACCEPTED, t="soon"),
        altered(ACCEPTED, t=float("nan")),
        altered(ACCEPTED, player=5),
        altered(ACCEPTED, player=["R"]),
        altered(ACCEPTED, move=None),
        altered(ACCEPTED, position=None),
        altered(ACCEPTED, extra=1),
        altered(ILLEGAL, rules="G-2"),
        altered(ILLEGAL, rules=[1]),
        altered(ILLEGAL, cells=[None]),
        altered(ILLEGAL, reason={}),
        altered(OVER, winner=1),
        altered(CLOCK, left=[1.0]),
        altered(CLOCK, left=["a", "b"]),
        altered(ACCEPTED, move="c3\ud800"),
        altered(ACCEPTED, event=[]),
        altered(ILLEGAL, cells=["c333"]),
    ],
)
def test_events_that_no_referee_says_are_refused(data: bytes) -> None:
    with pytest.raises(CompanionError):
        topics.read_event(data)


@pytest.mark.parametrize(
    "fields",
    [
        {"match": None},
        {"match": {}},
        {"match": {"start": START, "started_at": "today", "kit": "k"}},
        {"match": {"start": START, "started_at": "2026-11-21T10:00:00", "kit": "k"}},
        {"match": {"start": "x", "started_at": "2026-11-21T10:00:00+00:00", "kit": "k"}},
    ],
)
def test_matches_that_are_none_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(CompanionError):
        topics.read_online(json.dumps({"online": True} | fields).encode())


@pytest.mark.parametrize(
    "fields",
    [
        {"names": [1]},
        {"names": ["Ann"]},
        {"names": ["Ann", "Bob", "Cid"]},
        {"names": ["Ann", "\ud800"]},
        {"names": ["Ann", "Bob\x00"]},
        {"started_at": "0001-01-01T00:00:00+14:00"},
        {"started_at": "9999-12-31T23:59:59-14:00"},
        {"started_at": "1960-01-01T00:00:00+00:00"},
        {"kit": "\udfff"},
        {"players": ["R"], "names": []},
        {"game": "citadel"},
        {"more": 1},
    ],
)
def test_matches_that_cannot_be_are_refused(fields: dict[str, object]) -> None:
    row = json.loads(topics.online_message(INFO))
    row["match"] |= fields
    with pytest.raises(CompanionError):
        topics.read_online(json.dumps(row).encode())


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_our_own_errors(data: bytes) -> None:
    for read in (topics.read_event, topics.read_online, topics.read_want):
        try:
            read(data)
        except CompanionError:
            continue
