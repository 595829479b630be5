"""Traces camera rays: direct light of lamps, and indirect light by one more surface.

Incident light, surface colour and mirrored light are stored separately (a G-buffer), so that noise can be filtered
along surfaces.  Reflection model: GGX (Walter et al., Microfacet models, 2007) with Kelemen's shadowing term.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from companion.simulate.ground import WOOD_MM
from tools.path_tracer import (
    FRESNEL,
    NOTHING,
    SURFACE_OFFSET_MM,
    TEXTURE_PX,
    UPWARD,
    Array,
    Vector,
    add_scaled,
    cross,
    diffuse_direction,
    dot,
    uniform,
    unit,
)
from tools.ray_bodies import GROUND, LOWER, SIDE, TOP, Bodies, hit

SUPERSAMPLING = 2
"""Rays per pixel along each axis."""

LATTICE_PX = 8
"""Spacing of the lattice of undistorted directions; bilinear interpolation between is accurate to 0.01 px."""

LAMP_SAMPLES, AMBIENT_SAMPLES = 2, 2
"""Samples per ray: points on each lamp, and directions of indirect light."""

SHEET_PX_PER_MM = 4
"""Resolution of the printed sheet: about the density of the rays."""

TABLE_AMBIENT = 0.9
"""Fraction of ambient light on the table beside the mat, where no rays are traced for it."""

SECOND_HIT_AMBIENT = 0.4
"""Fraction of ambient light on a second surface whose sampled direction is blocked by a third one."""

MAX_RADIANCE = 4.0
"""Radiance at which light is clipped, relative to white paper."""


class Room(NamedTuple):
    """The light sources and the ground.

    Attributes:
        lamps: (l, 4, 3) corner and two edges in mm, and radiance, of rectangles that emit to both sides.
        ambient: (3,) ambient radiance from straight above.
        white: approximate radiance of white paper on the table.
        mat: (height, width, 3) linear colours of the printed sheet, SHEET_PX_PER_MM.
        table: (WOOD_MM, WOOD_MM, 3) linear colours of the table around it.
        half_mm: (2,) half the mat's width and height.
        roughness: GGX roughness of paper and table.
    """

    lamps: Array
    ambient: Array
    white: float
    mat: npt.NDArray[np.float32]
    table: npt.NDArray[np.float32]
    half_mm: Array
    roughness: float


class View(NamedTuple):
    """The camera: centre (3,) mm, axes as rows (3, 3), and a lattice (r, c, 2) of undistorted, normalized points."""

    eye: Array
    axes: Array
    lattice: Array


class GBuffer(NamedTuple):
    """Results of all rays, each (SUPERSAMPLING * height, SUPERSAMPLING * width[, 3]) float32.

    Attributes:
        surfaces: int32 surface number, GROUND or NOTHING.
        normals: unit normals.
        colours: linear diffuse colours of the surfaces.
        direct: light of lamps as reflected by a white surface.
        indirect: all other light as reflected by a white surface.
        mirrored: radiance of the mirror reflection.
    """

    surfaces: npt.NDArray[np.int32]
    normals: npt.NDArray[np.float32]
    colours: npt.NDArray[np.float32]
    direct: npt.NDArray[np.float32]
    indirect: npt.NDArray[np.float32]
    mirrored: npt.NDArray[np.float32]


@numba.njit(cache=True, nogil=True)
def trace(
    bodies: Bodies,
    room: Room,
    view: View,
    mask: npt.NDArray[np.uint8],
    top: int,
    left: int,
    seed: int,
    gbuffer: GBuffer,
) -> None:
    """Trace the rays selected by ``mask``, which covers the part of ``gbuffer`` that begins at ``top``, ``left``.

    The random numbers of a ray depend only on its position and on ``seed``.
    """
    for mask_row in range(mask.shape[0]):
        rng_state = np.zeros(1, np.uint64)
        for mask_column in range(mask.shape[1]):
            if mask[mask_row, mask_column]:
                row, column = top + mask_row, left + mask_column
                rng_state[0] = _initial_state(seed, row, column)
                _trace_ray(bodies, room, view, row, column, rng_state, gbuffer)


@numba.njit(cache=True)
def _initial_state(seed: int, row: int, column: int) -> np.uint64:
    """Initial random state of a ray (splitmix64: Steele et al., 2014)."""
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(row) * np.uint64(1 << 32) + np.uint64(column)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31)) | np.uint64(1)


@numba.njit(cache=True)
def _trace_ray(
    bodies: Bodies, room: Room, view: View, row: int, column: int, rng_state: npt.NDArray[np.uint64], gbuffer: GBuffer
) -> None:
    """Trace one camera ray, with a random position in its cell, and store its results."""
    eye = (view.eye[0], view.eye[1], view.eye[2])
    direction = _direction(
        view, (row + uniform(rng_state)) / SUPERSAMPLING - 0.5, (column + uniform(rng_state)) / SUPERSAMPLING - 0.5
    )
    distance, body, part = hit(bodies.solids, eye, direction, np.inf)
    if body == NOTHING:
        gbuffer.surfaces[row, column] = NOTHING
        for i in range(3):
            gbuffer.colours[row, column, i] = gbuffer.direct[row, column, i] = gbuffer.indirect[row, column, i] = 0.0
            gbuffer.mirrored[row, column, i] = room.ambient[i]
        return
    point = add_scaled(eye, direction, distance)
    normal, colour, roughness = _surface(bodies, room, point, body, part)
    gbuffer.surfaces[row, column] = GROUND if body == GROUND else bodies.surface_bases[body] + part
    point = add_scaled(point, normal, SURFACE_OFFSET_MM)
    direct, mirrored_lamps = _lamp_light(bodies, room, point, normal, direction, roughness, LAMP_SAMPLES, rng_state)
    incoming, share = _mirror_sample(normal, direction, roughness, rng_state)
    # Paper is too rough to mirror anything but ambient light.
    mirrored = (
        _ambient_light(room, incoming)
        if body == GROUND
        else _indirect_radiance(bodies, room, point, incoming, rng_state)
    )
    red, green, blue = 0.0, 0.0, 0.0
    sample_count = 1 if body == GROUND else AMBIENT_SAMPLES
    if body == GROUND and (abs(point[0]) > room.half_mm[0] or abs(point[1]) > room.half_mm[1]):
        red, green, blue, sample_count = (
            TABLE_AMBIENT * room.ambient[0],
            TABLE_AMBIENT * room.ambient[1],
            TABLE_AMBIENT * room.ambient[2],
            0,
        )
    for _ in range(sample_count):
        radiance = _indirect_radiance(bodies, room, point, diffuse_direction(normal, rng_state), rng_state)
        red, green, blue = (
            red + radiance[0] / sample_count,
            green + radiance[1] / sample_count,
            blue + radiance[2] / sample_count,
        )
    indirect = (red, green, blue)
    for i in range(3):
        gbuffer.normals[row, column, i] = normal[i]
        gbuffer.colours[row, column, i] = colour[i] * (1 - share)
        gbuffer.direct[row, column, i] = min(direct[i], MAX_RADIANCE * room.white)
        gbuffer.indirect[row, column, i] = min(indirect[i], MAX_RADIANCE * room.white)
        gbuffer.mirrored[row, column, i] = min(mirrored_lamps[i] + share * mirrored[i], MAX_RADIANCE * room.white)


@numba.njit(cache=True, inline="always")
def _direction(view: View, v: float, u: float) -> Vector:
    """Unit world direction of the ray at row ``v`` and column ``u``, in pixels."""
    y, x = (v + LATTICE_PX) / LATTICE_PX, (u + LATTICE_PX) / LATTICE_PX
    row, column = int(y), int(x)
    y, x = y - row, x - column
    lattice, right, down = view.lattice, 0.0, 0.0
    for i, j, share in ((0, 0, (1 - y) * (1 - x)), (0, 1, (1 - y) * x), (1, 0, y * (1 - x)), (1, 1, y * x)):
        right += share * lattice[row + i, column + j, 0]
        down += share * lattice[row + i, column + j, 1]
    axes = view.axes
    return unit(
        right * axes[0, 0] + down * axes[1, 0] + axes[2, 0],
        right * axes[0, 1] + down * axes[1, 1] + axes[2, 1],
        right * axes[0, 2] + down * axes[1, 2] + axes[2, 2],
    )


@numba.njit(cache=True)
def _ground_colour(room: Room, x: float, y: float) -> Vector:
    """Linear colour of mat or table at x, y in mm."""
    if abs(x) < room.half_mm[0] and abs(y) < room.half_mm[1]:
        row = min(int((room.half_mm[1] - y) * SHEET_PX_PER_MM), room.mat.shape[0] - 1)
        column = min(int((x + room.half_mm[0]) * SHEET_PX_PER_MM), room.mat.shape[1] - 1)
        return float(room.mat[row, column, 0]), float(room.mat[row, column, 1]), float(room.mat[row, column, 2])
    row, column = int(abs(y + WOOD_MM / 2)) % WOOD_MM, int(abs(x + WOOD_MM / 2)) % WOOD_MM
    return float(room.table[row, column, 0]), float(room.table[row, column, 1]), float(room.table[row, column, 2])


@numba.njit(cache=True)
def _surface(bodies: Bodies, room: Room, point: Vector, body: int, part: int) -> tuple[Vector, Vector, float]:
    """Normal, linear colour and roughness of a surface at the point that was hit."""
    if body == GROUND:
        return (0.0, 0.0, 1.0), _ground_colour(room, point[0], point[1]), room.roughness
    shapes, planes = bodies.solids.shapes, bodies.solids.planes
    plane = int(shapes[body, 10])
    if plane == int(shapes[body, 11]):
        normal = _disc_normal(shapes[body, 4], shapes[body, 5], point, part)
    else:
        normal = (planes[plane + part, 0], planes[plane + part, 1], planes[plane + part, 2])
    is_top = normal[2] > UPWARD
    face, colours = int(is_top), bodies.colours
    red, green, blue = colours[body, face, 0], colours[body, face, 1], colours[body, face, 2]
    if is_top and bodies.texture_index[body] != NOTHING:
        transform, textures, texture = bodies.texture_transform, bodies.textures, bodies.texture_index[body]
        row = (
            transform[body, 0, 0] * point[0]
            + transform[body, 0, 1] * point[1]
            + transform[body, 0, 2] * point[2]
            + transform[body, 0, 3]
        )
        column_px = (
            transform[body, 1, 0] * point[0]
            + transform[body, 1, 1] * point[1]
            + transform[body, 1, 2] * point[2]
            + transform[body, 1, 3]
        )
        i, j = min(max(int(row), 0), TEXTURE_PX - 1), min(max(int(column_px), 0), TEXTURE_PX - 1)
        red, green, blue = (
            red * textures[texture, i, j, 0],
            green * textures[texture, i, j, 1],
            blue * textures[texture, i, j, 2],
        )
    return normal, (red, green, blue), bodies.roughness[body]


@numba.njit(cache=True, inline="always")
def _disc_normal(middle_x: float, middle_y: float, point: Vector, part: int) -> Vector:
    """Outward unit normal of a disc's surface ``part``."""
    if part >= TOP:
        return 0.0, 0.0, 1.0 if part == TOP else -1.0
    up = 0.0 if part == SIDE else -1.0 if part == LOWER else 1.0
    x, y = point[0] - middle_x, point[1] - middle_y
    radius = np.sqrt(x * x + y * y)
    return unit(x / radius, y / radius, up)


