"""Boards drawn with characters, and as pictures that are well-formed."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from companion.games import load_game, read_position
from companion.rules.diagram import MOVED, WRONG
from companion.rules.drawing import draw_svg, draw_text
from companion.rules.game import Game


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


def rectangles(element: ET.Element) -> list[ET.Element]:
    return [part for part in element.iter() if part.tag.endswith("rect")]


def test_a_picture_has_every_square_and_every_piece(game: Game) -> None:
    root = ET.fromstring(draw_svg(game, game.start()))
    assert len(rectangles(root)) == len(game.layout.cells) + sum(map(len, game.start().board))
    squares = [part for part in root if part.get("class") == "square"]
    assert [square.get("data-cell") for square in squares] == list(game.layout.cells)


def test_a_stack_shows_what_lies_underneath() -> None:
    game, position = read_position("domination 4/6/8/8/2,RGG,5/R,7/6/4 R")
    root = ET.fromstring(draw_svg(game, position))
    (c4,) = (part for part in root if part.get("data-cell") == "c4")
    words = [part for part in c4 if part.tag.endswith("text")]
    assert "".join(word.text or "" for word in words) == "RGG"
    heights = [float(word.get("y", "0")) for word in words]
    assert heights == sorted(heights, reverse=True)
    assert c4[0].text == "c4: 3 pieces, from the bottom R G G"


def test_marked_squares_are_framed() -> None:
    game = load_game("domination")
    root = ET.fromstring(draw_svg(game, game.start(), moved=("c1", "c2"), wrong=("c2",)))
    frames = {
        part.get("data-cell"): rectangles(part)[-1] for part in root if part.get("data-cell") in ("c1", "c2", "c3")
    }
    strokes = {cell: frame.get("stroke") for cell, frame in frames.items()}
    assert strokes == {"c1": MOVED, "c2": WRONG, "c3": "#ffffff"}
    assert [cell for cell, frame in frames.items() if frame.get("stroke-dasharray")] == ["c2"]
