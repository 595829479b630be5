"""Texts from a file that may hold anything: an event or BadText, nothing else."""

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
        Corrected(t=0, n=1, by="Émile \ud800", position=None, move="c3-d3"),
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
        ("t", float("nan")),
        ("t", float("inf")),
        ("t", -float("inf")),
        ("t", 10**400),
        ("n", 2.0),
        ("n", False),
        ("player", None),
        ("player", 7),
        ("move", ["c3-d3"]),
        ("position", {}),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(BadText, match=f"event 'accepted' cannot have {field} "):
        event_of(json.dumps(ROW | {field: value}))


def test_a_list_of_other_things_than_texts_is_refused() -> None:
    with pytest.raises(BadText, match="event 'sensors' cannot have cells "):
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
