"""Coordinate ascent infers rendered tables, and updates them where the picture has changed."""

import numpy as np

from vision.inference.coordinate_ascent import AllScores, all_scores, complete, may_be_higher
from vision.inference.search import infer_again
from vision.likelihood.stacks import OUT_OF_REACH

TABLE = {"c3": "R", "d4": "GGG", "d5": "RR", "e5": "Y", "f3": "BBBBB", "g6": "G"}


def expected(drawn, table):
    """Return the true states (cells,) of a table."""
    states = np.zeros(len(drawn.reader.kit.cells), np.intp)
    for name, stack in table.items():
        states[drawn.cell(name)] = drawn.state(stack)
    return states


def test_a_drawn_board_is_inferred(drawn):
    """All states of a rendered board are inferred, with scores relative to the empty cell."""
    hypothesis = drawn.hypothesis(TABLE)
    np.testing.assert_array_equal(hypothesis.state, expected(drawn, TABLE))
    np.testing.assert_array_equal(hypothesis.scores.argmax(axis=1), hypothesis.state)
    assert (hypothesis.scores[:, 0] == 0).all(), "scores are ratios against an empty cell"


def test_what_has_changed_is_inferred_again_as_if_for_the_first_time(drawn):
    """Changed cells are inferred again with the result of a full inference, and distant cells are not updated."""
    hypothesis, after = drawn.hypothesis(TABLE), {**TABLE, "d4": "G", "d6": "RR"}
    cells = np.array([drawn.cell(name) for name in ("d4", "d5", "d6")])  # more of d5 is visible now
    infer_again(hypothesis, cells, drawn.observe(after, cells))
    np.testing.assert_array_equal(hypothesis.state, expected(drawn, after))
    assert hypothesis.updated[cells].all()
    assert not hypothesis.updated[drawn.cell("f3")], "far from what has changed"


def test_a_tower_is_found_though_lower_stacks_alone_were_scored(drawn):
    """A tower is found by a complete scoring where one piece was only slightly likelier than two.

    Greater heights had not been scored.
    """
    hypothesis, cell = drawn.hypothesis(TABLE), drawn.cell("f3")
    colours, tower = hypothesis.colours, int(hypothesis.state[cell])
    assert not may_be_higher(hypothesis).any()
    scores = hypothesis.scores[[cell]].copy()
    scores[0, 1 : 1 + colours], scores[0, 1 + colours : 1 + 2 * colours] = 9.0, 7.0
    scores[0, 1 + 2 * colours :] = OUT_OF_REACH
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, 1)
    assert np.flatnonzero(may_be_higher(hypothesis)).tolist() == [cell]
    complete(hypothesis, np.array([cell]))
    assert hypothesis.state[cell] == tower


def test_all_scores_of_many_cells_are_those_of_each(drawn):
    """Batched scores agree with those computed cell by cell."""
    hypothesis = drawn.hypothesis(TABLE)
    cells = np.arange(len(hypothesis.state))
    every = AllScores(hypothesis, cells)
    for cell in cells.tolist():
        np.testing.assert_allclose(every.get(cell), all_scores(hypothesis, cell), rtol=1e-4, atol=1e-2)


def test_all_scores_are_scored_again_where_a_stack_before_or_behind_has_changed(drawn):
    """After a change in front of a cell, its scores are recomputed."""
    hypothesis, (behind, cell) = drawn.hypothesis(TABLE), (drawn.cell("d5"), drawn.cell("d4"))
    every, before = AllScores(hypothesis, np.array([behind])), int(hypothesis.state[cell])
    outdated = every.get(behind)
    hypothesis.assign(cell, 0)
    every.invalidate(cell, before)
    np.testing.assert_array_equal(every.get(behind), all_scores(hypothesis, behind))
    assert np.abs(every.get(behind) - outdated).max() > 1
