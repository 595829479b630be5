"""Cubes of the same colour as their pillar are recognised by their edges alone."""

import random

import numpy as np

from calibration.kit import load_kit
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.enrolment import enrol
from vision.inference.search import infer
from vision.likelihood.stacks import IMPOSSIBLE
from vision.reader import Reader


def test_a_cube_is_asked_about_on_pillars_where_no_pixel_looks_like_one():
    """On empty pillars every cell still has a configuration that is not ruled out by its colours."""
    kit, camera = load_kit("diamond"), default_camera()
    levels = (kit.pillars.lowest,) * len(kit.cells)
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    reader = Reader(kit, camera, enrol(picture(kit, camera, pose, light, singles, 0, levels), kit, camera), levels)
    bare = picture(kit, camera, pose, light, [""] * len(kit.cells), 3, levels)
    observations = reader.observations(bare, reader.geometry(pose), reader.light(bare, pose))
    hypothesis = infer(observations, np.array(reader.appearance.rim, np.float32), reader.geometry(pose))
    assert (hypothesis.state == 0).all()
    assert (hypothesis.isolated.scores[:, 1:].max(axis=1) > IMPOSSIBLE / 2).all()
