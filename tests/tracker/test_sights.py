"""Sights (height and top) as text, and views with changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from companion.games import load_game
from companion.rules.board import Layout
from companion.tracker.sights import apply_changes, format_sight, format_sights, stack_of

SIGHTS = st.lists(st.sampled_from([(0, None), (1, "R"), (3, "G"), (None, "R")]), min_size=6, max_size=6).map(tuple)


def test_the_start_of_domination() -> None:
    """Runs of empty cells are counted; heights precede tops."""
    game = load_game("domination")
    sights = [game.sight(stack) for stack in game.start().board]
    text = format_sights(game.layout, sights)
    assert text.split("/")[:3] == ["4", "1R,1R,1G,1G,1R,1R", "1,1G,1G,1R,1R,1G,1G,1"]


def test_heights_that_nobody_can_count_are_question_marks() -> None:
    """An empty cell is called "empty"."""
    assert format_sights(Layout(3, 1), [(None, "Q"), (0, None), (2, "w")]) == "?Q,1,2w"
    assert format_sight((0, None)) == "empty"


@given(SIGHTS, SIGHTS, st.sets(st.integers(0, 5)))
def test_changes_alter_the_cells_that_they_name_and_no_others(before: tuple, after: tuple, cells: set[int]) -> None:
    """Each named cell has its new sight, each other one its old sight."""
    result = apply_changes(before, tuple((cell, after[cell]) for cell in cells))
    assert result == tuple(after[i] if i in cells else before[i] for i in range(6))


def test_a_stack_of_which_only_the_top_is_known() -> None:
    """Unknown lower pieces become question marks."""
    assert stack_of((3, "G")) == "??G"
    assert stack_of((0, None)) == ""
    assert stack_of((None, "Q")) == "Q"
