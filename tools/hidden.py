"""Computes how much of every square the camera sees, for simulated tables."""

from __future__ import annotations

import cv2
import numpy as np

from companion.simulate.sprite import Scene, standing_solids
from companion.simulate.standing import Setup
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, fill
from vision.scene.solids import Solid, cell_corners, column, faces_towards, hull
from vision.scene.terrain import far_first, fixed

HIDDEN = 0.1
"""A square of which less than this share is seen cannot be asked for."""

MIDDLE = 0.55
"""Width of the middle part of an empty square's floor, as a fraction of the square's."""


def seen_shares(scene: Scene, setup: Setup) -> list[float]:
    """For each cell the fraction (0…1) of its top piece's upper face that is visible to the camera.

    For a pyramid the lateral faces turned to the camera count, for an empty cell the middle of its floor.
    """
    size = (scene.camera.height_px, scene.camera.width_px)
    canvas = np.zeros(size, np.uint16)
    faces: dict[int, list[Points]] = {}
    for rank, cell in enumerate(far_first(scene.kit, scene.pose), start=1):
        bodies, faces[rank] = _stands(scene, setup, int(cell))
        for body in bodies:
            fill(canvas, fixed(hull(scene.project(body.points))), 0, rank)
    ranks = canvas >> RANK_BITS
    shares = [0.0] * len(faces)
    for rank, cell in enumerate(far_first(scene.kit, scene.pose), start=1):
        shown = np.zeros(size, np.uint8)
        for face in faces[rank]:
            cv2.fillConvexPoly(shown, np.rint(scene.project(face)).astype(np.int32), 1)
        shares[cell] = float((ranks[shown > 0] <= rank).mean())
    return shares


def _stands(scene: Scene, setup: Setup, cell: int) -> tuple[list[Solid], list[Points]]:
    """What stands on a cell, including its column, and the corners (k, 3) mm of each face that should be seen."""
    kit, name, pile = scene.kit, scene.kit.cells[cell], setup.piles[cell]
    level = None if setup.levels is None else setup.levels[cell]
    base = column(kit, name, level)
    bodies = [] if base is None else [base]
    bodies += standing_solids(kit, name, pile, level)
    if not pile:
        floor = cell_corners(kit, name, level)
        return bodies, [floor.mean(axis=0) + MIDDLE * (floor - floor.mean(axis=0))]
    top = bodies[-1]
    if kit.piece(pile[-1].letter).shape != "pyramid":
        return bodies, [top.points[list(top.top)]]
    facing = np.flatnonzero(faces_towards(top, scene.pose.centre_mm) & ~top.is_top)
    return bodies, [top.points[list(top.faces[face])] for face in facing]