@numba.njit(cache=True)
def _lamp_light(
    bodies: Bodies,
    room: Room,
    point: Vector,
    normal: Vector,
    direction: Vector,
    roughness: float,
    samples: int,
    rng_state: npt.NDArray[np.uint64],
) -> tuple[Vector, Vector]:
    """Lamp light reflected by a white diffuse surface, and lamp light mirrored by this one against ``direction``.

    Both are estimated from ``samples`` points of each lamp; ``roughness`` 0: nothing is mirrored.
    """
    red, green, blue = 0.0, 0.0, 0.0
    mirrored_red, mirrored_green, mirrored_blue = 0.0, 0.0, 0.0
    lamps = room.lamps
    for lamp in range(lamps.shape[0]):
        one, other = _lamp_row(lamps, lamp, 1), _lamp_row(lamps, lamp, 2)
        corner, radiance = _lamp_row(lamps, lamp, 0), _lamp_row(lamps, lamp, 3)
        lamp_normal, shift = cross(one, other), uniform(rng_state)
        for sample in range(samples):
            u, v = (sample + uniform(rng_state)) / samples, (shift + sample * 0.618 + 0.3 * uniform(rng_state)) % 1.0
            lamp_point = add_scaled(add_scaled(corner, one, u), other, v)
            offset = add_scaled(lamp_point, point, -1.0)
            distance = np.sqrt(dot(offset, offset))
            incoming = (offset[0] / distance, offset[1] / distance, offset[2] / distance)
            cosine = dot(incoming, normal)
            if cosine <= 0 or hit(bodies.solids, point, incoming, distance - SURFACE_OFFSET_MM)[1] != NOTHING:
                continue
            share = cosine * abs(dot(incoming, lamp_normal)) / (np.pi * distance * distance * samples)
            red, green, blue = red + radiance[0] * share, green + radiance[1] * share, blue + radiance[2] * share
            if roughness > 0:
                share *= np.pi * _specular(normal, direction, incoming, roughness)
                mirrored_red, mirrored_green = mirrored_red + radiance[0] * share, mirrored_green + radiance[1] * share
                mirrored_blue += radiance[2] * share
    return (red, green, blue), (mirrored_red, mirrored_green, mirrored_blue)


