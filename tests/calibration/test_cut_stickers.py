"""Stickers with a corner cut off by the board's edge, before their position on the board is known."""

import cv2
import numpy as np
import pytest

from calibration.marker_alignment import align_cut
from calibration.markers import dictionary

NAME, NUMBER = "DICT_5X5_100", 7
SEEN_PX = np.array([(203.0, 151.0), (262.0, 158.0), (255.0, 214.0), (197.0, 206.0)])
"""Corners of a marker that is slightly rotated and seen obliquely."""


@pytest.fixture(scope="module")
def gray():
    """Return a (400, 500) uint8 picture of the marker on white paper on dark wood, cut off at the left.

    The cut removes part of its paper and one corner.
    """
    side = 8 * 20
    marker = np.asarray(dictionary(NAME).generateImageMarker(NUMBER, side - 20), np.uint8)
    paper = np.pad(marker, 10, constant_values=245)
    own = np.array([(10, 10), (side - 10, 10), (side - 10, side - 10), (10, side - 10)], np.float32) - 0.5
    way = cv2.getPerspectiveTransform(own, SEEN_PX.astype(np.float32))
    grain = np.random.default_rng(1).normal(90, 3, (400, 500))
    shown = cv2.warpPerspective(paper, way, (500, 400), flags=cv2.INTER_AREA).astype(float)
    there = cv2.warpPerspective(np.ones_like(paper), way, (500, 400)) > 0
    picture = np.where(there, shown, grain)
    rows, columns = np.indices(picture.shape)
    cut = columns - 197 < (rows - 206) * -0.6 + 6
    picture[cut & (rows > 190)] = 90
    return np.asarray(np.clip(cv2.GaussianBlur(picture, (0, 0), 0.8), 0, 255), np.uint8)


def test_an_outline_that_has_lost_a_corner_is_put_right_by_what_is_printed(gray):
    """A corner displaced by the cut is corrected by aligning the marker's pattern."""
    cut = SEEN_PX + np.array([(0, 0), (0, 0), (0, 0), (5.0, -3.0)])
    (found,) = align_cut(gray, NAME, {NUMBER: cut}).values()
    off_px = np.linalg.norm(found - SEEN_PX, axis=1)
    assert off_px[:3].max() < 0.7
    assert off_px[3] < 2.0


def test_an_outline_of_a_marker_s_shape_stays(gray):
    """An outline that already has a marker's shape is returned unchanged."""
    near = SEEN_PX + 0.3
    assert align_cut(gray, NAME, {NUMBER: near})[NUMBER] is near


def test_where_nothing_looks_like_the_marker_its_outline_stays(gray):
    """An outline at a place without the marker is returned unchanged."""
    cut = SEEN_PX + np.array([(150, 100), (150, 100), (150, 100), (155.0, 97.0)])
    assert align_cut(gray, NAME, {NUMBER: cut})[NUMBER] is cut
