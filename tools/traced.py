"""Photographs of boards by path tracing: soft shadows, light that walls and paper throw back, lamps seen in lacquer.

Slower by far than the program's own pictures, and what those leave out: how dark it is between pillars, and beside a
single lamp.  Kajiya, The rendering equation, 1986; lamps are sampled directly.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import cv2
import numba
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, PieceKind
from companion.simulate.ground import MAT_PX_PER_MM, WOOD_MM, sheet, wood
from companion.simulate.light import Light, beside, to_linear, to_srgb
from companion.simulate.render import BLUR_PX, Picture
from companion.simulate.sprite import RING_SHADE, Scene, column_colours, marks_mm, standing_solids, upright
from companion.simulate.standing import Setup
from vision.pose.projection import Registration
from vision.scene.solids import Solid, column

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

SAMPLES = 20
"""Paths a pixel."""

BOUNCES = 4
LAMP_MM = (700.0, 1500.0)
LAMP_SIDE_MM = (60.0, 900.0)
"""How far lamps are away, and how wide they are: from a bulb to a window."""

FRESNEL = 0.04
"""Share that lacquer mirrors where it is looked at squarely (Schlick, 1994)."""

ROUGH = 0.08
"""Spread of what it mirrors."""

DIM_SHARE, DIM = 0.5, 0.15
"""Share of pictures that are taken beside a single lamp, and what is left of the room's other light in them."""

BRIGHTEST = (0.35, 0.6)
"""Linear light of the brightest twentieth of a picture."""

BURNT = 4.0
"""A path that is brighter counts as this bright: there are few of them."""

NEAR = 1e-3
"""Millimetres between a surface and where light leaves it."""

LEVEL = 0.999
"""Upward part of a face's normal from which on it is the upper face."""

PAINT_PX = 256
"""Side of the picture of a disc's upper face: an eighth of a millimetre each."""

GROUND, NOTHING = -2, -1


class Bodies(NamedTuple):
    """Convex bodies (s), by the planes (p) of their faces.

    Attributes:
        planes: (p, 4) outward unit normal, and distance from the origin in mm.
        colours: (p, 3) linear.
        first: (s + 1,) where each body's planes begin.
        spheres: (s, 4) mm, middle and square of the radius of a ball round each.
        is_glossy: (s,) whether it is lacquered.
        painted: (s,) which of ``paint`` is on its upper face, or NOTHING.
        upright: (s, 2, 4) row and column of that paint by where it is in mm: three factors and what to add.
        paint: (k, PAINT_PX, PAINT_PX, 3) by what to multiply the colour of the face.
    """

    planes: Array
    colours: Array
    first: npt.NDArray[np.intp]
    spheres: Array
    is_glossy: npt.NDArray[np.bool_]
    painted: npt.NDArray[np.intp]
    upright: Array
    paint: npt.NDArray[np.float32]


class Room(NamedTuple):
    """What gives light, and the table.

    Attributes:
        lamp: (4, 3) corner, two edges in mm, and radiance of a rectangle that shines to both sides.
        glow: (3,) radiance of all else, seen upwards.
        mat: (height, width, 3) linear, the printed sheet.
        table: (WOOD_MM, WOOD_MM, 3) linear.
        half_mm: (2,) of the mat's width and height.
    """

    lamp: Array
    glow: Array
    mat: npt.NDArray[np.float32]
    table: npt.NDArray[np.float32]
    half_mm: Array


def photograph(scene: Scene, setup: Setup, seed: int) -> Picture:
    """(height, width, 3) uint8 BGR of what stands on the board."""
    kit, camera, pose, light = scene.kit, scene.camera, scene.pose, scene.light
    rng = random.Random(f"{seed} {list(setup.stacks)}")
    draws = np.random.default_rng(seed).integers(1, 1 << 63, camera.height_px, np.uint64)
    linear = _render(_bodies(kit, setup), _room(kit, light, rng), pose.centre_mm, _rays(camera, pose), draws)
    linear *= rng.uniform(*BRIGHTEST) / np.percentile(linear.mean(axis=2), 95)
    soft = cv2.GaussianBlur(to_srgb(linear), (0, 0), BLUR_PX)
    noise = np.random.default_rng(seed).normal(0, light.noise, soft.shape)
    return np.ascontiguousarray(np.clip(soft + noise, 0, 255).astype(np.uint8)[..., ::-1])


