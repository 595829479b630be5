"""Numbers, lists and disturbances in words."""

from __future__ import annotations

import pytest

from companion.rules.board import Layout, Table
from companion.rules.citing import changed_cells, cite, counted, disturbance, jumped_pillars, listed, number, surplus
from companion.rules.game import Rule

LAYOUT = Layout(3, 1)
RULE = Rule("X-1", "Test", "Do not.", "{what} is not done.")


@pytest.mark.parametrize(("n", "word"), [(-1, "-1"), (0, "no"), (1, "one"), (12, "twelve"), (13, "13")])
def test_small_numbers_are_words(n: int, word: str) -> None:
    assert number(n) == word


@pytest.mark.parametrize(("n", "words"), [(0, "no pieces"), (1, "one piece"), (2, "two pieces")])
def test_things_are_counted(n: int, words: str) -> None:
    assert counted(n, "piece") == words


@pytest.mark.parametrize(
    ("words", "text"),
    [([], "nothing"), (["a1"], "a1"), (["a1", "b1"], "a1 and b1"), (["a1", "b1", "c1"], "a1, b1 and c1")],
)
def test_squares_are_listed(words: list[str], text: str) -> None:
    assert listed(words) == text


def test_a_citation_fills_in_the_rules_sentence_and_names_each_square_once() -> None:
    violation = cite(RULE, ("a1", "b1", "a1"), what="This")
    assert (violation.rule, violation.text, violation.cells) == ("X-1", "This is not done.", ("a1", "b1"))


def test_changes_are_stacks_or_levels_that_differ_for_sure() -> None:
    before = Table(("RG", "R", ""), (1, 1, 1))
    assert changed_cells(LAYOUT, before, Table(("?G", "R", ""), (1, 1, 2))) == ("c1",)
    assert changed_cells(LAYOUT, before, Table(("?R", "", "R"), None)) == ("a1", "b1", "c1")
    assert surplus(before, Table(("R", "R", ""))) == -1
    assert jumped_pillars(LAYOUT, before, Table(before.stacks, (3, 0, 1))) == ("a1",)
    assert jumped_pillars(LAYOUT, before, Table(before.stacks)) == ()


@pytest.mark.parametrize(
    ("cells", "more", "text"),
    [
        (("a1",), 1, "one piece too many on the board (a1)"),
        (("a1", "b1"), -2, "two pieces are gone from the board (a1 and b1)"),
        (("a1",), 0, "the pieces of a1 are not the ones that stood there"),
        (("a1", "b1"), 0, "a1 and b1 have changed at once"),
    ],
)
def test_a_disturbance_in_words(cells: tuple[str, ...], more: int, text: str) -> None:
    assert disturbance(cells, more) == text
