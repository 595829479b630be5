"""Draughts turns in several steps, with the hand away in between, and turns left unfinished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.events import Accepted, Event, Illegal, Restored, Unfinished
from companion.games import read_position
from companion.match import Match

JUMPS = "draughts:{} 1,B,6/8/5,B,2/8/3,B,4/2,W,5/8/W,7 W"
"""The man on c3 jumps d4 and then f6."""

CROWN = "draughts:russian 8/2,W,5/8/8/8/6,B,1/8/8 W"
"""The man on c7 is one step from being crowned."""

CALM_FRAMES, PATIENT_FRAMES = 9, 72
"""At 12 frames a second: enough for a verdict, and for one that waits whether the player goes on."""

Show = Callable[..., list[Event]]


@pytest.fixture
def show(film: Callable[..., Any]) -> Callable[[str], Show]:
    """Return a function that starts a film at a position.

    It returns a function that shows boards and returns the referee's events.
    """

    def begun(position: str) -> Show:
        shot = film(Match(*read_position(position)))
        shot.show()

        def told(frames: int = CALM_FRAMES, **cells: str) -> list[Event]:
            said: list[Event] = shot.show(*cells.items(), frames=frames)
            return said

        return told

    return begun


@pytest.fixture
def show_unmarked(film: Callable[..., Any]) -> Callable[[str], Show]:
    """Like ``show``, but for a table where kings are single discs; unnamed cells stay as they were."""

    def begun(position: str) -> Show:
        game, start = read_position(position)
        shot = film(Match(game.unmarked(), start))
        assert shot.show() == []
        return lambda frames=CALM_FRAMES, **cells: shot.show(*cells.items(), frames=frames)

    return begun


def todo(said: list[Event]) -> list[str]:
    """Return what remains to be done."""
    return [event.todo for event in said if isinstance(event, Unfinished)]


def moves(said: list[Event]) -> list[str]:
    """Return the accepted moves."""
    return [event.move for event in said if isinstance(event, Accepted)]


def rules(said: list[Event]) -> list[tuple[str, ...]]:
    """Return the rules broken by each illegal act."""
    return [event.rules for event in said if isinstance(event, Illegal)]


def test_jump_after_jump_with_the_hand_away_between(show: Callable[[str], Show]) -> None:
    """The jumped men are then removed one by one."""
    table = show(JUMPS.format("russian"))
    assert todo(table(c3="", e5="W")) == ["the jump goes on from e5"]
    assert todo(table(c3="", g7="W")) == ["take what was jumped off d4 and f6"]
    assert todo(table(c3="", g7="W", d4="")) == ["take what was jumped off f6"]
    assert moves(table(c3="", g7="W", d4="", f6="")) == ["c3-g7xd4xf6"]


def test_what_was_jumped_may_go_at_once(show: Callable[[str], Show]) -> None:
    """A jumped man may be removed during the turn; the move is then accepted at its end."""
    table = show(JUMPS.format("russian"))
    assert todo(table(c3="", e5="W", d4="")) == ["the jump goes on from e5"]
    assert moves(table(c3="", g7="W", d4="", f6="")) == ["c3-g7xd4xf6"]


def test_a_man_waits_for_his_crown_whoever_puts_it_on(show: Callable[[str], Show]) -> None:
    """A man on the last rank is asked to be crowned; with the second disc the move is accepted."""
    table = show(CROWN)
    assert todo(table(c7="", b8="W")) == ["crown the man on b8"]
    assert moves(table(c7="", b8="WW")) == ["c7-b8"]


@pytest.mark.rule("DRA-7")
def test_who_moves_before_the_crown_is_on_is_told_so(show: Callable[[str], Show]) -> None:
    """If Black moves before the man is crowned, DRA-7 is broken."""
    table = show(CROWN)
    table(c7="", b8="W")
    assert rules(table(PATIENT_FRAMES, c7="", b8="W", g3="", h2="B")) == [("DRA-7", "G-2")]


@pytest.mark.rule("DRA-5")
@pytest.mark.parametrize("left", [{}, {"d4": ""}])
def test_who_moves_before_the_jump_is_over_is_told_so(show: Callable[[str], Show], left: dict[str, str]) -> None:
    """The man stands on e5, and Black moves: illegal by the rule that asks for the rest; then it is corrected."""
    table = show(JUMPS.format("russian"))
    assert todo(table(c3="", e5="W", **left)) == ["the jump goes on from e5"]
    assert rules(table(PATIENT_FRAMES, c3="", e5="W", b8="", c7="B", **left)) == [("DRA-5", "G-2")]
    assert any(isinstance(event, Restored) for event in table())


@pytest.mark.rule("DRA-4")
def test_a_capture_that_was_owed_is_named_with_its_squares(show: Callable[[str], Show]) -> None:
    """Another move than the due capture is illegal; the cells of the capture are named."""
    (illegal,) = show(JUMPS.format("russian"))(a1="", b2="W")
    assert isinstance(illegal, Illegal)
    assert illegal.rules == ("DRA-4",)
    assert {"c3", "g7", "d4", "f6"} <= set(illegal.cells)


@pytest.mark.rule("DRA-6")
def test_taking_too_few_is_told_at_once_where_the_most_is_the_rule(show: Callable[[str], Show]) -> None:
    """The man on a5 could take b6, but the one on c3 takes two."""
    table = show("draughts:brazilian 7,B/8/1,B,3,B,2/W,7/3,B,4/2,W,5/8/8 W")
    (illegal,) = table(a5="", c7="W", b6="")
    assert isinstance(illegal, Illegal)
    assert illegal.rules == ("DRA-6",)
    assert {"c3", "g7", "d4", "f6"} <= set(illegal.cells)


KINGS = "draughts:russian 8/2,W,5/8/8/7,B/2,BB,5/8/WW,7 W"
"""White's man on c7 is one step from being crowned; White has a king on a1, and Black one on c3."""


