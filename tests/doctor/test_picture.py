"""Checks of a single picture, on the example photographs and degraded copies of them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import read_camera
from calibration.kit import load_kit
from companion.app.ground import start_levels
from companion.doctor.check import Status
from companion.doctor.picture import check_focus, check_lens, check_picture
from companion.simulate.light import WINDOW
from companion.simulate.placement import Setup
from companion.simulate.render import Renderer, Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.blur import blur_mm
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register, to_gray

pytestmark = pytest.mark.pictures


@pytest.fixture
def kit():
    return load_kit("domination")


@pytest.fixture
def camera(examples):
    return read_camera(examples / "photos" / "camera.toml")


@pytest.fixture
def photo(examples):
    return cv2.imread(str(examples / "photos" / "domination-b-103.jpg"))


def faults(image, kit, camera, levels=()):
    """Return the faults found in a picture, by name."""
    return {check.name: check for check in check_picture(image, kit, camera, levels) if check.state is Status.FAULT}


def test_a_good_picture_has_no_fault(photo, kit, camera):
    checks = list(check_picture(photo, kit, camera))
    assert [check.name for check in checks] == ["markers", "room", "light", "focus"]
    assert {check.state for check in checks} == {Status.OK}
    assert "4 of 4 markers of domination" in checks[0].found


def test_a_covered_marker_is_named(photo, kit, camera):
    pose = register(to_gray(photo), kit, camera)
    corners = project(marker_corners(kit.mat, 2), pose, camera)
    cv2.fillPoly(photo, [np.round(corners).astype(np.int32)], (90, 120, 150))
    found = faults(photo, kit, camera)
    assert set(found) == {"markers"}
    assert found["markers"].todo.startswith("show marker 2 too")


def test_towers_that_would_be_cut_off_are_told():
    """The camera is placed with room for a flat board, which is not enough for terrain."""
    kit, camera = load_kit("citadel"), default_camera()
    empty, levels = Setup(((),) * len(kit.cells)), start_levels(kit)
    near = Renderer(Scene(kit, camera, default_pose(kit, camera), WINDOW)).picture(empty, 0)
    assert list(check_picture(near, kit, camera))[1].state is Status.OK
    room = faults(near, kit, camera, levels)["room"]
    assert room.found == "a tower of 3 pieces on c8, d8, e8 would be cut off"
    far = Renderer(Scene(kit, camera, default_pose(kit, camera, levels), WINDOW)).picture(empty, 0)
    assert "room" not in faults(far, kit, camera, levels)


def test_a_blurred_picture(photo, kit, camera):
    found = faults(cv2.GaussianBlur(photo, (0, 0), 5), kit, camera)
    assert "focus the lens" in found["focus"].todo


def test_focus_is_judged_by_the_blur_that_reading_suffers_from(photo, kit, camera):
    """The picture is halfway between a sharp one and one in which no marker is found."""
    soft = cv2.GaussianBlur(photo, (0, 0), 2.5)
    pose = register(to_gray(soft), kit, camera)
    focus = faults(soft, kit, camera)["focus"]
    assert focus.found.startswith(f"markers are blurred by {blur_mm(to_gray(soft), kit, pose, camera):.1f} mm")
    assert check_focus(to_gray(soft)).state is Status.OK


def test_focus_is_not_judged_by_markers_that_are_cut_off(photo, kit, camera, monkeypatch):
    monkeypatch.setattr("companion.doctor.picture.blur_mm", lambda *_: 0.0)
    assert list(check_picture(photo, kit, camera))[-1].state is Status.UNUSED


@pytest.mark.parametrize(("gain", "words"), [(0.15, "switch a lamp on"), (1.6, "lower the exposure")])
def test_too_little_and_too_much_light(photo, kit, camera, gain, words):
    found = faults(np.clip(photo * gain, 0, 255).astype(np.uint8), kit, camera)
    assert words in found["light"].todo


def test_light_from_one_side(photo, kit, camera):
    ramp = np.linspace(0.25, 1.0, photo.shape[1])[None, :, None]
    found = faults((photo * ramp).astype(np.uint8), kit, camera)
    assert found["light"].todo == "light the table from both sides"


def test_without_the_mat_the_light_cannot_be_judged(kit, camera):
    blank = np.full((camera.height_px, camera.width_px, 3), 128, np.uint8)
    states = {check.name: check.state for check in check_picture(blank, kit, camera)}
    assert states == {"markers": Status.FAULT, "room": Status.UNUSED, "light": Status.UNUSED, "focus": Status.FAULT}


def test_a_lens_that_was_measured_badly(camera):
    assert check_lens(camera).state is Status.OK
    assert check_lens(replace(camera, reprojection_px=0.9)).state is Status.FAULT


def test_focus_needs_no_mat(photo):
    assert check_focus(to_gray(photo)).state is Status.OK