@numba.njit(cache=True, inline="always")
def _lamp_row(lamps: Array, lamp: int, number: int) -> Vector:
    """Corner, edge or radiance (see :class:`Room`) of a lamp as a vector."""
    return lamps[lamp, number, 0], lamps[lamp, number, 1], lamps[lamp, number, 2]


@numba.njit(cache=True)
def _specular(normal: Vector, direction: Vector, incoming: Vector, roughness: float) -> float:
    """Specular reflectance (GGX) for light from ``incoming`` that leaves against ``direction``."""
    half = unit(incoming[0] - direction[0], incoming[1] - direction[1], incoming[2] - direction[2])
    half_cosine, incidence_cosine = max(dot(normal, half), 0.0), max(dot(incoming, half), 0.05)
    alpha2 = roughness * roughness
    lobe = half_cosine * half_cosine * (alpha2 - 1) + 1
    fresnel = FRESNEL + (1 - FRESNEL) * (1 - incidence_cosine) ** 5
    return alpha2 / (np.pi * lobe * lobe) * fresnel / (4 * incidence_cosine * incidence_cosine)


@numba.njit(cache=True)
def _mirror_sample(
    normal: Vector, direction: Vector, roughness: float, rng_state: npt.NDArray[np.uint64]
) -> tuple[Vector, float]:
    """A random direction from which a surface mirrors light, and the fraction of light that it mirrors (Fresnel)."""
    cosine = dot(direction, normal)
    share = FRESNEL + (1 - FRESNEL) * (1 - min(abs(cosine), 1.0)) ** 5 * (1 - roughness)
    mirror_direction = add_scaled(direction, normal, -2 * cosine)
    incoming = unit(*add_scaled(mirror_direction, diffuse_direction((0.0, 0.0, 0.0), rng_state), roughness))
    below = min(dot(incoming, normal), 0.0)
    return unit(*add_scaled(incoming, normal, SURFACE_OFFSET_MM - below)), share


