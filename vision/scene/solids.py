"""Solids of a kit in mm (discs, cubes, pyramids, pillars, terrain) and their outlines in a picture.

Every solid is convex, so that the hull of its projected corners is its exact outline.  Configurations, the overlay of a
hypothesis on a picture and the simulated table share these solids, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from calibration.heights import base_heights_mm, floor_mm
from calibration.kit import Kit, PieceKind
from vision.compiled import compiled

Points = npt.NDArray[np.float64]

DISC_SIDES = 36
"""Sides of the polygon inscribed in a disc's circle; at 30 px radius it stays within 0.12 px of it."""

OUTLINE_SIDES = 28
"""Sides of the polygon that approximates a disc's cross-section in scoring, which costs time for each side."""

_SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])

CHAMFER_SHARE = 0.13
"""Width of a disc's bevelled edge as a share of its height.  Chosen by eye."""

TIP_MM = 1.6
"""Width of a pyramid's lateral faces at the height of its blunt tip.  Bevels leave a visible tip of 0.9 to 1.3 mm in
seven sets (:mod:`vision.sizing.tips`)."""

CUBE_BEVEL_MM = 0.5
"""Width of a cube's bevelled edge, the same for wooden blocks of all sizes.  Chosen by eye."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex body.

    Attributes:
        points: (n, 3) float64 mm, its corners.
        faces: corner numbers of each face, in order round the face; lower parts of the body come first.
        normals: (m, 3) float64, outward unit normal of each face.
        middles: (m, 3) float64 mm, a point on each face.
        top: corner numbers of the upper face, for a pyramid its blunt tip.
    """

    points: Points
    faces: tuple[tuple[int, ...], ...]
    normals: Points
    middles: Points
    top: tuple[int, ...]

    @property
    def is_top(self) -> npt.NDArray[np.bool_]:
        """(m,) bool, which face is the upper one."""
        return np.array([face == self.top for face in self.faces])


def disc(diameter_mm: float, height_mm: float) -> Solid:
    """A draughtsman with bevelled edges, standing on the origin."""
    bevel = CHAMFER_SHARE * height_mm
    radius = diameter_mm / 2
    rings = ((radius - bevel, 0.0), (radius, bevel), (radius, height_mm - bevel), (radius - bevel, height_mm))
    return _stacked_rings([circle(r, z) for r, z in rings])


@lru_cache(maxsize=128)
def block(width_mm: float, depth_mm: float, height_mm: float) -> Solid:
    """A box with a bevelled upper edge, its base centred on the origin: a cube, a pillar, a square of terrain."""
    bevel = min(CUBE_BEVEL_MM, height_mm / 2)
    x, y = width_mm / 2, depth_mm / 2
    rings = ((x, y, 0.0), (x, y, height_mm - bevel), (x - bevel, y - bevel, height_mm))
    return _stacked_rings([_rectangle(*ring) for ring in rings])


def pyramid(base_mm: float, height_mm: float) -> Solid:
    """A square pyramid with a blunt tip, its base centred on the origin."""
    return _stacked_rings([square(base_mm, 0.0), square(TIP_MM, height_mm)])


def circle(radius_mm: float, z_mm: float) -> Points:
    """(DISC_SIDES, 3) float64 mm, a horizontal circle round the z axis, anticlockwise seen from above."""
    angle = np.linspace(0, 2 * np.pi, DISC_SIDES, endpoint=False)
    return np.stack([radius_mm * np.cos(angle), radius_mm * np.sin(angle), np.full(DISC_SIDES, z_mm)], axis=1)


def square(side_mm: float, z_mm: float) -> Points:
    """(4, 3) float64 mm, a horizontal square round the z axis, anticlockwise seen from above."""
    return np.column_stack([_SQUARE * side_mm, np.full(4, z_mm)])


def cross_section(kind: PieceKind, z_mm: float) -> Points:
    """(p, 3) float64 mm, the outline of a piece where it is widest, at ``z_mm``, in order round it.

    That of a disc is a polygon as far outside the circle at its corners as inside at its edges: 0.1 mm at 30 mm across.
    """
    if kind.shape != "disc":
        return square(kind.width_mm, z_mm)
    angle = np.arange(OUTLINE_SIDES) * (2 * np.pi / OUTLINE_SIDES)
    unit = np.column_stack([np.cos(angle), np.sin(angle)]) / np.sqrt(np.cos(np.pi / OUTLINE_SIDES))
    return np.column_stack([unit * (kind.width_mm / 2), np.full(OUTLINE_SIDES, z_mm)])


@lru_cache(maxsize=128)
def piece(kind: PieceKind) -> Solid:
    """A piece of this kind, standing on the origin."""
    if kind.shape == "disc":
        return disc(kind.width_mm, kind.height_mm)
    if kind.shape == "cube":
        return block(kind.width_mm, kind.width_mm, kind.height_mm)
    return pyramid(kind.width_mm, kind.height_mm)


