"""Detection of displaced faces by the rings printed on them."""

import cv2
import numpy as np
import pytest

from vision.glyphs.circle_variance import BORDER, COARSE_MM, FINE_MM, RING, coarse_variance, fine_variance
from vision.glyphs.face_detection import box_px, centre_faces
from vision.glyphs.faces import Faces
from vision.scene.label_buffer import RANK_BITS

RADIUS_MM, RING_MM, RANK, SIZE_PX = 12.0, 0.84 * 12.0, 3, 200
TO_PICTURE = np.array([[4.0, 0.6], [-0.3, 2.4]])
"""Pixels per mm of a face that is seen obliquely."""


def faces(centres_px):
    """Return faces with these centres (k, 2), in px."""
    count = len(centres_px)
    return Faces(
        np.array(centres_px, float),
        np.broadcast_to(TO_PICTURE, (count, 2, 2)).copy(),
        np.full(count, RADIUS_MM),
        np.full(count, RANK, np.intp),
    )


def drawn(centre_px, noise=3.0):
    """Return a (height, width, 3) picture of one wooden face with a printed ring, on paper."""
    y, x = np.mgrid[:SIZE_PX, :SIZE_PX]
    apart_mm = np.linalg.inv(TO_PICTURE) @ np.array([x - centre_px[0], y - centre_px[1]]).reshape(2, -1)
    radius_mm = np.hypot(*apart_mm).reshape(SIZE_PX, SIZE_PX)
    wood, ink = np.array([90.0, 140, 180]), np.array([40.0, 40, 50])
    on_ring = np.clip(1.5 - np.abs(radius_mm - RING_MM) / 0.4, 0, 1)[..., None]
    on_face = np.clip((RADIUS_MM - radius_mm) * 3, 0, 1)[..., None]
    image = 235 + on_face * (wood + on_ring * (ink - wood) - 235)
    return np.clip(image + np.random.default_rng(1).normal(0, noise, image.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("ring_mm", [None, RING_MM])
@pytest.mark.parametrize("offset_mm", [(0.0, 0.0), (1.5, -1.0), (-2.6, 2.1)])
def test_a_ring_is_found_off_its_place(offset_mm, ring_mm):
    """A displaced ring is located within 0.4 mm, with known and unknown radius."""
    expected = np.array([100.0, 100.0])
    image, labels = drawn(expected + TO_PICTURE @ offset_mm), np.zeros((SIZE_PX, SIZE_PX), np.uint16)
    found, log_ratio = centre_faces(image, faces([expected]), labels, ring_mm)
    apart_mm = np.linalg.inv(TO_PICTURE) @ (found.centres_px[0] - expected) - offset_mm
    assert np.abs(apart_mm).max() < 0.4
    assert log_ratio[0] > 10


@pytest.mark.parametrize("ring_mm", [None, RING_MM])
@pytest.mark.parametrize("beyond_px", [(100.0, -300.0), (-300.0, 100.0), (100.0, 900.0), (900.0, 900.0)])
def test_beyond_the_edge_of_the_picture_no_ring_is_found(beyond_px, ring_mm):
    """This happens with a tower that extends beyond the picture."""
    image, labels = drawn(np.array([100.0, 100.0])), np.zeros((SIZE_PX, SIZE_PX), np.uint16)
    left, top, right, bottom = box_px(faces([beyond_px]), labels.shape)
    assert min(right - left, bottom - top) >= 2
    _, log_ratio = centre_faces(image, faces([beyond_px]), labels, ring_mm)
    assert abs(log_ratio[0]) < 1


def test_an_occluded_ring_is_not_found():
    """An occluded ring gives no evidence and no displacement."""
    expected, labels = np.array([100.0, 100.0]), np.full((SIZE_PX, SIZE_PX), (RANK + 1) << RANK_BITS, np.uint16)
    found, log_ratio = centre_faces(drawn(expected + 4), faces([expected]), labels)
    assert abs(log_ratio[0]) < 1
    np.testing.assert_array_equal(found.centres_px[0], expected)


def test_a_ring_of_known_radius_is_found_by_an_arc_of_it():
    """A visible arc is enough to locate a ring of known radius, but not one of unknown radius."""
    expected, labels = np.array([100.0, 100.0]), np.full((SIZE_PX, SIZE_PX), (RANK + 1) << RANK_BITS, np.uint16)
    image = drawn(expected + TO_PICTURE @ (1.0, 0.5))
    labels[:, 122:] = 0
    _, unknown = centre_faces(image, faces([expected]), labels)
    found, known = centre_faces(image, faces([expected]), labels, RING_MM)
    assert unknown[0] == 0
    assert known[0] > 5
    assert np.abs(np.linalg.inv(TO_PICTURE) @ (found.centres_px[0] - expected) - (1.0, 0.5)).max() < 0.8


def test_even_ground_is_no_face_where_the_ring_is_known():
    """Uniform ground scores lower than a ring, although a dark edge nearby makes most other places more uneven."""
    ground = np.full((SIZE_PX, SIZE_PX, 3), 200, np.uint8)
    ground[:, :62] = 120
    labels, expected = np.zeros((SIZE_PX, SIZE_PX), np.uint16), np.array([108.0, 100.0])
    _, bare = centre_faces(ground, faces([expected]), labels, RING_MM)
    _, ring = centre_faces(drawn(expected), faces([expected]), labels, RING_MM)
    assert ring[0] > bare[0] + 10


def test_half_a_ring_is_found_but_is_less_certain():
    """A half-occluded ring is located with less certainty than a whole one."""
    expected, labels = np.array([100.0, 100.0]), np.zeros((SIZE_PX, SIZE_PX), np.uint16)
    image = drawn(expected + TO_PICTURE @ (1.0, 0.5))
    _, whole = centre_faces(image, faces([expected]), labels)
    labels[:, 104:] = (RANK + 1) << RANK_BITS
    image[:, 104:] = 0
    found, half = centre_faces(image, faces([expected]), labels)
    assert np.abs(np.linalg.inv(TO_PICTURE) @ (found.centres_px[0] - expected) - (1.0, 0.5)).max() < 1.1
    assert 0 < half[0] < whole[0]


@pytest.mark.parametrize(
    ("unevenness", "steps_mm", "angles", "between"),
    [(coarse_variance, COARSE_MM, 12, cv2.INTER_NEAREST), (fine_variance, FINE_MM, 24, cv2.INTER_LINEAR)],
)
def test_colour_varies_along_circles_as_what_is_sampled_there(unevenness, steps_mm, angles, between):
    """One of the two faces lies at the border of the picture and is half occluded."""
    image = cv2.blur(drawn((60.0, 90.0)), (9, 9))
    labels = np.zeros(image.shape[:2], np.uint16)
    labels[:80] = (RANK + 1) << RANK_BITS
    some = faces([(60.3, 89.6), (11.2, 70.0)])
    uneven, darker, shares = unevenness(image, labels, some, BORDER)
    for face in range(2):
        for number, step_mm in enumerate(steps_mm):
            expected, share, means = variance_along_circles(
                image, labels, some.centres_px[face] + TO_PICTURE @ step_mm, angles, between
            )
            assert shares[face, number] == pytest.approx(share, abs=0.03)
            assert uneven[face, number] == pytest.approx(expected, rel=0.1, abs=2e-5)
            beside = (means[RING - 1] + means[RING + 1]) / 2
            is_seen = np.isfinite(means[RING - 1 : RING + 2]).all()
            ring = (beside - means[RING]) / beside if is_seen else 0
            assert darker[face, number] == pytest.approx(ring, abs=0.06)


def variance_along_circles(image, labels, centre_px, angles, between):
    """Return the variance along circles, the visible share, and the mean brightness of each circle.

    The variance leaves out the most uneven circle, and is relative to the squared brightness.
    """
    turn = np.arange(angles) * (2 * np.pi / angles)
    deviations, values, means, count = [], [], [], 0
    for radius in BORDER:
        x, y = centre_px[:, None] + TO_PICTURE @ (RADIUS_MM * radius * np.array([np.cos(turn), np.sin(turn)]))
        x, y = np.clip(x, 0, SIZE_PX - 1).astype(np.float32), np.clip(y, 0, SIZE_PX - 1).astype(np.float32)
        is_seen = labels[np.rint(y).astype(int), np.rint(x).astype(int)] >> RANK_BITS <= RANK
        codes = cv2.remap(image.astype(np.float32), x, y, between, borderMode=cv2.BORDER_REPLICATE)[is_seen]
        deviations.append((((codes - codes.mean(axis=0)) ** 2).sum() if len(codes) else 0.0, len(codes)))
        values.append(codes.reshape(-1, 3).sum())
        means.append(codes.mean() if len(codes) else np.nan)
        count += len(codes)
    most, of_most = max(deviations)
    spread = sum(one for one, _ in deviations) - most
    variance = spread / max(count - of_most, 1) / (sum(values) / max(count, 1)) ** 2
    return variance, count / (4 * angles), means


def test_a_faint_groove_is_found_on_a_face_without_grain():
    """With the lower threshold for grain-free faces, a groove of 6 % contrast is located within 0.6 mm."""
    expected = np.array([100.0, 100.0])
    ring, labels = drawn(expected, noise=0.0).astype(float), np.zeros((SIZE_PX, SIZE_PX), np.uint16)
    plain = drawn(expected, noise=0.0).max(axis=(0, 1)) * 0 + np.array([90.0, 140, 180])
    groove = plain + 0.06 * (ring - plain)
    noisy = np.clip(groove + np.random.default_rng(1).normal(0, 1.5, ring.shape), 0, 255).astype(np.uint8)
    _, as_wood = centre_faces(noisy, faces([expected + np.array([3.0, 2.0])]), labels, RING_MM)
    found, log_ratio = centre_faces(noisy, faces([expected + np.array([3.0, 2.0])]), labels, RING_MM, 0.0004)
    assert np.abs(np.linalg.inv(TO_PICTURE) @ (found.centres_px[0] - expected)).max() < 0.6
    assert log_ratio[0] > 2 * as_wood[0]
