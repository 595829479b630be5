"""Renders photographs of boards by path tracing: soft shadows, indirect light, reflections of lamps in lacquer.

Much slower than the program's own renderer, but with effects that it lacks, such as darkness between pillars and in
rooms with a single lamp.  Kajiya, The rendering equation, 1986; lamps are sampled directly (next event estimation).
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
from companion.simulate.light import Light, light_ratio, to_linear, to_srgb
from companion.simulate.placement import Setup
from companion.simulate.render import BLUR_PX, Picture
from companion.simulate.sprite import RING_SHADE, Scene, column_colours, marks_mm, standing_solids, upright
from vision.pose.projection import Registration
from vision.scene.solids import Solid, column

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

SAMPLES_PER_PX = 20
"""Paths per pixel."""

MAX_BOUNCES = 4
"""Surfaces that a path meets at most."""

LAMP_DISTANCE_MM, LAMP_SIDE_MM = (700.0, 1500.0), (60.0, 900.0)
"""Ranges of the distance and the side of lamps: from a bulb to a window."""

FRESNEL = 0.04
"""Reflectance of lacquer at normal incidence (Schlick, 1994)."""

ROUGHNESS = 0.08
"""Spread of lacquer's reflection: weight of a random unit vector added to the mirror direction."""

DIM_SHARE, DIM_AMBIENT = 0.5, 0.15
"""Fraction of pictures lit almost only by the lamp, and the factor of ambient light in them."""

HIGHLIGHT_LEVEL = (0.35, 0.6)
"""Range of the exposure: linear value of the picture's 95th percentile."""

MAX_RADIANCE = 4.0
"""Radiance at which a path is clipped, to avoid isolated bright pixels."""

SURFACE_OFFSET_MM = 1e-3
"""Offset of secondary rays from their surface, against self-intersection."""

UPWARD = 0.999
"""Minimum z component of the unit normal of an upper face."""

TEXTURE_PX = 256
"""Side of the texture of a disc's upper face."""

GROUND, NOTHING = -2, -1
"""Special indices: a ray hits the ground, or nothing; NOTHING also means no texture."""


class Bodies(NamedTuple):
    """Convex bodies (s), each the intersection of the half-spaces of its planes (p in all).

    Attributes:
        planes: (p, 4) outward unit normal, and distance from the origin in mm.
        colours: (p, 3) linear.
        first_plane: (s + 1,) index of each body's first plane.
        spheres: (s, 4) bounding spheres: centre x, y, z in mm, squared radius in mm².
        is_glossy: (s,) whether the body is lacquered.
        texture_index: (s,) index into ``textures`` for the upper face, or NOTHING.
        texture_transform: (s, 2, 4) affine map from a point in mm to row and column of the texture.
        textures: (k, TEXTURE_PX, TEXTURE_PX, 3) factors of the face's colour.
    """

    planes: Array
    colours: Array
    first_plane: npt.NDArray[np.intp]
    spheres: Array
    is_glossy: npt.NDArray[np.bool_]
    texture_index: npt.NDArray[np.intp]
    texture_transform: Array
    textures: npt.NDArray[np.float32]


class Room(NamedTuple):
    """The light sources and the ground.

    Attributes:
        lamp: (4, 3) corner and two edges in mm, and radiance, of a rectangle that emits to both sides.
        ambient: (3,) ambient radiance from straight above.
        mat: (height, width, 3) linear colours of the printed sheet.
        table: (WOOD_MM, WOOD_MM, 3) linear colours of the table around it.
        half_mm: (2,) half the mat's width and height.
    """

    lamp: Array
    ambient: Array
    mat: npt.NDArray[np.float32]
    table: npt.NDArray[np.float32]
    half_mm: Array


