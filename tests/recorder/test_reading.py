"""Parsing of untrusted stored texts: the result is an event or BadText, nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.errors import BadText
from companion.events import KINDS, Accepted, ClockChanged, Corrected, SensorsChanged
from companion.recorder.chain import event_text
from companion.recorder.reading import event_of

ROW = {"event": "accepted", "t": 1.5, "n": 2, "player": "R", "move": "c3-d3", "position": "p"}


def test_a_stored_text_is_read_back() -> None:
    for event in (
        Accepted(t=1.5, n=2, player="R", move="c3-d3", position="p"),
        Corrected(t=0, n=1, by="Émile 😀", position=None, move="c3-d3"),
        SensorsChanged(t=0.1, n=1, state="fault", cells=("a1", "b2")),
        ClockChanged(t=1, n=2, state="flag", player=None, players=("R", "G"), left=(0.0, 60.5), control="1m+5s"),
    ):
        assert event_text(event).isascii()
        assert event_of(event_text(event)) == event


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"start"', "{}", '{"event": []}', "[" * 100_000, "\x00"])
def test_what_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(BadText):
        event_of(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("t", "1.5"),
        ("t", True),
        ("t", None),
        ("t", 1e9),
        ("t", -5),
        ("n", 2.0),
        ("n", False),
        ("n", 10**12),
        ("n", -1),
        ("player", "Red"),
        ("move", "c3\nd3"),
        ("move", "c3\x00"),
        ("move", "c" * 5000),
        ("player", None),
        ("player", 7),
        ("move", ["c3-d3"]),
        ("position", {}),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(BadText, match=rf"event 'accepted': {field}: "):
        event_of(json.dumps(ROW | {field: value}))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", '"\\ud800"'])
def test_what_is_no_json_value_is_refused(number: str) -> None:
    with pytest.raises(BadText):
        event_of(json.dumps(ROW).replace("1.5", number))


def test_a_list_of_other_things_than_texts_is_refused() -> None:
    with pytest.raises(BadText, match=r"event 'sensors': cells\[1\]: "):
        event_of('{"event": "sensors", "t": 0, "n": 1, "state": "ok", "cells": ["a1", 2]}')


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=4)
FIELDS = sorted({name for kind in KINDS.values() for name in kind.__dataclass_fields__})


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES), st.sampled_from(sorted(KINDS)))
def test_garbage_is_an_event_or_is_refused(row: dict[str, object], kind: str) -> None:
    try:
        event = event_of(json.dumps(row | {"event": kind}))
    except BadText:
        return
    assert event_of(event_text(event)) == event


@given(st.text())
def test_any_text_is_an_event_or_is_refused(text: str) -> None:
    with pytest.raises(BadText):
        event_of(text)
