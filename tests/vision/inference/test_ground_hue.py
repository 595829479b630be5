"""What has not the ground's hue may be a piece, whatever each pixel's colour says."""

import random
from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.inference.ground_hue import off_hue
from vision.inference.search import infer
from vision.reader import Reader

TABLE = {"d4": "R", "e6": "G", "c5": "RG", "f3": "R"}
PALE_RED, PALE_GREEN = (230, 195, 182), (185, 201, 166)
BROWN = (0.41, 0.34, 0.23)
"""What is left of pale red where too much of what it mirrors was taken away."""


@pytest.fixture(scope="module")
def domination():
    """A reader, and a picture of a few stacks whose tops are pale red and green."""
    printed, camera = load_kit("domination"), default_camera()
    pale = {"R": PALE_RED, "G": PALE_GREEN}
    pieces = tuple(replace(kind, colour=pale.get(kind.letter, kind.colour)) for kind in printed.pieces)
    kit = replace(printed, pieces=pieces)
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    enrolment = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 0, ())
    image = picture(kit, camera, pose, light, [TABLE.get(cell, "") for cell in kit.cells], 3, ())
    return Reader(kit, camera, enrol(enrolment, kit, camera)), image, pose


def test_pieces_have_another_hue_than_the_ground_has(domination):
    reader, image, pose = domination
    geometry = reader.geometry(pose)
    observations = reader.observations(image, geometry, reader.light(image, pose))
    hypothesis = infer(observations, np.zeros(len(reader.appearance.rim), np.float32), geometry)
    off = off_hue(hypothesis, np.array(reader.appearance.floor))
    assert {cell for cell, is_off in zip(reader.kit.cells, off, strict=True) if is_off} == set(TABLE)


def test_a_piece_whose_colour_was_learned_wrongly_is_no_bare_ground(domination):
    """By each pixel pale red is ground in another light rather than brown."""
    reader, image, _ = domination
    wrong = replace(reader.appearance, pieces=reader.appearance.pieces | {"R": BROWN})
    reading = Reader(reader.kit, reader.camera, wrong).read(Frame(image, 0, 0.0))
    is_empty = np.exp(reading.log_likelihood[[reader.kit.cells.index(cell) for cell in ("d4", "f3")], 0])
    assert is_empty.max() < 0.1
