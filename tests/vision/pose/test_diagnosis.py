"""Diagnosis of pictures in which the mat is not found: the message names the cause and a remedy."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from vision.errors import MatNotFound, VisionError
from vision.pose.diagnosis import MIN_SHARPNESS, USUAL_DICTIONARIES, sharpness, warning
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register, to_gray


@pytest.fixture
def gray(bench):
    """Return a grey example photograph."""
    return to_gray(bench.photos["domination-b-103.jpg"].image)


def why(bench, picture, kit=None):
    """Return the message and the type of the error when a picture is registered; the message must be one line."""
    with pytest.raises(VisionError) as caught:
        register(np.ascontiguousarray(picture), kit or bench.kit, bench.camera)
    assert "\n" not in str(caught.value)
    return str(caught.value), type(caught.value)


def noisy(picture, deviation=3.0):
    """Return the picture with Gaussian noise, ``deviation`` in codes."""
    noise = np.random.default_rng(0).normal(0, deviation, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def placed(picture, columns, rows=0):
    """Return the picture shifted cyclically, in px."""
    return np.roll(picture, (rows, columns), (0, 1))


def test_darkness(bench, gray):
    """Dark pictures ask for more light."""
    for picture in (gray // 25, noisy(gray // 25, 1.5), np.zeros_like(gray)):
        said, kind = why(bench, picture)
        assert said == "the picture is too dark: switch a lamp on or lengthen the exposure"
        assert kind is VisionError


def test_too_much_light(bench, gray):
    """An overexposed picture asks for a lower exposure."""
    said, kind = why(bench, np.clip(gray.astype(float) * 12 + 60, 0, 255).astype(np.uint8))
    assert "overexposed: lower the exposure" in said
    assert kind is VisionError


@pytest.mark.parametrize("deviation_px", [4, 6, 10])
def test_blur(bench, gray, deviation_px):
    """Blurred pictures ask to focus the lens, also with noise."""
    blurred = cv2.GaussianBlur(gray, (0, 0), deviation_px)
    for picture in (blurred, noisy(blurred)):
        said, kind = why(bench, picture)
        assert "the picture is blurred: focus the lens" in said
        assert kind is MatNotFound


def test_sharpness_is_a_matter_of_focus_and_not_of_light(gray):
    """The measure of sharpness does not depend on brightness."""
    assert sharpness(gray) == pytest.approx(sharpness(gray // 3), abs=0.05)
    assert sharpness(cv2.GaussianBlur(gray, (0, 0), 4)) < MIN_SHARPNESS < sharpness(gray)


def test_a_picture_that_can_be_read_only_badly(bench):
    """Blurred or colourless pictures that can still be registered give a warning."""
    image = bench.photos["domination-b-103.jpg"].image
    where = (bench.kit, register(to_gray(image), bench.kit, bench.camera), bench.camera)
    assert warning(image, *where) == warning(image // 3, *where) == ""
    assert "is blurred: focus the lens" in warning(cv2.GaussianBlur(image, (0, 0), 2.5), *where)
    gray = cv2.imdecode(cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))[1], cv2.IMREAD_COLOR)
    assert "has no colours" in warning(gray, *where)


def test_a_covered_lens(bench, gray):
    """A uniform picture asks whether the lens is covered."""
    assert "is the lens covered?" in why(bench, noisy(np.full_like(gray, 90), 0.7))[0]


def test_half_a_board_though_two_markers_are_in_view(bench, gray):
    """If part of the board is outside the picture, its cells are named."""
    shift = 520
    left = np.full_like(gray, 120)
    left[:, shift:] = gray[:, :-shift]
    camera = replace(bench.camera, matrix=bench.camera.matrix + np.array([[0, 0, shift], [0, 0, 0], [0, 0, 0]]))
    with pytest.raises(MatNotFound, match=r"only part of the board is in the picture, .*h3.* not: show all of it"):
        register(left, bench.kit, camera)


def test_glare_over_the_markers(bench, gray):
    """Saturated spots over the markers are reported as glare."""
    pose = register(gray, bench.kit, bench.camera)
    glaring = gray.copy()
    for number in (0, 1, 2):
        middle = project(marker_corners(bench.kit.mat, number), pose, bench.camera).mean(axis=0)
        cv2.circle(glaring, tuple(int(v) for v in middle), 60, 255, -1)
    assert "something glares in the picture" in why(bench, cv2.GaussianBlur(glaring, (0, 0), 1))[0]


def test_glare_over_one_marker_is_no_harm(bench, gray):
    """A single marker in glare is left out."""
    pose = register(gray, bench.kit, bench.camera)
    middle = project(marker_corners(bench.kit.mat, 0), pose, bench.camera).mean(axis=0)
    cv2.circle(gray, tuple(int(v) for v in middle), 60, 255, -1)
    assert register(gray, bench.kit, bench.camera).markers == (1, 2, 3)


def test_the_mat_of_another_kit(bench, gray):
    """The mat of another kit is recognised and named."""
    said, _ = why(bench, gray, load_kit("ziggurat"))
    assert said == (
        "another mat is in view (that of domination: markers 0, 1, 2, 3); the kit ziggurat has markers "
        "12, 13, 14, 15: choose the kit of this mat"
    )


def test_the_mat_of_another_kit_with_other_markers(bench, gray):
    """This also works if the expected kit uses another marker dictionary."""
    own = replace(bench.kit, name="own", mat=replace(bench.kit.mat, dictionary="DICT_5X5_100"))
    assert "(that of domination: markers 0, 1, 2, 3); the kit own has" in why(bench, gray, own)[0]


def test_markers_that_nobody_knows(bench):
    """Unknown markers of a known dictionary are listed."""
    page = np.full((720, 1280), 230, np.uint8)
    for i, number in enumerate((40, 41)):
        marker = cv2.aruco.generateImageMarker(
            cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11), number, 96
        )
        page[300:396, 300 + 300 * i : 396 + 300 * i] = marker
    assert "another mat is in view (markers 40, 41)" in why(bench, page)[0]


def test_markers_of_a_dictionary_that_no_kit_uses(bench):
    """Markers of an unused dictionary are listed with its name."""
    page = np.full((720, 1280), 230, np.uint8)
    for i, number in enumerate((3, 11, 42)):
        marker = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_6X6_250), number, 96)
        page[300:396, 300 + 200 * i : 396 + 200 * i] = marker
    assert "another mat is in view (markers 3, 11, 42 (DICT_6X6_250)); the kit" in why(bench, page)[0]


def test_other_markers_are_looked_for_only_when_somebody_asks(bench, gray, monkeypatch):
    """Other dictionaries are searched only when the error message is requested."""
    looked = []
    monkeypatch.setattr("vision.pose.diagnosis.detect", lambda _, name: looked.append(name) or {})
    with pytest.raises(MatNotFound) as caught:
        register(np.full_like(gray, 128), bench.kit, bench.camera)
    assert not looked
    assert "not in view" in str(caught.value)
    assert {*USUAL_DICTIONARIES, bench.kit.mat.dictionary} <= {*looked, bench.kit.mat.dictionary}


def drawn(camera, tilt_deg, distance_mm, *offsets_mm):
    """Return a (720, 1280) picture, from a distance, of the markers of Domination mats at these x offsets."""
    kit, page = load_kit("domination"), np.full((720, 1280), 230, np.uint8)
    tilt = np.radians(tilt_deg)
    rotation = np.array([[1, 0, 0], [0, -np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), -np.cos(tilt)]])
    own = np.array([(0, 0), (80, 0), (80, 80), (0, 80)], np.float32)
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    for offset in offsets_mm:
        for marker in kit.mat.markers:
            world = (marker_corners(kit.mat, marker.id) + np.array([offset, 0, 0])) @ rotation.T + [0, 0, distance_mm]
            pixels = (world @ camera.matrix.T)[:, :2] / world[:, 2:]
            place = cv2.getPerspectiveTransform(own, pixels.astype(np.float32))
            mask = cv2.warpPerspective(np.full((80, 80), 255, np.uint8), place, (1280, 720))
            image = cv2.aruco.generateImageMarker(dictionary, marker.id, 80)
            page = np.where(mask > 127, cv2.warpPerspective(image, place, (1280, 720), flags=cv2.INTER_AREA), page)
    return cv2.GaussianBlur(page.astype(np.uint8), (0, 0), 0.7)


def pinhole(bench, focal_px):
    """Return an undistorted camera with this focal length, in px."""
    matrix = np.array([[focal_px, 0, 640], [0, focal_px, 360], [0, 0, 1.0]])
    return replace(bench.camera, matrix=matrix, distortion=np.zeros(5))


def test_two_mats_of_the_kit(bench):
    """Two identical mats are refused as ambiguous."""
    camera = pinhole(bench, 1000.0)
    assert register(drawn(camera, 30, 900, 0), bench.kit, camera).markers == (0, 1, 2, 3)
    with pytest.raises(MatNotFound, match="it cannot be told where the mat of domination lies: show one such mat only"):
        register(drawn(camera, 30, 900, -240, 240), bench.kit, camera)


def test_markers_too_far_away_to_tell_the_tilt(bench):
    """Through a very long lens, the two possible tilts of a plane cannot be distinguished."""
    camera = pinhole(bench, 120000.0)
    with pytest.raises(MatNotFound, match="it cannot be told where the mat of domination lies"):
        register(drawn(camera, 25, 60000, 0), bench.kit, camera)