def test_an_unmarked_king_is_known_from_the_match(show_unmarked: Callable[[str], Show]) -> None:
    """The man on c7 is crowned without a second disc, and moves far as a king on its next turn."""
    table = show_unmarked("draughts:russian 8/2,W,5/8/8/8/8/7,B/8 W")
    assert moves(table(c7="", d8="W")) == ["c7-d8"]
    assert moves(table(h2="", g1="B")) == ["h2-g1"]
    assert moves(table(d8="", a5="W")) == ["d8-a5"]


@pytest.mark.rule("DRA-4")
def test_an_unmarked_king_owes_captures_as_a_king(show_unmarked: Callable[[str], Show]) -> None:
    """The king on a1 can jump c3, which has empty squares behind it; moving the man instead is illegal."""
    (illegal,) = show_unmarked(KINGS)(c7="", b8="W")
    assert isinstance(illegal, Illegal)
    assert illegal.rules == ("DRA-4",)
    assert {"a1", "c3"} <= set(illegal.cells)


@pytest.mark.rule("DRA-5")
def test_what_an_unmarked_king_jumped_is_taken_off(show_unmarked: Callable[[str], Show]) -> None:
    """A jump by an unmarked king is accepted once the captured piece has been removed."""
    table = show_unmarked(KINGS)
    assert todo(table(a1="", e5="W")) == ["take what was jumped off c3"]
    assert moves(table(a1="", e5="W", c3="")) == ["a1-e5xc3"]


@pytest.mark.rule("G-2")
def test_a_crown_where_kings_have_none_is_a_piece_too_many(show_unmarked: Callable[[str], Show]) -> None:
    """A second disc on a king is illegal where kings are single discs."""
    (illegal,) = show_unmarked("draughts:russian 8/8/8/8/8/8/7,B/WW,7 W")(a1="WW")
    assert isinstance(illegal, Illegal)
    assert illegal.rules == ("G-2",)


@pytest.mark.rule("G-2")
def test_an_unmarked_king_that_is_gone_is_missed(show_unmarked: Callable[[str], Show]) -> None:
    """Removing an unmarked king is illegal."""
    (illegal,) = show_unmarked("draughts:russian 8/8/8/8/8/8/1,W,5,B/WW,7 W")(a1="")
    assert isinstance(illegal, Illegal)
    assert illegal.rules == ("G-2",)


@pytest.mark.parametrize(
    ("position", "cells", "expected"),
    [
        pytest.param(
            "draughts:russian 1,B,6/8/8/8/8/2,W,5/8/W,7 W", {"c3": "", "d2": "W"}, ("DRA-2",), id="a man goes backward"
        ),
        pytest.param(
            "draughts:russian 1,B,6/8/8/4,B,3/8/2,W,5/8/W,7 W",
            {"c3": "", "d4": "W", "a1": "", "b2": "W"},
            ("G-2",),
            id="two moves at once",
        ),
        pytest.param(
            JUMPS.format("russian"),
            {"c3": "", "g7": "W", "d4": "", "f6": "", "b8": ""},
            ("DRA-3",),
            id="a man too many is taken",
        ),
        pytest.param(CROWN, {"c7": "", "b8": "WWW"}, ("G-2",), id="two crowns"),
        pytest.param(
            "draughts:russian 8/8/8/8/7,B/2,W,5/8/8 W", {"c3": "", "d4": "WW"}, ("G-2",), id="a crown that is not due"
        ),
        pytest.param(
            "draughts:russian 1,B,6/8/8/8/8/2,W,5/8/W,7 W",
            {"c3": "", "c4": "W"},
            ("DRA-1", "DRA-2"),
            id="a light square",
        ),
    ],
)
def test_what_people_do_wrong_is_named_with_its_rules(
    show: Callable[[str], Show], position: str, cells: dict[str, str], expected: tuple[str, ...]
) -> None:
    """Typical violations are reported with exactly these rules."""
    assert rules(show(position)(PATIENT_FRAMES, **cells)) == [expected]


@pytest.mark.rule("DRA-5")
def test_who_moves_while_a_prisoner_lies_there_is_told_so(show: Callable[[str], Show]) -> None:
    """If Black moves while a jumped man has not been removed, DRA-5 is broken."""
    table = show(JUMPS.format("russian"))
    assert todo(table(c3="", g7="W", d4="")) == ["take what was jumped off f6"]
    assert rules(table(PATIENT_FRAMES, c3="", g7="W", d4="", b8="", c7="B")) == [("DRA-5", "G-2")]
