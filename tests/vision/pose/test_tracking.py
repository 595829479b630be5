"""Tracking the mat from its last pose: the same result as a search of the whole picture, or none."""

import cv2
import numpy as np
import pytest

from vision.pose.markers import confirm_markers
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register, to_gray
from vision.pose.tracking import track_pose

NAME = "domination-b-103.jpg"


@pytest.fixture
def image(bench):
    """Return the example photograph."""
    return bench.photos[NAME].image


@pytest.fixture
def pose(bench, image):
    """Register the example photograph."""
    return register(to_gray(image), bench.kit, bench.camera)


def corners(bench, pose):
    """Return the projected corners (4 · markers, 2) of all markers, in px."""
    world = np.vstack([marker_corners(bench.kit.mat, marker.id) for marker in bench.kit.mat.markers])
    return project(world, pose, bench.camera)


def shifted(image, x_px, y_px):
    """Return the picture shifted by so many px."""
    push = np.float32([[1, 0, x_px], [0, 1, y_px]])
    return np.asarray(cv2.warpAffine(image, push, (1280, 720), borderMode=cv2.BORDER_REFLECT), np.uint8)


@pytest.mark.parametrize("push_px", [(0, 0), (1, 0), (2, -1), (3, 0), (4, 0), (-5, 2), (7, -1), (9, -6)])
def test_it_is_the_pose_that_a_look_at_the_whole_picture_gives(bench, image, pose, push_px):
    """For shifts of up to 11 px, the tracked pose agrees with a full registration within 0.05 px."""
    pushed = shifted(image, *push_px)
    followed = track_pose(pushed, bench.kit, bench.camera, pose)
    whole = register(to_gray(pushed), bench.kit, bench.camera)
    assert followed is not None
    assert np.abs(corners(bench, followed) - corners(bench, whole)).max() < 0.05
    assert followed.markers == whole.markers


def test_a_mat_that_was_pushed_far_is_not_followed(bench, image, pose):
    """A shift by 90 px is not tracked."""
    assert track_pose(shifted(image, 90, 40), bench.kit, bench.camera, pose) is None


@pytest.fixture
def covered(bench, image, pose):
    """Return the picture with one marker covered."""
    covered = image.copy()
    polygon = project(marker_corners(bench.kit.mat, 1), pose, bench.camera)
    cv2.fillConvexPoly(covered, polygon.astype(np.int32), (200, 200, 200))
    return covered


def test_a_covered_marker_is_not_followed(bench, covered, pose):
    """If a marker becomes covered, tracking gives up."""
    assert track_pose(covered, bench.kit, bench.camera, pose) is None


def test_while_a_marker_is_covered_the_others_are_followed(bench, covered):
    """If the last pose already lacked the covered marker, the others are tracked."""
    whole = register(to_gray(covered), bench.kit, bench.camera)
    followed = track_pose(covered, bench.kit, bench.camera, whole)
    assert followed is not None
    assert followed.markers == whole.markers
    assert len(whole.markers) == len(bench.kit.mat.markers) - 1
    assert np.abs(corners(bench, followed) - corners(bench, whole)).max() < 0.3


def test_a_marker_that_is_seen_again_is_looked_for(bench, image, covered):
    """Once the missing marker is visible again, tracking gives up in favour of a full registration."""
    partly = register(to_gray(covered), bench.kit, bench.camera)
    assert track_pose(image, bench.kit, bench.camera, partly) is None


def test_a_reader_that_followed_finds_the_mat_again_wherever_it_lies(bench, image):
    """A reader finds the pose again after the camera has rolled."""
    reader = bench.reader()
    turn = cv2.getRotationMatrix2D((639.5, 359.5), 6, 1)  # the camera rolls, so that the corners move by 50 px
    rolled = np.asarray(cv2.warpAffine(image, turn, (1280, 720), borderMode=cv2.BORDER_REFLECT), np.uint8)
    for picture in (image, rolled, shifted(image, 3, 2)):
        whole = register(to_gray(picture), bench.kit, bench.camera)
        assert np.abs(corners(bench, reader.register(picture)) - corners(bench, whole)).max() < 0.05


def gray_and_corners(bench, image, pose):
    """Return a grey picture, the numbers of the markers, and their corners (m, 4, 2) in px."""
    numbers = tuple(sorted(marker.id for marker in bench.kit.mat.markers))
    world = np.vstack([marker_corners(bench.kit.mat, number) for number in numbers])
    return to_gray(image), numbers, project(world, pose, bench.camera).reshape(-1, 4, 2)


def test_markers_settle_where_their_edges_meet(bench, image, pose):
    """Refined corners do not depend on a start error of up to 1 px."""
    gray, numbers, expected = gray_and_corners(bench, image, pose)
    begun = expected + np.random.default_rng(5).uniform(-1, 1, expected.shape)
    corners = confirm_markers(gray, bench.kit.mat.dictionary, numbers, begun)
    assert corners is not None
    assert np.abs(corners - confirm_markers(gray, bench.kit.mat.dictionary, numbers, expected)).max() < 0.05


def test_markers_of_other_numbers_do_not_settle(bench, image, pose):
    """Markers with other numbers are rejected."""
    gray, numbers, expected = gray_and_corners(bench, image, pose)
    assert confirm_markers(gray, bench.kit.mat.dictionary, numbers[::-1], expected) is None


def test_markers_do_not_settle_a_module_beside_their_places(bench, image, pose):
    """A start that is off by one module is rejected."""
    gray, numbers, expected = gray_and_corners(bench, image, pose)
    module = (expected[:, [1]] - expected[:, [0]]) / 8
    assert confirm_markers(gray, bench.kit.mat.dictionary, numbers, expected + module) is None


def test_a_finger_on_one_corner_is_seen(bench, image, pose):
    """A finger over one corner is detected."""
    gray, numbers, expected = gray_and_corners(bench, image, pose)
    cv2.circle(gray, np.rint(expected[0, 2]).astype(int).tolist(), 9, 170, cv2.FILLED)
    assert confirm_markers(gray, bench.kit.mat.dictionary, numbers, expected) is None


def test_markers_at_the_picture_s_edge_do_not_settle(bench, image, pose):
    """Markers at the edge of the picture are rejected."""
    gray, numbers, expected = gray_and_corners(bench, image, pose)
    assert confirm_markers(gray, bench.kit.mat.dictionary, numbers, expected - expected.min(axis=(0, 1))) is None
