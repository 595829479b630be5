"""Light that comes along rays through a picture: of lamps directly, of everything else by one more surface.

What is sampled is kept apart, so that it can be smoothed where surfaces are smooth: light on a surface, the surface's
own colour, and what it mirrors.  Reflection: GGX (Walter et al., Microfacet models, 2007) with Kelemen's shadowing.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from companion.simulate.ground import WOOD_MM
from tools.ray_bodies import GROUND, LOWER, SIDE, TOP, Bodies, hit
from tools.traced import (
    FRESNEL,
    LEVEL,
    NEAR,
    NOTHING,
    PAINT_PX,
    Array,
    Vector,
    across,
    dot,
    drawn,
    moved,
    scattered,
    unit,
)

FINER = 2
"""Rays per pixel each way."""

LATTICE_PX = 8
"""Directions are computed for one pixel in this many each way; between, linear interpolation is right to 0.01 px."""

DIRECT, INDIRECT = 2, 2
"""Places that are tried on each lamp, and ways to the room's other light, for each ray."""

SHEET_PX_PER_MM = 4
"""Resolution of the printed sheet: about that of the rays."""

BESIDE = 0.9
"""Fraction of ambient light that reaches the table beside the mat, where no body is near."""

DUSK = 0.4
"""Fraction of ambient light that reaches a surface that is seen only via another one."""

BURNT = 4.0
"""What is brighter counts as this bright beside white paper: there is little of it."""


class Room(NamedTuple):
    """What gives light, and the table.

    Attributes:
        lamps: (l, 4, 3) corner, two edges in mm, and radiance of rectangles that shine to both sides.
        glow: (3,) radiance of all else.
        white: radiance of white paper on the table, about.
        mat: (height, width, 3) linear, the printed sheet.
        table: (WOOD_MM, WOOD_MM, 3) linear.
        half_mm: (2,) of the mat's width and height.
        roughness: of what paper and table mirror.
    """

    lamps: Array
    glow: Array
    white: float
    mat: npt.NDArray[np.float32]
    table: npt.NDArray[np.float32]
    half_mm: Array
    roughness: float


class View(NamedTuple):
    """The camera: its place (3,) mm, world axes as rows (3, 3), and the lattice (r, c, 2) of directions before it."""

    eye: Array
    axes: Array
    lattice: Array


class Film(NamedTuple):
    """What rays found, each (FINER * height, FINER * width[, 3]) float32.

    Attributes:
        surfaces: int32 number of the surface, GROUND or NOTHING.
        normals: unit normals.
        colours: of surfaces, linear.
        direct: light of lamps on the surface, as a white one would send it.
        indirect: all other light on it.
        mirrored: radiance that is added to what the surface itself sends.
    """

    surfaces: npt.NDArray[np.int32]
    normals: npt.NDArray[np.float32]
    colours: npt.NDArray[np.float32]
    direct: npt.NDArray[np.float32]
    indirect: npt.NDArray[np.float32]
    mirrored: npt.NDArray[np.float32]


@numba.njit(cache=True, nogil=True)
def expose(
    bodies: Bodies, room: Room, view: View, asked: npt.NDArray[np.uint8], top: int, left: int, seed: int, film: Film
) -> None:
    """Trace the rays that are ``asked`` for, a part of the film that begins at ``top``, ``left``.

    The chance of each ray depends on its place and on ``seed`` alone.
    """
    for line in range(asked.shape[0]):
        chance = np.zeros(1, np.uint64)
        for place in range(asked.shape[1]):
            if asked[line, place]:
                row, column = top + line, left + place
                chance[0] = _begun(seed, row, column)
                _ray(bodies, room, view, row, column, chance, film)


@numba.njit(cache=True)
def _begun(seed: int, row: int, column: int) -> np.uint64:
    """What the chance of a ray begins with (splitmix64: Steele et al., 2014)."""
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(row) * np.uint64(1 << 32) + np.uint64(column)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31)) | np.uint64(1)


