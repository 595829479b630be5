"""A drawn board is inferred, and inferred again where it has changed."""

import numpy as np

from vision.inference.search import infer_again

TABLE = {"c3": "R", "d4": "GGG", "d5": "RR", "e5": "Y", "f3": "BBBBB", "g6": "G"}


def expected(drawn, table):
    states = np.zeros(len(drawn.reader.kit.cells), np.intp)
    for name, stack in table.items():
        states[drawn.cell(name)] = drawn.state(stack)
    return states


def test_a_drawn_board_is_inferred(drawn):
    hypothesis = drawn.hypothesis(TABLE)
    np.testing.assert_array_equal(hypothesis.state, expected(drawn, TABLE))
    np.testing.assert_array_equal(hypothesis.scores.argmax(axis=1), hypothesis.state)
    assert (hypothesis.scores[:, 0] == 0).all(), "scores are ratios against an empty cell"


def test_what_has_changed_is_inferred_again_as_if_for_the_first_time(drawn):
    hypothesis, after = drawn.hypothesis(TABLE), {**TABLE, "d4": "G", "d6": "RR"}
    cells = np.array([drawn.cell(name) for name in ("d4", "d5", "d6")])  # of d5 more is visible now
    infer_again(hypothesis, cells, drawn.observe(after, cells))
    np.testing.assert_array_equal(hypothesis.state, expected(drawn, after))
    assert hypothesis.updated[cells].all()
    assert not hypothesis.updated[drawn.cell("f3")], "far from what has changed"
