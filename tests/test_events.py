"""Events as JSON: round trips of every kind, and refusal of invalid input."""

import json
from typing import Any

import pytest

from companion.errors import BadText
from companion.events import (
    KINDS,
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    SensorsChanged,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
    Withdrawn,
    from_json,
    to_json,
)

ILLEGAL = Illegal(
    t=3.5,
    n=4,
    player="R",
    attempt="c3-c6",
    rules=("DOM-5", "G-1"),
    reason="too far.",
    cells=("c3", "c6"),
    seen="8/8 s",
    expected="8/8 e",
)

WRITTEN: tuple[tuple[Event, dict[str, Any]], ...] = (
    (Start(t=0.0, n=1, position="p"), {"event": "start", "t": 0.0, "n": 1, "position": "p"}),
    (
        Accepted(t=1.25, n=2, player="G", move="c3-d3", position="p"),
        {"event": "accepted", "t": 1.25, "n": 2, "player": "G", "move": "c3-d3", "position": "p"},
    ),
    (
        ILLEGAL,
        {
            "event": "illegal",
            "t": 3.5,
            "n": 4,
            "player": "R",
            "attempt": "c3-c6",
            "rules": ["DOM-5", "G-1"],
            "reason": "too far.",
            "cells": ["c3", "c6"],
            "seen": "8/8 s",
            "expected": "8/8 e",
        },
    ),
    (
        Unfinished(t=1, n=2, todo="take one", cells=("c3",)),
        {
            "event": "unfinished",
            "t": 1,
            "n": 2,
            "todo": "take one",
            "cells": ["c3"],
            "stacks": [],
            "levels": [],
            "rule": "",
        },
    ),
    (Restored(t=1, n=2), {"event": "restored", "t": 1, "n": 2}),
    (
        Withdrawn(t=1, n=2, player="R", cells=("c3",)),
        {"event": "withdrawn", "t": 1, "n": 2, "player": "R", "cells": ["c3"]},
    ),
    (
        TakenBack(t=1, n=2, moves=("a1-a2", "b1-b2"), position="p"),
        {"event": "taken-back", "t": 1, "n": 2, "moves": ["a1-a2", "b1-b2"], "position": "p"},
    ),
    (
        Unsure(t=1, n=2, options=("a1-a2", "b1-b2"), question="Which?"),
        {
            "event": "unsure",
            "t": 1,
            "n": 2,
            "options": ["a1-a2", "b1-b2"],
            "question": "Which?",
            "cells": [],
            "or_one_hand": False,
        },
    ),
    (
        Corrected(t=1, n=2, by="Ada", position="p"),
        {"event": "corrected", "t": 1, "n": 2, "by": "Ada", "position": "p", "move": None},
    ),
    (
        Corrected(t=1, n=2, by="Ada", move="a1-a2"),
        {"event": "corrected", "t": 1, "n": 2, "by": "Ada", "position": None, "move": "a1-a2"},
    ),
    (ViewChanged(t=1, n=2, state="no-mat"), {"event": "view", "t": 1, "n": 2, "state": "no-mat"}),
    (SensorsChanged(t=1, n=2, state="ok"), {"event": "sensors", "t": 1, "n": 2, "state": "ok", "cells": []}),
    (
        SensorsChanged(t=1, n=2, state="fault", cells=("a1",)),
        {"event": "sensors", "t": 1, "n": 2, "state": "fault", "cells": ["a1"]},
    ),
    (Skipped(t=1, n=2, player="Y"), {"event": "skipped", "t": 1, "n": 2, "player": "Y"}),
    (Repeated(t=1, n=2, times=2, position="p"), {"event": "repeated", "t": 1, "n": 2, "times": 2, "position": "p"}),
    (
        GameOver(t=1, n=2, winner=None, rule="G-4", position="p"),
        {"event": "game-over", "t": 1, "n": 2, "winner": None, "rule": "G-4", "position": "p"},
    ),
    (
        ClockChanged(t=1, n=2, state="running", player="G", players=("R", "G"), left=(5.5, 60.0), control="1m+5s"),
        {
            "event": "clock",
            "t": 1,
            "n": 2,
            "state": "running",
            "player": "G",
            "players": ["R", "G"],
            "left": [5.5, 60.0],
            "control": "1m+5s",
        },
    ),
)


@pytest.mark.parametrize(("event", "row"), WRITTEN)
def test_an_event_is_written_with_exactly_its_fields_in_their_order(event: Event, row: dict[str, Any]) -> None:
    assert list(to_json(event).items()) == list(row.items())


@pytest.mark.parametrize(("event", "row"), WRITTEN)
def test_an_event_comes_back_from_its_json_text(event: Event, row: dict[str, Any]) -> None:
    assert from_json(json.loads(json.dumps(row))) == event


def test_the_examples_above_cover_every_kind_of_event() -> None:
    assert {row["event"] for _, row in WRITTEN} == set(KINDS)
    assert {type(event) for event, _ in WRITTEN} == set(KINDS.values())


@pytest.mark.parametrize("kind", ["", "Start", "begin", None, 3])
def test_an_unknown_kind_is_refused_with_those_that_are_known(kind: object) -> None:
    with pytest.raises(BadText, match="is not known; known are start, accepted, illegal"):
        from_json({"event": kind, "t": 0, "n": 1})


def test_an_event_without_a_kind_is_refused() -> None:
    with pytest.raises(BadText, match="is not known"):
        from_json({"t": 0, "n": 1})


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(BadText, match="event 'restored': no field 'colour'"):
        from_json({"event": "restored", "t": 0, "n": 1, "colour": "red"})


@pytest.mark.parametrize("missing", ["t", "n", "player", "attempt", "rules", "reason", "cells", "seen", "expected"])
def test_a_missing_field_is_refused_by_name(missing: str) -> None:
    row = {key: value for key, value in to_json(ILLEGAL).items() if key != missing}
    with pytest.raises(BadText, match=f"event 'illegal': .*`{missing}`"):
        from_json(row)


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ILLEGAL.player = "G"  # type: ignore[misc]
