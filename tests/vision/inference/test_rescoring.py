"""Rescoring of heights from the position of a face that was found."""

import cv2
import numpy as np
import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from vision.inference.coordinate_ascent import rescore_placed
from vision.inference.search import infer
from vision.reader import Reader


@pytest.fixture
def hypothesis(examples):
    """Return the hypothesis of a board of pieces with characters, before their faces are searched."""
    folder = examples / "sets" / "cheight"
    kit, camera = load_kit("cheight"), read_camera(folder / "camera.toml")
    reader = Reader(kit, camera, read_appearance(folder / "set.toml", kit))
    image = cv2.imread(str(next(folder.glob("cheight-*.jpg"))))
    geometry = reader.geometry(reader.register(image))
    observations = reader.observations(image, geometry, reader.light(image, geometry.pose))
    return infer(observations, np.zeros(3, np.float32), geometry)


def test_a_face_far_from_where_one_height_has_it_makes_no_other_height_likelier(hypothesis):
    """Otherwise a height that was not rescored would win because the likeliest one was penalised."""
    cell = int(hypothesis.state.argmax())
    configuration, before = hypothesis.configuration(cell), hypothesis.scores[cell].copy()
    rescore_placed(hypothesis, np.array([cell]), np.array([[configuration]]), np.array([[[0.0, 4.0]]], np.float32))
    after = hypothesis.scores[cell]
    assert after[hypothesis.state[cell]] < before[hypothesis.state[cell]] - 5
    np.testing.assert_allclose(after[1:] - after[1:].max(), before[1:] - before[1:].max(), atol=1e-3)


def test_a_stack_occludes_what_is_behind_it_from_where_its_face_is_known_to_be(hypothesis):
    """The label buffer uses the measured displacement of the face."""
    cell, shift_mm = int(hypothesis.state.argmax()), np.array([1.0, -1.5], np.float32)
    configuration, before = hypothesis.configuration(cell), hypothesis.labels().copy()
    rescore_placed(hypothesis, np.array([cell]), np.array([[configuration]]), shift_mm[None, None])
    np.testing.assert_array_equal(hypothesis.shift_mm[cell], shift_mm)
    assert (hypothesis.labels() != before).any()
