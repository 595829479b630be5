"""Characters on faces that something but the character is seen on, too."""

import random

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.pose.projection import project
from vision.reader import Reader


@pytest.mark.parametrize("piece", ["K", "A", "n"])
def test_a_character_is_read_that_the_edge_of_a_shadow_crosses(piece):
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    look = enrol(picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 0, ()), kit, camera)
    table = [{"c4": piece, "c5": "pR"}.get(cell, "") for cell in kit.cells]
    image = picture(kit, camera, pose, light, table, 3, ())
    middle = project(np.array([[*kit.centres_mm[kit.cells.index("c4")], 10.0]]), pose, camera)[0]
    rows, columns = np.indices(image.shape[:2])
    shade = (np.abs(rows - middle[1]) < 60) & (np.abs(columns - middle[0] + 30) < 30)
    shaded = np.where(shade[..., None], image * 0.5, image).astype(np.uint8)
    reading = Reader(kit, camera, look).read(Frame(shaded, 0, 0.0))
    assert reading.best(kit.cells.index("c4"))[0] == (1, piece)
