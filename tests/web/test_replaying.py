"""A stored match in the page's compact format: steps with their boards, each part stored once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.events import Accepted, GameOver, Start, TakenBack
from companion.web.boards import VIEWS, BoardRequest, board_row
from companion.web.replaying import KeptMatch, Lines, replay_text
from tests.records.conftest import played

JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text("abc\n", max_size=3), inner, max_size=5),
    max_leaves=30,
)


def read(text: str) -> Any:
    """Decode a text as the page does."""
    values: list[Any] = []

    def meant(row: dict[str, Any]) -> Any:
        if list(row) != ["$"]:
            return row
        return "\n".join(row["$"]) if isinstance(row["$"], list) else values[row["$"]]

    for line in text.split("\n"):
        values.append(json.loads(line, object_hook=meant))  # noqa: PERF401 - a line means what stands in those before
    return values[-1]


@given(JSON)
def test_what_is_packed_is_read_again(value: Any) -> None:
    lines = Lines()
    lines.add([value, value, "long enough to be written on a line of its own"])
    assert read(lines.text)[:2] == [value, value]


@pytest.mark.parametrize("tag", ["domination", "cheight", "diamond/4"])
def test_every_step_has_its_board_in_every_view(tag: str) -> None:
    record = played(tag, plies=9)
    steps = read(replay_text(KeptMatch(record.events)))["steps"]
    by_n = {event.n: event for event in record.events}
    assert [step["event"] for step in steps].count("illegal") == 1
    for step in steps:
        event, board = by_n[step["n"]], step["board"]
        assert set(board["views"]) == set(VIEWS)
        assert step["texts"]["en"]
        if isinstance(event, Start | Accepted | TakenBack):
            assert board["position"] == event.position
    illegal = next(step for step in steps if step["event"] == "illegal")
    assert illegal["rules"]
    assert illegal["board"]["views"]["space"]["scene"]["frames"]
    moved = next(step for step in steps if step["event"] == "accepted")["board"]
    drawn = board_row(BoardRequest(moved["position"], "oblique", None, tuple(moved["moved"])))
    assert moved["views"]["oblique"]["svg"] == drawn["svg"]


def test_an_end_that_was_taken_back_is_none() -> None:
    start = played("domination", plies=0).start
    begun, ended = Start(t=0.0, n=1, position=start), GameOver(t=1.0, n=2, winner="R", rule="arbiter", position=start)
    assert read(replay_text(KeptMatch((begun, ended))))["result"] == {"winner": "R", "rule": "arbiter"}
    again = TakenBack(t=2.0, n=3, moves=(), position=start)
    assert read(replay_text(KeptMatch((begun, ended, again))))["result"] is None
