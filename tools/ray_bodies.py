"""Intersection of rays with bodies: discs as solids of revolution, others by the planes of their faces.

A uniform grid over the board is the acceleration structure: a ray is tested only against bodies in the grid squares
that it crosses below their tops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from calibration.kit import Kit, PieceKind
from companion.simulate.light import to_linear
from companion.simulate.placement import Pile
from companion.simulate.sprite import column_colours, standing_solids, upright
from tools.path_tracer import (
    NOTHING,
    SURFACE_OFFSET_MM,
    TEXTURE_PX,
    Array,
    Vector,
    planes_of,
    texture_of,
    texture_transform,
)
from vision.scene.solids import CHAMFER_SHARE, Solid, column

GRID_MM = 16.0
"""Side of a square of the grid."""

DISC_PARTS = 5
SIDE, UPPER, LOWER, TOP, BOTTOM = range(DISC_PARTS)
"""Numbers of a disc's surfaces: its side, its bevelled edges, its faces."""

GROUND = -2
"""Index of a hit on the ground, as in :mod:`tools.path_tracer`."""

SURFACES_EACH = 32
"""Surface numbers reserved for each body, more than any has."""

ROUGHNESS = {"disc": 0.12, "cube": 0.18, "pyramid": 0.1}
CARVED_ROUGHNESS, COLUMN_ROUGHNESS = 0.2, 0.3
"""GGX roughness: lacquer, painted wood, plastic; discs with characters; pillars and terrain.  Similar to the pieces in
the collection's pictures."""


class Body(NamedTuple):
    """One convex body.

    Attributes:
        number: number of its first surface; determined by the cell and its place in the pile.
        planes: (p, 4) outward unit normal, and distance from the origin in mm; empty for a disc.
        disc: (6,) centre x, y, lower and upper z, radius, bevel in mm of a disc; zeros for other bodies.
        box: (2, 3) mm, minimum and maximum coordinates.
        colours: (2, 3) linear, of sides and upper face.
        roughness: GGX roughness.
        texture_index: index of the texture of its upper face, or NOTHING.
        texture_transform: (2, 4) affine map from a point in mm to row and column of that texture.
    """

    number: int
    planes: Array
    disc: Array
    box: Array
    colours: Array
    roughness: float
    texture_index: int
    texture_transform: Array


class Solids(NamedTuple):
    """The shapes of all bodies (s), and the grid that finds them; in few arrays, so that calls are fast.

    Attributes:
        shapes: (s, 12) bounding sphere (centre in mm, squared radius in mm²); ``disc`` as in :class:`Body`; indices of
            its first plane and of the one after its last.
        planes: (p, 4) of all bodies, one after the other.
        begin: (squares + 1,) index of the first member of each grid square, row by row.
        members: indices of the bodies in each square.
        tops: (squares,) mm, maximum height of the bodies in each square.
        frame: (5,) mm, the grid's minimum x and y, its width and depth, and the maximum of ``tops``.
    """

    shapes: Array
    planes: Array
    begin: npt.NDArray[np.intp]
    members: npt.NDArray[np.intp]
    tops: Array
    frame: Array


class Bodies(NamedTuple):
    """All bodies (s), as arrays.

    Attributes:
        solids: their shapes.
        surface_bases: (s,) of their first surfaces, as in :class:`Body`.
        colours: (s, 2, 3) linear, of sides and upper face.
        roughness: (s,) GGX roughness.
        texture_index: (s,) index into ``textures`` for the upper face, or NOTHING.
        texture_transform: (s, 2, 4) as in :class:`Body`.
        textures: (k, TEXTURE_PX, TEXTURE_PX, 3) factors of the face's colour.
    """

    solids: Solids
    surface_bases: npt.NDArray[np.int32]
    colours: Array
    roughness: Array
    texture_index: npt.NDArray[np.intp]
    texture_transform: Array
    textures: npt.NDArray[np.float32]


