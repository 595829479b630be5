"""Finding the mat where it was: the same pose as by looking everywhere, or none."""

import cv2
import numpy as np
import pytest

from vision.follow import follow
from vision.register import marker_corners, project, register, to_gray

NAME = "domination-b-103.jpg"


@pytest.fixture
def image(bench):
    return bench.photos[NAME].image


@pytest.fixture
def pose(bench, image):
    return register(to_gray(image), bench.kit, bench.camera)


def corners(bench, pose):
    world = np.vstack([marker_corners(bench.kit.mat, marker.id) for marker in bench.kit.mat.markers])
    return project(world, pose, bench.camera)


def shifted(image, x_px, y_px):
    push = np.float32([[1, 0, x_px], [0, 1, y_px]])
    return np.asarray(cv2.warpAffine(image, push, (1280, 720), borderMode=cv2.BORDER_REFLECT), np.uint8)


@pytest.mark.parametrize("push_px", [(0, 0), (9, -6)])
def test_it_is_the_pose_that_a_look_at_the_whole_picture_gives(bench, image, pose, push_px):
    pushed = shifted(image, *push_px)
    followed = follow(pushed, bench.kit, bench.camera, pose)
    whole = register(to_gray(pushed), bench.kit, bench.camera)
    assert followed is not None
    assert np.abs(corners(bench, followed) - corners(bench, whole)).max() < 0.05
    assert followed.markers == whole.markers


def test_a_mat_that_was_pushed_far_is_not_followed(bench, image, pose):
    assert follow(shifted(image, 90, 40), bench.kit, bench.camera, pose) is None


def test_a_covered_marker_is_not_followed(bench, image, pose):
    covered = image.copy()
    polygon = project(marker_corners(bench.kit.mat, 1), pose, bench.camera)
    cv2.fillConvexPoly(covered, polygon.astype(np.int32), (200, 200, 200))
    assert follow(covered, bench.kit, bench.camera, pose) is None


def test_a_reader_that_followed_finds_the_mat_again_wherever_it_lies(bench, image):
    reader = bench.reader()
    turn = cv2.getRotationMatrix2D((639.5, 359.5), 6, 1)  # the camera rolls: its corners move by 50 px
    rolled = np.asarray(cv2.warpAffine(image, turn, (1280, 720), borderMode=cv2.BORDER_REFLECT), np.uint8)
    for picture in (image, rolled, shifted(image, 3, 2)):
        whole = register(to_gray(picture), bench.kit, bench.camera)
        assert np.abs(corners(bench, reader.register(picture)) - corners(bench, whole)).max() < 0.05
