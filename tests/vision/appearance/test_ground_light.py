"""Local measurement of the light on the bare ground of a rendered board."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.board_appearance import unknown_board
from calibration.camera import Camera
from calibration.kit import load_kit
from calibration.srgb import display, linear_light
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.ground_light import map_ground, measure_ground, view_ground
from vision.appearance.illumination import Illumination
from vision.pose.projection import Registration

PAPER = 0.6
LIGHT = Illumination(np.log(PAPER) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))


@pytest.fixture(scope="module")
def ground():
    """Return the bare ground of Domination at the default pose."""
    kit, camera = load_kit("domination"), default_camera()
    return view_ground(map_ground(kit, nominal_appearance(kit)), default_pose(kit, camera), camera)


def picture(colour, share=1.0):
    """Return a uniform (height, width, 3) uint8 BGR picture of one RGB colour under a share of the light."""
    camera = default_camera()
    codes = np.rint(255 * display(PAPER * share * np.array(colour)[::-1]))
    return np.full((camera.height_px, camera.width_px, 3), codes, np.uint8)


def floor_of():
    """Return the nominal colour of Domination's squares."""
    return nominal_appearance(load_kit("domination")).floor


def of_squares(ground):
    """Return the mask of places on squares, which outnumber those on the paper between them."""
    value = ground.values[:, 0]
    return value == np.median(value)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_the_share_of_the_usual_light_is_measured(ground, share):
    """The share of the usual light is measured within 0.04 on all squares."""
    light = measure_ground(picture(floor_of(), share), ground, LIGHT)
    assert light.share[of_squares(ground)] == pytest.approx(share, abs=0.04)
    assert light.is_ground[of_squares(ground)].all()


def test_what_has_another_hue_is_no_ground(ground):
    """A picture of another hue is not accepted as ground anywhere."""
    light = measure_ground(picture((0.05, 0.1, 0.5)), ground, LIGHT)
    assert not light.is_ground.any()


def test_places_are_numbered_by_square(ground):
    """The places of one number lie within one square."""
    extent = [np.ptp(ground.places_mm[ground.square == number], axis=0).max() for number in range(64)]
    pitch = max(load_kit("domination").board.pitch_mm)
    assert max(extent) < pitch


def test_a_board_may_have_more_places_than_opencv_takes_in_a_line():
    """A tournament board is half a metre wide, with more places than OpenCV's remap takes in one row."""
    kit, side = load_kit("domination"), 600
    board = unknown_board(side, side)
    board = replace(board, colour=board.colour + np.float32(0.5), seen=np.ones_like(board.seen))
    kit = replace(kit, mat=replace(kit.mat, width_mm=side, height_mm=side))
    camera = Camera(720, 720, np.array([[720.0, 0, 359.5], [0, 720, 359.5], [0, 0, 1]]), np.zeros(5), 0.0)
    above = Registration(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 700.0]), (), 0.0)
    ground = view_ground(map_ground(kit, replace(nominal_appearance(kit), board=board)), above, camera)
    assert len(ground.places_mm) > 32_767
    code = round(255 * float(display(PAPER * linear_light(np.array(0.5)))))
    light = measure_ground(np.full((720, 720, 3), code, np.uint8), ground, LIGHT)
    assert light.share == pytest.approx(1.0, abs=0.04)
    assert light.is_ground.all()
