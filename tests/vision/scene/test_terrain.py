"""Sky view factors of the floors of terrain and pillars."""

import numpy as np
import pytest

from vision.scene.terrain import sky_view_factors

PITCH_MM = 40.0
SQUARES = np.array([(x, y) for x in range(-1, 2) for y in range(-1, 2)]) * PITCH_MM


def floors(heights_mm):
    """Return the floors (9, 3) of 3 × 3 squares with these heights, in mm."""
    return np.column_stack([SQUARES, np.array(heights_mm, float)])


def test_on_even_ground_all_of_the_sky_is_seen():
    """On level ground the sky view factor is 1."""
    np.testing.assert_allclose(sky_view_factors(floors([30.0] * 9), PITCH_MM), 1)


def test_from_a_pit_as_much_is_seen_as_rays_leave_it():
    """For a pit, the factor agrees with Monte Carlo ray casting; rims see the whole sky."""
    depth_mm = 35.0
    shares = sky_view_factors(floors([depth_mm] * 4 + [0.0] + [depth_mm] * 4), PITCH_MM)
    rng = np.random.default_rng(1)
    # Uniform over the disc under the sky, that is cosine-weighted (Malley's method).
    radius, angle = np.sqrt(rng.random(200_000)), rng.random(200_000) * 2 * np.pi
    slope = np.sqrt(1 - radius**2) / radius
    wall_mm = PITCH_MM / 2 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))
    assert shares[4] == pytest.approx((slope * wall_mm > depth_mm).mean(), abs=0.01)
    np.testing.assert_allclose(np.delete(shares, 4), 1)


def test_the_nearer_and_longer_the_wall_the_less_is_seen():
    """The factor falls with the nearness and the length of a wall."""
    shares = sky_view_factors(floors([0, 0, 60, 0, 0, 60, 0, 0, 60]), PITCH_MM)
    assert shares[4] < shares[3] < 1
    assert shares[4] < shares[1]
