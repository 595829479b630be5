"""Blur of a picture, measured at the markers."""

import cv2
import numpy as np
import pytest

from vision.pose.blur import blur_mm, is_too_blurred, max_blur_mm
from vision.pose.registration import register, to_gray


@pytest.fixture
def seen(bench):
    """Return a grey photograph, and its kit, pose and camera."""
    gray = to_gray(bench.photos["domination-b-103.jpg"].image)
    return gray, (bench.kit, register(gray, bench.kit, bench.camera), bench.camera)


@pytest.mark.parametrize("spread_px", [1.0, 2.0, 3.0])
def test_blurs_add_as_variances(seen, spread_px):
    """Blurring by a Gaussian adds its variance to the measured blur."""
    gray, where = seen
    own, more = blur_mm(gray, *where), blur_mm(cv2.GaussianBlur(gray, (0, 0), spread_px), *where)
    added_mm = np.sqrt(more**2 - own**2)
    assert 1.0 < spread_px / added_mm < 2.2  # px per mm in these pictures
    assert added_mm / spread_px == pytest.approx(0.6, rel=0.15)


def test_it_is_a_matter_of_focus_and_not_of_light(seen):
    """The measured blur is the same at a third of the brightness."""
    gray, where = seen
    assert blur_mm(gray // 3, *where) == pytest.approx(blur_mm(gray, *where), abs=0.15)


def test_low_pieces_need_a_sharper_picture(seen, bench):
    """The allowed blur depends on the height of the lowest piece."""
    gray, where = seen
    assert max_blur_mm(bench.kit) == pytest.approx(0.15 * min(kind.height_mm for kind in bench.kit.pieces))
    assert not is_too_blurred(gray, *where)
    assert is_too_blurred(cv2.GaussianBlur(gray, (0, 0), 2.5), *where)


def test_where_no_marker_is_in_sight_nothing_is_said(seen):
    """Without a visible marker the blur is reported as 0."""
    gray, (kit, pose, camera) = seen
    assert blur_mm(gray[:10, :10], kit, pose, camera) == 0.0
