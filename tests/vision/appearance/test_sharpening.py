"""Halos along edges that a camera's sharpening adds."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.appearance.sharpening import MIN_HALO, measure_halo, remove_halo
from vision.pose.registration import register, to_gray


@pytest.fixture
def photo(bench):
    """Return an example photograph, its kit, pose and camera."""
    image = next(iter(bench.photos.values())).image
    return image, bench.kit, register(to_gray(image), bench.kit, bench.camera), bench.camera


def sharpened(image, amount=0.8):
    """Return the picture after unsharp masking."""
    blurred = cv2.GaussianBlur(image, (0, 0), 1.2)
    return cv2.addWeighted(image, 1 + amount, blurred, -amount, 0)


def test_a_picture_as_the_lens_has_it_has_no_halo(photo):
    """An unsharpened photograph has no measurable halo."""
    assert abs(measure_halo(*photo)) < MIN_HALO / 2


def test_a_sharpened_one_has_and_blurring_takes_it_away(photo):
    """A sharpened photograph has a halo, which blurring halves at least."""
    image, *rest = photo
    assert measure_halo(sharpened(image), *rest) > MIN_HALO
    assert measure_halo(remove_halo(sharpened(image)), *rest) < measure_halo(sharpened(image), *rest) / 2


def test_without_markers_in_view_nothing_is_said(photo):
    """Without visible markers the halo is reported as 0."""
    image, kit, pose, camera = photo
    away = replace(pose, translation_mm=pose.translation_mm + np.array([5000.0, 0.0, 0.0]))
    assert measure_halo(image, kit, away, camera) == 0


@pytest.mark.parametrize("box", [(30, 20, 200, 150), (0, 0, 90, 60), (100, 90, 5000, 4000)])
def test_a_part_is_blurred_as_in_the_whole_and_the_rest_stays(photo, box):
    """Blurring a box gives the same pixels as blurring the whole picture, and leaves the rest unchanged."""
    image, *_ = photo
    left, top, right, bottom = box
    part, whole, inside = remove_halo(image, box), remove_halo(image), np.zeros(image.shape, np.bool_)
    inside[top:bottom, left:right] = True
    np.testing.assert_array_equal(part, np.where(inside, whole, image))
    assert (part != image).any()
