"""Markers that are looked for in a smaller picture first are where they are in the whole one, or nothing is said."""

import cv2
import numpy as np
import pytest

from vision.pose import registration
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


@pytest.mark.parametrize(("covered", "searched"), [((1,), 0), ((1, 2), 1)])
def test_a_missing_marker_is_looked_for_where_three_others_say_that_it_is(bench, gray, monkeypatch, covered, searched):
    """Where only two are seen the whole picture is searched more closely."""
    whole, looks = detect(gray, bench.kit.mat.dictionary), []
    numbers = numbers_of(bench.kit)
    for which in covered:
        (corners,) = whole[numbers[which]]
        cv2.fillConvexPoly(gray, np.rint(corners).astype(np.int32), 200)

    def counted(picture, name, window_px=None):
        looks.append(window_px)
        return detect(picture, name, window_px)

    monkeypatch.setattr(registration, "detect", counted)
    pose = registration.register(gray, bench.kit, bench.camera)
    assert pose.markers == tuple(number for k, number in enumerate(numbers) if k not in covered)
    assert looks.count(None) == searched