@numba.njit(cache=True)
def _ray(
    bodies: Bodies, room: Room, view: View, row: int, column: int, chance: npt.NDArray[np.uint64], film: Film
) -> None:
    eye = (view.eye[0], view.eye[1], view.eye[2])
    towards = _direction(view, (row + drawn(chance)) / FINER - 0.5, (column + drawn(chance)) / FINER - 0.5)
    reach, body, part = hit(bodies.solids, eye, towards, np.inf)
    if body == NOTHING:
        film.surfaces[row, column] = NOTHING
        for i in range(3):
            film.colours[row, column, i] = film.direct[row, column, i] = film.indirect[row, column, i] = 0.0
            film.mirrored[row, column, i] = room.glow[i]
        return
    at = moved(eye, towards, reach)
    normal, colour, roughness = _surface(bodies, room, at, body, part)
    film.surfaces[row, column] = GROUND if body == GROUND else bodies.numbers[body] + part
    at = moved(at, normal, NEAR)
    direct, shine = _lamps(bodies, room, at, normal, towards, roughness, DIRECT, chance)
    there, share = _mirroring(normal, towards, roughness, chance)
    # Paper mirrors too roughly to show anything but the room.
    mirrored = _glow(room, there) if body == GROUND else _from_afar(bodies, room, at, there, chance)
    red, green, blue = 0.0, 0.0, 0.0
    ways = 1 if body == GROUND else INDIRECT
    if body == GROUND and (abs(at[0]) > room.half_mm[0] or abs(at[1]) > room.half_mm[1]):
        red, green, blue, ways = BESIDE * room.glow[0], BESIDE * room.glow[1], BESIDE * room.glow[2], 0
    for _ in range(ways):
        sent = _from_afar(bodies, room, at, scattered(normal, chance), chance)
        red, green, blue = red + sent[0] / ways, green + sent[1] / ways, blue + sent[2] / ways
    indirect = (red, green, blue)
    for i in range(3):
        film.normals[row, column, i] = normal[i]
        film.colours[row, column, i] = colour[i] * (1 - share)
        film.direct[row, column, i] = min(direct[i], BURNT * room.white)
        film.indirect[row, column, i] = min(indirect[i], BURNT * room.white)
        film.mirrored[row, column, i] = min(shine[i] + share * mirrored[i], BURNT * room.white)


@numba.njit(cache=True, inline="always")
def _direction(view: View, v: float, u: float) -> Vector:
    """World direction of row ``v`` and column ``u``, in pixels."""
    y, x = (v + LATTICE_PX) / LATTICE_PX, (u + LATTICE_PX) / LATTICE_PX
    row, column = int(y), int(x)
    y, x = y - row, x - column
    there, right, down = view.lattice, 0.0, 0.0
    for i, j, share in ((0, 0, (1 - y) * (1 - x)), (0, 1, (1 - y) * x), (1, 0, y * (1 - x)), (1, 1, y * x)):
        right += share * there[row + i, column + j, 0]
        down += share * there[row + i, column + j, 1]
    axes = view.axes
    return unit(
        right * axes[0, 0] + down * axes[1, 0] + axes[2, 0],
        right * axes[0, 1] + down * axes[1, 1] + axes[2, 1],
        right * axes[0, 2] + down * axes[1, 2] + axes[2, 2],
    )


@numba.njit(cache=True)
def _printed(room: Room, x: float, y: float) -> Vector:
    """Colour of mat or table in one place."""
    if abs(x) < room.half_mm[0] and abs(y) < room.half_mm[1]:
        row = min(int((room.half_mm[1] - y) * SHEET_PX_PER_MM), room.mat.shape[0] - 1)
        column = min(int((x + room.half_mm[0]) * SHEET_PX_PER_MM), room.mat.shape[1] - 1)
        return float(room.mat[row, column, 0]), float(room.mat[row, column, 1]), float(room.mat[row, column, 2])
    row, column = int(abs(y + WOOD_MM / 2)) % WOOD_MM, int(abs(x + WOOD_MM / 2)) % WOOD_MM
    return float(room.table[row, column, 0]), float(room.table[row, column, 1]), float(room.table[row, column, 2])


@numba.njit(cache=True)
def _surface(bodies: Bodies, room: Room, at: Vector, body: int, part: int) -> tuple[Vector, Vector, float]:
    """Normal, colour and roughness of the surface that was hit."""
    if body == GROUND:
        return (0.0, 0.0, 1.0), _printed(room, at[0], at[1]), room.roughness
    shapes, planes = bodies.solids.shapes, bodies.solids.planes
    plane = int(shapes[body, 10])
    if plane == int(shapes[body, 11]):
        normal = _disc_normal(shapes[body, 4], shapes[body, 5], at, part)
    else:
        normal = (planes[plane + part, 0], planes[plane + part, 1], planes[plane + part, 2])
    is_top = normal[2] > LEVEL
    face, colours = int(is_top), bodies.colours
    red, green, blue = colours[body, face, 0], colours[body, face, 1], colours[body, face, 2]
    if is_top and bodies.paints[body] != NOTHING:
        onto, paint, which = bodies.onto, bodies.paint, bodies.paints[body]
        row = onto[body, 0, 0] * at[0] + onto[body, 0, 1] * at[1] + onto[body, 0, 2] * at[2] + onto[body, 0, 3]
        place = onto[body, 1, 0] * at[0] + onto[body, 1, 1] * at[1] + onto[body, 1, 2] * at[2] + onto[body, 1, 3]
        i, j = min(max(int(row), 0), PAINT_PX - 1), min(max(int(place), 0), PAINT_PX - 1)
        red, green, blue = red * paint[which, i, j, 0], green * paint[which, i, j, 1], blue * paint[which, i, j, 2]
    return normal, (red, green, blue), bodies.roughness[body]


