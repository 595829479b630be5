"""Cheight Chess, rule by rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.games import read_position
from companion.rules.notation import format_move, parse_move
from tests.rules.conftest import lookalikes, played_positions

Broken = Callable[[str, str], list[str]]
Sentence = Callable[[str, str, str], str]
After = Callable[..., str]
Legal = Callable[..., set[str]]
End = Callable[[str], tuple[str | None, str] | None]

START = "cheight ab,cp,ck,ab/rp,np,np,rp/4/4/4/4/RP,NP,NP,RP/AB,CP,CK,AB R"


def board(to_move: str = "R", **cells: str) -> str:
    """Return the text of a position with these stacks, by default with a king on d1 and one on d8."""
    stacks = {"d1": "K", "d8": "k"} | cells
    ranks = (",".join(stacks.get(f"{file}{rank}", "1") for file in "abcd") for rank in range(8, 0, -1))
    text = "/".join(ranks)
    for run in range(4, 1, -1):
        text = text.replace(",".join("1" * run), str(run))
    return f"cheight {text} {to_move}"


@pytest.mark.rule("CHE-1")
@pytest.mark.rule("G-1")
def test_only_the_top_piece_moves_by_its_owner(broken: Broken, after: After, sentence: Sentence) -> None:
    assert broken(START, "b7-b6:1") == ["G-1", "CHE-1"]
    assert broken(START, "b2-b3") == ["CHE-1"]
    assert sentence(START, "b2-b3", "CHE-1").endswith("two pieces of b2 were taken.")
    assert after(START, "b2-b3:1").split()[1] == "ab,cp,ck,ab/rp,np,np,rp/4/4/4/1,P,2/RP,N,NP,RP/AB,CP,CK,AB"
    assert broken(board(a1="R"), "a1-a2:2") == ["CHE-1"]
    assert broken(START, "b2-off") == ["G-2", "CHE-1"]


@pytest.mark.rule("G-2")
def test_an_empty_square_has_no_piece(broken: Broken) -> None:
    assert broken(START, "a3-a4") == ["G-2", "CHE-1"]


@pytest.mark.rule("CHE-2")
def test_pawns_go_straight_forward(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    assert legal(board(b4="P"), "b4") == {"b4-b5"}
    assert legal(board("B", b4="p"), "b4") == {"b4-b3"}
    assert broken(board(b4="P"), "b4-b3") == ["CHE-2"]
    assert (
        sentence(board(b4="P"), "b4-c5", "CHE-2") == "a pawn goes one square straight forward; b4 to c5 is no such way."
    )


@pytest.mark.rule("CHE-3")
def test_rooks_stop_after_the_first_square_as_high(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    """From a stack of two the rook passes single pieces and stops on the first stack of two, an enemy's."""
    rook = board(a1="PR", a3="p", a4="P", a6="np", a7="p")
    assert legal(rook, "a1-a") == {"a1-a2:1", "a1-a3:1", "a1-a4:1", "a1-a5:1", "a1-a6:1"}
    assert broken(rook, "a1-a7:1") == ["CHE-3"]
    assert "on the way from a1 to a7 a6 is too high" in sentence(rook, "a1-a7:1", "CHE-3")


@pytest.mark.rule("CHE-4")
def test_bishops_run_along_diagonals(legal: Legal) -> None:
    assert legal(board(a1="B", c3="p"), "a1") == {"a1-b2", "a1-c3"}


@pytest.mark.rule("CHE-5")
def test_knights_need_a_low_neighbour(legal: Legal) -> None:
    assert legal(board(b3="N"), "b3") == {"b3-a1", "b3-a5", "b3-c1", "b3-c5", "b3-d2", "b3-d4"}
    assert legal(board(b3="N", b4="p"), "b3") == {"b3-a1", "b3-c1", "b3-d2", "b3-d4"}
    assert legal(board(b3="PN", b4="p"), "b3-c5") == {"b3-c5:1"}


@pytest.mark.rule("CHE-6")
def test_cannons_fly_over_enemies_and_capture_beyond_a_screen(legal: Legal) -> None:
    """From a stack of two, the enemy on a3 is flown over, a5 is the screen, and a6 and a7 can be captured."""
    cannon = board(a1="PC", a3="p", a5="PP", a6="p", a7="np")
    assert legal(cannon, "a1-a") == {"a1-a2:1", "a1-a4:1", "a1-a6:1", "a1-a7:1"}


@pytest.mark.rule("CHE-7")
def test_advisors_carry_what_lies_below(legal: Legal, after: After) -> None:
    assert legal(START, "a1") == set()
    carrying = board(b2="pPA", a3="NN")
    assert legal(carrying, "b2-a3") == {"b2-a3:1", "b2-a3:2", "b2-a3"}
    assert after(carrying, "b2-a3:2").split()[1].endswith("NNPA,3/1,p,2/3,K")


@pytest.mark.rule("CHE-8")
def test_kings_step_in_every_direction(legal: Legal, broken: Broken) -> None:
    assert legal(board(), "d1") == {"d1-c1", "d1-c2", "d1-d2"}
    assert broken(board(), "d1-d3") == ["CHE-8"]


@pytest.mark.rule("CHE-8")
def test_a_minimal_king_may_not_enter_a_kings_square(broken: Broken, legal: Legal) -> None:
    facing = "cheight{} 3,k/3,K/4/4 R"
    assert broken(facing.format(":minimal"), "d3-d4") == ["CHE-8"]
    assert "d3-d4" not in legal(facing.format(":minimal"))
    assert "d7-d8" in legal("cheight 3,k/3,K/4/4/4/4/4/4 R")