def place_solid(solid: Solid, by_mm: Points, turn_deg: float = 0.0) -> Solid:
    """``solid`` turned about the z axis (anticlockwise from above), then shifted by (3,) mm."""
    turn = np.radians(turn_deg)
    rotation = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    points, middles = solid.points @ rotation.T + by_mm, solid.middles @ rotation.T + by_mm
    return Solid(points, solid.faces, solid.normals @ rotation.T, middles, solid.top)


def highest_floors_mm(kit: Kit, levels: Sequence[int] = ()) -> Points:
    """(n,) largest height above the mat of each cell's floor: pillars may rise, terrain is at its ``levels``.

    ``levels`` are in the order of the kit's cells; empty: a flat board, or pillars.
    """
    if kit.pillars is not None:
        return np.full(len(kit.cells), floor_mm(kit, kit.pillars.highest))
    return np.array([floor_mm(kit, level) for level in levels or (0,) * len(kit.cells)])


def column(kit: Kit, cell: str, level: int | None) -> Solid | None:
    """The pillar or terrain of a cell; None where the pieces stand on the mat."""
    height = floor_mm(kit, level)
    if height <= 0:
        return None
    sides = kit.board.pitch_mm if kit.pillars is None else (kit.pillars.side_mm,) * 2
    return place_solid(block(*sides, height), np.array([*kit.centre_mm(cell), 0.0]))


def pieces(kit: Kit, cell: str, stack: str, level: int | None = None) -> tuple[Solid, ...]:
    """The pieces of a stack, bottom first, as if each lay exactly at the centre of its cell."""
    x, y = kit.centre_mm(cell)
    floor = floor_mm(kit, level)
    return tuple(
        place_solid(piece(kit.piece(letter)), np.array([x, y, floor + rise]))
        for letter, rise in zip(stack, base_heights_mm(kit, stack), strict=True)
    )


def cell_corners(kit: Kit, cell: str, level: int | None = None) -> Points:
    """(4, 3) mm, the corners of a cell's floor."""
    u, v = kit.board.pitch_mm[0] / 2, kit.board.pitch_mm[1] / 2
    corners: Points = _rectangle(u, v, floor_mm(kit, level)) + np.array([*kit.centre_mm(cell), 0.0])
    return corners


def hull(points_px: Points) -> Points:
    """(k, 2) px, the convex hull of points (n, 2), accurate to 1/1000 px."""
    corners = cv2.convexHull(points_px.astype(np.float32), returnPoints=False).ravel()
    outline: Points = points_px[corners]
    return outline


@compiled
def are_inside(points_px: Points, hull_px: Points) -> npt.NDArray[np.bool_]:
    """(n,) bool, which points (n, 2) are inside a convex polygon (k, 2)."""
    inside = np.empty(len(points_px), np.bool_)
    for i in range(len(points_px)):
        left, right = 0, 0
        for k in range(len(hull_px)):
            x, y = hull_px[k - 1]
            side = (hull_px[k, 0] - x) * (points_px[i, 1] - y) - (hull_px[k, 1] - y) * (points_px[i, 0] - x)
            left, right = left + int(side < 0), right + int(side > 0)
        inside[i] = max(left, right) == len(hull_px)
    return inside


def faces_towards(solid: Solid, eye_mm: Points) -> npt.NDArray[np.bool_]:
    """(m,) bool, which faces can be seen from ``eye_mm`` (3,)."""
    seen: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", solid.normals, eye_mm - solid.middles) > 0
    return seen


def _rectangle(x: float, y: float, z: float) -> Points:
    return np.array([[-x, -y, z], [x, -y, z], [x, y, z], [-x, y, z]])


def _stacked_rings(rings: list[Points]) -> Solid:
    """The body between rings of k corners each (k, 3), lowest first, closed above and open below."""
    k, count = len(rings[0]), len(rings)
    faces: list[tuple[int, ...]] = []
    for low in range(0, (count - 1) * k, k):
        faces.extend((low + i, low + (i + 1) % k, low + k + (i + 1) % k, low + k + i) for i in range(k))
    top = tuple(range((count - 1) * k, count * k))
    return _solid(np.vstack(rings), [*faces, top], top)


def _solid(points: Points, faces: list[tuple[int, ...]], top: tuple[int, ...]) -> Solid:
    normals, middles = [], []
    for face in faces:
        a, b, c = points[[face[0], face[1], face[-1]]]
        normal = np.cross(b - a, c - a)
        normals.append(normal / np.linalg.norm(normal))
        middles.append(points[list(face)].mean(axis=0))
    return Solid(points, tuple(faces), np.array(normals), np.array(middles), top)