@numba.njit(cache=True, inline="always")
def _disc_normal(middle_x: float, middle_y: float, at: Vector, part: int) -> Vector:
    if part >= TOP:
        return 0.0, 0.0, 1.0 if part == TOP else -1.0
    up = 0.0 if part == SIDE else -1.0 if part == LOWER else 1.0
    x, y = at[0] - middle_x, at[1] - middle_y
    wide = np.sqrt(x * x + y * y)
    return unit(x / wide, y / wide, up)


@numba.njit(cache=True)
def _lamps(
    bodies: Bodies,
    room: Room,
    at: Vector,
    normal: Vector,
    towards: Vector,
    roughness: float,
    times: int,
    chance: npt.NDArray[np.uint64],
) -> tuple[Vector, Vector]:
    """What a white surface sends of the lamps' light, and what this one mirrors of it, seen along ``towards``."""
    red, green, blue = 0.0, 0.0, 0.0
    shine_red, shine_green, shine_blue = 0.0, 0.0, 0.0
    lamps = room.lamps
    for lamp in range(lamps.shape[0]):
        one, other = _edge(lamps, lamp, 1), _edge(lamps, lamp, 2)
        corner, radiance = _edge(lamps, lamp, 0), _edge(lamps, lamp, 3)
        face, begin = across(one, other), drawn(chance)
        for time in range(times):
            u, v = (time + drawn(chance)) / times, (begin + time * 0.618 + 0.3 * drawn(chance)) % 1.0
            place = moved(moved(corner, one, u), other, v)
            apart = moved(place, at, -1.0)
            away = np.sqrt(dot(apart, apart))
            there = (apart[0] / away, apart[1] / away, apart[2] / away)
            slope = dot(there, normal)
            if slope <= 0 or hit(bodies.solids, at, there, away - NEAR)[1] != NOTHING:
                continue
            share = slope * abs(dot(there, face)) / (np.pi * away * away * times)
            red, green, blue = red + radiance[0] * share, green + radiance[1] * share, blue + radiance[2] * share
            if roughness > 0:
                share *= np.pi * _glint(normal, towards, there, roughness)
                shine_red, shine_green = shine_red + radiance[0] * share, shine_green + radiance[1] * share
                shine_blue += radiance[2] * share
    return (red, green, blue), (shine_red, shine_green, shine_blue)


@numba.njit(cache=True, inline="always")
def _edge(lamps: Array, lamp: int, number: int) -> Vector:
    return lamps[lamp, number, 0], lamps[lamp, number, 1], lamps[lamp, number, 2]


@numba.njit(cache=True)
def _glint(normal: Vector, towards: Vector, there: Vector, roughness: float) -> float:
    """How much of the light from ``there`` a surface mirrors to where ``towards`` comes from."""
    half = unit(there[0] - towards[0], there[1] - towards[1], there[2] - towards[2])
    upright, facing = max(dot(normal, half), 0.0), max(dot(there, half), 0.05)
    alpha2 = roughness * roughness
    spread = upright * upright * (alpha2 - 1) + 1
    fresnel = FRESNEL + (1 - FRESNEL) * (1 - facing) ** 5
    return alpha2 / (np.pi * spread * spread) * fresnel / (4 * facing * facing)


@numba.njit(cache=True)
def _mirroring(
    normal: Vector, towards: Vector, roughness: float, chance: npt.NDArray[np.uint64]
) -> tuple[Vector, float]:
    """Where what a surface mirrors comes from, one place by chance, and which share of light it mirrors."""
    steep = dot(towards, normal)
    share = FRESNEL + (1 - FRESNEL) * (1 - min(abs(steep), 1.0)) ** 5 * (1 - roughness)
    straight = moved(towards, normal, -2 * steep)
    there = unit(*moved(straight, scattered((0.0, 0.0, 0.0), chance), roughness))
    below = min(dot(there, normal), 0.0)
    return unit(*moved(there, normal, NEAR - below)), share


@numba.njit(cache=True)
def _from_afar(bodies: Bodies, room: Room, at: Vector, towards: Vector, chance: npt.NDArray[np.uint64]) -> Vector:
    """Radiance from this direction, without direct light of lamps."""
    reach, body, part = hit(bodies.solids, at, towards, np.inf)
    if body == NOTHING:
        return _glow(room, towards)
    at = moved(at, towards, reach)
    normal, colour, _ = _surface(bodies, room, at, body, part)
    at = moved(at, normal, NEAR)
    lit, _ = _lamps(bodies, room, at, normal, towards, 0.0, 1, chance)
    onward = scattered(normal, chance)
    sent = _glow(room, onward)
    dim = 1.0 if hit(bodies.solids, at, onward, np.inf)[1] == NOTHING else DUSK
    return (
        colour[0] * (lit[0] + dim * sent[0]),
        colour[1] * (lit[1] + dim * sent[1]),
        colour[2] * (lit[2] + dim * sent[2]),
    )


@numba.njit(cache=True, inline="always")
def _glow(room: Room, towards: Vector) -> Vector:
    """Ambient radiance from one direction: walls are somewhat darker than the ceiling."""
    share = 0.85 + 0.15 * towards[2]
    return room.glow[0] * share, room.glow[1] * share, room.glow[2] * share