def _bodies(kit: Kit, setup: Setup) -> Bodies:
    solids: list[tuple[Solid, Array, PieceKind | None]] = []
    for i, (cell, pile) in enumerate(zip(kit.cells, setup.piles, strict=True)):
        level = None if setup.levels is None else setup.levels[i]
        base = column(kit, cell, level)
        if base is not None:
            side, top = (to_linear(colour) for colour in column_colours(kit))
            solids.append((base, np.vstack([np.where(base.is_top[:, None], top, side), side]), None))
        for standing, solid in zip(pile, standing_solids(kit, cell, pile, level), strict=True):
            kind = kit.piece(standing.letter)
            colour = to_linear(kind.colour) * (1 + standing.tint)
            solids.append((solid, np.tile(colour, (len(solid.faces) + 1, 1)), kind))
    planes = [planes_of(solid) for solid, _, _ in solids]
    middles = np.array([solid.points.mean(axis=0) for solid, _, _ in solids])
    reach = [((s.points - middle) ** 2).sum(axis=1).max() for (s, _, _), middle in zip(solids, middles, strict=True)]
    discs = [kind for kind in kit.pieces if kind.shape == "disc"]
    return Bodies(
        np.vstack(planes),
        np.vstack([colours for _, colours, _ in solids]),
        np.cumsum([0, *map(len, planes)]),
        np.column_stack([middles, reach]),
        np.array([kind is not None for _, _, kind in solids]),
        np.array([discs.index(kind) if kind in discs else NOTHING for _, _, kind in solids]),
        np.array([onto_paint(solid, kind) if kind in discs else np.zeros((2, 4)) for solid, _, kind in solids]),
        np.array([paint_of(kind) for kind in discs], np.float32).reshape(-1, PAINT_PX, PAINT_PX, 3),
    )


def planes_of(solid: Solid) -> Array:
    """(faces + 1, 4) those of a body's faces, and of its base: solids have none, but towers of pyramids show it."""
    sides = np.column_stack([solid.normals, (solid.normals * solid.middles).sum(axis=1)])
    return np.vstack([sides, [0, 0, -1, -solid.points[:, 2].min()]])


def onto_paint(solid: Solid, kind: PieceKind) -> Array:
    """(2, 4) that give row and column of what is painted on a disc by where it is."""
    centre, axes = upright(solid)
    factors = axes[::-1] * [[-1], [1]] * (PAINT_PX / kind.width_mm)
    return np.column_stack([factors, PAINT_PX / 2 - factors @ centre])


def paint_of(kind: PieceKind) -> npt.NDArray[np.float32]:
    """(PAINT_PX, PAINT_PX, 3) by what a disc's grooves and its character multiply the colour of its upper face."""
    ink = kind.glyph_colour if kind.glyph else np.array(kind.colour) * RING_SHADE
    ratio = beside(ink, kind.colour).astype(np.float32)
    share = np.zeros((PAINT_PX, PAINT_PX), np.float32)
    for polygon, is_ink in marks_mm(kind):
        px = PAINT_PX / 2 + polygon * [1, -1] * (PAINT_PX / kind.width_mm)
        cv2.fillConvexPoly(share, np.rint(px - 0.5).astype(np.int32), float(is_ink))
    drawn: npt.NDArray[np.float32] = 1 + share[..., None] * (ratio - 1)
    return drawn