def photograph(scene: Scene, setup: Setup, seed: int) -> Picture:
    """(height, width, 3) uint8 BGR, a rendered photograph of a setup with blur and noise; deterministic by seed."""
    kit, camera, pose, light = scene.kit, scene.camera, scene.pose, scene.light
    rng = random.Random(f"{seed} {list(setup.stacks)}")
    seeds = np.random.default_rng(seed).integers(1, 1 << 63, camera.height_px, np.uint64)
    linear = _render(_bodies(kit, setup), _room(kit, light, rng), pose.centre_mm, _rays(camera, pose), seeds)
    linear *= rng.uniform(*HIGHLIGHT_LEVEL) / np.percentile(linear.mean(axis=2), 95)
    blurred = cv2.GaussianBlur(to_srgb(linear), (0, 0), BLUR_PX)
    noise = np.random.default_rng(seed).normal(0, light.noise, blurred.shape)
    return np.ascontiguousarray(np.clip(blurred + noise, 0, 255).astype(np.uint8)[..., ::-1])


def _bodies(kit: Kit, setup: Setup) -> Bodies:
    """Everything that stands on the board, including pillars and terrain."""
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
    radii2 = [((s.points - middle) ** 2).sum(axis=1).max() for (s, _, _), middle in zip(solids, middles, strict=True)]
    discs = [kind for kind in kit.pieces if kind.shape == "disc"]
    return Bodies(
        np.vstack(planes),
        np.vstack([colours for _, colours, _ in solids]),
        np.cumsum([0, *map(len, planes)]),
        np.column_stack([middles, radii2]),
        np.array([kind is not None for _, _, kind in solids]),
        np.array([discs.index(kind) if kind in discs else NOTHING for _, _, kind in solids]),
        np.array([texture_transform(solid, kind) if kind in discs else np.zeros((2, 4)) for solid, _, kind in solids]),
        np.array([texture_of(kind) for kind in discs], np.float32).reshape(-1, TEXTURE_PX, TEXTURE_PX, 3),
    )


def planes_of(solid: Solid) -> Array:
    """(faces + 1, 4) normal and distance of each face and of the base, which solids lack but towers show."""
    sides = np.column_stack([solid.normals, (solid.normals * solid.middles).sum(axis=1)])
    return np.vstack([sides, [0, 0, -1, -solid.points[:, 2].min()]])


def texture_transform(solid: Solid, kind: PieceKind) -> Array:
    """(2, 4) affine map from a point (3,) in mm to row and column of the texture of a disc's upper face."""
    centre, axes = upright(solid)
    factors = axes[::-1] * [[-1], [1]] * (TEXTURE_PX / kind.width_mm)
    return np.column_stack([factors, TEXTURE_PX / 2 - factors @ centre])


def texture_of(kind: PieceKind) -> npt.NDArray[np.float32]:
    """(TEXTURE_PX, TEXTURE_PX, 3) factors of the colour of a disc's upper face, for its grooves and its character."""
    ink = kind.glyph_colour if kind.glyph else np.array(kind.colour) * RING_SHADE
    ratio = light_ratio(ink, kind.colour).astype(np.float32)
    share = np.zeros((TEXTURE_PX, TEXTURE_PX), np.float32)
    for polygon, is_ink in marks_mm(kind):
        px = TEXTURE_PX / 2 + polygon * [1, -1] * (TEXTURE_PX / kind.width_mm)
        cv2.fillConvexPoly(share, np.rint(px - 0.5).astype(np.int32), float(is_ink))
    texture: npt.NDArray[np.float32] = 1 + share[..., None] * (ratio - 1)
    return texture


def _room(kit: Kit, light: Light, rng: random.Random) -> Room:
    """A room with a lamp in the direction of ``light`` that lights the mat as strongly, and its ambient light."""
    distance_mm, side_mm = rng.uniform(*LAMP_DISTANCE_MM), rng.uniform(*LAMP_SIDE_MM)
    right = np.cross(light.towards, [0.0, 0.0, 1.0])
    edges = side_mm * np.array([right / np.linalg.norm(right), np.cross(light.towards, right)])
    edges[1] *= side_mm / np.linalg.norm(edges[1])
    radiance = np.array(light.colour) * np.pi * (distance_mm / side_mm) ** 2
    lamp = np.array([distance_mm * light.towards - edges.sum(axis=0) / 2, *edges, radiance])
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    sheet_colours, table = (to_linear(image).astype(np.float32) for image in (sheet(kit), wood()))
    ambient = np.array(light.room) * (DIM_AMBIENT if rng.random() < DIM_SHARE else 1)
    return Room(lamp, ambient, sheet_colours, table, half_mm)


