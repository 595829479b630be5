"""A face half in shadow is normalised as if it were under uniform light."""

import numpy as np
import pytest

from vision.glyphs.faces import Faces
from vision.glyphs.local_light import flatten_illumination, level_illumination

PX_PER_MM, RADIUS_MM, MIDDLE = 4, 12.0, 80
WOOD, INK, SHADOW = np.array([90.0, 150.0, 200.0]), 0.35, 0.5


@pytest.fixture
def half_dark():
    """Return a picture of wood with dark strokes 2 mm wide, the right half in shadow."""
    image = np.tile(WOOD, (2 * MIDDLE, 2 * MIDDLE, 1))
    for row in range(MIDDLE - 30, MIDDLE + 30, 20):
        image[row : row + 2 * PX_PER_MM] *= INK
    image[:, MIDDLE:] *= SHADOW
    return image.astype(np.uint8)


@pytest.fixture
def face():
    """Return one face in the middle of the picture."""
    return Faces(
        np.full((1, 2), float(MIDDLE)), np.eye(2)[None] * PX_PER_MM, np.array([RADIUS_MM]), np.array([1], np.intp)
    )


def test_wood_is_even_across_the_edge_of_a_shadow_and_ink_stays(half_dark, face):
    """After normalisation wood is uniform across the shadow's edge, and ink keeps its contrast."""
    lit = flatten_illumination(half_dark, face).astype(float)
    column, wood, ink = np.s_[MIDDLE - 30 : MIDDLE + 30 : 59], MIDDLE - 16, MIDDLE - 26
    np.testing.assert_allclose(lit[wood, column][0], lit[wood, column][1], rtol=0.05)
    np.testing.assert_allclose(lit[ink, column] / lit[wood, column], INK, atol=0.05)


@pytest.mark.parametrize("glare", ["slope", "spot"])
def test_wood_is_even_where_a_lamp_is_mirrored_on_one_side_and_strokes_stay(face, glare):
    """The light of a slope or a broad spot is levelled; dense strokes on one half are not taken for a shadow."""
    y, x = (np.mgrid[: 2 * MIDDLE, : 2 * MIDDLE] - MIDDLE) / (PX_PER_MM * RADIUS_MM)
    light = 1 + 0.25 * x if glare == "slope" else 1 + 0.25 * np.exp(-((x - 0.9) ** 2 + y**2) / 2)
    image = np.tile(WOOD, (2 * MIDDLE, 2 * MIDDLE, 1)) * light[..., None]
    strokes = (x > 0) & (np.abs(y) < 0.5) & ((np.arange(2 * MIDDLE) // 8 % 2)[:, None] == 1)
    image[strokes] *= INK
    level = level_illumination(image.astype(np.uint8), face).astype(float)
    wood, ink = level[(np.hypot(x, y) < 0.8) & ~strokes], level[(np.hypot(x, y) < 0.8) & strokes]
    assert np.ptp(wood / wood.mean(axis=0)) < 0.07
    np.testing.assert_allclose(ink / wood.mean(axis=0), INK, atol=0.03)


def test_levelled_faces_beyond_the_picture_are_left_out(half_dark, face):
    """A face outside the picture changes nothing."""
    beside = face._replace(centres_px=np.full((1, 2), -500.0))
    np.testing.assert_array_equal(level_illumination(half_dark, beside), half_dark)


def test_what_is_no_face_stays(half_dark, face):
    """Pixels outside the face are unchanged."""
    lit = flatten_illumination(half_dark, face)
    np.testing.assert_array_equal(lit[:10], half_dark[:10])


def test_faces_beyond_the_picture_are_left_out(half_dark, face):
    """A face outside the picture changes nothing."""
    beside = face._replace(centres_px=np.full((1, 2), -500.0))
    np.testing.assert_array_equal(flatten_illumination(half_dark, beside), half_dark)
