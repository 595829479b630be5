"""Faces that are drawn off their places are found where they are, by the rings printed on them."""

import cv2
import numpy as np
import pytest

from vision.glyphs.face_detection import ONE_PX, Faces, centred, sample, subpixel, to_fixed_point
from vision.scene.label_buffer import RANK_BITS

RADIUS_MM, RANK, SIZE_PX = 12.0, 3, 200
TO_PICTURE = np.array([[4.0, 0.6], [-0.3, 2.4]])
"""Pixels per mm of a face that is seen obliquely."""


def faces(middles_px):
    count = len(middles_px)
    return Faces(
        np.array(middles_px, float),
        np.broadcast_to(TO_PICTURE, (count, 2, 2)).copy(),
        np.full(count, RADIUS_MM),
        np.full(count, RANK, np.intp),
    )


def drawn(middle_px, noise=3.0):
    """A picture (height, width, 3) of one wooden face with a printed ring, on paper."""
    y, x = np.mgrid[:SIZE_PX, :SIZE_PX]
    apart_mm = np.linalg.inv(TO_PICTURE) @ np.array([x - middle_px[0], y - middle_px[1]]).reshape(2, -1)
    radius_mm = np.hypot(*apart_mm).reshape(SIZE_PX, SIZE_PX)
    wood, ink = np.array([90.0, 140, 180]), np.array([40.0, 40, 50])
    on_ring = np.clip(1.5 - np.abs(radius_mm - 0.84 * RADIUS_MM) / 0.4, 0, 1)[..., None]
    on_face = np.clip((RADIUS_MM - radius_mm) * 3, 0, 1)[..., None]
    image = 235 + on_face * (wood + on_ring * (ink - wood) - 235)
    return np.clip(image + np.random.default_rng(1).normal(0, noise, image.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("offset_mm", [(0.0, 0.0), (1.5, -1.0), (-2.6, 2.1)])
def test_a_ring_is_found_off_its_place(offset_mm):
    expected = np.array([100.0, 100.0])
    found, log_ratio = centred(
        drawn(expected + TO_PICTURE @ offset_mm), faces([expected]), np.zeros((SIZE_PX, SIZE_PX), np.uint16)
    )
    apart_mm = np.linalg.inv(TO_PICTURE) @ (found.middles_px[0] - expected) - offset_mm
    assert np.abs(apart_mm).max() < 0.4
    assert log_ratio[0] > 10


def test_an_occluded_ring_is_not_found():
    expected, labels = np.array([100.0, 100.0]), np.full((SIZE_PX, SIZE_PX), (RANK + 1) << RANK_BITS, np.uint16)
    found, log_ratio = centred(drawn(expected + 4), faces([expected]), labels)
    assert log_ratio[0] == 0
    np.testing.assert_array_equal(found.middles_px[0], expected)


def test_half_a_ring_is_found_but_is_less_certain():
    expected, labels = np.array([100.0, 100.0]), np.zeros((SIZE_PX, SIZE_PX), np.uint16)
    image = drawn(expected + TO_PICTURE @ (1.0, 0.5))
    _, whole = centred(image, faces([expected]), labels)
    labels[:, 104:] = (RANK + 1) << RANK_BITS
    image[:, 104:] = 0
    found, half = centred(image, faces([expected]), labels)
    assert np.abs(np.linalg.inv(TO_PICTURE) @ (found.middles_px[0] - expected) - (1.0, 0.5)).max() < 1.1
    assert 0 < half[0] < whole[0]


def test_places_between_pixels_are_interpolated():
    image = np.random.default_rng(0).integers(0, 256, (5, 6, 3)).astype(np.uint8)
    places = np.array([[2.25, 1.5], [0.0, 0.0], [4.9375, 3.0]])
    for place, (x, y) in zip(to_fixed_point(places), places, strict=True):
        at = subpixel(image.shape[:2], *place)
        assert (at.column + at.right / ONE_PX, at.row + at.down / ONE_PX) == (x, y)
        codes = np.array(sample(image.reshape(-1), 6, at)) / ONE_PX**2
        expected = cv2.getRectSubPix(image.astype(np.float32), (1, 1), (x, y))[0, 0]
        np.testing.assert_allclose(codes, expected, atol=1e-3)


def test_places_outside_are_those_at_the_border():
    assert subpixel((5, 6), -40, 1000) == (3, 0, ONE_PX - 1, 0)
