"""The simulated camera's field of view contains the whole board."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.heights import base_heights_mm
from calibration.kit import available_kits, load_kit
from companion.app.ground import start_levels
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.projection import project
from vision.scene.solids import highest_floors_mm

pytestmark = pytest.mark.pictures

TALLEST = {"domination": "RGRGR", "citadel": "RRR", "cheight": "PPP", "ziggurat": "QDW", "diamond": "X"}
"""Towers of kits in which they are not two pieces."""


@pytest.mark.parametrize("name", available_kits())
def test_a_tower_is_in_the_picture_wherever_it_stands(name: str) -> None:
    """This includes the highest terrain on the far rank, and raised pillars."""
    kit, camera = load_kit(name), default_camera()
    levels = start_levels(kit)
    pose = default_pose(kit, camera, levels)
    tower = TALLEST.get(name, 2 * kit.pieces[0].letter)
    height_mm = base_heights_mm(kit, tower)[-1] + kit.piece(tower[-1]).height_mm
    tops = np.column_stack([kit.centres_mm, highest_floors_mm(kit, levels) + height_mm])
    pixels = project(tops, pose, camera)
    assert (pixels > 0).all()
    assert (pixels < [camera.width_px, camera.height_px]).all()