def _rays(camera: Camera, pose: Registration) -> Array:
    """(height + 1, width + 1, 3) world directions through the corners of all pixels, not normalized."""
    height, width = camera.height_px, camera.width_px
    u, v = np.meshgrid(np.arange(width + 1) - 0.5, np.arange(height + 1) - 0.5)
    undistorted = cv2.undistortPoints(np.stack([u.ravel(), v.ravel()], 1)[:, None], camera.matrix, camera.distortion)
    rays: Array = np.column_stack([undistorted.reshape(-1, 2), np.ones(u.size)]) @ pose.rotation
    return rays.reshape(height + 1, width + 1, 3)


@numba.njit(parallel=True, cache=True)
def _render(bodies: Bodies, room: Room, eye: Array, rays: Array, seeds: npt.NDArray[np.uint64]) -> Array:
    """(height, width, 3) linear light; ``seeds`` (height,) are the initial random states of the rows."""
    height, width = rays.shape[0] - 1, rays.shape[1] - 1
    light = np.zeros((height, width, 3))
    for row in numba.prange(height):
        rng_state = seeds[row : row + 1].copy()
        for pixel in range(width):
            for _ in range(SAMPLES_PER_PX):
                u, v = uniform(rng_state), uniform(rng_state)
                corners = rays[row, pixel], rays[row, pixel + 1], rays[row + 1, pixel], rays[row + 1, pixel + 1]
                direction = unit(_bilerp(corners, 0, u, v), _bilerp(corners, 1, u, v), _bilerp(corners, 2, u, v))
                radiance = _path(bodies, room, (eye[0], eye[1], eye[2]), direction, rng_state)
                for channel in range(3):
                    light[row, pixel, channel] += min(radiance[channel], MAX_RADIANCE) / SAMPLES_PER_PX
    return light


@numba.njit(cache=True)
def _path(bodies: Bodies, room: Room, point: Vector, direction: Vector, rng_state: npt.NDArray[np.uint64]) -> Vector:
    """Radiance r, g, b of one random path that starts at ``point``."""
    light, share = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    for bounce in range(MAX_BOUNCES):
        distance, plane, body = _hit(bodies, point, direction, np.inf)
        if plane == NOTHING:
            return _add_weighted(light, share, _ambient_light(room, direction))
        point = add_scaled(point, direction, distance)
        normal, colour = (0.0, 0.0, 1.0), _ground_colour(room, point)
        if plane >= 0:
            normal = (bodies.planes[plane, 0], bodies.planes[plane, 1], bodies.planes[plane, 2])
            colour = (bodies.colours[plane, 0], bodies.colours[plane, 1], bodies.colours[plane, 2])
            if bodies.texture_index[body] != NOTHING and normal[2] > UPWARD:
                colour = _textured_colour(bodies, body, point, colour)
        point = add_scaled(point, normal, SURFACE_OFFSET_MM)
        if bounce == 0 and plane >= 0 and bodies.is_glossy[body]:
            cosine = dot(direction, normal)
            mirrored = FRESNEL + (1 - FRESNEL) * (1 - min(abs(cosine), 1.0)) ** 5
            incoming = _mirrored(bodies, room, point, add_scaled(direction, normal, -2 * cosine), rng_state)
            light = _add_weighted(light, (mirrored, mirrored, mirrored), incoming)
            share = (1 - mirrored, 1 - mirrored, 1 - mirrored)
        share = (share[0] * colour[0], share[1] * colour[1], share[2] * colour[2])
        light = _add_weighted(light, share, _lamp_light(bodies, room, point, normal, rng_state))
        direction = diffuse_direction(normal, rng_state)
    return light


