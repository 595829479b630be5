"""Layouts, lines, and the acts that a hand can do."""

from __future__ import annotations

from companion.rules import acts
from companion.rules.board import Layout
from companion.rules.game import Move
from companion.rules.lines import DOWN, UP, lines_of

LAYOUT = Layout(3, 3)
LINES = lines_of(LAYOUT)
A1, B2, C3 = (LAYOUT.index[name] for name in ("a1", "b2", "c3"))


def names(cells: tuple[int, ...]) -> str:
    """Return the names of cells, joined by spaces."""
    return " ".join(LAYOUT.cells[cell] for cell in cells)


def test_cells_are_ordered_rank_by_rank_without_the_missing() -> None:
    assert Layout(2, 2, frozenset({"b1"})).cells == ("a1", "a2", "b2")


def test_a_step_off_the_board_leads_nowhere() -> None:
    assert LAYOUT.step(A1, 1, 1) == B2
    assert LAYOUT.step(A1, -1, 0) is None
    assert Layout(2, 2, frozenset({"b1"})).step(0, 1, 0) is None


def test_lines_run_outward_to_the_edge() -> None:
    assert names(LINES.straight[A1][UP]) == "a2 a3"
    assert LINES.straight[A1][DOWN] == ()
    assert [names(line) for line in LINES.diagonal[A1]] == ["b2 c3", "", "", ""]
    assert names(LINES.neighbours(B2)) == "c2 a2 b3 b1"


def test_leaps_name_the_squares_on_both_ways() -> None:
    assert sorted(names(leap) for leap in LINES.leaps[A1]) == ["b3 a2 b2", "c2 b1 b2"]


def test_a_way_ends_with_its_target() -> None:
    assert names(LINES.way(A1, C3)) == "b2 c3"
    assert names(LINES.way(A1, LAYOUT.index["b3"])) == "a2 b3"
    assert LINES.way(A1, A1) == (A1,)


def test_a_hand_moves_any_part_of_a_stack_anywhere() -> None:
    board = ("RG", "B", "")
    assert dict(acts.transfers(board)) == {
        Move(0, 1, 1): ("R", "BG", ""),
        Move(0, 2, 1): ("R", "B", "G"),
        Move(0, 1, 2): ("", "BRG", ""),
        Move(0, 2, 2): ("", "B", "RG"),
        Move(1, 0, 1): ("RGB", "", ""),
        Move(1, 2, 1): ("RG", "", "B"),
    }
    assert dict(acts.removals(board)) == {Move(0, None, 1): ("R", "B", ""), Move(1, None, 1): ("RG", "", "")}
    assert dict(acts.additions(board, "Y", frozenset({2}))) == {Move(None, 2, piece="Y"): ("RG", "B", "Y")}


def test_a_hand_exchanges_a_top_piece_with_any_other() -> None:
    board = ("nP", "NP")
    assert dict(acts.exchanges(board, "P")) == {
        Move(0, 0, level=1): ("Pn", "NP"),
        Move(0, 1, level=1): ("nN", "PP"),
        Move(1, 0, level=1): ("PP", "Nn"),
        Move(1, 1, level=1): ("nP", "PN"),
    }
    assert acts.half_exchanged(board, Move(0, 1, level=1)) == (("n", "NP"), ("nN", "P"))
