"""Measurement of the apparent size of the ring on a face."""

import numpy as np
import pytest

from vision.glyphs.faces import Faces
from vision.glyphs.ring import NO_RING, Ring, find_ring, groove_log_ratio, ring_log_ratio, usual_radius_mm
from vision.scene.label_buffer import RANK_BITS

SIZE = (120, 140)
MIDDLE_PX = np.array([70.3, 58.8])
TO_PICTURE = np.array([[1.9, 0.3], [-0.2, 1.4]])
RING_MM, INK_MM = 12.4, 0.4
RANK = 5
ABOUT_MM = (11.0, 13.5)


def face(off_mm=(0.0, 0.0)):
    """Return the face, displaced by ``off_mm`` in its plane."""
    middle = MIDDLE_PX + TO_PICTURE @ np.array(off_mm)
    return Faces(middle[None], TO_PICTURE[None], np.array([14.5]), np.array([RANK]))


def drawn(radius_mm):
    """Return a picture of an obliquely seen plane of wood with a dark ring and a thick stroke inside it."""
    y, x = np.indices(SIZE)
    u, v = np.linalg.inv(TO_PICTURE) @ (np.stack([x.ravel(), y.ravel()]) - MIDDLE_PX[:, None])
    ink = np.exp(-((np.hypot(u, v) - radius_mm) ** 2) / (2 * INK_MM**2)) + (np.abs(u - 3) < 1) * (np.abs(v) < 9)
    return np.repeat((180 - 120 * np.clip(ink, 0, 1)).reshape(*SIZE, 1), 3, axis=2).astype(np.uint8)


def nothing():
    """Return labels with nothing in front of the face."""
    return np.zeros(SIZE, np.uint16)


@pytest.mark.parametrize("off_mm", [(0.0, 0.0), (0.4, -0.3)])
@pytest.mark.parametrize("radius_mm", [11.6, RING_MM, 13.1])
def test_a_rings_radius_is_measured_to_a_thirtieth_of_a_millimetre(radius_mm, off_mm):
    """The radius is measured within 0.03 mm, also if the face's centre is slightly wrong."""
    ring = find_ring(drawn(radius_mm), face(off_mm), nothing(), ABOUT_MM)
    assert ring.radius_mm == pytest.approx(radius_mm, abs=0.03)
    assert ring.variance_mm2 < 0.02**2


def test_a_ring_that_is_half_hidden_is_measured_and_one_that_is_hidden_is_none():
    """A half-occluded ring is measured within 0.1 mm; a fully occluded one is not reported."""
    half, all_of_it = nothing(), nothing()
    half[int(MIDDLE_PX[1]) :] = all_of_it[:] = (RANK + 1) << RANK_BITS
    image = drawn(RING_MM)
    image[int(MIDDLE_PX[1]) :] = 20
    assert find_ring(image, face(), half, ABOUT_MM).radius_mm == pytest.approx(RING_MM, abs=0.1)
    assert find_ring(image, face(), all_of_it, ABOUT_MM) == NO_RING


@pytest.mark.parametrize("seed", [52, 74])
def test_a_circle_fitted_to_noise_on_a_short_arc_is_no_ring(seed):
    """In noise of which a quarter is visible, fits have radii beyond those that were sampled, even below 0."""
    image = np.random.default_rng(seed).integers(0, 255, (*SIZE, 3), dtype=np.uint8)
    but_a_quarter, (x, y) = nothing(), MIDDLE_PX.astype(int)
    but_a_quarter[:, : x + 4] = but_a_quarter[: y - 4] = (RANK + 1) << RANK_BITS
    assert find_ring(image, face(), but_a_quarter, ABOUT_MM) == NO_RING


def test_a_set_has_a_ring_where_most_faces_that_show_it_clearly_have_the_same():
    """The usual radius needs agreement among the clearly measured rings."""
    assert usual_radius_mm([Ring(radius_mm, 0.0) for radius_mm in (12.38, 12.42, 12.40, 9.2)]) == pytest.approx(12.4)
    assert usual_radius_mm([Ring(radius_mm, 0.0) for radius_mm in (9.1, 10.4, 12.0, 13.0)]) is None
    assert usual_radius_mm([Ring(12.4, 0.02**2), Ring(9.1, 0.15**2), Ring(13.3, 0.2**2)]) == pytest.approx(12.4)
    assert usual_radius_mm([Ring(12.4, 0.01**2), Ring(9.1, 0.047**2)]) == pytest.approx(12.4)
    assert usual_radius_mm([Ring(12.4, 0.15**2), Ring(12.4, 0.2**2), NO_RING]) is None


def test_the_height_is_likeliest_at_which_the_ring_has_the_sets_radius():
    """The likeliest plane is the one in which the ring has the set's radius."""
    planes = np.array([0.96, 0.98, 1.0, 1.02])
    ratios = ring_log_ratio(Ring(RING_MM * 0.98, 0.02**2), planes, RING_MM)
    assert ratios.argmax() == 1
    assert ratios[1] == pytest.approx(0, abs=0.01)
    np.testing.assert_allclose(ring_log_ratio(NO_RING, planes, RING_MM), 0, atol=1e-9)


def test_two_round_grooves_are_a_piece_and_rougher_ones_may_be_one():
    """Two precise grooves are evidence for a piece; imprecise ones give little evidence."""
    ratios = [groove_log_ratio(Ring(4.0, sd_mm**2), Ring(9.0, sd_mm**2)) for sd_mm in (0.02, 0.04, 0.12, 0.3)]
    assert ratios[0] > 8
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] > -5
