"""Sampling of faces in polar coordinates: their values and gradients."""

import cv2
import numpy as np

from vision.glyphs.faces import DIRECTIONS, Faces
from vision.glyphs.templates import empty_label_buffer
from vision.glyphs.unrolling import MAX_RADIUS, RADII, sample, shares_of, squares_of
from vision.scene.label_buffer import RANK_BITS

RADIUS_MM, SIZE_PX = 12.0, 120
TO_PICTURE = np.array([[3.0, 0.4], [-0.3, 2.1]])
MIDDLES_PX = ((60.2, 55.7), (31.0, 88.4), (118.0, 2.0))
"""The last one extends beyond the edge of the picture."""


def faces():
    """Return obliquely seen faces with these centres."""
    count = len(MIDDLES_PX)
    to_picture = np.broadcast_to(TO_PICTURE, (count, 2, 2)).copy()
    return Faces(np.array(MIDDLES_PX), to_picture, np.full(count, RADIUS_MM), np.ones(count, np.intp))


def blobs():
    """Return a smooth picture of random colours."""
    noise = np.random.default_rng(3).normal(0, 1, (SIZE_PX, SIZE_PX, 3))
    smooth = cv2.GaussianBlur(noise, (0, 0), 5)
    return np.clip(130 + 60 * smooth / smooth.std(), 0, 255).astype(np.uint8)


def expected(image, centre_px, seen=slice(None)):
    """Return (2, radii, angles) red and green there, relative to the codes of wood (80 % quantile of what is seen)."""
    at = np.array(centre_px) + RADIUS_MM * RADII[:, None, None] * DIRECTIONS @ TO_PICTURE.T
    x, y = np.moveaxis(np.clip(at, 0, SIZE_PX - 1.07).astype(np.float32), -1, 0)
    codes = cv2.remap(image.astype(np.float32), x, y, cv2.INTER_LINEAR)[..., :0:-1].transpose(2, 0, 1)
    return codes / np.quantile(codes[:, seen].reshape(2, -1), 0.8, axis=1)[:, None, None]


def test_shares_are_what_lies_between_pixels_there():
    """Sampled values agree with bilinear interpolation of the picture."""
    image = blobs()
    for shares, centre_px in zip(shares_of(image, empty_label_buffer(image), faces()), MIDDLES_PX, strict=True):
        np.testing.assert_allclose(shares, np.minimum(expected(image, centre_px), 1.5), atol=0.02)


def test_what_is_sampled_adds_up_and_is_folded():
    """Sums over all places agree with a plain sum; folding into sums and differences can be inverted."""
    image, labels = blobs(), empty_label_buffer(blobs())
    labels[:, 40:] = 2 << RANK_BITS
    opposite, integrals = sample(image, labels, faces())
    np.testing.assert_allclose(integrals[:, 0], squares_of(image, labels, faces()), rtol=1e-4)
    half = opposite.shape[-1]
    back = np.concatenate([opposite[0] + opposite[1], opposite[0] - opposite[1]], axis=-1) / 2
    sampled = back.transpose(1, 0, 2).reshape(len(MIDDLES_PX), 7, len(RADII), 2 * half)
    area_mm2 = np.pi * (MAX_RADIUS * RADIUS_MM) ** 2
    assert (sampled[:, 2].sum(axis=(1, 2)) < (area_mm2, area_mm2, 0.01)).all()
    darker = np.divide(sampled[:, :2], sampled[:, 2:3], where=sampled[:, 2:3] > 0, out=np.zeros_like(sampled[:, :2]))
    np.testing.assert_allclose((sampled[:, :2] * darker).sum(axis=(1, 2, 3)), integrals[:, 0], rtol=1e-3)
    seen = sampled[1, 2] > 0
    np.testing.assert_allclose(darker[1, :, seen], 1 - expected(image, MIDDLES_PX[1], seen)[:, seen].T, atol=0.02)


def test_gradients_are_differences_of_faces_a_little_displaced():
    """Sampled gradients agree with finite differences of displaced faces."""
    image, step_mm = blobs(), 0.3
    still = faces()
    opposite, _ = sample(image, empty_label_buffer(image), still)
    sampled = (opposite[0] + opposite[1]).transpose(1, 0, 2).reshape(len(MIDDLES_PX), 7, len(RADII), -1) / 2
    for axis, channels in ((0, slice(3, 5)), (1, slice(5, 7))):
        step = np.zeros((len(MIDDLES_PX), 2))
        step[:, axis] = step_mm
        ahead, behind = (shares_of(image, empty_label_buffer(image), still.displaced(way * step)) for way in (1, -1))
        slope = (behind - ahead)[..., : sampled.shape[-1]] / (2 * step_mm)
        given = sampled[:, channels] / sampled[:, 2:3]
        for face in range(2):
            # Each face is divided by its own wood value, and bilinear slopes jump between pixels.
            assert np.corrcoef(given[face].ravel(), slope[face].ravel())[0, 1] > 0.9
            assert np.polyfit(given[face].ravel(), slope[face].ravel(), 1)[0] > 0.85
