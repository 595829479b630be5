"""Joint scores of whole tables from the characters on their faces."""

import numpy as np
import pytest

from vision.inference import joint_scoring
from vision.inference.evidence_weights import HEIGHTS_COLOUR_WEIGHT, PIECE_NATS, bounded_colour_evidence
from vision.inference.joint_scoring import score_characters

FRONT, BEHIND = 0, 1
LOW, HIGH, PIECE = 4, 5, 1
"""States of the tower in front, which hides the cell behind where it is high, and of a piece on that cell."""


class Stub:
    """Stub of a hypothesis that only holds states."""

    def __init__(self):
        self.state = [0, 0]

    def assign(self, cell, state):
        self.state[cell] = state


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_face_that_a_table_hides_tells_nothing_of_it(order):
    """A character behind a tower is no evidence for or against tables in which the tower hides it.

    If the tower is lower, what is seen there cannot tell whether anything stands behind the higher one.
    """
    hypothesis = Stub()

    def read(cell):
        if cell == FRONT:
            return np.array([-8.0 if hypothesis.state[FRONT] == HIGH else -60.0], np.float32), 30.0
        return (np.zeros(1, np.float32), 0.0) if hypothesis.state[FRONT] == HIGH else (np.array([-14.0]), 1.3)

    tables = [((HIGH,), (0,)), ((HIGH,), (PIECE,)), ((LOW,), (PIECE,))]
    letters = [np.array([0, -1]), np.array([0, 0]), np.array([0, 0])]
    told = score_characters(hypothesis, [tables[k] for k in order], [letters[k] for k in order], read)
    bare, hidden, lower = (told[order.index(k)] for k in range(3))
    assert bare == hidden == -8.0
    assert lower == -74.0


def test_a_face_on_bare_ground_speaks_for_a_piece():
    """A table without a piece is charged for the gain of the character that was read there."""
    hypothesis = Stub()

    def read(_):
        return np.array([-3.0, -20.0], np.float32), 12.0

    tables, letters = [((0,),), ((1,),), ((2,),)], [np.array([-1]), np.array([0]), np.array([1])]
    assert score_characters(hypothesis, tables, letters, read).tolist() == [-15.0, -3.0, -20.0]


@pytest.mark.parametrize(("stacks", "weight"), [(("RR", "RRR"), HEIGHTS_COLOUR_WEIGHT), (("", "RRR"), 1.0)])
def test_colours_count_for_less_among_heights_than_against_none(drawn, monkeypatch, stacks, weight):
    """Where tables differ by a height alone, colours are weighed as in a reading."""
    cell, nats = drawn.cell("c4"), 2.0
    hypothesis = drawn.hypothesis({"c4": "RRR"}, {})
    tables = [[np.array([state]) for state in hypothesis.state] for _ in stacks]
    for table, stack in zip(tables, stacks, strict=True):
        table[cell] = np.array([drawn.state(stack)])
    scores = np.zeros((len(drawn.geometry.configurations.all), hypothesis.colours))
    scores.ravel()[drawn.state("RRR") - 1] = nats
    monkeypatch.setattr(joint_scoring, "all_scores", lambda *_: scores)
    monkeypatch.setattr(joint_scoring, "compare", lambda *_: np.zeros(1 + len(scores)))
    lower, higher = joint_scoring.score_tables(drawn.picture({"c4": "RRR"}), hypothesis, tables)
    by_colour = -float(bounded_colour_evidence(np.array([-nats]))[0])
    price = PIECE_NATS if stacks[0] else 0.0
    assert higher - lower == pytest.approx(weight * by_colour - price, abs=0.02)
