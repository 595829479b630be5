"""Computes the fraction of every square that is visible to the camera, for simulated tables."""

from __future__ import annotations

import cv2
import numpy as np

from companion.simulate.placement import Setup
from companion.simulate.sprite import Scene, standing_solids
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, fill
from vision.scene.solids import Solid, cell_corners, column, faces_towards, hull
from vision.scene.terrain import far_first, to_fixed_point

MIN_VISIBLE = 0.1
"""Squares of which a smaller fraction is visible are not scored."""

MIDDLE = 0.55
"""Side of the middle part of an empty square's floor, as a fraction of the square's side."""


def visible_fractions(scene: Scene, setup: Setup) -> list[float]:
    """For each cell the fraction (0…1) of its top piece's upper face that is visible to the camera.

    For a pyramid, its lateral faces turned towards the camera are used; for an empty cell, the middle of its floor.
    """
    shape = (scene.camera.height_px, scene.camera.width_px)
    canvas = np.zeros(shape, np.uint16)
    faces: dict[int, list[Points]] = {}
    for rank, cell in enumerate(far_first(scene.kit, scene.pose), start=1):
        solids, faces[rank] = _solids_on(scene, setup, int(cell))
        for solid in solids:
            fill(canvas, to_fixed_point(hull(scene.project(solid.points))), 0, rank)
    front_rank = canvas >> RANK_BITS
    fractions = [0.0] * len(faces)
    for rank, cell in enumerate(far_first(scene.kit, scene.pose), start=1):
        mask = np.zeros(shape, np.uint8)
        for face in faces[rank]:
            cv2.fillConvexPoly(mask, np.rint(scene.project(face)).astype(np.int32), 1)
        fractions[cell] = float((front_rank[mask > 0] <= rank).mean())
    return fractions


def _solids_on(scene: Scene, setup: Setup, cell: int) -> tuple[list[Solid], list[Points]]:
    """The solids on a cell, including its column, and the corners (k, 3) mm of each face whose visibility counts."""
    kit, name, pile = scene.kit, scene.kit.cells[cell], setup.piles[cell]
    level = None if setup.levels is None else setup.levels[cell]
    base = column(kit, name, level)
    solids = [] if base is None else [base]
    solids += standing_solids(kit, name, pile, level)
    if not pile:
        floor = cell_corners(kit, name, level)
        return solids, [floor.mean(axis=0) + MIDDLE * (floor - floor.mean(axis=0))]
    top = solids[-1]
    if kit.piece(pile[-1].letter).shape != "pyramid":
        return solids, [top.points[list(top.top)]]
    facing = np.flatnonzero(faces_towards(top, scene.pose.centre_mm) & ~top.is_top)
    return solids, [top.points[list(top.faces[face])] for face in facing]