@numba.njit(cache=True)
def _hit(bodies: Bodies, point: Vector, direction: Vector, max_distance: float) -> tuple[float, int, int]:
    """First hit of a ray within ``max_distance``: distance, index of the plane (or GROUND, NOTHING), and the body."""
    nearest, found, owner = max_distance, NOTHING, NOTHING
    if direction[2] < 0 and -point[2] / direction[2] < nearest:
        nearest, found = -point[2] / direction[2], GROUND
    for body in range(len(bodies.spheres)):
        sphere = bodies.spheres[body]
        offset = (sphere[0] - point[0], sphere[1] - point[1], sphere[2] - point[2])
        projection, distance2 = dot(offset, direction), dot(offset, offset)
        if distance2 - projection * projection < sphere[3] and (projection > 0 or distance2 < sphere[3]):
            distance, plane = _entry(bodies, body, point, direction)
            if SURFACE_OFFSET_MM / 10 < distance < nearest:
                nearest, found, owner = distance, plane, body
    return nearest, found, owner


@numba.njit(cache=True)
def _entry(bodies: Bodies, body: int, point: Vector, direction: Vector) -> tuple[float, int]:
    """Distance at which a ray enters a body, and the plane through which it does; inf if it misses the body."""
    t_enter, t_exit, entry_plane = -np.inf, np.inf, NOTHING
    for number in range(bodies.first_plane[body], bodies.first_plane[body + 1]):
        plane = bodies.planes[number]
        speed = plane[0] * direction[0] + plane[1] * direction[1] + plane[2] * direction[2]
        left = plane[3] - (plane[0] * point[0] + plane[1] * point[1] + plane[2] * point[2])
        if speed < 0 and left / speed > t_enter:
            t_enter, entry_plane = left / speed, number
        elif speed > 0:
            t_exit = min(t_exit, left / speed)
        elif speed == 0 and left < 0:
            return np.inf, NOTHING
        if t_enter > t_exit:
            return np.inf, NOTHING
    return t_enter, entry_plane


@numba.njit(cache=True)
def _lamp_light(bodies: Bodies, room: Room, point: Vector, normal: Vector, rng_state: npt.NDArray[np.uint64]) -> Vector:
    """Lamp light reflected by a white diffuse surface, estimated from one random point of the lamp."""
    u, v = uniform(rng_state), uniform(rng_state)
    corner, one, other, radiance = room.lamp
    x, y, z = corner + u * one + v * other
    offset = (x - point[0], y - point[1], z - point[2])
    distance = np.sqrt(dot(offset, offset))
    cosine = dot(offset, normal) / distance
    if cosine <= 0 or _hit(bodies, point, unit(*offset), distance - SURFACE_OFFSET_MM)[1] != NOTHING:
        return 0.0, 0.0, 0.0
    share = cosine * abs(dot(offset, cross(one, other))) / (np.pi * distance**3)
    return radiance[0] * share, radiance[1] * share, radiance[2] * share


@numba.njit(cache=True)
def _mirrored(
    bodies: Bodies, room: Room, point: Vector, direction: Vector, rng_state: npt.NDArray[np.uint64]
) -> Vector:
    """Radiance of lamp or room from about this direction, for reflections; zero where bodies or the ground are hit."""
    direction = unit(*add_scaled(direction, diffuse_direction((0.0, 0.0, 0.0), rng_state), ROUGHNESS))
    if _hit(bodies, point, direction, np.inf)[1] != NOTHING:
        return 0.0, 0.0, 0.0
    corner, one, other, radiance = room.lamp
    normal = cross(one, other)
    offset = (corner[0] - point[0], corner[1] - point[1], corner[2] - point[2])
    t = dot(offset, normal) / dot(direction, normal)
    in_plane = (t * direction[0] - offset[0], t * direction[1] - offset[1], t * direction[2] - offset[2])
    u, v = dot(in_plane, one) / dot(one, one), dot(in_plane, other) / dot(other, other)
    if t > 0 and 0 < u < 1 and 0 < v < 1:
        return radiance[0], radiance[1], radiance[2]
    return _ambient_light(room, direction)


@numba.njit(cache=True)
def _ambient_light(room: Room, direction: Vector) -> Vector:
    """Ambient radiance from one direction: walls are darker than the ceiling."""
    share = 0.6 + 0.4 * max(direction[2], 0.0)
    return room.ambient[0] * share, room.ambient[1] * share, room.ambient[2] * share


