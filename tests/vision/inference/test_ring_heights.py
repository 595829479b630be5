"""Heights of draughtsmen from the apparent size and the position of the grooves on their faces."""

import random

import numpy as np
import pytest

from calibration.appearance import RIM_STEPS
from calibration.kit import load_kit
from companion.simulate.sprite import RING_SHARES
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.enrolment import enrol
from vision.inference import ring_heights
from vision.inference.ring_heights import weigh_by_grooves
from vision.inference.search import infer
from vision.reader import Reader

RIM = np.zeros(RIM_STEPS, np.float32)
CELL, STACK = "d4", "RGRG"


@pytest.fixture(scope="module")
def domination():
    """Return a reader of a set of draughtsmen, a picture of one stack, and its pose."""
    kit, camera = load_kit("domination"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    singles = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 0, ())
    image = picture(kit, camera, pose, light, [STACK if cell == CELL else "" for cell in kit.cells], 3, ())
    return Reader(kit, camera, enrol(singles, kit, camera)), image, pose


def misled(domination, more, nats):
    """Return a hypothesis with the stack ``more`` pieces higher, by a lead of ``nats``, and its cell."""
    reader, image, pose = domination
    geometry, cell = reader.geometry(pose), reader.kit.cells.index(CELL)
    hypothesis = infer(reader.observations(image, geometry, reader.light(image, pose)), RIM, geometry)
    scores, state = hypothesis.scores[[cell]], 1 + (len(STACK) - 1 + more) * hypothesis.colours
    scores[0, state] = scores.max() + nats
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, state)
    return hypothesis, cell


def test_the_grooves_of_a_set_are_learned(domination):
    """Enrolment measures the radii of both grooves within 2 % of the true shares."""
    reader, _, _ = domination
    radius_mm = reader.kit.pieces[0].width_mm / 2
    shares = reader.appearance.ring_mm / radius_mm, reader.appearance.inner_ring_mm / radius_mm
    assert shares == pytest.approx(RING_SHARES, abs=0.02)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_height_that_is_left_in_doubt_is_told_by_the_groove(domination, more):
    """The groove corrects a height that is wrong by one piece with a lead of 1 nat."""
    reader, image, _ = domination
    hypothesis, cell = misled(domination, more, 1.0)
    before = hypothesis.scores[cell, 1:].max()
    weigh_by_grooves(image, hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == len(STACK)
    assert hypothesis.scores[cell, 1:].max() == pytest.approx(before)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_height_is_told_by_where_the_face_is(domination, more, monkeypatch):
    """One piece more or less would shift the face by some millimetres; the size of the ring is disabled here."""
    monkeypatch.setattr(ring_heights, "ring_log_ratio", lambda _, planes, *__: np.zeros(len(planes)))
    reader, image, _ = domination
    hypothesis, cell = misled(domination, more, 2.0)
    weigh_by_grooves(image, hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == len(STACK)


def test_where_the_face_of_another_stack_is_tells_nothing(domination, monkeypatch):
    """A face found at the same place for every height is no evidence, as that of another stack behind."""
    monkeypatch.setattr(ring_heights, "ring_log_ratio", lambda _, planes, *__: np.zeros(len(planes)))
    reader, image, _ = domination
    hypothesis, cell = misled(domination, 1, 2.0)
    own = hypothesis.geometry.faces.select(
        np.array([cell * len(hypothesis.geometry.configurations.all) + len(STACK) - 1])
    )
    monkeypatch.setattr(type(hypothesis), "faces_on", lambda *_: own)
    before = hypothesis.scores[cell].copy()
    weigh_by_grooves(image, hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    np.testing.assert_array_equal(hypothesis.scores[cell], before)


def test_a_height_that_is_sure_is_left_alone(domination):
    """A lead of 30 nats is not questioned."""
    reader, image, _ = domination
    hypothesis, cell = misled(domination, 1, 30.0)
    scores = hypothesis.scores.copy()
    weigh_by_grooves(image, hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    np.testing.assert_array_equal(hypothesis.scores[cell], scores[cell])


def test_bare_faces_tell_nothing(domination):
    """A uniform picture shows no grooves and leaves all scores unchanged."""
    reader, image, _ = domination
    hypothesis, cell = misled(domination, 1, 1.0)
    scores = hypothesis.scores.copy()
    weigh_by_grooves(np.full_like(image, 150), hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    np.testing.assert_array_equal(hypothesis.scores[cell], scores[cell])


def test_a_piece_that_seems_not_to_stand_is_told_by_its_grooves(domination):
    """A stack whose face has the board's colour, and seems absent by 7 nats, is found by its grooves."""
    reader, image, _ = domination
    hypothesis, cell = misled(domination, 0, 0.0)
    hypothesis.scores[cell, 1:] -= hypothesis.scores[cell, 1:].max() + 7.0
    hypothesis.assign(cell, 0)
    weigh_by_grooves(image, hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == len(STACK)


def test_a_bare_square_in_doubt_has_no_grooves(domination):
    """Bare squares in doubt by 3 nats stay empty."""
    reader, image, _ = domination
    hypothesis, _ = misled(domination, 0, 0.0)
    bare = np.flatnonzero(hypothesis.state == 0)
    hypothesis.scores[bare, 1:] -= hypothesis.scores[bare, 1:].max(axis=1, keepdims=True) + 3.0
    weigh_by_grooves(image, hypothesis, reader.appearance.ring_mm, reader.appearance.inner_ring_mm)
    assert not hypothesis.state[bare].any()
