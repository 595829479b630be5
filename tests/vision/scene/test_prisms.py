"""Visible surfaces of a piece, row by row."""

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.kit import load_kit
from vision.pose.projection import Registration
from vision.scene.configurations import BEVEL_MM
from vision.scene.prisms import CONTACT_MM, DISC_SIDES, PER_PIECE, Prisms, first_surface, make_prisms, span_stack
from vision.scene.runs import make_spans, paint
from vision.scene.terrain import floors_mm

SIZE = (60, 70)
ACROSS_PX, ALONG_PX, UP_PX, SHRINKS = 20.0, 9.0, 14.0, 1.05


def test_a_disc_hides_what_the_outline_of_both_its_ends_encloses():
    """The covered pixels of a disc agree with the convex hull of its two ends."""
    angle = np.arange(DISC_SIDES) * (2 * np.pi / DISC_SIDES) + 0.1
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    foot = np.array([[ACROSS_PX, 0, 35.3], [0, -ALONG_PX, 40.2]])
    face = foot * SHRINKS - [[0, 0, 1.6], [0, 0, UP_PX]]
    none = np.zeros((1, 1), np.intp)
    prisms = Prisms(
        np.array([[foot, face]]),
        ring[None],
        ring[None],
        none,
        none,
        none + 1,
        none + 1,
        np.ones(1, np.intp),
        np.zeros((1, 8, 2)),
        np.zeros(1, np.bool_),
        np.zeros(SIZE, np.int16),
        np.zeros((0, 2), np.intp),
        1,
    )
    spans, seen = make_spans((0, 0), SIZE, PER_PIECE), np.zeros(SIZE, np.int16)
    span_stack(spans, prisms, (0, 1, 0), np.zeros((1, 3)))
    spans.many[0] = 1  # without the upper face, which is nearer
    paint(seen, spans)
    both = np.vstack([ring @ level[:, :2].T + level[:, 2] for level in (foot, face)])
    outline = cv2.convexHull(both.astype(np.float32))
    inside = [[cv2.pointPolygonTest(outline, (x, y), True) for x in range(SIZE[1])] for y in range(SIZE[0])]
    far_from_edge = np.abs(inside) > 0.01
    np.testing.assert_array_equal((seen > 0)[far_from_edge], (np.array(inside) > 0)[far_from_edge])


def test_rims_are_bevelled():
    """The visible extent of each rim facing the camera, at 60° elevation and 2 px/mm."""
    kit, px_per_mm, elevation = load_kit("domination"), 2.0, np.radians(60)
    down, up = np.sin(elevation), np.cos(elevation)  # px in the picture per px towards the camera, and upwards
    pose = Registration(np.array([[1.0, 0, 0], [0, -down, -up], [0, up, -down]]), np.array([0, 0, 5000.0]), (), 0.0)
    focal_px = px_per_mm * 5000
    camera = Camera(400, 400, np.array([[focal_px, 0, 200], [0, focal_px, 200], [0, 0, 1]]), np.zeros(5), 0.0)
    prisms = make_prisms(kit, (), (pose, camera), np.zeros((400, 400), np.int16), 1)
    spans, seen = make_spans((0, 0), (400, 400), 2 * PER_PIECE), np.zeros((400, 400), np.int16)
    cell = kit.cells.index("d4")
    span_stack(spans, prisms, (cell, 1, 1), np.zeros((prisms.kinds.shape[1], 3)))
    paint(seen, spans)
    column = seen[:, round(float(prisms.maps[cell, prisms.feet[1, 0], 0, 2]))]
    middle_px = 200 - px_per_mm * down * floors_mm(kit, ())[cell, 1]
    radius_mm, height_mm = kit.pieces[0].width_mm / 2, kit.pieces[0].height_mm

    def edge_px(radius_mm, z_mm):
        return middle_px + px_per_mm * (down * radius_mm - up * z_mm)

    lower, upper = first_surface(1) + 1, first_surface(1) + 1 + PER_PIECE
    shown = [np.flatnonzero(column == surface).max() for surface in (upper - 1, upper, lower)]
    wanted = [
        edge_px(radius_mm - BEVEL_MM / 2, 2 * height_mm - BEVEL_MM / 2),
        edge_px(radius_mm, height_mm + BEVEL_MM),
        edge_px(radius_mm, -CONTACT_MM),
    ]
    np.testing.assert_allclose(shown, wanted, atol=1.0)
