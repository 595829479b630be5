"""Stack heights left in doubt by the colours are decided by the surfaces and boundaries that each height predicts."""

import numpy as np
import pytest

from vision.inference import heights, line_of_stacks
from vision.inference.coordinate_ascent import all_scores
from vision.inference.evidence_weights import CAMOUFLAGED_WEIGHT, UNINFORMATIVE, bound_log_ratios
from vision.inference.heights import (
    EMPTY_NATS,
    HEIGHT_NATS,
    MAX_ABSENT_NATS,
    SURE_HEIGHT_NATS,
    weigh_heights,
)
from vision.inference.hypothesis import Hypothesis
from vision.inference.surfaces import _is_camouflaged
from vision.likelihood.stacks import OUT_OF_REACH


def everywhere(hypothesis):
    """Return the indices of all cells."""
    return np.arange(len(hypothesis.state))


def misled(drawn, stack, believed, nats, over_none_nats=None):
    """Return a hypothesis of a board with one ``stack`` on d4, and its cell.

    The colours favour the stack ``believed`` by a lead of ``nats``, and by ``over_none_nats``, if given, over none.
    """
    hypothesis, cell = drawn.hypothesis({"d4": stack}), drawn.cell("d4")
    true, other = drawn.state(stack), drawn.state(believed)
    assert hypothesis.state[cell] == true
    hypothesis.scores[cell, other] = hypothesis.scores[cell, true] + nats
    if over_none_nats is not None:
        hypothesis.scores[cell, 1:] += over_none_nats - hypothesis.scores[cell, other]
    hypothesis.assign(cell, other)
    return hypothesis, cell


