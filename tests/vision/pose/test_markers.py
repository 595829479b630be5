"""Markers that are looked for in a smaller picture first are where they are in the whole one, or nothing is said."""

import cv2
import numpy as np
import pytest

from vision.pose.markers import THRESHOLD_WINDOW_PX, detect, detect_coarse_to_fine
from vision.pose.registration import to_gray


@pytest.fixture
def gray(bench):
    """Return an example photograph in grey."""
    return to_gray(bench.photos["domination-b-103.jpg"].image)


def numbers_of(kit):
    """Return the numbers of a mat's markers."""
    return tuple(sorted(marker.id for marker in kit.mat.markers))


def test_corners_are_those_of_the_whole_picture(bench, gray):
    """Both ways give the same corners."""
    name, numbers = bench.kit.mat.dictionary, numbers_of(bench.kit)
    found, whole = detect_coarse_to_fine(gray, name, numbers), detect(gray, name, THRESHOLD_WINDOW_PX)
    assert set(found) == set(numbers)
    for number in numbers:
        np.testing.assert_allclose(found[number], whole[number], atol=0.02)


def test_nothing_is_said_where_a_marker_is_covered(bench, gray):
    """A covered marker leaves the others to the search of the whole picture."""
    name, numbers = bench.kit.mat.dictionary, numbers_of(bench.kit)
    (corners,) = detect(gray, name)[numbers[1]]
    cv2.fillConvexPoly(gray, np.rint(corners).astype(np.int32), 200)
    assert detect_coarse_to_fine(gray, name, numbers) == {}


def test_nothing_is_said_where_a_marker_is_seen_twice(bench, gray):
    """Two mats in one picture are not told apart here."""
    name, numbers = bench.kit.mat.dictionary, numbers_of(bench.kit)
    assert detect_coarse_to_fine(np.vstack([gray, gray]), name, numbers) == {}
