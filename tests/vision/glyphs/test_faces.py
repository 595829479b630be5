"""Upper faces are located where their print is seen."""

import numpy as np
import pytest

from calibration.camera import read_camera
from calibration.kit import load_kit
from calibration.picture import load_picture
from vision.inference.geometry import make_geometry
from vision.pose.projection import project
from vision.pose.registration import register


@pytest.fixture(scope="module")
def geometry(examples):
    """Return the geometry of the example photograph."""
    kit, folder = load_kit("domination"), examples / "photos"
    camera = read_camera(folder / "camera.toml")
    pose = register(load_picture(folder / "domination-b-103.jpg"), kit, camera)
    return make_geometry(kit, (), pose, camera)


@pytest.mark.parametrize("height", [1, 5])
@pytest.mark.parametrize("ring_mm", [7.0, 11.0])
def test_a_circle_on_a_face_is_seen_where_the_face_has_it(geometry, height, ring_mm):
    """Points of a circle on a face are mapped back to their place within 0.3 mm, at two heights."""
    count, kind = len(geometry.configurations.all), geometry.configurations.all[0].size
    angle = np.arange(24) * (2 * np.pi / 24)
    unit = np.column_stack([np.cos(angle), np.sin(angle)])
    for cell, middle_mm in enumerate(geometry.crops.centres_mm):
        circle_mm = middle_mm + np.column_stack([ring_mm * unit, np.full(len(unit), height * kind.height_mm)])
        face = geometry.faces.select(np.full(len(unit), cell * count + height - 1))
        off_mm = face.offset_mm(project(circle_mm, geometry.pose, geometry.camera)) - ring_mm * unit
        assert np.linalg.norm(off_mm.mean(axis=0)) < 0.1
        assert np.abs(off_mm).max() < 0.3