def bodies_on(kit: Kit, number: int, pile: Pile, level: int | None) -> list[Body]:
    """The bodies on the cell with index ``number``: its pillar or terrain, and its pieces, bottom first."""
    cell, found = kit.cells[number], []
    first = number * SURFACES_EACH * (1 + 2 * len(kit.cells))
    base = column(kit, cell, level)
    if base is not None:
        colours = np.stack([to_linear(colour) for colour in column_colours(kit)])
        found.append(_body(first, base, colours, COLUMN_ROUGHNESS, None, NOTHING))
    discs = [kind for kind in kit.pieces if kind.shape == "disc"]
    for place, (standing, solid) in enumerate(zip(pile, standing_solids(kit, cell, pile, level), strict=True), 1):
        kind = kit.piece(standing.letter)
        colours = np.tile(to_linear(kind.colour) * (1 + standing.tint), (2, 1))
        texture = discs.index(kind) if kind in discs else NOTHING
        roughness = CARVED_ROUGHNESS if kind.glyph else ROUGHNESS[kind.shape]
        found.append(_body(first + place * SURFACES_EACH, solid, colours, roughness, kind, texture))
    return found


def _body(number: int, solid: Solid, colours: Array, roughness: float, kind: PieceKind | None, texture: int) -> Body:
    """``solid`` as a body; ``number``: of its first surface; ``kind``: None for pillars and terrain."""
    box = np.stack([solid.points.min(axis=0), solid.points.max(axis=0)])
    if kind is not None and kind.shape == "disc":
        (x, y, top), radius, bevel = upright(solid)[0], kind.width_mm / 2, CHAMFER_SHARE * kind.height_mm
        turned = np.array([x, y, top - kind.height_mm, top, radius, bevel])
        return Body(number, np.empty((0, 4)), turned, box, colours, roughness, texture, texture_transform(solid, kind))
    return Body(number, planes_of(solid), np.zeros(6), box, colours, roughness, texture, np.zeros((2, 4)))


def as_arrays(kit: Kit, bodies: Sequence[Body]) -> Bodies:
    """``bodies`` as arrays, with their grid and their textures."""
    discs = [kind for kind in kit.pieces if kind.shape == "disc"]
    return Bodies(
        _solids(kit, bodies),
        np.array([body.number for body in bodies], np.int32),
        np.array([body.colours for body in bodies]).reshape(-1, 2, 3),
        np.array([body.roughness for body in bodies], np.float64),
        np.array([body.texture_index for body in bodies], np.intp),
        np.array([body.texture_transform for body in bodies]).reshape(-1, 2, 4),
        np.array([texture_of(kind) for kind in discs], np.float32).reshape(-1, TEXTURE_PX, TEXTURE_PX, 3),
    )