def _room(kit: Kit, light: Light, rng: random.Random) -> Room:
    """A lamp where ``light`` comes from, as bright on the mat; the room's light from all round."""
    away_mm, side_mm = rng.uniform(*LAMP_MM), rng.uniform(*LAMP_SIDE_MM)
    right = np.cross(light.towards, [0.0, 0.0, 1.0])
    edges = side_mm * np.array([right / np.linalg.norm(right), np.cross(light.towards, right)])
    edges[1] *= side_mm / np.linalg.norm(edges[1])
    radiance = np.array(light.colour) * np.pi * (away_mm / side_mm) ** 2
    lamp = np.array([away_mm * light.towards - edges.sum(axis=0) / 2, *edges, radiance])
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    print_, table = (to_linear(drawn).astype(np.float32) for drawn in (sheet(kit), wood()))
    glow = np.array(light.room) * (DIM if rng.random() < DIM_SHARE else 1)
    return Room(lamp, glow, print_, table, half_mm)


def _rays(camera: Camera, pose: Registration) -> Array:
    """(height + 1, width + 1, 3) world directions through the corners of all pixels."""
    height, width = camera.height_px, camera.width_px
    u, v = np.meshgrid(np.arange(width + 1) - 0.5, np.arange(height + 1) - 0.5)
    seen = cv2.undistortPoints(np.stack([u.ravel(), v.ravel()], 1)[:, None], camera.matrix, camera.distortion)
    rays: Array = np.column_stack([seen.reshape(-1, 2), np.ones(u.size)]) @ pose.rotation
    return rays.reshape(height + 1, width + 1, 3)


@numba.njit(parallel=True, cache=True)
def _render(bodies: Bodies, room: Room, eye: Array, rays: Array, draws: npt.NDArray[np.uint64]) -> Array:
    """(height, width, 3) linear light; ``draws`` (height,) are what each row's chance begins with."""
    height, width = rays.shape[0] - 1, rays.shape[1] - 1
    light = np.zeros((height, width, 3))
    for row in numba.prange(height):
        chance = draws[row : row + 1].copy()
        for pixel in range(width):
            for _ in range(SAMPLES):
                u, v = drawn(chance), drawn(chance)
                corners = rays[row, pixel], rays[row, pixel + 1], rays[row + 1, pixel], rays[row + 1, pixel + 1]
                towards = unit(_between(corners, 0, u, v), _between(corners, 1, u, v), _between(corners, 2, u, v))
                sent = _path(bodies, room, (eye[0], eye[1], eye[2]), towards, chance)
                for channel in range(3):
                    light[row, pixel, channel] += min(sent[channel], BURNT) / SAMPLES
    return light


@numba.njit(cache=True)
def _path(bodies: Bodies, room: Room, at: Vector, towards: Vector, chance: npt.NDArray[np.uint64]) -> Vector:
    """Light that comes along one path."""
    light, share = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    for bounce in range(BOUNCES):
        reach, plane, body = _hit(bodies, at, towards, np.inf)
        if plane == NOTHING:
            return _add(light, share, _glow(room, towards))
        at = moved(at, towards, reach)
        normal, colour = (0.0, 0.0, 1.0), _printed(room, at)
        if plane >= 0:
            normal = (bodies.planes[plane, 0], bodies.planes[plane, 1], bodies.planes[plane, 2])
            colour = (bodies.colours[plane, 0], bodies.colours[plane, 1], bodies.colours[plane, 2])
            if bodies.painted[body] != NOTHING and normal[2] > LEVEL:
                colour = _painted(bodies, body, at, colour)
        at = moved(at, normal, NEAR)
        if bounce == 0 and plane >= 0 and bodies.is_glossy[body]:
            steep = dot(towards, normal)
            mirrored = FRESNEL + (1 - FRESNEL) * (1 - min(abs(steep), 1.0)) ** 5
            there = _mirrored(bodies, room, at, moved(towards, normal, -2 * steep), chance)
            light = _add(light, (mirrored, mirrored, mirrored), there)
            share = (1 - mirrored, 1 - mirrored, 1 - mirrored)
        share = (share[0] * colour[0], share[1] * colour[1], share[2] * colour[2])
        light = _add(light, share, _lamp(bodies, room, at, normal, chance))
        towards = scattered(normal, chance)
    return light


