"""Boards drawn as SVG from the kits' dimensions."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from calibration.kit import load_kit
from companion.events import Unfinished
from companion.games import available_tags, load_game, read_position
from companion.restoring import RepairStep, repair_steps
from companion.rules.board import Table
from companion.scene.build import on_cell, scene, table_scene
from companion.scene.display_kit import complete_kit, player_colours, to_hex
from companion.scene.marks import repair_scene
from companion.scene.model import Look, Tone
from companion.scene.oblique import TONES, diagram, plan
from companion.scene.svg import draw_svg, svg_text
from tests.scene.acts import illegal

TOWERS = "domination 4/6/8/8/2,RGG,5/R,7/6/4 R"


@pytest.mark.parametrize("tag", available_tags())
def test_a_picture_has_every_square_and_every_piece(tag: str) -> None:
    game = load_game(tag)
    shown = scene(game, game.start())
    assert len(shown.bodies) == sum(map(len, game.start().board))
    for picture in (diagram(shown), plan(shown)):
        root = ET.fromstring(svg_text(picture))
        squares = [part.get("data-cell") for part in root if part.get("class") == "square"]
        assert sorted(filter(None, squares)) == sorted(game.layout.cells)


def test_the_pieces_have_the_measures_of_the_kit() -> None:
    game = load_game("ziggurat")
    kit = load_kit("ziggurat")
    by_piece = {body.piece: body for body in scene(game, game.start()).bodies}
    for kind in kit.pieces:
        assert (by_piece[kind.letter].width, by_piece[kind.letter].height) == (kind.width_mm, kind.height_mm)
        assert by_piece[kind.letter].colour == to_hex(kind.colour)
    assert len({body.width for body in by_piece.values()}) == 3, "three sizes, three widths"


def test_nested_pyramids_rise_as_the_kit_says_and_hide_what_is_inside() -> None:
    kit = load_kit("ziggurat")
    assert kit.stacking is not None
    game = load_game("ziggurat")
    stacks = [{"c4": "QD", "e4": "DQ"}.get(cell, "") for cell in game.layout.cells]
    shown = table_scene(game, Table(tuple(stacks)), kit)
    tower, keep = (list(on_cell(shown, cell)) for cell in ("c4", "e4"))
    assert [body.z for body in tower] == [0, kit.stacking.tower_rise_mm]
    assert [body.z for body in keep] == [0, 0]
    assert [body.is_hiding for body in (*tower, *keep)] == [False, False, False, True]


def test_pieces_stand_on_their_pillars_and_terraces() -> None:
    for tag in ("diamond:table", "citadel"):
        game = load_game(tag)
        shown = scene(game, game.start())
        heights = {ground.cell: ground.z for ground in shown.grounds}
        assert len(set(heights.values())) > 1
        assert all(body.z == heights[body.cell] for body in shown.bodies)


def test_characters_are_drawn_with_strokes_not_letters() -> None:
    game = load_game("cheight")
    root = ET.fromstring(draw_svg(game, game.start()))
    words = {part.text for part in root.iter() if part.tag.endswith("text")}
    assert not words & set(game.pieces) - {"a", "b", "c"}, "only the names of files are letters"


def test_nobodys_cubes_have_their_own_colours() -> None:
    game = load_game("diamond:table")
    kit = load_kit("diamond")
    colours = {body.piece: body.colour for body in scene(game, game.start()).bodies}
    assert colours["Y"] == to_hex(kit.piece("Y").colour)
    assert colours["B"] == to_hex(kit.piece("B").colour)


@pytest.mark.parametrize("tag", available_tags())
def test_players_are_told_apart_by_their_colours(tag: str) -> None:
    game = load_game(tag)
    colours = player_colours(game, complete_kit(game, None))
    assert len(set(colours.values())) == len(game.players)


def test_a_stack_tells_its_height_and_what_lies_underneath() -> None:
    game, position = read_position(TOWERS)
    shown = scene(game, position)
    assert [(tally.cell, tally.text, tally.pieces) for tally in shown.tallies] == [("c4", "3", "RGG")]
    (c4,) = (square for square in diagram(shown).squares if square.name == "c4")
    assert c4.label == "c4: 3 pieces, from the bottom R G G"


def test_marked_squares_are_framed_and_the_wrong_ones_dashed() -> None:
    game = load_game("domination")
    root = ET.fromstring(draw_svg(game, game.start(), moved=("c1", "c2"), wrong=("c2",)))
    frames = {
        part.get("data-cell"): [(mark.get("stroke"), mark.get("stroke-dasharray")) for mark in part]
        for part in root
        if part.get("data-cell") in ("c1", "c2", "c3")
    }
    assert (TONES[Tone.MOVED], None) in frames["c1"]
    assert any(stroke == TONES[Tone.WRONG] and dashes for stroke, dashes in frames["c2"])
    assert not {TONES[Tone.MOVED], TONES[Tone.WRONG]} & {stroke for stroke, _ in frames["c3"]}


def test_squares_keep_their_place_whatever_is_said() -> None:
    game, position = read_position(TOWERS)
    plain = diagram(scene(game, position))
    marked = diagram(repair_scene(game, position, illegal(game, position, "a3-a6")))
    assert (plain.width, plain.height) == (marked.width, marked.height)
    for before, after in zip(plain.squares, marked.squares, strict=True):
        assert (before.name, before.shapes[0]) == (after.name, after.shapes[0])


def test_the_way_back_of_a_stack_is_drawn() -> None:
    game, position = read_position(TOWERS)
    event = illegal(game, position, "c4-c8:2")
    assert repair_steps(game, event) == (RepairStep("c8", "c4", 2, "G"),)
    shown = repair_scene(game, position, event)
    looks = {cell: [(body.piece, body.look) for body in on_cell(shown, cell)] for cell in ("c4", "c8")}
    assert looks == {
        "c4": [("R", Look.SOLID), ("G", Look.OUTLINE), ("G", Look.OUTLINE)],
        "c8": [("G", Look.GHOST), ("G", Look.GHOST)],
    }
    (arrow,) = shown.arrows
    assert arrow.start[1] > arrow.end[1], "from the eighth rank down to the fourth"
    assert shown.crosses == ()


def test_a_piece_too_many_is_crossed_out_and_a_missing_one_outlined() -> None:
    game, position = read_position(TOWERS)
    event = illegal(game, position, None, d5="B", a3="")
    assert repair_steps(game, event) == (RepairStep("d5", "", 1, "B"), RepairStep("", "a3", 1, "R"))
    shown = repair_scene(game, position, event)
    assert [body.look for cell in ("d5", "a3") for body in on_cell(shown, cell)] == [Look.GHOST, Look.OUTLINE]
    assert len(shown.crosses) == 1
    assert shown.arrows == ()


def test_from_an_empty_square_nothing_is_taken_and_on_one_nothing_is_put_back() -> None:
    """A pyramid hides how many are inside it: that the stack is gone, or has come, is plain all the same."""
    game = load_game("ziggurat")
    position = game.start()
    gone = illegal(game, position, None, a1="")
    assert "?Q" in gone.expected
    assert repair_steps(game, gone) == (RepairStep("", "a1", 1, "Q"),)
    come = illegal(game, position, None, c4="Q")
    assert repair_steps(game, come) == (RepairStep("c4", "", 1, "Q"),)


def test_what_is_left_to_do_is_outlined_or_crossed_out() -> None:
    game = load_game("domination")
    position = game.start()
    cell = game.layout.index["c3"]
    standing = game.table(position).stacks[cell]
    for wanted, look, crosses in ((standing + "R", Look.OUTLINE, 0), ("", Look.GHOST, 1), (standing, None, 0)):
        event = Unfinished(t=0.0, n=2, todo="do it", cells=("c3",), stacks=(wanted,))
        shown = repair_scene(game, position, event)
        drawn = {body.look for body in shown.bodies if body.cell == "c3" and body.look is not Look.SOLID}
        assert (drawn, len(shown.crosses)) == ({look} - {None}, crosses)
        assert [frame.tone for frame in shown.frames] == [Tone.LEFT]


def test_a_pillar_that_stands_wrong_points_to_its_level() -> None:
    game = load_game("diamond:table")
    position = game.start()
    levels = game.table(position).levels
    assert levels is not None
    event = illegal(game, position, None, levels=(levels[0] + 2, *levels[1:]))
    (step,) = repair_steps(game, event)
    assert (step.target, step.now, step.level) == ("a1", levels[0] + 2, levels[0])
    shown = repair_scene(game, position, event)
    (arrow,) = shown.arrows
    assert arrow.end[2] < arrow.start[2]
    assert next(ground.level for ground in shown.grounds if ground.cell == "a1") == levels[0] + 2


def test_two_pieces_that_changed_places_are_both_told() -> None:
    game, position = read_position("domination 4/6/8/8/2,R,5/G,7/6/4 R")
    event = illegal(game, position, None, c4="G", a3="R")
    assert set(repair_steps(game, event)) == {
        RepairStep("a3", "c4", 1, "R", replaced=1),
        RepairStep("c4", "a3", 1, "G", replaced=1),
    }
    shown = repair_scene(game, position, event)
    looks = [(body.cell, body.piece, body.look) for body in shown.bodies]
    assert sorted(looks) == [("a3", "R", Look.GHOST), ("c4", "G", Look.GHOST)]
    assert len(shown.arrows) == 2


def test_a_text_that_does_not_fit_the_game_tells_no_way() -> None:
    game = load_game("domination")
    assert repair_steps(load_game("diamond:table"), illegal(game, game.start(), None)) == ()


def test_a_board_whose_kit_names_no_colours_is_drawn_as_that_of_the_game() -> None:
    """A player with an own draughts board needs to see which squares are dark."""
    game, printed = load_game("draughts:russian"), load_kit("draughts")
    own = replace(printed, board=replace(printed.board, cell_colour=None, chequer_colour=None))
    drawn = complete_kit(game, own)
    assert [drawn.ground(cell) for cell in ("a1", "b1")] == [printed.ground("a1"), printed.ground("b1")]
    assert drawn.pieces == own.pieces