@numba.njit(cache=True)
def _indirect_radiance(
    bodies: Bodies, room: Room, point: Vector, direction: Vector, rng_state: npt.NDArray[np.uint64]
) -> Vector:
    """Radiance that arrives from ``direction`` by one more surface, or ambient light; lamps themselves are left out."""
    distance, body, part = hit(bodies.solids, point, direction, np.inf)
    if body == NOTHING:
        return _ambient_light(room, direction)
    point = add_scaled(point, direction, distance)
    normal, colour, _ = _surface(bodies, room, point, body, part)
    point = add_scaled(point, normal, SURFACE_OFFSET_MM)
    direct, _ = _lamp_light(bodies, room, point, normal, direction, 0.0, 1, rng_state)
    bounce = diffuse_direction(normal, rng_state)
    radiance = _ambient_light(room, bounce)
    visibility = 1.0 if hit(bodies.solids, point, bounce, np.inf)[1] == NOTHING else SECOND_HIT_AMBIENT
    return (
        colour[0] * (direct[0] + visibility * radiance[0]),
        colour[1] * (direct[1] + visibility * radiance[1]),
        colour[2] * (direct[2] + visibility * radiance[2]),
    )


@numba.njit(cache=True, inline="always")
def _ambient_light(room: Room, direction: Vector) -> Vector:
    """Ambient radiance from one direction: walls are somewhat darker than the ceiling."""
    share = 0.85 + 0.15 * direction[2]
    return room.ambient[0] * share, room.ambient[1] * share, room.ambient[2] * share
