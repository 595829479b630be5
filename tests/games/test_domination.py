"""Domination, rule by rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.games import load_game, read_position
from companion.rules.board import Table
from companion.rules.game import Move, Position
from companion.rules.notation import format_position, parse_move
from tests.rules.conftest import lookalikes, played_positions

Broken = Callable[[str, str], list[str]]
Sentence = Callable[[str, str, str], str]
After = Callable[..., str]
Legal = Callable[..., set[str]]
End = Callable[[str], tuple[str | None, str] | None]

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
THREE = (
    "domination/3 4/R,R,G,G,B,B/1,G,G,B,B,R,R,1/1,B,B,R,R,G,G,1/1,R,R,G,G,B,B,1/1,G,G,B,B,R,R,1/B,B,R,R,G,G/4 "
    "R hand=RGB"
)
LONE = "domination 4/6/8/1,R,6/8/3,GGR,3,G/6/4 R"
FULL = "domination 4/6/8/2,RGGRG,GR,4/8/7,G/6/4 R"


@pytest.mark.rule("G-1")
@pytest.mark.rule("DOM-1")
def test_only_the_commander_moves_a_stack(broken: Broken, sentence: Sentence) -> None:
    assert broken(START, "b2-b3") == ["G-1", "DOM-1"]
    assert broken("domination 4/6/8/8/3,RRG,4/8/6/3,R R", "d4-d5") == ["G-1", "DOM-1"]
    assert sentence(START, "b2-b3", "G-1") == "the stack on b2 is Green's, and it is Red's turn."
    assert sentence(START, "b2-b3", "DOM-1").startswith("Green controls b2;")


@pytest.mark.rule("G-2")
def test_an_empty_square_has_no_stack(broken: Broken) -> None:
    assert broken(START, "c1-c2") == ["G-2", "DOM-1", "DOM-3"]


@pytest.mark.rule("G-2")
def test_what_no_single_move_explains_is_cited() -> None:
    game, position = read_position(START)
    stacks = list(position.board)
    stacks[4], stacks[5], stacks[0], stacks[1] = "", "", "G", "G"
    (first,) = game.breaches(position, Table(tuple(stacks)))
    assert first.rule == "G-2"
    assert first.cells == ("c1", "d1", "b2", "c2")
    assert first.text.startswith("c1, d1, b2 and c2 have changed at once;")


@pytest.mark.rule("G-3")
def test_who_cannot_move_is_skipped_and_may_come_back(after: After) -> None:
    three = "domination/3 4/6/8/2,BR,G,4/8/8/6/3,R R"
    skipped = after(three, "f1-f2", "d5-d6")
    assert skipped.split()[2] == "R"
    assert after(skipped, "c5-c6:1", "d6-d7").split()[2] == "B"


@pytest.mark.rule("G-4")
def test_a_repeated_position_has_the_same_text_and_goes_on(after: After) -> None:
    """Repetitions are counted by the match; the position keeps its player to move."""
    sparse = "domination 4/R,5/8/8/8/8/5,G/4 R"
    around = ("b7-b6", "g2-g3", "b6-b7", "g3-g2")
    assert after(sparse, *around) == sparse
    assert after(sparse, *around * 3) == sparse


@pytest.mark.rule("G-5")
def test_after_the_end_no_move_counts(broken: Broken) -> None:
    over = "domination 4/6/8/8/3,GR,4/8/6/4 -"
    assert broken(over, "d4-d5") == ["G-5"]
    assert broken(over, "*d4") == ["G-5"]
    assert broken(over, "d1-d2") == ["G-5"]


@pytest.mark.rule("DOM-2")
def test_three_players_first_place_their_piece(broken: Broken, after: After, legal: Legal) -> None:
    assert len(legal(THREE)) == 16
    assert broken(THREE, "b7-b6") == ["DOM-2"]
    assert broken(THREE, "*b7") == ["DOM-2"]
    assert broken(THREE, "b6-a6") == ["G-1", "DOM-1", "DOM-2"]
    placed = after(THREE, "*c8")
    assert placed.startswith("domination/3 R,3/")
    assert placed.endswith(" G hand=GB")
    assert "hand" not in after(placed, "*d8", "*e8")


@pytest.mark.parametrize("hand", ["BGR", "R", "RG", "GB", "B", "RGBR", "Y"])
def test_hands_are_emptied_in_turn(hand: str) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        read_position(THREE.replace("=RGB", f"={hand}"))


@pytest.mark.rule("DOM-2")
def test_the_piece_in_hand_is_due() -> None:
    game, position = read_position(THREE)
    due = game.due(position)
    assert due is not None
    assert due.todo == "Red puts the piece in hand on an empty square"
    assert load_game("domination").due(load_game("domination").start()) is None


@pytest.mark.rule("DOM-3")
def test_the_top_pieces_move_in_their_order(after: After, broken: Broken) -> None:
    assert after(LONE, "d3-e3:1").split()[1] == "4/6/8/1,R,6/8/3,GG,R,2,G/6/4"
    assert after("domination 4/6/8/1,G,6/8/3,GRGR,4/6/4 R", "d3-d5:3").split()[1] == "4/6/8/1,G,1,RGR,4/8/3,G,4/6/4"
    assert broken(LONE, "b5-b6:2") == ["DOM-3"]


@pytest.mark.rule("DOM-4")
def test_a_stack_goes_straight(broken: Broken) -> None:
    assert broken(LONE, "d3-e4") == ["DOM-4"]
    assert broken(LONE, "d3-e5") == ["DOM-4"]
    assert broken(LONE, "d3-f5") == ["DOM-4", "DOM-5"]


@pytest.mark.rule("DOM-5")
def test_a_stack_goes_at_most_as_far_as_it_is_high(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    assert legal(LONE, "b5") == {"b5-a5", "b5-b4", "b5-b6", "b5-c5"}
    assert legal(LONE, "d3-g") == {"d3-g3"}
    assert legal(LONE, "d3-f") == {"d3-f3", "d3-f3:2"}
    assert broken(LONE, "d3-f3:1") == ["DOM-5"]
    assert sentence(LONE, "d3-d6:2", "DOM-5") == "two pieces go at most two squares; d3 to d6 is three."
    assert sentence(LONE, "b5-b7", "DOM-5") == "one piece goes at most one square; b5 to b7 is two."
    assert broken(LONE, "b5-b5") == ["DOM-5"]


@pytest.mark.rule("DOM-5")
def test_a_classic_stack_goes_exactly_as_far(legal: Legal, sentence: Sentence) -> None:
    classic = LONE.replace("domination", "domination:classic")
    assert legal(classic, "d3-f") == {"d3-f3:2"}
    assert sentence(classic, "d3-e3", "DOM-5") == "three pieces go exactly three squares; d3 to e3 is one."


@pytest.mark.rule("DOM-6")
def test_a_reserve_piece_goes_anywhere(legal: Legal, broken: Broken, after: After) -> None:
    with_reserve = f"{LONE} reserve=R2"
    assert len(legal(with_reserve, "*")) == 52
    assert after(with_reserve, "*d3").endswith("/3,GGRR,3,G/6/4 G reserve=R1")
    assert broken(LONE, "*d3") == ["DOM-6"]


@pytest.mark.rule("DOM-6")
@pytest.mark.rule("G-1")
def test_a_reserve_piece_of_another_player_is_out_of_turn() -> None:
    game, position = read_position(f"{LONE} reserve=G1")
    smuggled = [attempt for attempt in game.attempts(position, frozenset({3})) if attempt.move.source is None]
    assert {attempt.player for attempt in smuggled} == {"R", "G"}
    rules = {a.player: [v.rule for v in game.violations(position, a.move)] for a in smuggled}
    assert rules == {"R": ["DOM-6"], "G": ["G-1"]}


@pytest.mark.rule("DOM-7")
def test_overflow_leaves_the_bottom_first(after: After) -> None:
    assert after(FULL, "d5-c5") == "domination 4/6/8/2,GRGGR,5/8/7,G/6/4 G reserve=R1"
    assert after(FULL, "d5-c5:1") == "domination 4/6/8/2,GGRGR,G,4/8/7,G/6/4 G reserve=R1"


@pytest.mark.rule("DOM-7")
def test_overflow_has_its_stages() -> None:
    game, position = read_position(FULL)
    first, second = game.stages(position, parse_move(game, position, "d5-c5"))
    c5 = game.layout.index["c5"]
    assert first.table.stacks[c5] == "RGGRGGR"
    assert first.todo == "take two pieces from the bottom of c5: one to Red's reserve, one out of the game"
    assert second.table.stacks[c5] == "GGRGGR"
    assert second.todo == "take one piece from the bottom of c5: one out of the game"
    assert first.cells == ("c5",)
    assert game.stages(position, parse_move(game, position, "d5-d4:1")) == ()


@pytest.mark.rule("DOM-7")
def test_pieces_leave_the_board_in_no_other_way(broken: Broken) -> None:
    assert broken(LONE, "d3-off") == ["G-2", "DOM-7"]
    game, position = read_position(LONE)
    gone = game.breaches(position, Table(tuple("" if stack == "R" else stack for stack in position.board)))
    assert [violation.rule for violation in gone] == ["G-2", "DOM-7"]


@pytest.mark.rule("DOM-7")
def test_an_illegal_move_takes_nothing_off() -> None:
    game, position = read_position("domination 4/6/8/2,RGGRG,1,GR,3/8/7,G/6/4 R")
    c5, e5 = game.layout.index["c5"], game.layout.index["e5"]
    one = next(a for a in game.attempts(position, frozenset({c5, e5})) if a.move.source == e5 and a.move.count == 1)
    assert one.table.stacks[c5] == "RGGRGR"


@pytest.mark.rule("DOM-8")
def test_the_last_who_can_move_wins(after: After, end: End) -> None:
    assert end(LONE) is None
    over = after("domination 4/6/8/2,R,G,4/8/8/6/4 R", "c5-d5")
    assert over.split()[2] == "-"
    assert end(over) == ("R", "DOM-8")
    assert after("domination 4/6/8/2,R,G,4/8/8/6/4 R reserve=G1", "c5-d5").split()[2] == "G"


def test_the_starts_are_the_printed_ones() -> None:
    for tag, each in (("domination", 18), ("domination/3", 12), ("domination/4", 13)):
        game = load_game(tag)
        board = "".join(game.start().board)
        assert {player: board.count(player) for player in game.players} == dict.fromkeys(game.players, each)
    four = load_game("domination/4")
    text = format_position(four, four.start())
    assert text.split()[1].startswith("R,R,Y,G/G,G,G,Y,G,Y/R,R,R,R,Y,G,Y,G/")
    assert text.split()[1].endswith("/R,B,R,B,B,B/B,R,Y,Y")


def test_only_moves_onto_full_stacks_look_alike() -> None:
    """A target of five with the mover's piece on top looks the same after a move onto it."""

    def is_swallowed(position: Position, move: Move) -> bool:
        target = position.board[move.target or 0]
        return len(target) == 5 and target[-1] == position.to_move

    found = 0
    for tag in ("domination", "domination/4", "domination:classic"):
        game = load_game(tag)
        for position in played_positions(tag, games=4, longest=120):
            for moves in lookalikes(game, position):
                found += 1
                hidden = [move for move in moves if is_swallowed(position, move)]
                assert len(hidden) >= len(moves) - 1
                assert len(moves) > 1 or moves[0].source is None
    assert found
