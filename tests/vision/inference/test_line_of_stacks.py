"""A line of stacks that is taken for a tower is told from it by its boundaries, and a tower stays one."""

import numpy as np
import pytest

from vision.inference.block_moves import occluded_singles
from vision.inference.line_of_stacks import split_lines

FRONT, BEHIND = "e4", "e5"
COLOUR = "B"


def as_tower(drawn, table, height):
    """The picture of a table, and what is inferred of it but for a tower hypothesised in place of the line."""
    hypothesis = drawn.hypothesis(table)
    front, behind = drawn.cell(FRONT), drawn.cell(BEHIND)
    scores, tower = hypothesis.scores[[front]], drawn.state(COLOUR * height)
    scores[0, tower] = scores.max() + 30
    hypothesis.score(np.array([front]), scores)
    hypothesis.assign(front, tower)
    hypothesis.assign(behind, 0)
    hypothesis.isolated.may_be_single[behind] = True
    return drawn.picture(table), hypothesis


def heights(drawn, hypothesis):
    states = hypothesis.state[[drawn.cell(FRONT), drawn.cell(BEHIND)]]
    return [int(hypothesis.configuration_count(state)) if state else 0 for state in states.tolist()]


@pytest.fixture(scope="module")
def tall(drawn):
    """The height of the lowest tower that occludes the middle of the cell behind."""
    for height in range(2, 11):
        _, hypothesis = as_tower(drawn, {FRONT: COLOUR * height}, height)
        if drawn.cell(BEHIND) in occluded_singles(hypothesis, drawn.cell(FRONT)):
            return height
    raise AssertionError("no tower occludes the cell behind")


@pytest.mark.parametrize("stacks", [(1, 1), (2, 1), (1, 2), (3, 1)])
def test_a_line_of_stacks_is_no_tower(drawn, tall, stacks):
    table = dict(zip((FRONT, BEHIND), (COLOUR * height for height in stacks), strict=True))
    picture, hypothesis = as_tower(drawn, table, tall)
    split_lines(picture, hypothesis)
    assert heights(drawn, hypothesis) == list(stacks)
    assert hypothesis.scores[drawn.cell(FRONT)].argmax() == hypothesis.state[drawn.cell(FRONT)]


@pytest.mark.parametrize("more", [0, 1, 2])
def test_a_tower_stays_one(drawn, tall, more):
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR * (tall + more)}, tall + more)
    split_lines(picture, hypothesis)
    assert heights(drawn, hypothesis) == [tall + more, 0]


def test_only_what_was_updated_is_split(drawn, tall):
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    hypothesis.updated[:] = False
    split_lines(picture, hypothesis)
    assert heights(drawn, hypothesis) == [tall, 0]
