"""A stack of which only a rim is visible beside a nearer one is not reported as present."""

import numpy as np
import pytest

from vision.inference import joint_scoring
from vision.inference.rims import RIM_NATS, are_rims, discount_rims

BEHIND, FRONT = "e5", "e4"
TOWER, HIDDEN = "RRRRRRR", "R"


@pytest.fixture
def hidden(drawn):
    """Return a hypothesis with a piece behind a tower of its colour, 5 nats likelier than an empty cell."""
    hypothesis = drawn.hypothesis({FRONT: TOWER}, {FRONT: TOWER, BEHIND: HIDDEN})
    hypothesis.scores[drawn.cell(BEHIND), drawn.state(HIDDEN)] = 5.0
    hypothesis.scores[drawn.cell(FRONT), drawn.state(TOWER)] = 100.0
    return hypothesis


def test_a_stack_behind_a_tower_shows_a_rim_at_most(drawn, hidden):
    """Exactly the stack behind the tower counts as a rim."""
    assert np.flatnonzero(are_rims(hidden)).tolist() == [drawn.cell(BEHIND)]


def test_a_rim_does_not_tell_whether_anything_stands_there(drawn, hidden):
    """A rim makes the empty cell and the hidden piece equally likely."""
    scores = discount_rims(hidden)[drawn.cell(BEHIND)]
    assert scores.max() == scores[0] == scores[drawn.state(HIDDEN)] == 0


def test_what_is_likelier_than_a_rim_is_told(drawn, hidden):
    """Of a larger lead only the part above RIM_NATS is kept."""
    hidden.scores[drawn.cell(BEHIND), drawn.state(HIDDEN)] = RIM_NATS + 3
    assert discount_rims(hidden)[drawn.cell(BEHIND), drawn.state(HIDDEN)] == pytest.approx(3)


def test_what_is_seen_counts_as_it_is(drawn, hidden):
    """The scores of a fully visible stack are unchanged."""
    cell = drawn.cell(FRONT)
    np.testing.assert_array_equal(discount_rims(hidden)[cell], hidden.scores[cell])


def test_a_rim_speaks_for_no_table(drawn, monkeypatch):
    """The colours favour the rear piece by 6 nats, but it is hidden: both tables score the same."""
    table = {FRONT: TOWER, BEHIND: HIDDEN}
    hypothesis = drawn.hypothesis(table, table)
    tables = [[np.array([state]) for state in hypothesis.state] for _ in range(2)]
    tables[0][drawn.cell(BEHIND)] = np.array([0])
    scores = np.full((len(drawn.geometry.configurations.all), hypothesis.colours), -100.0)
    scores.ravel()[drawn.state(HIDDEN) - 1] = 6.0
    monkeypatch.setattr(joint_scoring, "all_scores", lambda *_: scores)
    empty, rim = joint_scoring.score_tables(drawn.picture(table), hypothesis, tables)
    assert rim == pytest.approx(empty)
