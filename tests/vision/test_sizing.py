"""Sizes of discs in rendered photographs of known layouts."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.ground import parse_layout
from companion.simulate.light import WINDOW
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.standing import seeded, set_up
from companion.simulate.viewpoint import default_camera, default_pose, looking_at
from vision.errors import VisionError
from vision.sizing import measure_discs

KIT = load_kit("draughts")
CAMERA = default_camera()
START = parse_layout("start", KIT)


def of_size(width_mm, height_mm):
    return replace(KIT, pieces=tuple(replace(k, width_mm=width_mm, height_mm=height_mm) for k in KIT.pieces))


def photographed(kit, layout, pose=None):
    scene = Scene(kit, CAMERA, pose or default_pose(kit, CAMERA), WINDOW)
    return Renderer(scene).picture(set_up(tuple(layout.get(c, "") for c in kit.cells), None, seeded("size", 5)), 0)


@pytest.mark.parametrize(("width_mm", "height_mm"), [(24.0, 9.0), pytest.param(26.0, 6.5, marks=pytest.mark.soak)])
def test_many_discs_tell_their_sizes(width_mm, height_mm):
    sizes = measure_discs(photographed(of_size(width_mm, height_mm), START), of_size(25.0, 8.0), CAMERA, START)
    assert abs(sizes.width_mm - width_mm) < 3 * sizes.width_deviation_mm
    assert abs(sizes.height_mm - height_mm) < 3 * sizes.height_deviation_mm
    assert sizes.is_width_told
    assert sizes.height_deviation_mm < 0.8


def test_few_discs_or_a_view_from_above_do_not_tell_how_high_they_are():
    few = {cell: START[cell] for cell in ("b2", "c3", "f6", "g7") if cell in START}
    sizes = measure_discs(photographed(KIT, few), KIT, CAMERA, few)
    assert sizes.is_width_told
    assert not sizes.is_height_told
    above = looking_at(np.zeros(3), 620.0, KIT, elevation_deg=85.0)
    assert not measure_discs(photographed(KIT, START, above), KIT, CAMERA, START).is_height_told


def test_pieces_that_do_not_stand_there_have_no_size():
    with pytest.raises(VisionError, match="no piece is seen"):
        measure_discs(photographed(KIT, {}), KIT, CAMERA, {"c3": "W", "f6": "B"}, [photographed(KIT, {})])


def test_only_discs_of_one_size_are_measured():
    kit = load_kit("ziggurat")
    with pytest.raises(VisionError, match="only discs of one size"):
        measure_discs(np.zeros((720, 1280, 3), np.uint8), kit, CAMERA, kit.enrol)
