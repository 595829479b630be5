"""Registration of the mat: accurate to a fraction of a pixel, and refused where it would be a guess."""

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from calibration.lens import calibrate_lens, read_board
from vision.errors import MatNotFound, VisionError
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register, to_gray


@pytest.fixture
def gray(bench):
    """Return a grey example photograph."""
    return to_gray(bench.photos["domination-b-103.jpg"].image)


def corners(bench, pose):
    """Return the projected corners (4 · markers, 2) of all markers, in px."""
    world = np.vstack([marker_corners(bench.kit.mat, marker.id) for marker in bench.kit.mat.markers])
    return project(world, pose, bench.camera)


def hide_marker(gray, bench, number):
    """Return the picture with one marker painted over."""
    pose = register(gray, bench.kit, bench.camera)
    out = gray.copy()
    polygon = project(marker_corners(bench.kit.mat, number), pose, bench.camera)
    cv2.fillConvexPoly(out, polygon.astype(np.int32), 200)
    return out


def test_the_pose_is_that_of_the_camera(bench, gray, examples):
    """Projections with the estimated pose agree with the ground truth within 0.5 px."""
    truth = next(
        row["camera"]
        for row in map(json.loads, (examples / "photos" / "truth.jsonl").read_text(encoding="utf-8").splitlines())
        if row["image"] == "domination-b-103.jpg"
    )
    pose = register(gray, bench.kit, bench.camera)
    points = np.array([[x, y, z] for x in (-110, 0, 110) for y in (-110, 0, 110) for z in (0, 35)], float)
    rotation = np.array(truth["R"])
    really = cv2.projectPoints(
        points, cv2.Rodrigues(rotation)[0], -rotation @ truth["C"], np.array(truth["K"]), np.array(truth["dist"])
    )[0].reshape(-1, 2)
    assert np.abs(project(points, pose, bench.camera) - really).max() < 0.5
    assert pose.markers == (0, 1, 2, 3)
    assert pose.centre_mm[2] > 0


@pytest.mark.parametrize("hidden", [(0,), (0, 1), (1, 3)])
def test_a_covered_marker_does_not_matter(bench, gray, hidden):
    """With one or two markers covered, the others determine the pose within 4 px."""
    whole = corners(bench, register(gray, bench.kit, bench.camera))
    partly = gray
    for number in hidden:
        partly = hide_marker(partly, bench, number)
    pose = register(partly, bench.kit, bench.camera)
    assert not set(hidden) & set(pose.markers)
    assert np.abs(corners(bench, pose) - whole).max() < 4.0


def test_one_marker_is_too_few(bench, gray):
    """A single marker is not enough."""
    for number in (0, 1, 2):
        gray = hide_marker(gray, bench, number)
    with pytest.raises(MatNotFound, match="only marker 3"):
        register(gray, bench.kit, bench.camera)


def test_no_mat(bench):
    """A uniform picture contains no mat."""
    with pytest.raises(MatNotFound, match="the mat is not in view: none of its markers 0, 1, 2, 3"):
        register(np.full((720, 1280), 128, np.uint8), bench.kit, bench.camera)


def test_the_mat_of_another_kit_is_named(bench, gray):
    """The mat of another kit is recognised and named."""
    with pytest.raises(
        MatNotFound, match=r"another mat is in view \(that of domination: markers 0, 1, 2, 3\).*kit citadel has"
    ):
        register(gray, load_kit("citadel"), bench.camera)


def test_a_copy_of_a_marker_beside_the_mat_is_not_taken_for_it(bench, gray):
    """A second copy of a marker beside the mat does not affect the pose."""
    whole = corners(bench, register(gray, bench.kit, bench.camera))
    marker = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11), 1, 48)
    gray[600:680, 300:380] = 255
    gray[616:664, 316:364] = marker
    pose = register(gray, bench.kit, bench.camera)
    assert np.abs(corners(bench, pose) - whole).max() < 0.1


def test_markers_that_contradict_each_other_are_refused(bench, gray):
    """A picture whose halves are shifted against each other is refused."""
    torn = gray.copy()
    torn[:, 640:] = np.roll(gray, 60, axis=0)[:, 640:]
    with pytest.raises(MatNotFound, match="contradict each other"):
        register(torn, bench.kit, bench.camera)


def test_markers_may_be_off_by_what_the_calibration_of_a_cheap_camera_left(bench, gray):
    """The allowed error grows with the camera's reprojection error, beyond a share of the edge of small markers."""
    torn = gray.copy()
    torn[:, 640:] = np.roll(gray, 24, axis=0)[:, 640:]
    with pytest.raises(MatNotFound, match="contradict each other"):
        register(torn, bench.kit, bench.camera)
    assert len(register(torn, bench.kit, replace(bench.camera, reprojection_px=4.0)).markers) == 4


def test_one_marker_that_contradicts_three_others_is_left_out(bench, gray):
    """A single inconsistent marker is left out."""
    whole = register(gray, bench.kit, bench.camera)
    corner = project(marker_corners(bench.kit.mat, 0), whole, bench.camera)
    (left, top), (right, bottom) = corner.min(axis=0).astype(int) - 16, corner.max(axis=0).astype(int) + 16
    gray[top:bottom, left:right] = np.roll(gray[top:bottom, left:right], 12, axis=1)
    pose = register(gray, bench.kit, bench.camera)
    assert pose.markers == (1, 2, 3)
    assert np.abs(corners(bench, pose) - corners(bench, whole)).max() < 1.5


def test_markers_that_contradict_each_other_through_a_wrong_lens_are_refused(bench, gray):
    """Some three of four markers always agree better than all four, so the fourth must not simply be dropped."""
    wrong = replace(bench.camera, distortion=np.array([-0.18, 0.0, 0.0, 0.0, 0.0]))
    with pytest.raises(MatNotFound, match="contradict each other"):
        register(gray, bench.kit, wrong)


def test_a_mirrored_picture_is_not_a_mat(bench, gray):
    """A mirrored picture is refused."""
    with pytest.raises(MatNotFound):
        register(np.ascontiguousarray(gray[:, ::-1]), bench.kit, bench.camera)


def test_a_picture_of_another_size_is_refused(bench, gray):
    """A picture size other than the camera's is refused, with both sizes."""
    with pytest.raises(VisionError, match="the picture is 640 x 360 px, the camera file is for 1280 x 720 px"):
        register(cv2.resize(gray, (640, 360)), bench.kit, bench.camera)


def test_every_kit_is_found_in_its_photographs(shared):
    """In the shared photographs all four markers are found, with a reprojection error below 1 px."""
    folder = shared / "photos" / "lens-a"
    camera = calibrate_lens(tuple(sorted(folder.glob("*.jpg"))), read_board(folder / "charuco.toml")).camera
    for name in ("cheight", "diamond", "ziggurat"):
        for photo in sorted((shared / "photos" / name).glob("*.jpg")):
            pose = register(to_gray(cv2.imread(str(photo))), load_kit(name), camera)
            assert len(pose.markers) == 4
            assert pose.reprojection_px < 1