def _solids(kit: Kit, bodies: Sequence[Body]) -> Solids:
    """The shapes of ``bodies``, and a grid that covers all squares of the board and somewhat more."""
    half_extent = np.ceil((np.abs(kit.centres_mm).max(axis=0) + max(kit.board.pitch_mm)) / GRID_MM) * GRID_MM
    columns, rows = (2 * half_extent / GRID_MM).astype(int)
    squares: list[list[int]] = [[] for _ in range(rows * columns)]
    tops = np.zeros(rows * columns)
    for i, body in enumerate(bodies):
        low, high = np.clip((body.box[:, :2] + half_extent) // GRID_MM, 0, [columns - 1, rows - 1]).astype(int)
        for row in range(low[1], high[1] + 1):
            for square in range(row * columns + low[0], row * columns + high[0] + 1):
                squares[square].append(i)
                tops[square] = max(tops[square], body.box[1, 2])
    ends = np.cumsum([0, *(len(body.planes) for body in bodies)])
    balls = [[*body.box.mean(axis=0), ((body.box[1] - body.box[0]) ** 2).sum() / 4] for body in bodies]
    shapes = [[*ball, *body.disc, *ends[i : i + 2]] for i, (ball, body) in enumerate(zip(balls, bodies, strict=True))]
    return Solids(
        np.array(shapes, np.float64).reshape(-1, 12),
        np.vstack([np.empty((0, 4)), *(body.planes for body in bodies)]),
        np.cumsum([0, *map(len, squares)]),
        np.array([i for square in squares for i in square], np.intp),
        tops,
        np.array([*-half_extent, *(2 * half_extent), tops.max()]),
    )


@numba.njit(cache=True)
def hit(solids: Solids, point: Vector, direction: Vector, max_distance: float) -> tuple[float, int, int]:
    """First hit of a ray within ``max_distance``: distance, index of the body (or GROUND, NOTHING), and its surface."""
    nearest, found, surface = max_distance, NOTHING, 0
    if direction[2] < 0 and -point[2] / direction[2] < nearest:
        nearest, found = -point[2] / direction[2], GROUND
    frame = solids.frame
    x, y = point[0] - frame[0], point[1] - frame[1]
    t_enter, t_exit = _slab_interval(x, direction[0], frame[2], 0.0, nearest)
    t_enter, t_exit = _slab_interval(y, direction[1], frame[3], t_enter, t_exit)
    t_enter, t_exit = _slab_interval(point[2], direction[2], frame[4], t_enter, t_exit)
    if t_enter >= t_exit:
        return nearest, found, surface
    columns, rows = int(frame[2] / GRID_MM), int(frame[3] / GRID_MM)
    column = min(max(int((x + t_enter * direction[0]) / GRID_MM), 0), columns - 1)
    row = min(max(int((y + t_enter * direction[1]) / GRID_MM), 0), rows - 1)
    step_x, next_x, each_x = _grid_steps(x, direction[0], column)
    step_y, next_y, each_y = _grid_steps(y, direction[1], row)
    while 0 <= column < columns and 0 <= row < rows:
        ends, square = min(next_x, next_y), row * columns + column
        if point[2] + direction[2] * (t_enter if direction[2] > 0 else ends) <= solids.tops[square]:
            for member in range(solids.begin[square], solids.begin[square + 1]):
                body = solids.members[member]
                distance, part = _entry(solids.shapes, solids.planes, body, point, direction)
                if SURFACE_OFFSET_MM / 10 < distance < nearest:
                    nearest, found, surface = distance, body, part
        if ends >= min(nearest, t_exit):
            break
        t_enter = ends
        if next_x < next_y:
            column, next_x = column + step_x, next_x + each_x
        else:
            row, next_y = row + step_y, next_y + each_y
    return nearest, found, surface


@numba.njit(cache=True, inline="always")
def _slab_interval(
    start_mm: float, speed: float, width_mm: float, t_enter: float, t_exit: float
) -> tuple[float, float]:
    """The part of the interval ``t_enter`` to ``t_exit`` in which a ray is between 0 and ``width_mm`` along an axis."""
    if speed == 0:
        return (t_enter, t_exit) if 0 <= start_mm <= width_mm else (np.inf, -np.inf)
    one, other = -start_mm / speed, (width_mm - start_mm) / speed
    return max(t_enter, min(one, other)), min(t_exit, max(one, other))


@numba.njit(cache=True, inline="always")
def _grid_steps(start_mm: float, speed: float, number: int) -> tuple[int, float, float]:
    """Grid traversal along one axis: step to the next square, distance at which it begins, distance per square."""
    if speed > 0:
        return 1, ((number + 1) * GRID_MM - start_mm) / speed, GRID_MM / speed
    if speed < 0:
        return -1, (number * GRID_MM - start_mm) / speed, -GRID_MM / speed
    return 0, np.inf, np.inf


@numba.njit(cache=True, inline="always")
def _entry(shapes: Array, planes: Array, body: int, point: Vector, direction: Vector) -> tuple[float, int]:
    """Distance at which a ray enters a body, and the surface through which it does; inf if it misses the body."""
    x, y, z = shapes[body, 0] - point[0], shapes[body, 1] - point[1], shapes[body, 2] - point[2]
    projection, distance2 = x * direction[0] + y * direction[1] + z * direction[2], x * x + y * y + z * z
    if distance2 - projection * projection > shapes[body, 3]:
        return np.inf, 0
    begin, end = int(shapes[body, 10]), int(shapes[body, 11])
    if begin == end:
        return _disc_entry(shapes, body, point, direction)
    t_enter, t_exit, entry_plane = -np.inf, np.inf, 0
    for number in range(begin, end):
        a, b, c = planes[number, 0], planes[number, 1], planes[number, 2]
        speed = a * direction[0] + b * direction[1] + c * direction[2]
        left = planes[number, 3] - (a * point[0] + b * point[1] + c * point[2])
        if speed < 0 and left / speed > t_enter:
            t_enter, entry_plane = left / speed, number - begin
        elif speed > 0:
            t_exit = min(t_exit, left / speed)
        elif speed == 0 and left < 0:
            return np.inf, 0
        if t_enter > t_exit:
            return np.inf, 0
    return t_enter, entry_plane


@numba.njit(cache=True)
def _disc_entry(shapes: Array, body: int, point: Vector, direction: Vector) -> tuple[float, int]:
    """As :func:`_entry`, for a disc: the intersection of a cylinder, the slab of its faces, and two bevel cones."""
    x, y, radius = point[0] - shapes[body, 4], point[1] - shapes[body, 5], shapes[body, 8]
    bottom, top = shapes[body, 6], shapes[body, 7]
    speed2, closing, distance2 = (
        direction[0] ** 2 + direction[1] ** 2,
        x * direction[0] + y * direction[1],
        x * x + y * y,
    )
    t_enter, t_exit, part = -np.inf, np.inf, SIDE
    if speed2 < 1e-12:
        if distance2 > radius * radius:
            return np.inf, part
    else:
        root = closing * closing - speed2 * (distance2 - radius * radius)
        if root < 0:
            return np.inf, part
        root = np.sqrt(root)
        t_enter, t_exit = (-closing - root) / speed2, (-closing + root) / speed2
    if direction[2] != 0:
        low, high = (bottom - point[2]) / direction[2], (top - point[2]) / direction[2]
        if min(low, high) > t_enter:
            t_enter, part = min(low, high), TOP if direction[2] < 0 else BOTTOM
        t_exit = min(t_exit, max(low, high))
    elif not bottom < point[2] < top:
        return np.inf, part
    # Bevels have 45°: a cone's apex is as far beyond the face as the face's radius.
    face_radius = radius - shapes[body, 9]
    for cone in (UPPER, LOWER):
        left, speed = top + face_radius - point[2], direction[2]
        if cone == LOWER:
            left, speed = point[2] - bottom + face_radius, -direction[2]
        cone_enter, cone_exit = _cone_interval(
            speed2 - speed * speed, closing + left * speed, distance2 - left * left, speed
        )
        if cone_enter > t_enter:
            t_enter, part = cone_enter, cone
        t_exit = min(t_exit, cone_exit)
    return (t_enter, part) if t_enter < t_exit else (np.inf, part)


@numba.njit(cache=True, inline="always")
def _cone_interval(a: float, b: float, c: float, speed: float) -> tuple[float, float]:
    """The interval of t in which a t² + 2 b t + c ≤ 0 on the disc's side of the apex; ``speed``: towards the apex."""
    if abs(a) < 1e-9:
        if abs(b) < 1e-12:
            return (-np.inf, np.inf) if c <= 0 else (np.inf, -np.inf)
        return (-np.inf, -c / (2 * b)) if b > 0 else (-c / (2 * b), np.inf)
    root = b * b - a * c
    if root < 0:
        return (np.inf, -np.inf) if a > 0 else (-np.inf, np.inf)
    root = np.sqrt(root)
    if a > 0:
        return (-b - root) / a, (-b + root) / a
    return (-np.inf, (-b + root) / a) if speed > 0 else ((-b - root) / a, np.inf)
