"""JSON documents of matches: exact round trips, and validation of untrusted input."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.errors import BadText
from companion.records.document import format_document, parse_document
from companion.records.record import MatchRecord
from companion.referee.grounds import Explanation, Grounds
from tests.records.conftest import played

GROUNDS = Grounds(t_s=1.25, calm_s=0.5, readings=2, explanations=(Explanation("c3-d3", -0.1),), squares=())
SMALL = replace(played("domination", plies=5, names=("Ada", "Ben")), grounds={2: GROUNDS})


def test_a_match_is_read_back_whole(record: MatchRecord) -> None:
    third = replace(record.events[1], t=1 / 3)
    exact = replace(record, events=(record.events[0], third, *record.events[2:]), grounds={2: GROUNDS})
    assert parse_document(format_document(exact)) == exact


def changed(**values: Any) -> str:
    """Return the document of a small match with some keys replaced."""
    return json.dumps(json.loads(format_document(SMALL)) | values)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1, column 1: Expecting value"),
        ("{\n 1}", "line 2, column 2: "),
        ("[" * 100_000, "line 1, column 1: not JSON that can be read"),
        ("[]", "line 1, column 1: not an object with"),
        ('{"format": "other"}', "line 1, column 1: not an object with"),
        ('{"format": "stacking-games-referee match 1"}', "the key 'game' is missing"),
        (changed(more=1), "the key 'more' is not known"),
        (changed(game="chess"), "there is no game 'chess'"),
        (changed(game=3), "game: Expected `str`"),
        (changed(date="today"), "in our age|date: "),
        (changed(names=["Ada"]), "names: there are 1 of 2 players"),
        (changed(names=[1, 2]), "names.0.: Expected `str`"),
        (changed(names=["Ada", "\ud800"]), "names"),
        (changed(date="0001-01-01T00:00:00+14:00"), "in our age|date: "),
        (changed(date="2399-01-01T00:00:00+00:00"), "in our age|date: "),
        (changed(players=["R"], names=[]), "players: must be"),
        (changed(game="citadel", players=["R", "B"]), "event 1: is no position of citadel"),
        (changed(events=[]), "events: must be a list"),
        (changed(events=[3]), "event 1: not a JSON object"),
        (changed(events=[{"event": "start", "t": 0, "n": 2, "position": "x"}]), "event 1: is numbered 2"),
        (changed(events=[{"event": "start", "t": 0, "n": 1, "position": "x"}], grounds={}), "event 1: "),
        (changed(grounds=[]), "grounds: must be"),
        (changed(grounds={"99": {}}), "grounds: there is no event 99"),
        (changed(grounds={"2": {}}), "grounds of a verdict: "),
        (changed(grounds={"1": None}), "grounds of a verdict: must be an object"),
        (format_document(SMALL).replace('"move": "', '"move": "a1-', 1), "event 2: "),
    ],
)
def test_what_is_wrong_is_named(text: str, complaint: str) -> None:
    with pytest.raises(BadText, match=complaint):
        parse_document(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(json.loads(format_document(SMALL)))), JSON)
def test_any_value_anywhere_is_read_or_refused(key: str, value: object) -> None:
    try:
        parse_document(changed(**{key: value}))
    except BadText as error:
        assert "\n" not in str(error)  # noqa: PT017 - any refusal will do, but on one line