@pytest.mark.rule("CHE-9")
def test_own_pieces_are_covered_only_from_higher_up(broken: Broken, sentence: Sentence, legal: Legal) -> None:
    tall = board(a1="R", a2="PP")
    assert broken(tall, "a1-a2") == ["CHE-3", "CHE-9"]
    assert sentence(tall, "a1-a2", "CHE-9").endswith("a2 is two high, a1 one.")
    assert "a1-a2:1" in legal(board(a1="PPR", a2="PP"))
    assert "a1-a2" in legal(board(a1="R", a2="pp"))


@pytest.mark.rule("CHE-10")
def test_a_covered_king_is_lost(after: After, end: End) -> None:
    over = after(board(d5="R"), "d5-d8")
    assert over.split()[2] == "-"
    assert end(over) == ("R", "CHE-10")
    assert end(after(board(d2="PPR"), "d2-d1:1")) == ("B", "CHE-10")


@pytest.mark.rule("CHE-11")
def test_a_pawn_on_its_last_rank_is_exchanged(after: After, legal: Legal) -> None:
    due = after(board(a7="P", b1="CN", c8="R", b8="A"), "a7-a8")
    assert due.split()[2:] == ["R", "promote=a8", "next=B"]
    assert legal(due) == {"a8=b1.1", "a8=b1.2", "a8=d1.1"}
    assert after(due, "a8=b1.1").split()[1:] == [*board(a8="C", b1="PN", c8="R", b8="A").split()[1:2], "B"]


@pytest.mark.rule("CHE-11")
def test_an_uncovered_pawn_is_exchanged_before_its_owner_moves(after: After) -> None:
    due = after(board("B", a8="Pr", b1="N"), "a8-a5:1")
    assert due.split()[2:] == ["R", "promote=a8", "next=R"]
    assert after(due, "a8=b1.1").split()[2:] == ["R"]


@pytest.mark.rule("CHE-11")
def test_while_a_promotion_is_due_all_else_breaks_it(broken: Broken, sentence: Sentence) -> None:
    due = f"{board(a8='P', b1='N', c1='P', c6='p')} promote=a8 next=B"
    assert broken(due, "b1-c3") == ["CHE-11"]
    assert sentence(due, "b1-c3", "CHE-11") == "first Red exchanges the pawn on a8 with an own piece that is no pawn."
    assert broken(due, "c6-c5") == ["G-1", "CHE-1", "CHE-11"]
    assert broken(due, "a8=c1.1") == ["CHE-11"]
    assert broken(due, "a8=d8.1") == ["CHE-11"]
    assert broken(due, "a8=b1.2") == ["CHE-11"]
    assert broken(due, "c1=b1.1") == ["CHE-11"]
    assert broken(board(b1="N", c4="P"), "c4=b1.1") == ["CHE-11"]


@pytest.mark.rule("CHE-11")
def test_the_promotion_is_said_to_be_due() -> None:
    game, position = read_position(f"{board(a8='P', b1='N')} promote=a8 next=B")
    due = game.due(position)
    assert due is not None
    assert due.cells == ("a8",)


@pytest.mark.rule("CHE-11")
def test_a_promotion_passes_through_two_half_done_tables() -> None:
    game, position = read_position(f"{board(a8='nP', b1='NC')} promote=a8 next=B")
    lifted, placed = game.stages(position, parse_move(game, position, "a8=b1.1"))
    a8, b1 = game.layout.index["a8"], game.layout.index["b1"]
    assert (lifted.table.stacks[a8], lifted.table.stacks[b1]) == ("n", "NC")
    assert (placed.table.stacks[a8], placed.table.stacks[b1]) == ("nN", "C")
    assert placed.todo == "complete the exchange of the pawn from a8"
    assert game.stages(position, parse_move(game, position, "d1-d2")) == ()


@pytest.mark.rule("CHE-12")
@pytest.mark.rule("G-3")
def test_who_cannot_move_has_lost(after: After, end: End) -> None:
    """Black's only piece lies under a red rook; players are not skipped in this game."""
    over = after("cheight 4/4/4/4/pR,3/4/4/3,K R", "d1-d2")
    assert over.split()[2] == "-"
    assert end(over) == ("R", "CHE-12")


@pytest.mark.rule("G-5")
def test_after_the_end_no_move_counts(broken: Broken) -> None:
    assert broken("cheight 3,kR/4/4/4/4/4/4/K,3 -", "a1-a2") == ["G-5"]


def test_equal_buried_pieces_make_promotions_look_alike() -> None:
    game, position = read_position(f"{board(a8='P', b1='NP', c1='NR')} promote=a8 next=B")
    after = {move.level: game.play(position, move).board for move in game.legal_moves(position) if move.target == 1}
    assert after[1][1] == "PP"
    assert game.sight(after[1][1]) == (2, "P")


def test_only_exchanges_with_equal_covered_pieces_look_alike() -> None:
    game, position = read_position(f"{board(a8='P', b1='Nr', c1='Nc', d3='Cr')} promote=a8 next=B")
    (moves,) = lookalikes(game, position)
    assert {format_move(game, position, move) for move in moves} == {"a8=b1.1", "a8=c1.1"}
    for position in played_positions("cheight", games=4, longest=120):
        for moves in lookalikes(game, position):
            assert all(move.level for move in moves)
            assert len({position.board[move.target or 0][move.level - 1] for move in moves}) == 1
