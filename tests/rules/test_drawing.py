"""Boards drawn with text characters."""

from __future__ import annotations

from companion.games import load_game, read_position
from companion.rules.drawing import draw_text


def test_raised_ground_shows_its_level_where_nothing_stands() -> None:
    game, position = read_position("citadel:six 6/6/6/2,B,3/6/R,5 R")
    assert draw_text(game, position).splitlines() == [
        " 6 . 1 2 2 1 .",
        " 5 . 1 2 2 1 .",
        " 4 . . . . . .",
        " 3 . . B . . .",
        " 2 . 1 2 2 1 .",
        " 1 R 1 2 2 1 .",
        "   a b c d e f",
        "to move: South",
    ]


def test_pillars_show_their_levels() -> None:
    game = load_game("diamond:table")
    assert draw_text(game, game.start()).splitlines()[0] == " 5 R5 .5 X3 .1 B1"


def test_the_end_names_winner_and_rule() -> None:
    assert draw_text(*read_position("cheight 3,kR/4/4/4/4/4/4/K,3 -")).endswith("won by: Red (CHE-10)")
    assert draw_text(*read_position("citadel 8/8/8/8/8/8/8/8 -")).endswith("drawn (G-3)")
