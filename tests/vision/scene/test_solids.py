"""Solids in millimetres and their outlines in a picture."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.projection import project
from vision.pose.registration import marker_corners
from vision.scene import solids

SOLIDS = {
    "disc": solids.disc(27, 7),
    "block": solids.block(20, 30, 10),
    "pyramid": solids.pyramid(25.4, 44.5),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_point_outwards(name: str) -> None:
    """Every corner of a convex solid lies on the inner side of every face, and normals have unit length."""
    solid = SOLIDS[name]
    beyond = np.einsum("fk,fpk->fp", solid.normals, solid.points[None] - solid.middles[:, None])
    assert beyond.max() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(solid.normals, axis=1), 1)


def test_disc_is_as_wide_and_high_as_its_kit_says() -> None:
    """27 mm across, 7 mm high, standing on the mat."""
    points = solids.disc(27, 7).points
    size = (np.hypot(points[:, 0], points[:, 1]).max(), points[:, 2].min(), points[:, 2].max())
    assert size == pytest.approx((13.5, 0, 7))


def test_the_cross_section_of_a_disc_is_nowhere_far_from_its_circle() -> None:
    """The polygon lies as far outside the circle at its corners as inside at its edges."""
    kind = load_kit("domination").piece("R")
    section = solids.cross_section(kind, 5.0)
    corner, edge = np.linalg.norm(section[0, :2]), np.linalg.norm(section[:2, :2].mean(axis=0))
    assert np.sqrt(corner * edge) == pytest.approx(kind.width_mm / 2)
    assert corner - edge < 0.1
    assert (section[:, 2] == 5).all()


def test_projection_is_opencvs() -> None:
    """Projected marker corners agree with ``cv2.projectPoints`` for a strongly distorting lens."""
    kit = load_kit("domination")
    camera = replace(default_camera(), distortion=np.array([-0.3, 0.12, 0.004, -0.003, 0.05]))
    pose = default_pose(kit)
    points = np.vstack([marker_corners(kit.mat, marker.id) for marker in kit.mat.markers])
    expected = cv2.projectPoints(
        points, cv2.Rodrigues(pose.rotation)[0], pose.translation_mm, camera.matrix, camera.distortion
    )[0].reshape(-1, 2)
    np.testing.assert_allclose(project(points, pose, camera), expected, atol=1e-9)
    assert (expected > 0).all()
    assert (expected < [camera.width_px, camera.height_px]).all()


def test_only_faces_towards_the_eye_are_seen() -> None:
    """From directly above a block shows its top and its bevels; from one side also that side."""
    solid = solids.block(20, 20, 20)
    above = solids.faces_towards(solid, np.array([0.0, 0.0, 500.0]))
    aslant = solids.faces_towards(solid, np.array([300.0, 0.0, 500.0]))
    assert solid.normals[above][:, 2].min() > 0.5
    assert solid.normals[aslant & ~above].round(6).tolist() == [[1, 0, 0]]


def test_stacks_rise_as_the_kit_says() -> None:
    """Discs rise by their height, a smaller pyramid by the tower's rise; a larger pyramid hides those below it."""
    assert solids.base_heights_mm(load_kit("domination"), "RGB") == (0, 7, 14)
    assert solids.base_heights_mm(load_kit("ziggurat"), "QDW") == (0, 15, 30)
    assert solids.base_heights_mm(load_kit("ziggurat"), "wdQ") == (0, 0, 0)


def test_floor_is_mat_terrain_or_pillar() -> None:
    """Citadel level 2 is 40 mm high, Diamond level 3 is 42 mm high, and a cell for discs has no column."""
    assert solids.floor_mm(load_kit("citadel"), 2) == 40
    assert solids.floor_mm(load_kit("diamond"), 3) == 42
    assert solids.column(load_kit("domination"), "c3", None) is None


def test_a_stack_stands_on_the_middle_of_its_cell() -> None:
    """Return the solids of a stack of three on c3."""
    kit = load_kit("domination")
    bodies = solids.pieces(kit, "c3", "RGB")
    middles = [body.points.mean(axis=0) for body in bodies]
    np.testing.assert_allclose(middles, [[*kit.centre_mm("c3"), z] for z in (3.5, 10.5, 17.5)])


def test_outline_is_convex_and_holds_every_corner() -> None:
    """Every projected corner lies inside the outline or on it."""
    kit, camera = load_kit("domination"), default_camera()
    pose = default_pose(kit)
    body = solids.pieces(kit, "f6", "R")[0]
    corners = project(body.points, pose, camera)
    outline = solids.hull(corners).astype(np.float32)
    assert cv2.isContourConvex(outline)
    inside = [cv2.pointPolygonTest(outline, tuple(map(float, p)), True) for p in corners]
    assert min(inside) > -1e-3


def test_a_pyramids_tip_is_blunt() -> None:
    """The tip of a pyramid is a square of TIP_MM at its full height."""
    solid = solids.pyramid(20.0, 35.0)
    tip = solid.points[list(solid.top)]
    assert (tip[:, 2] == 35.0).all()
    assert np.ptp(tip[:, :2], axis=0).tolist() == [solids.TIP_MM, solids.TIP_MM]
    assert solid.is_top.sum() == 1