@pytest.mark.parametrize(("stack", "believed"), [("R", "RR"), ("RR", "R"), ("GG", "GGG"), ("BBB", "BB")])
def test_a_height_in_doubt_is_told_by_surfaces_and_boundaries(drawn, stack, believed):
    """A height that the colours prefer wrongly by 1 nat is corrected, upwards or downwards by one piece."""
    hypothesis, cell = misled(drawn, stack, believed, nats=1.0)
    weigh_heights(drawn.look(drawn.picture({"d4": stack})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state(stack)
    assert hypothesis.scores[cell].argmax() == drawn.state(stack)


@pytest.mark.parametrize(("table", "stands"), [({"d4": "R"}, "R"), ({}, "")])
def test_whether_a_camouflaged_piece_stands_there_is_told_by_boundaries_as_well(drawn, table, stands):
    """For a cell marked as camouflaged, boundaries decide between a piece and none."""
    hypothesis, cell = drawn.hypothesis(table), drawn.cell("d4")
    hypothesis.assign(cell, 0)
    hypothesis.mark_camouflaged(cell)
    weigh_heights(drawn.look(drawn.picture(table)), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == (drawn.state(stands) if stands else 0)


def test_surfaces_alone_make_no_piece(drawn, monkeypatch):
    """What was mirrored when the board was learned looks like an even surface now; boundaries see that nothing ends."""
    hypothesis, cell = drawn.hypothesis({}), drawn.cell("d4")
    hypothesis.mark_camouflaged(cell)
    monkeypatch.setattr(heights, "surface_log_ratios", lambda _, __, tried: np.full(len(tried), 40.0))
    weigh_heights(drawn.look(drawn.picture({})), hypothesis, np.array([cell]))
    assert hypothesis.state[cell] == 0


def test_a_camouflaged_piece_is_never_quite_ruled_out(drawn, monkeypatch):
    """However much colours, surfaces and boundaries speak against it, a groove may still tell of it."""
    hypothesis, cell = drawn.hypothesis({}), drawn.cell("d4")
    hypothesis.mark_camouflaged(cell)
    monkeypatch.setattr(heights, "surface_log_ratios", lambda _, __, tried: np.full(len(tried), -90.0))
    weigh_heights(drawn.look(drawn.picture({})), hypothesis, np.array([cell]))
    assert hypothesis.state[cell] == 0
    assert hypothesis.scores[cell, 1:].max() == pytest.approx(-MAX_ABSENT_NATS, abs=1e-4)


def test_colours_alone_do_not_rule_out_a_camouflaged_piece(drawn):
    """For a camouflaged piece the evidence of colours against it is bounded."""
    hypothesis, cell = drawn.hypothesis({}), drawn.cell("d4")
    bounded = bound_log_ratios(all_scores(hypothesis, cell))
    assert CAMOUFLAGED_WEIGHT * bounded.max() == pytest.approx(np.log(UNINFORMATIVE), abs=0.1)
    assert np.ptp(bounded) == pytest.approx(np.ptp(all_scores(hypothesis, cell)), rel=1e-4)


class Misled:
    """Stub of all scores: three pieces are unlikely (−4 nats), everything else is practically ruled out."""

    def __init__(self, hypothesis):
        self.scores = np.full((len(hypothesis.geometry.configurations.all), hypothesis.colours), -60.0, np.float32)
        self.scores[2] = -4.0

    def get(self, _cell):
        return self.scores

    def invalidate(self, cell, before):
        """Do nothing: no other cell is scored."""


def test_a_camouflaged_tower_is_asked_about_though_no_single_piece_may_stand_there(drawn):
    """A tower may be camouflaged even if all heights below it are ruled out."""
    hypothesis, cell = drawn.hypothesis({"d4": "BBB"}), drawn.cell("d4")
    hypothesis.assign(cell, 0)
    assert _is_camouflaged(hypothesis, cell, Misled(hypothesis))


@pytest.mark.parametrize(("beyond_nats", "read"), [(-1.0, "RRRR"), (1.0, "R")])
def test_colours_that_prefer_a_height_by_far_are_doubted_where_something_surely_stands(drawn, beyond_nats, read):
    """Up to SURE_HEIGHT_NATS boundaries are asked, and overrule them: a face that mirrors may look like the board."""
    hypothesis, cell = misled(drawn, "RRRR", "R", nats=SURE_HEIGHT_NATS + beyond_nats, over_none_nats=EMPTY_NATS + 60)
    weigh_heights(drawn.look(drawn.picture({"d4": "RRRR"})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state(read)


@pytest.mark.parametrize(("hue_nats", "read"), [(0.5, "RRRR"), (2.0, "R")])
def test_a_height_whose_face_has_a_pieces_hue_is_in_doubt_all_the_same(drawn, hue_nats, read):
    """A height ruled out by the colours is compared if its face has a piece's hue by enough nats."""
    hypothesis, cell = misled(drawn, "R", "RRRR", nats=HEIGHT_NATS + 10, over_none_nats=EMPTY_NATS - 5)
    hypothesis.set_face_hues(np.array([cell]), np.eye(1, hypothesis.face_hue_log_ratio.shape[1]) * hue_nats)
    weigh_heights(drawn.look(drawn.picture({"d4": "R"})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state(read)


@pytest.mark.parametrize(("hue_nats", "read"), [(0.5, "RR"), (2.0, "RRRRR")])
def test_heights_above_those_that_colours_scored_are_asked_about_where_they_have_a_pieces_hue(drawn, hue_nats, read):
    """Unscored greater heights are compared if their faces have a piece's hue by enough nats."""
    hypothesis, cell = drawn.hypothesis({"d4": "RRRRR"}), drawn.cell("d4")
    hypothesis.scores[cell, drawn.state("RRR") :] = OUT_OF_REACH
    hypothesis.assign(cell, drawn.state("RR"))
    hypothesis.set_face_hues(np.array([cell]), np.full((1, hypothesis.face_hue_log_ratio.shape[1]), hue_nats))
    weigh_heights(drawn.look(drawn.picture({"d4": "RRRRR"})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state(read)


def test_the_height_beside_the_chosen_one_is_asked_about_as_well(drawn):
    """The height next to the chosen one is compared as well, and leads on to the true one."""
    hypothesis, cell = misled(drawn, "R", "RRR", nats=HEIGHT_NATS + 2, over_none_nats=EMPTY_NATS - 5)
    hypothesis.scores[cell, drawn.state("RR")] = hypothesis.scores[cell, drawn.state("RRR")] - 2
    weigh_heights(drawn.look(drawn.picture({"d4": "R"})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state("R")


def blind(_view, prisms, _hypothesis, _stacks, which, aside_mm=None):
    """Replacement for ``compare_on`` that returns the given scores unchanged.

    ``aside_mm``: by height, the offset of the uppermost face (2,), in mm.
    """
    places = np.zeros((len(which[1]), prisms.kinds.shape[1], 3))
    for height, at in (aside_mm or {}).items():
        places[height, height - 1, :2] = at
    return which[1], places


def test_what_neither_colours_nor_boundaries_tell_is_no_further_piece(drawn, monkeypatch):
    """If neither colours nor boundaries decide, the lower stack is chosen.

    In the shadow in front of a stack both may favour one piece more.
    """
    monkeypatch.setattr(heights, "compare_on_cell", blind)
    hypothesis, cell = misled(drawn, "R", "RR", nats=0.5)
    weigh_heights(drawn.look(drawn.picture({"d4": "R"})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state("R")


def test_a_stack_of_which_no_face_is_far_aside_is_likelier(drawn, monkeypatch):
    """A height that needs an offset face loses against one whose pieces lie in place.

    A wrong extra piece often fits if the pieces are shifted more and more to one side, but players centre their stacks.
    """
    leaning = {2: (2.5, -2.0)}
    monkeypatch.setattr(heights, "compare_on_cell", lambda *given: blind(*given, aside_mm=leaning))
    hypothesis, cell = misled(drawn, "R", "RR", nats=4.0)
    weigh_heights(drawn.look(drawn.picture({"d4": "R"})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == drawn.state("R")


def test_heights_beside_a_line_of_stacks_are_weighed_again(drawn, monkeypatch):
    """Cells whose colours are rescored when a line of stacks is resolved have their heights weighed again."""
    hypothesis, cell, line = drawn.hypothesis({"d4": "R"}), drawn.cell("d4"), drawn.cell("g6")

    def mislead(hypothesis):
        hypothesis.scores[cell, drawn.state("RR")] = hypothesis.scores[cell].max() + 1
        hypothesis.assign(cell, drawn.state("RR"))

    monkeypatch.setattr(line_of_stacks, "converge", mislead)
    monkeypatch.setattr(Hypothesis, "is_on_learned_board", True)
    line_of_stacks._update_neighbours(
        drawn.look(drawn.picture({"d4": "R"})), hypothesis, {line: hypothesis.scores[line].copy()}
    )
    assert hypothesis.state[cell] == drawn.state("R")


def test_the_other_stacks_stay_as_they_were(drawn):
    """Correct stacks are not changed."""
    table = {"d4": "RR", "c6": "G", "e5": "BBB"}
    hypothesis = drawn.hypothesis(table)
    before = hypothesis.state.copy()
    weigh_heights(drawn.look(drawn.picture(table)), hypothesis, everywhere(hypothesis))
    assert (hypothesis.state == before).all()


def test_what_colours_take_for_a_piece_is_bare_where_no_surface_ends(drawn):
    """A piece that the colours prefer by 5 nats is removed if no boundary supports it."""
    hypothesis, cell = drawn.hypothesis({}), drawn.cell("d4")
    hypothesis.scores[cell] = -50.0
    hypothesis.scores[cell, [0, drawn.state("G")]] = 0.0, 5.0
    hypothesis.assign(cell, drawn.state("G"))
    hypothesis.updated[cell] = True
    weigh_heights(drawn.look(drawn.picture({})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == 0
    assert hypothesis.scores[cell].argmax() == 0


def test_a_tower_where_no_single_piece_would_be_likelier_than_none_is_compared_with_none(drawn):
    """An unlikely single piece does not keep a wrong tower from being compared with the empty cell.

    A tower may seem likely because it explains what stands behind it.
    """
    hypothesis, cell = drawn.hypothesis({}), drawn.cell("d4")
    hypothesis.scores[cell] = -50.0
    hypothesis.scores[cell, [0, drawn.state("GGG")]] = 0.0, EMPTY_NATS + 5
    hypothesis.assign(cell, drawn.state("GGG"))
    hypothesis.updated[cell] = True
    weigh_heights(drawn.look(drawn.picture({})), hypothesis, everywhere(hypothesis))
    assert hypothesis.state[cell] == 0
