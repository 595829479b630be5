"""Matches: history, take-backs, repetitions and outcomes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games import load_game, read_position
from companion.match import Match
from companion.rules.game import Move, Outcome
from companion.rules.notation import format_position, parse_move


def begun(tag: str = "domination") -> Match:
    """Return a match at its start."""
    game = load_game(tag)
    return Match(game, game.start())


def played(match: Match, *texts: str) -> Match:
    """Return ``match`` after some moves."""
    for text in texts:
        match = match.play(parse_move(match.game, match.position, text))
    return match


def pillar(match: Match, cell: str) -> Move:
    """Return the move of a pillar from level 9 up, or from elsewhere down."""
    levels = match.game.table(match.position).levels
    assert levels is not None
    i = match.game.layout.index[cell]
    return Move(None, i, step=1 if levels[i] == 9 else -1)


TO_AND_FRO = ("e4-e5", "g6-g5", "e5-e4:1", "g5-g6:1")
"""Four plies after which the position is the same as before."""


def test_positions_begin_with_the_start_and_end_with_the_present() -> None:
    """There is the start, then one position per ply."""
    match = played(begun(), "e4-e5", "f6-f5")
    positions = list(match.positions())
    assert positions[0] == match.start
    assert positions[-1] == match.position
    assert positions[-2] == match.before
    assert len(positions) == 3


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["domination", "domination/3", "citadel", "cheight"]), st.lists(st.integers(0, 999), max_size=12)
)
def test_taking_back_is_the_inverse_of_playing(tag: str, choices: list[int]) -> None:
    """Taking back any number of moves gives the match as it was that many moves ago."""
    matches = [begun(tag)]
    for choice in choices:
        moves = matches[-1].game.legal_moves(matches[-1].position)
        if not moves:
            break
        matches.append(matches[-1].play(moves[choice % len(moves)]))
    for n, earlier in enumerate(reversed(matches)):
        if n:
            assert matches[-1].take_back(n) == earlier


@pytest.mark.parametrize("n", [0, 3])
def test_more_moves_than_there_are_cannot_be_taken_back(n: int) -> None:
    """Taking back no moves is refused as well."""
    with pytest.raises(ValueError, match="2 can be undone"):
        played(begun(), "e4-e5", "f6-f5").take_back(n)


def test_nothing_is_taken_back_across_a_ruling() -> None:
    """Moves before a position set by an arbiter cannot be taken back."""
    match = played(begun(), "e4-e5")
    ruled = played(match.set_by_hand(match.start), "c5-c4")
    assert ruled.position != match.position
    assert ruled.undoable == 1
    with pytest.raises(ValueError, match="1 can be undone"):
        ruled.take_back(2)


@pytest.mark.rule("G-4")
def test_the_third_occurrence_of_a_position_is_a_draw() -> None:
    """Two occurrences are not enough; three end the match."""
    match = played(begun(), *TO_AND_FRO)
    assert match.repetitions == 2
    assert match.outcome is None
    match = played(match, *TO_AND_FRO)
    assert match.repetitions == 3
    assert match.outcome == Outcome(None, "G-4")


def test_what_a_repetition_means_is_the_games_affair() -> None:
    """In Diamond the player who repeats a position for the third time loses (DIA-12)."""
    match = begun("diamond")
    while match.outcome is None:
        # Each player moves one pillar up and down: its ban has expired on the player's next turn.
        move = pillar(match, ("c3", "d4")[len(match.plies) % 2])
        assert match.game.violations(match.position, move) == ()
        match = match.play(move)
    assert match.repetitions == 3
    assert match.outcome == Outcome("G" if match.before.to_move == "R" else "R", "DIA-12")


@pytest.mark.rule("G-3")
def test_players_who_cannot_move_are_named_as_skipped() -> None:
    """Green and Blue have no top pieces after Red's move, so they are skipped and Yellow is to move."""
    game, position = read_position("domination/4 4/6/8/8/G,R,6/BRR,7/3,Y,2/4 R")
    match = played(Match(game, position), "b4-a4")
    assert match.position.to_move == "Y"
    assert match.skipped == ("G", "B")


def test_nobody_is_skipped_in_an_ordinary_turn() -> None:
    """This holds at the start, and whenever the next player has moves."""
    assert begun().skipped == ()
    assert played(begun("domination/3"), "*d8").skipped == ()


def test_the_games_own_end_ends_the_match() -> None:
    """The last player who can move wins."""
    game, position = read_position("domination 4/6/8/8/G,R,6/8/6/4 R")
    match = played(Match(game, position), "b4-a4")
    assert match.outcome == Outcome("R", "DOM-8"), format_position(game, match.position)


def test_what_waits_on_the_board_is_due() -> None:
    """A promotion is due; a special first turn is an ordinary turn; nothing is due once the match is over."""
    promoting = "cheight 3,k/P,3/4/4/4/4/4/K,NC,2 R"
    due = played(Match(*read_position(promoting)), "a7-a8").due
    assert due is not None
    assert due.cells == ("a8",)
    assert begun("domination/3").due is None
    assert begun("domination").due is None
    once = played(Match(*read_position(promoting)), "a7-a8")
    again = once.set_by_hand(once.position).set_by_hand(once.position)
    assert again.outcome is not None
    assert again.due is None
