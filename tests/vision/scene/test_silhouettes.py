"""Silhouettes against OpenCV's polygons, and occlusion of points."""

import cv2
import numpy as np
import pytest

from vision.scene.silhouettes import UPPERMOST, WHOLE, CropPose, covers_points, no_silhouettes, trace_silhouettes

SIZE = (60, 80)
SQUARE = np.array([[-10.0, -12.0], [10.0, -12.0], [10.0, 12.0], [-10.0, 12.0]])


def traced(corners_mm, uppermost=4, shift_mm=(0.0, 0.0), origin_px=(40.0, 30.0)):
    """Return silhouettes in which cell 1 has these corners, in mm."""
    silhouettes = no_silhouettes(2, SIZE[0])
    pose = CropPose(np.eye(2), np.array(origin_px), np.array(shift_mm))
    trace_silhouettes(silhouettes, 1, np.array(corners_mm), uppermost, pose, SIZE[1])
    return silhouettes


def mask(silhouettes, part, cell=1):
    """Return (height, width) bool of the pixels that a part of a silhouette covers."""
    pixels = np.zeros(SIZE, bool)
    for row in range(*silhouettes.rows[cell, part]):
        pixels[row, slice(*silhouettes.runs[cell, part, row])] = True
    return pixels


@pytest.mark.parametrize("seed", range(5))
def test_a_silhouette_is_the_hull_of_its_corners(seed):
    """Pixels on its edge may differ from OpenCV's."""
    corners = np.random.default_rng(seed).uniform(-18, 18, (7, 2))
    pixels, expected = mask(traced(corners, 7), WHOLE), np.zeros(SIZE, np.uint8)
    hull = cv2.convexHull(np.add(corners, (40, 30)).astype(np.float32))
    cv2.fillConvexPoly(expected, np.rint(hull * 16).astype(np.int32), 1, shift=4)
    thinner = cv2.erode(expected, np.ones((3, 3), np.uint8)).astype(bool)
    wider = cv2.dilate(expected, np.ones((3, 3), np.uint8)).astype(bool)
    assert (pixels | ~thinner).all()
    assert not (pixels & ~wider).any()


def test_only_the_uppermost_part_is_shifted():
    """The shift moves the uppermost piece and its centre, but not the foot."""
    straight, leaning = (
        traced([*SQUARE, *np.add(SQUARE, (0, 10))]),
        traced([*SQUARE, *np.add(SQUARE, (0, 10))], 4, (3.0, -2.0)),
    )
    np.testing.assert_array_equal(np.roll(mask(straight, UPPERMOST), (-2, 3), (0, 1)), mask(leaning, UPPERMOST))
    np.testing.assert_allclose(leaning.centres_px[1] - straight.centres_px[1], (3, -2))
    assert mask(leaning, WHOLE)[50, 40], "the foot stays where it is"


def test_a_silhouette_ends_at_the_pictures_edge():
    """A silhouette is clipped at the edge of the picture."""
    silhouettes = traced(SQUARE, origin_px=(2.0, 58.0))
    assert silhouettes.runs[1, WHOLE, :, 0].min() == 0
    assert silhouettes.rows[1, WHOLE].tolist() == [46, 60]


def test_what_lies_behind_is_told():
    """Points inside the silhouette are covered, others and empty cells are not."""
    silhouettes = traced(SQUARE)
    assert covers_points(silhouettes, 1, np.array([[40.0, 30.0], [40.0, 45.0], [28.0, 30.0]])).tolist() == [
        True,
        False,
        False,
    ]
    assert not covers_points(silhouettes, 0, np.array([[40.0, 30.0]])).any(), "nothing stands on the other cell"


def test_silhouettes_are_restored():
    """Saved silhouettes can be restored."""
    silhouettes, cells = traced(SQUARE), np.array([1])
    before, pixels = silhouettes.select(cells), mask(silhouettes, WHOLE)
    trace_silhouettes(silhouettes, 1, SQUARE / 2, 4, CropPose(np.eye(2), np.array([20.0, 20.0]), np.zeros(2)), SIZE[1])
    assert not np.array_equal(mask(silhouettes, WHOLE), pixels)
    silhouettes.put(cells, before)
    np.testing.assert_array_equal(mask(silhouettes, WHOLE), pixels)
