"""Heights that the colours leave in doubt are decided by the extent of the shadows."""

import numpy as np
import pytest

from vision.appearance.ground_light import GroundLight, map_ground, view_ground
from vision.appearance.shadow_light import fit_shadow_light
from vision.inference import shadows
from vision.inference.shadows import weigh_by_shadows
from vision.scene.shadows import occluded

LAMP, POWER = np.array([[-900.0, 500.0, 900.0]]), 0.6
TABLE = {"d4": "RRR", "b6": "RRRR", "f6": "RRR", "g3": "RRRR", "c2": "RR"}
CELL, HEIGHT = "d4", 3


@pytest.fixture(scope="module")
def ground(drawn):
    """Return the visible bare ground of the rendered board."""
    reader = drawn.reader
    return view_ground(map_ground(reader.kit, reader.appearance), drawn.geometry.pose, reader.camera)


def lit(drawn, ground, table):
    """Return the simulated light on the ground beside the stacks of a table, with noise."""
    radius_mm, piece_mm = drawn.geometry.radius_mm, drawn.reader.kit.pieces[0].height_mm
    stacks = [[*drawn.reader.kit.centre_mm(cell), len(stack) * piece_mm] for cell, stack in table.items()]
    share = 1 - POWER * occluded(ground.places_mm, np.array(stacks), radius_mm, LAMP)[:, 0]
    noise = 0.03 * np.random.default_rng(3).normal(size=len(share))
    return GroundLight(share + noise, np.full(len(share), 0.03), np.ones(len(share), bool))


def in_doubt(drawn, believed, nats):
    """Return a hypothesis with ``believed`` pieces (0 for none) on the cell in question, and that cell.

    The other heights from 2 to 4 are less likely by ``nats``.
    """
    hypothesis = drawn.hypothesis({}, TABLE | {CELL: "R" * believed} if believed else TABLE)
    hypothesis.set_scores(np.arange(len(hypothesis.state)), np.full_like(hypothesis.scores, -1000.0))
    for cell, state in enumerate(hypothesis.state.tolist()):
        hypothesis.scores[cell, [0, state]] = 0.0, (100.0 if state else 0.0)
    cell = drawn.cell(CELL)
    likely = 100.0 if believed else 0.0
    hypothesis.scores[cell, 1:] = -1000.0
    for height in range(2, 5):
        hypothesis.scores[cell, drawn.state("R" * height)] = likely - nats
    state = drawn.state("R" * believed)
    hypothesis.scores[cell, state] = likely
    hypothesis.assign(cell, state)
    return hypothesis, cell


@pytest.mark.parametrize("believed", [2, 4])
def test_a_height_in_doubt_is_told_by_its_shadow(drawn, ground, believed):
    """The shadow corrects a height that is wrong by one piece with a lead of 0.5 nats."""
    hypothesis, cell = in_doubt(drawn, believed, 0.5)
    weigh_by_shadows(hypothesis, lambda: ground, lambda some: lit(drawn, some, TABLE))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == HEIGHT
    assert hypothesis.scores[cell].max() == pytest.approx(100.0, abs=0.01)


def test_towers_of_doubtful_height_tell_how_high_the_lamp_is_if_all_others_are_low(drawn, ground, monkeypatch):
    """They count with the height to be expected; where towers are sure, those in doubt are left out."""
    hypothesis, _ = in_doubt(drawn, 2, 0.5)
    given = []
    monkeypatch.setattr(shadows, "fit_shadow_light", lambda *told: given.append(told[2:4]) or fit_shadow_light(*told))
    weigh_by_shadows(hypothesis, lambda: ground, lambda some: lit(drawn, some, TABLE))
    hypothesis, _ = in_doubt(drawn, 2, 0.5)
    for name in TABLE.keys() - {CELL}:
        scores = hypothesis.scores[drawn.cell(name)]
        scores[drawn.state(TABLE[name] + "R")] = scores.max()
    weigh_by_shadows(hypothesis, lambda: ground, lambda some: lit(drawn, some, TABLE))
    (some, are_sure), (every, all_sure) = given
    assert np.count_nonzero(~are_sure) == 1
    assert all_sure.all()
    piece_mm = drawn.reader.kit.pieces[0].height_mm
    more = (every[are_sure, 2] - some[are_sure, 2]) / piece_mm
    np.testing.assert_allclose(more, 0.5, atol=1e-6)
    likely = np.exp([0.0, -0.5, -0.5])
    assert every[~are_sure, 2] / piece_mm == pytest.approx(likely @ [2, 3, 4] / likely.sum())


def test_shadows_alone_do_not_outweigh_what_is_sure(drawn, ground):
    """A lead of 11 nats is kept."""
    hypothesis, cell = in_doubt(drawn, 4, 11.0)
    weigh_by_shadows(hypothesis, lambda: ground, lambda some: lit(drawn, some, TABLE))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 4


def test_a_stack_that_seems_not_to_stand_is_told_by_its_shadow(drawn, ground):
    """A stack that seems absent by 1 nat is restored with its true height."""
    hypothesis, cell = in_doubt(drawn, 0, 1.0)
    weigh_by_shadows(hypothesis, lambda: ground, lambda some: lit(drawn, some, TABLE))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == HEIGHT


def test_what_casts_no_shadow_does_not_stand(drawn, ground):
    """A stack that casts no shadow is removed."""
    hypothesis, cell = in_doubt(drawn, 2, 1.0)
    hypothesis.scores[cell, 1:] -= 99.5
    without = {name: stack for name, stack in TABLE.items() if name != CELL}
    weigh_by_shadows(hypothesis, lambda: ground, lambda some: lit(drawn, some, without))
    assert hypothesis.state[cell] == 0


def test_where_no_ground_is_known_nothing_is_told(drawn, ground):
    """Without known ground nothing changes."""
    hypothesis, cell = in_doubt(drawn, 4, 0.5)
    nowhere = ground.select(np.empty(0, np.intp))
    weigh_by_shadows(hypothesis, lambda: nowhere, lambda some: lit(drawn, some, TABLE))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 4


def test_where_nothing_is_in_doubt_no_light_is_measured(drawn):
    """If nothing is in doubt, the light is not measured."""
    hypothesis, cell = in_doubt(drawn, 3, 50.0)

    def unasked():
        raise AssertionError

    hypothesis.scores[:, 0] = np.where(hypothesis.state > 0, 0, 100)
    weigh_by_shadows(hypothesis, unasked, unasked)
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == HEIGHT