@numba.njit(cache=True)
def _hit(bodies: Bodies, at: Vector, towards: Vector, most: float) -> tuple[float, int, int]:
    """How far a ray goes, nearer than ``most``, the plane that it meets (or GROUND, NOTHING), and the body."""
    nearest, found, owner = most, NOTHING, NOTHING
    if towards[2] < 0 and -at[2] / towards[2] < nearest:
        nearest, found = -at[2] / towards[2], GROUND
    for body in range(len(bodies.spheres)):
        ball = bodies.spheres[body]
        apart = (ball[0] - at[0], ball[1] - at[1], ball[2] - at[2])
        along, apart2 = dot(apart, towards), dot(apart, apart)
        if apart2 - along * along < ball[3] and (along > 0 or apart2 < ball[3]):
            reach, plane = _entered(bodies, body, at, towards)
            if NEAR / 10 < reach < nearest:
                nearest, found, owner = reach, plane, body
    return nearest, found, owner


@numba.njit(cache=True)
def _entered(bodies: Bodies, body: int, at: Vector, towards: Vector) -> tuple[float, int]:
    """How far it is into a body, and through which plane; inf where a ray misses it."""
    enters, leaves, entered = -np.inf, np.inf, NOTHING
    for number in range(bodies.first[body], bodies.first[body + 1]):
        plane = bodies.planes[number]
        speed = plane[0] * towards[0] + plane[1] * towards[1] + plane[2] * towards[2]
        left = plane[3] - (plane[0] * at[0] + plane[1] * at[1] + plane[2] * at[2])
        if speed < 0 and left / speed > enters:
            enters, entered = left / speed, number
        elif speed > 0:
            leaves = min(leaves, left / speed)
        elif speed == 0 and left < 0:
            return np.inf, NOTHING
        if enters > leaves:
            return np.inf, NOTHING
    return enters, entered


@numba.njit(cache=True)
def _lamp(bodies: Bodies, room: Room, at: Vector, normal: Vector, chance: npt.NDArray[np.uint64]) -> Vector:
    """What a white surface there sends of the lamp's light, by one place on it."""
    u, v = drawn(chance), drawn(chance)
    corner, one, other, radiance = room.lamp
    x, y, z = corner + u * one + v * other
    apart = (x - at[0], y - at[1], z - at[2])
    away = np.sqrt(dot(apart, apart))
    slope = dot(apart, normal) / away
    if slope <= 0 or _hit(bodies, at, unit(*apart), away - NEAR)[1] != NOTHING:
        return 0.0, 0.0, 0.0
    share = slope * abs(dot(apart, across(one, other))) / (np.pi * away**3)
    return radiance[0] * share, radiance[1] * share, radiance[2] * share


@numba.njit(cache=True)
def _mirrored(bodies: Bodies, room: Room, at: Vector, towards: Vector, chance: npt.NDArray[np.uint64]) -> Vector:
    """Light of the room or the lamp from about this direction; of bodies and table none."""
    towards = unit(*moved(towards, scattered((0.0, 0.0, 0.0), chance), ROUGH))
    if _hit(bodies, at, towards, np.inf)[1] != NOTHING:
        return 0.0, 0.0, 0.0
    corner, one, other, radiance = room.lamp
    normal = across(one, other)
    apart = (corner[0] - at[0], corner[1] - at[1], corner[2] - at[2])
    reach = dot(apart, normal) / dot(towards, normal)
    place = (reach * towards[0] - apart[0], reach * towards[1] - apart[1], reach * towards[2] - apart[2])
    u, v = dot(place, one) / dot(one, one), dot(place, other) / dot(other, other)
    if reach > 0 and 0 < u < 1 and 0 < v < 1:
        return radiance[0], radiance[1], radiance[2]
    return _glow(room, towards)


