"""Heights that colours leave in doubt, told by the surfaces that each predicts."""

import numpy as np
import pytest

from vision.inference.surfaces import HEIGHT_NATS, weigh_heights

NONE = np.zeros(0, np.intp)


def misled(drawn, stack, believed, nats):
    """What is inferred of a board with one stack, of which colours say that it is ``believed``, by so many nats."""
    hypothesis, cell = drawn.hypothesis({"d4": stack}), drawn.cell("d4")
    true, other = drawn.state(stack), drawn.state(believed)
    assert hypothesis.state[cell] == true
    hypothesis.scores[cell, other] = hypothesis.scores[cell, true] + nats
    hypothesis.assign(cell, other)
    return hypothesis, cell


@pytest.mark.parametrize(("stack", "believed"), [("R", "RR"), ("RR", "R"), ("GG", "GGG"), ("BBB", "BB")])
def test_a_height_in_doubt_is_told_by_its_surfaces(drawn, stack, believed):
    hypothesis, cell = misled(drawn, stack, believed, nats=1.0)
    weigh_heights(hypothesis, NONE)
    assert hypothesis.state[cell] == drawn.state(stack)
    assert hypothesis.scores[cell].argmax() == drawn.state(stack)


def test_what_is_not_in_doubt_or_was_told_so_already_stays(drawn):
    hypothesis, cell = misled(drawn, "R", "RR", nats=HEIGHT_NATS + 0.1)
    weigh_heights(hypothesis, NONE)
    assert hypothesis.state[cell] == drawn.state("RR")
    hypothesis, cell = misled(drawn, "R", "RR", nats=1.0)
    weigh_heights(hypothesis, np.array([cell]))
    assert hypothesis.state[cell] == drawn.state("RR")


def test_the_other_stacks_stay_as_they_were(drawn):
    hypothesis = drawn.hypothesis({"d4": "RR", "c6": "G", "e5": "BBB"})
    before = hypothesis.state.copy()
    weigh_heights(hypothesis, NONE)
    assert (hypothesis.state == before).all()
