"""Hypotheses: proposals change them, and a rejected proposal restores them exactly."""

import numpy as np
import pytest

from vision.inference.coordinate_ascent import update
from vision.inference.hypothesis import Proposal

TABLE = {"d4": "RR", "d5": "G", "e4": "B"}


def held(hypothesis):
    """Return copies of all arrays of a hypothesis, and of the label buffer that it renders."""
    fields = {
        name: getattr(hypothesis, name) for name in ("state", "shift_mm", "scores", "side_steps", "stale", "updated")
    }
    fields |= {f"isolated.{name}": value for name, value in hypothesis.isolated._asdict().items()}
    fields |= {
        f"silhouettes.{name}": getattr(hypothesis.silhouettes, name) for name in ("rows", "columns", "centres_px")
    }
    return {name: value.copy() for name, value in fields.items()} | {"labels": hypothesis.labels().copy()}


def test_a_rejected_proposal_leaves_no_trace(drawn):
    """After a rejected proposal all arrays equal their earlier values."""
    hypothesis = drawn.hypothesis(TABLE)
    before, cells = held(hypothesis), np.array([drawn.cell("d4"), drawn.cell("d5")])
    hypothesis.updated[:] = False
    before["updated"][:] = False
    proposal = Proposal(hypothesis, cells, hypothesis.scored_configurations(cells))
    hypothesis.assign(drawn.cell("d4"), drawn.state("GGGG"))
    hypothesis.invalidate_neighbours(drawn.cell("d4"), drawn.state("RR"))
    update(hypothesis, cells[1:])
    hypothesis.invalidate(cells)
    assert not np.array_equal(held(hypothesis)["scores"], before["scores"])
    proposal.reject()
    for name, value in held(hypothesis).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


@pytest.mark.parametrize(("proposed", "is_better"), [("RR", True), ("GG", False), ("", False)])
def test_a_proposal_is_judged_by_the_picture(drawn, proposed, is_better):
    """The table has two red discs on d4, of which one is hypothesised so far."""
    cell = drawn.cell("d4")
    hypothesis = drawn.hypothesis(TABLE, TABLE | {"d4": "R"})
    proposal = Proposal(hypothesis, np.array([cell]), 4)
    hypothesis.assign(cell, drawn.state(proposed))
    assert (proposal.log_ratio() > 0) == is_better


def test_only_neighbours_are_invalidated(drawn):
    """Assigning a stack invalidates only cells that overlap it."""
    hypothesis = drawn.hypothesis(TABLE)
    hypothesis.isolated.is_active[:] = True
    hypothesis.invalidate_neighbours(drawn.cell("d4"), drawn.state("R"))
    assert hypothesis.stale[drawn.cell("d5")], "it stands behind"
    assert not hypothesis.stale[[drawn.cell(name) for name in ("d4", "h6", "a3")]].any()