@numba.njit(cache=True)
def _glow(room: Room, towards: Vector) -> Vector:
    """Light of the room from one direction: walls are darker than the ceiling."""
    share = 0.6 + 0.4 * max(towards[2], 0.0)
    return room.glow[0] * share, room.glow[1] * share, room.glow[2] * share


@numba.njit(cache=True)
def _painted(bodies: Bodies, body: int, at: Vector, face: Vector) -> Vector:
    """Colour of a disc's upper face, of which the colour is ``face``, with what is painted on it."""
    onto = bodies.upright[body]
    row = int(onto[0, 0] * at[0] + onto[0, 1] * at[1] + onto[0, 2] * at[2] + onto[0, 3])
    place = int(onto[1, 0] * at[0] + onto[1, 1] * at[1] + onto[1, 2] * at[2] + onto[1, 3])
    row, place = min(max(row, 0), PAINT_PX - 1), min(max(place, 0), PAINT_PX - 1)
    red, green, blue = bodies.paint[bodies.painted[body], row, place]
    return face[0] * red, face[1] * green, face[2] * blue


@numba.njit(cache=True)
def _printed(room: Room, at: Vector) -> Vector:
    """Colour of mat or table."""
    x, y = at[0], at[1]
    if abs(x) < room.half_mm[0] and abs(y) < room.half_mm[1]:
        row = min(int((room.half_mm[1] - y) * MAT_PX_PER_MM), room.mat.shape[0] - 1)
        red, green, blue = room.mat[row, min(int((x + room.half_mm[0]) * MAT_PX_PER_MM), room.mat.shape[1] - 1)]
    else:
        red, green, blue = room.table[int(abs(y + WOOD_MM / 2)) % WOOD_MM, int(abs(x + WOOD_MM / 2)) % WOOD_MM]
    return float(red), float(green), float(blue)


@numba.njit(cache=True)
def scattered(normal: Vector, chance: npt.NDArray[np.uint64]) -> Vector:
    """A direction off a surface, as likely as the cosine of its slope."""
    height, angle = 2 * drawn(chance) - 1, 2 * np.pi * drawn(chance)
    width = np.sqrt(1 - height * height)
    return unit(normal[0] + width * np.cos(angle), normal[1] + width * np.sin(angle), normal[2] + height)


@numba.njit(cache=True)
def drawn(chance: npt.NDArray[np.uint64]) -> float:
    """A number from 0 to 1 (xorshift64*: Vigna, An experimental exploration of Marsaglia's generators, 2016)."""
    state = chance[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    chance[0] = state
    return float((state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / (1 << 53)


@numba.njit(cache=True)
def _between(corners: tuple[Array, Array, Array, Array], axis: int, u: float, v: float) -> float:
    upper = corners[0][axis] * (1 - u) + corners[1][axis] * u
    return upper * (1 - v) + (corners[2][axis] * (1 - u) + corners[3][axis] * u) * v


@numba.njit(cache=True)
def _add(light: Vector, share: Vector, more: Vector) -> Vector:
    return light[0] + share[0] * more[0], light[1] + share[1] * more[1], light[2] + share[2] * more[2]


@numba.njit(cache=True)
def moved(at: Vector, towards: Vector, reach: float) -> Vector:
    """``at`` moved ``towards`` by ``reach`` times its length."""
    return at[0] + reach * towards[0], at[1] + reach * towards[1], at[2] + reach * towards[2]


@numba.njit(cache=True)
def dot(one: Vector, other: Vector) -> float:
    """Scalar product."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@numba.njit(cache=True)
def across(one: Vector, other: Vector) -> Vector:
    """Vector product."""
    x, y = one[1] * other[2] - one[2] * other[1], one[2] * other[0] - one[0] * other[2]
    return x, y, one[0] * other[1] - one[1] * other[0]


@numba.njit(cache=True)
def unit(x: float, y: float, z: float) -> Vector:
    """A vector of length 1 in this direction."""
    length = np.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length
