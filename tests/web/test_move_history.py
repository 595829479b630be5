"""The list of valid moves, computed from events."""

from __future__ import annotations

import random

import pytest

from companion.errors import CompanionError
from companion.events import Accepted, Corrected, Event, Start, TakenBack, ViewChanged
from companion.games import available_tags, load_game
from companion.match import Match
from companion.rules.notation import format_move, format_position
from companion.web.move_history import MoveHistory, apply_event


def record(tag: str, plies: int, seed: int = 1) -> tuple[Match, list[Event]]:
    """Return a random match and its events."""
    game, rng = load_game(tag), random.Random(seed)
    match = Match(game, game.start())
    events: list[Event] = [Start(t=0.0, n=1, position=format_position(game, match.position))]
    while len(events) <= plies and match.outcome is None:
        move, mover = rng.choice(game.legal_moves(match.position)), match.position.to_move
        text = format_move(game, match.position, move)
        match = match.play(move)
        position = format_position(game, match.position)
        events.append(Accepted(t=float(len(events)), n=len(events) + 1, player=mover, move=text, position=position))
    return match, events


def fold(events: list[Event]) -> MoveHistory:
    """Return the move history that results from events."""
    history = MoveHistory("")
    for event in events:
        history = apply_event(history, event)
    return history


@pytest.mark.parametrize("tag", available_tags())
def test_every_accepted_move_is_a_turn(tag: str) -> None:
    match, events = record(tag, 12)
    history = fold(events)
    assert history.position == format_position(match.game, match.position)
    assert [turn.n for turn in history.turns] == list(range(2, len(events) + 1))
    assert history.start == format_position(match.game, match.start)


def test_what_is_taken_back_stands_no_more() -> None:
    match, events = record("domination", 5)
    back = match.take_back(2)
    position = format_position(match.game, back.position)
    history = fold([*events, TakenBack(t=9.0, n=7, moves=("x", "y"), position=position)])
    assert [turn.n for turn in history.turns] == [2, 3, 4]
    assert history.position == position


def test_a_ruling_that_a_move_was_played_is_a_turn_of_its_arbiter() -> None:
    match, events = record("domination", 1)
    move = match.game.legal_moves(match.position)[0]
    text = format_move(match.game, match.position, move)
    history = fold([*events, Corrected(t=3.0, n=3, by="Ann", move=text)])
    assert history.turns[-1].by == "Ann"
    assert history.turns[-1].move == text
    assert history.position == format_position(match.game, match.play(move).position)


def test_a_ruling_that_is_no_move_is_refused() -> None:
    _, events = record("domination", 1)
    with pytest.raises(CompanionError, match="no move"):
        fold([*events, Corrected(t=3.0, n=3, by="Ann", move="a3-a4")])


def test_an_earlier_position_set_by_hand_counts_as_moves_taken_back() -> None:
    match, events = record("domination", 6)
    earlier = format_position(match.game, match.take_back(2).position)
    assert len(fold([*events, Corrected(t=8.0, n=8, by="arbiter", position=earlier)]).turns) == 4


def test_another_position_set_by_hand_is_a_turn_without_a_move() -> None:
    _, events = record("domination", 2)
    elsewhere, _ = record("domination", 9, seed=5)
    other = format_position(elsewhere.game, elsewhere.position)
    history = fold([*events, Corrected(t=8.0, n=4, by="arbiter", position=other)])
    assert (history.turns[-1].move, history.turns[-1].position) == ("", other)


def test_a_ruling_that_changes_nothing_is_no_turn() -> None:
    match, events = record("domination", 2)
    now = format_position(match.game, match.position)
    assert fold([*events, Corrected(t=8.0, n=4, by="arbiter", position=now)]) == fold(events)


def test_views_are_no_turns() -> None:
    _, events = record("domination", 2)
    assert fold([*events, ViewChanged(t=8.0, n=4, state="hand")]) == fold(events)


def test_turns_are_found_by_their_event() -> None:
    _, events = record("domination", 3)
    history = fold(events)
    assert history.at(1).position == history.start  # type: ignore[union-attr]
    assert history.at(3) is history.turns[1]
    assert history.at(99) is None


def test_a_turn_names_its_squares() -> None:
    _, events = record("domination", 1)
    turn = fold(events).turns[0]
    assert turn.cells == tuple(turn.move.partition(":")[0].split("-"))