@numba.njit(cache=True)
def _textured_colour(bodies: Bodies, body: int, point: Vector, face: Vector) -> Vector:
    """Colour of a disc's upper face at ``point``: its base colour ``face`` times its texture."""
    transform = bodies.texture_transform[body]
    row = int(transform[0, 0] * point[0] + transform[0, 1] * point[1] + transform[0, 2] * point[2] + transform[0, 3])
    col = int(transform[1, 0] * point[0] + transform[1, 1] * point[1] + transform[1, 2] * point[2] + transform[1, 3])
    row, col = min(max(row, 0), TEXTURE_PX - 1), min(max(col, 0), TEXTURE_PX - 1)
    red, green, blue = bodies.textures[bodies.texture_index[body], row, col]
    return face[0] * red, face[1] * green, face[2] * blue


@numba.njit(cache=True)
def _ground_colour(room: Room, point: Vector) -> Vector:
    """Linear colour of mat or table at a point of the ground."""
    x, y = point[0], point[1]
    if abs(x) < room.half_mm[0] and abs(y) < room.half_mm[1]:
        row = min(int((room.half_mm[1] - y) * MAT_PX_PER_MM), room.mat.shape[0] - 1)
        red, green, blue = room.mat[row, min(int((x + room.half_mm[0]) * MAT_PX_PER_MM), room.mat.shape[1] - 1)]
    else:
        red, green, blue = room.table[int(abs(y + WOOD_MM / 2)) % WOOD_MM, int(abs(x + WOOD_MM / 2)) % WOOD_MM]
    return float(red), float(green), float(blue)


@numba.njit(cache=True)
def diffuse_direction(normal: Vector, rng_state: npt.NDArray[np.uint64]) -> Vector:
    """A random direction with cosine distribution around ``normal``; uniform on the sphere if ``normal`` is zero."""
    height, angle = 2 * uniform(rng_state) - 1, 2 * np.pi * uniform(rng_state)
    width = np.sqrt(1 - height * height)
    return unit(normal[0] + width * np.cos(angle), normal[1] + width * np.sin(angle), normal[2] + height)


@numba.njit(cache=True)
def uniform(rng_state: npt.NDArray[np.uint64]) -> float:
    """A uniform random number in [0, 1); advances the state (1,)."""
    # xorshift64*: Vigna, An experimental exploration of Marsaglia's generators, 2016.
    state = rng_state[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    rng_state[0] = state
    return float((state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / (1 << 53)


@numba.njit(cache=True)
def _bilerp(corners: tuple[Array, Array, Array, Array], axis: int, u: float, v: float) -> float:
    """One coordinate of the bilinear interpolation between four vectors."""
    upper = corners[0][axis] * (1 - u) + corners[1][axis] * u
    return upper * (1 - v) + (corners[2][axis] * (1 - u) + corners[3][axis] * u) * v


@numba.njit(cache=True)
def _add_weighted(light: Vector, share: Vector, more: Vector) -> Vector:
    """``light`` + ``share`` · ``more``, by channel."""
    return light[0] + share[0] * more[0], light[1] + share[1] * more[1], light[2] + share[2] * more[2]


@numba.njit(cache=True)
def add_scaled(point: Vector, direction: Vector, distance: float) -> Vector:
    """``point`` + ``distance`` · ``direction``."""
    return point[0] + distance * direction[0], point[1] + distance * direction[1], point[2] + distance * direction[2]


@numba.njit(cache=True)
def dot(one: Vector, other: Vector) -> float:
    """Scalar product."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@numba.njit(cache=True)
def cross(one: Vector, other: Vector) -> Vector:
    """Vector product."""
    x, y = one[1] * other[2] - one[2] * other[1], one[2] * other[0] - one[0] * other[2]
    return x, y, one[0] * other[1] - one[1] * other[0]


@numba.njit(cache=True)
def unit(x: float, y: float, z: float) -> Vector:
    """The unit vector in this direction."""
    length = np.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length
