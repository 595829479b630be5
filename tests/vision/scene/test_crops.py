"""Rectified crops: verticals are columns, and a row is one millimetre."""

import numpy as np
import pytest

from calibration.camera import Camera
from vision.pose.projection import Registration, project
from vision.scene.crops import make_crops

CAMERA = Camera(640, 480, np.array([[600.0, 0, 320], [0, 600, 240], [0, 0, 1]]), np.zeros(5), 0.0)
CENTRES = np.array([[-60.0, 40.0, 0.0], [0.0, 0.0, 0.0], [70.0, -50.0, 20.0]])


@pytest.fixture(scope="module")
def pose():
    """Return a camera pose 500 mm away, at an elevation of 60°, on the side of the first rank."""
    elevation = np.radians(60)
    centre = 500 * np.array([0.0, -np.cos(elevation), np.sin(elevation)])
    forward, right = -centre / 500, np.array([1.0, 0, 0])
    rotation = np.array([right, np.cross(forward, right), forward])
    return Registration(rotation, -rotation @ centre, (), 0.0)


@pytest.fixture(scope="module")
def crops(pose):
    """Return the crops of three cells, two mm per column."""
    return make_crops(CENTRES, pose, CAMERA, (20.0, 40.0), 2)


def test_the_worlds_vertical_is_a_column(crops, pose):
    """A point above a cell's centre lies above it in the same column of the crop."""
    tips = project(np.add(CENTRES, (0, 0, 30.0)), pose, CAMERA)
    u, v = crops.from_picture(tips[:, None])[:, 0].T
    assert np.abs(u).max() < 0.05
    assert (v < -10).all(), "up in the crop"


def test_crop_and_picture_coordinates_are_inverse(crops):
    """Conversion from crop to picture and back is the identity."""
    points = np.random.default_rng(0).uniform(-20, 20, (len(CENTRES), 5, 2))
    picture = points @ crops.to_picture.transpose(0, 2, 1) + crops.origin_px[:, None]
    np.testing.assert_allclose(crops.from_picture(picture), points, atol=1e-9)


def test_across_the_line_of_sight_a_millimetre_is_a_millimetre(crops, pose):
    """A step of 10 mm across the line of sight is 10 mm in the crop."""
    beside = project(np.add(CENTRES[1:2], (10.0, 0, 0)), pose, CAMERA)
    u, v = crops.from_picture(np.repeat(beside[None], len(CENTRES), axis=0))[1, 0]
    assert (abs(u), abs(v)) == pytest.approx((10, 0), abs=0.1)


def test_foreshortening_is_the_sine_of_the_elevation(crops):
    """The foreshortening is the sine of the elevation."""
    assert crops.foreshortening[1] == pytest.approx(np.sin(np.radians(60)), abs=0.01)


def test_each_crop_pixel_points_at_its_nearest_picture_pixel(crops):
    """The index of each crop pixel refers to the nearest picture pixel; pixels outside have index 0."""
    x, y = np.rint(crops.map_px)
    inside = ~crops.outside
    np.testing.assert_array_equal((y * 640 + x)[inside], crops.flat_px[inside])
    assert (crops.flat_px[crops.outside] == 0).all()


def test_crops_reach_beyond_what_may_stand_there(crops, pose):
    """The corners of the largest possible stack lie within the crop."""
    for dx, dy, z in ((-10, -10, 0), (10, 10, 0), (-10, 10, 40), (10, -10, 40)):
        u, v = crops.from_picture(project(np.add(CENTRES, (dx, dy, z)), pose, CAMERA)[:, None])[:, 0].T
        assert (np.abs(u) <= crops.u_mm[-1]).all()
        assert ((crops.v_mm[0] <= v) & (v <= crops.v_mm[-1])).all()
