"""Block moves let coordinate ascent escape local optima and leave correct hypotheses unchanged."""

import numpy as np
import pytest

from vision.inference.block_moves import join_towers, remove_spurious_stacks, split_towers
from vision.inference.coordinate_ascent import converge, initialise


def begun(drawn, table, hypothesised):
    """Return a hypothesis of a rendered table with scores for all cells, to which other stacks are then assigned."""
    hypothesis = drawn.hypothesis(table, {})
    initialise(hypothesis, np.arange(len(hypothesis.state)))
    converge(hypothesis)
    for cell in np.flatnonzero(hypothesis.state).tolist():
        hypothesis.assign(cell, 0)
    for name, stack in hypothesised.items():
        hypothesis.assign(drawn.cell(name), drawn.state(stack))
    hypothesis.clear_stale()
    return hypothesis


def stacks(drawn, hypothesis, *names):
    """Return the hypothesised states of the named cells."""
    return [int(hypothesis.state[drawn.cell(name)]) for name in names]


def test_a_tower_is_split_into_the_line_of_stacks_that_it_is(drawn):
    """A tower of six is replaced by the two single pieces that are on the table."""
    hypothesis = begun(drawn, {"d4": "R", "d5": "R"}, {"d4": "RRRRRR"})
    assert split_towers(hypothesis)
    converge(hypothesis)
    assert stacks(drawn, hypothesis, "d4", "d5") == [drawn.state("R"), drawn.state("R")]


def test_a_true_tower_stays(drawn):
    """A correct tower is neither split nor reduced."""
    hypothesis = begun(drawn, {"d4": "RRRRRR"}, {"d4": "RRRRRR"})
    assert not split_towers(hypothesis)
    assert not remove_spurious_stacks(hypothesis)
    assert stacks(drawn, hypothesis, "d4", "d5") == [drawn.state("RRRRRR"), 0]


def test_a_line_of_stacks_is_joined_to_the_tower_that_it_is(drawn):
    """Two stacks are replaced by the tower of six that is on the table."""
    hypothesis = begun(drawn, {"d4": "RRRRRR"}, {"d4": "RR", "d5": "RR"})
    assert join_towers(hypothesis)
    converge(hypothesis)
    assert stacks(drawn, hypothesis, "d4", "d5") == [drawn.state("RRRRRR"), 0]


@pytest.mark.parametrize("table", [{"d4": "RR", "d5": "RR"}, {"d4": "GG", "d5": "R"}])
def test_true_stacks_in_a_line_are_not_joined(drawn, table):
    """Two correct stacks in a line are not joined."""
    hypothesis = begun(drawn, table, table)
    before = hypothesis.state.copy()
    assert not join_towers(hypothesis)
    np.testing.assert_array_equal(hypothesis.state, before)


def test_a_phantom_behind_a_stack_that_is_hypothesised_too_low_is_removed(drawn):
    """A spurious piece behind a tower assumed too low is removed, and the tower gets its true height."""
    hypothesis = begun(drawn, {"d4": "GGGGGG"}, {"d4": "GGGGG", "d5": "G"})
    assert remove_spurious_stacks(hypothesis)
    converge(hypothesis)
    assert stacks(drawn, hypothesis, "d4", "d5") == [drawn.state("GGGGGG"), 0]
