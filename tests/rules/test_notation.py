"""Notation: invalid positions and moves are refused, and valid ones have exactly one text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.errors import BadMoveText, BadPositionText, CompanionError, UnknownGame
from companion.games import available_tags, load_game, read_position
from companion.rules.game import Game, Move, Position
from companion.rules.notation import LONGEST_TEXT, format_move, format_position, format_tag, parse_move, parse_tag

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
LETTERS = "abcdefghRGBYSNKQDWXqdw0123456789/,-:=*+.> @\t"


def test_the_start_of_domination_is_the_example_of_the_notation() -> None:
    game = load_game("domination")
    assert format_position(game, game.start()) == START


def test_cells_run_from_the_first_players_left() -> None:
    game, position = read_position(START)
    assert game.layout.cells[:5] == ("c1", "d1", "e1", "f1", "b2")
    assert position.board[game.layout.index["b2"]] == "G"
    assert position.board[game.layout.index["b7"]] == "R"


@pytest.mark.parametrize("tag", available_tags())
def test_tags_round_trip(tag: str) -> None:
    name, variant, players = parse_tag(tag)
    assert format_tag(name, variant, players or 2) == tag


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("dominatoin", "domination"),
        ("domination:clasic", "domination:classic"),
        ("domination/5", "/2 or /3 or /4"),
        ("citadel/4", "/2"),
        ("chess", "there is no game"),
        ("", "write name"),
        ("domination/22", "write name"),
    ],
)
def test_unknown_games_are_told_what_there_is(text: str, hint: str) -> None:
    with pytest.raises(UnknownGame, match=hint):
        load_game(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "an empty line"),
        ("domination", "too short"),
        (START.replace(" R", " B"), "cannot be to move"),
        (START.replace("domination", "domination/2"), "not a position of"),
        (START.replace("4/R", "3/R"), "rank 8 has 4 squares, not 3"),
        (START.replace("4/R", "1,3/R"), "write: domination 4/R"),
        (START.replace("4/R", "04/R"), "write: domination 4/R"),
        (START.replace("4/R", "5/R"), "neither a stack"),
        (START.replace("4/R", "x,3/R"), "neither a stack"),
        (START.replace("4/R", "٤/R"), "neither a stack"),
        (START.removesuffix("/4 R") + " R", "8 ranks, not 7"),
        (START + " hand=R", "does not fit; three players"),
        (START + " reserve=R1,G1", "19 pieces R are too many"),
        (START + " reserve=R0", "write: domination 4/R"),
        (START + " reserve=1R", "not written like"),
        (START + " colour=red", "unknown key 'colour'"),
        (START + " reserve", "not a key=value"),
        (START + " reserve=", "not a key=value"),
        (START + " ", "not a key=value"),
        (START.replace(" 4", "  4"), "ranks"),
        (START.replace("R,R,G,G", "RRRRRR,R,G,G", 1), "higher than 5"),
        (START[:-1] + "-", "cannot be to move"),
        ("x" * (LONGEST_TEXT + 1), "too long"),
    ],
)
def test_bad_positions_are_told_what_is_wrong(text: str, fault: str) -> None:
    with pytest.raises(CompanionError, match=fault):
        read_position(text)


def test_a_position_over_too_early_is_refused() -> None:
    """Whose turn it is follows from who can move; a text cannot claim otherwise."""
    with pytest.raises(BadPositionText, match="write G or R"):
        read_position(START[:-1] + "-")
    with pytest.raises(BadPositionText, match="write -"):
        read_position("domination 4/6/8/8/3,R,4/8/6/4 R")


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("b2-b3", Move(4, 11, 1)),
        ("b2-b3:2", Move(4, 11, 2)),
        ("c1-d1", Move(0, 1, 0)),
        ("*c1", Move(None, 0, piece="R")),
        ("b2-off", Move(4, None, 1)),
        ("b2=c1.2", Move(4, 0, level=2)),
        ("+c1", Move(None, 0, step=1)),
        ("-c1", Move(None, 0, step=-1)),
    ],
)
def test_moves_of_every_kind(text: str, move: Move) -> None:
    game, position = read_position(START)
    assert parse_move(game, position, text) == move
    assert format_move(game, position, move) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not a move"),
        ("b2", "not a move"),
        ("b2-b3:1", "whole stack"),
        ("b2-b3:0", "not a move"),
        ("a1-b2", "a1 is no square"),
        ("b2-i9", "i9 is no square"),
        ("*h8", "h8 is no square"),
        ("R*c1", "no letter"),
        ("b2-b3 ", "not a move"),
        ("b2-b3\n", "not a move"),
        ("b2-b3:999999999999", "not a move"),
        ("b2=c1.0", "not a move"),
        ("++c1", "not a move"),
        ("B2-B3", "not a move"),
        ("z" * 5000, r"zzz\.\.\.' is not a move"),
    ],
)
def test_bad_moves_are_told_what_is_wrong(text: str, fault: str) -> None:
    game, position = read_position(START)
    with pytest.raises(BadMoveText, match=fault):
        parse_move(game, position, text)


def test_reserve_pieces_carry_their_letter_only_where_it_tells_something() -> None:
    game, position = read_position("ziggurat q,d,w,w,d,q/6/6/6/6/Q,D,W,W,D,Q S reserve=QDWqdw")
    assert parse_move(game, position, "q*a6") == Move(None, game.layout.index["a6"], piece="q")
    with pytest.raises(BadMoveText, match="which piece"):
        parse_move(game, position, "*a1")


def read_or_refuse(text: str) -> tuple[Game, Position] | str:
    """Return the position, or the error's message."""
    try:
        return read_position(text)
    except CompanionError as error:
        return str(error)


@settings(deadline=None)
@given(st.text(max_size=200) | st.text(LETTERS, max_size=200))
def test_any_text_is_a_position_or_a_named_error(text: str) -> None:
    found = read_or_refuse(text)
    if isinstance(found, str):
        assert "\n" not in found
    else:
        assert format_position(*found) == text


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(available_tags()), st.integers(0, 400), st.text(LETTERS, max_size=3), st.integers(0, 5))
def test_a_damaged_position_is_refused_or_still_has_one_text(tag: str, place: int, put: str, drop: int) -> None:
    game = load_game(tag)
    text = format_position(game, game.start())
    place %= len(text)
    damaged = text[:place] + put + text[place + drop :]
    found = read_or_refuse(damaged)
    if isinstance(found, str):
        assert "\n" not in found
    else:
        game, position = found
        assert format_position(game, position) == damaged
        for move in game.legal_moves(position):
            game.play(position, move)


@settings(deadline=None)
@given(st.sampled_from(available_tags()), st.text(max_size=12) | st.text(LETTERS, max_size=12))
def test_any_text_is_a_move_or_a_named_error(tag: str, text: str) -> None:
    game = load_game(tag)
    position = game.start()
    try:
        move = parse_move(game, position, text)
    except BadMoveText:
        return
    assert format_move(game, position, move) == text
    assert (move in game.legal_moves(position)) == (not game.violations(position, move))
