"""Random games chosen by Hypothesis, which reduces failures to the shortest game."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games import available_tags, load_game
from companion.rules.board import NOBODY
from companion.rules.game import Game
from companion.rules.notation import format_move, format_position, parse_move, parse_position


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(available_tags()), st.lists(st.integers(0, 10_000), max_size=60))
def test_play_survives_being_written_down(tag: str, choices: list[int]) -> None:
    """Playing from the texts gives the same game as playing on, and no legal move is ever refused."""
    game = load_game(tag)
    position = game.start()
    for choice in choices:
        moves = game.legal_moves(position)
        if not moves:
            break
        move = moves[choice % len(moves)]
        assert game.violations(position, move) == ()
        read = parse_position(game, format_position(game, position))
        played = game.play(read, parse_move(game, read, format_move(game, position, move)))
        position = game.play(position, move)
        assert played == position
        assert hash(played) == hash(position)
    assert_whole(game, format_position(game, position))


def assert_whole(game: Game, text: str) -> None:
    """Check that the position is either over or can go on, never both."""
    position = parse_position(game, text)
    assert (position.to_move == NOBODY) == (game.outcome(position) is not None) == (not game.legal_moves(position))
