"""Ray intersection with bodies: discs as solids of revolution, others by their faces' planes, found with a grid.

A ray looks only at what stands on the squares of the grid over which it passes low enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from calibration.kit import Kit, PieceKind
from companion.simulate.light import to_linear
from companion.simulate.sprite import column_colours, standing_solids, upright
from companion.simulate.standing import Pile
from tools.traced import NEAR, NOTHING, PAINT_PX, Array, Vector, onto_paint, paint_of, planes_of
from vision.scene.solids import CHAMFER_SHARE, Solid, column

GRID_MM = 16.0
"""Side of a square of the grid."""

DISC_PARTS = 5
SIDE, UPPER, LOWER, TOP, BOTTOM = range(DISC_PARTS)
"""Surfaces of a disc: its side, its bevelled edges, its faces."""

GROUND = -2
SURFACES_EACH = 32
"""Surface numbers reserved for each body; none has so many."""

ROUGHNESS = {"disc": 0.12, "cube": 0.18, "pyramid": 0.1}
CARVED_ROUGHNESS, COLUMN_ROUGHNESS = 0.2, 0.3
"""Spread of the slopes of what mirrors, as of GGX: lacquer, painted wood, plastic; discs with characters; pillars and
terrain.  About those of the collection's pictures."""


class Body(NamedTuple):
    """One convex body.

    Attributes:
        number: the same while the body stands; numbers of its surfaces begin with it.
        planes: (p, 4) outward unit normal, and distance from the origin in mm; none for a disc.
        round: (6,) of a disc its middle x, y, lower and upper z, radius, bevel in mm; zeros for others.
        box: (2, 3) mm, its least and greatest coordinates.
        colours: (2, 3) linear, of sides and upper face.
        roughness: of what it mirrors.
        paint: which picture is on its upper face, or NOTHING.
        onto: (2, 4) row and column of that picture by where it is in mm.
    """

    number: int
    planes: Array
    round: Array
    box: Array
    colours: Array
    roughness: float
    paint: int
    onto: Array


class Solids(NamedTuple):
    """The shapes of all bodies (s), and the grid by which a ray finds them; as few arrays as a call can be fast with.

    Attributes:
        shapes: (s, 12) middle and square of the radius of a ball round each, mm; ``round`` as of :class:`Body`; where
            its planes begin and end.
        planes: (p, 4) of all bodies, one after the other.
        begin: (squares + 1,) where the members of each square of the grid begin, row by row.
        members: bodies over each square.
        tops: (squares,) mm, how high each square is built.
        frame: (5,) mm, the grid's least x and y, its sides, and the highest of its tops.
    """

    shapes: Array
    planes: Array
    begin: npt.NDArray[np.intp]
    members: npt.NDArray[np.intp]
    tops: Array
    frame: Array


class Bodies(NamedTuple):
    """All bodies (s).

    Attributes:
        solids: their shapes.
        numbers: (s,) as of :class:`Body`.
        colours: (s, 2, 3) linear, of sides and upper face.
        roughness: (s,) of what they mirror.
        paints: (s,) which of ``paint`` is on the upper face, or NOTHING.
        onto: (s, 2, 4) row and column of that picture by where it is in mm.
        paint: (k, PAINT_PX, PAINT_PX, 3) by what to multiply the colour of the face.
    """

    solids: Solids
    numbers: npt.NDArray[np.int32]
    colours: Array
    roughness: Array
    paints: npt.NDArray[np.intp]
    onto: Array
    paint: npt.NDArray[np.float32]


def bodies_on(kit: Kit, number: int, pile: Pile, level: int | None) -> list[Body]:
    """What stands on the ``number``-th cell: its pillar or terrain, and its pieces, bottom first."""
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
        paint = discs.index(kind) if kind in discs else NOTHING
        roughness = CARVED_ROUGHNESS if kind.glyph else ROUGHNESS[kind.shape]
        found.append(_body(first + place * SURFACES_EACH, solid, colours, roughness, kind, paint))
    return found


def _body(number: int, solid: Solid, colours: Array, roughness: float, kind: PieceKind | None, paint: int) -> Body:
    box = np.stack([solid.points.min(axis=0), solid.points.max(axis=0)])
    if kind is not None and kind.shape == "disc":
        (x, y, top), radius, bevel = upright(solid)[0], kind.width_mm / 2, CHAMFER_SHARE * kind.height_mm
        turned = np.array([x, y, top - kind.height_mm, top, radius, bevel])
        return Body(number, np.empty((0, 4)), turned, box, colours, roughness, paint, onto_paint(solid, kind))
    return Body(number, planes_of(solid), np.zeros(6), box, colours, roughness, paint, np.zeros((2, 4)))


def gathered(kit: Kit, bodies: Sequence[Body]) -> Bodies:
    """``bodies`` as arrays."""
    discs = [kind for kind in kit.pieces if kind.shape == "disc"]
    return Bodies(
        _solids(kit, bodies),
        np.array([body.number for body in bodies], np.int32),
        np.array([body.colours for body in bodies]).reshape(-1, 2, 3),
        np.array([body.roughness for body in bodies], np.float64),
        np.array([body.paint for body in bodies], np.intp),
        np.array([body.onto for body in bodies]).reshape(-1, 2, 4),
        np.array([paint_of(kind) for kind in discs], np.float32).reshape(-1, PAINT_PX, PAINT_PX, 3),
    )


def _solids(kit: Kit, bodies: Sequence[Body]) -> Solids:
    """Their shapes, with a grid that reaches over all squares of the board and somewhat beyond."""
    reach = np.ceil((np.abs(kit.centres_mm).max(axis=0) + max(kit.board.pitch_mm)) / GRID_MM) * GRID_MM
    columns, rows = (2 * reach / GRID_MM).astype(int)
    squares: list[list[int]] = [[] for _ in range(rows * columns)]
    tops = np.zeros(rows * columns)
    for i, body in enumerate(bodies):
        low, high = np.clip((body.box[:, :2] + reach) // GRID_MM, 0, [columns - 1, rows - 1]).astype(int)
        for row in range(low[1], high[1] + 1):
            for square in range(row * columns + low[0], row * columns + high[0] + 1):
                squares[square].append(i)
                tops[square] = max(tops[square], body.box[1, 2])
    ends = np.cumsum([0, *(len(body.planes) for body in bodies)])
    balls = [[*body.box.mean(axis=0), ((body.box[1] - body.box[0]) ** 2).sum() / 4] for body in bodies]
    shapes = [[*ball, *body.round, *ends[i : i + 2]] for i, (ball, body) in enumerate(zip(balls, bodies, strict=True))]
    return Solids(
        np.array(shapes, np.float64).reshape(-1, 12),
        np.vstack([np.empty((0, 4)), *(body.planes for body in bodies)]),
        np.cumsum([0, *map(len, squares)]),
        np.array([i for square in squares for i in square], np.intp),
        tops,
        np.array([*-reach, *(2 * reach), tops.max()]),
    )


@numba.njit(cache=True)
def hit(solids: Solids, at: Vector, towards: Vector, most: float) -> tuple[float, int, int]:
    """Distance, less than ``most``, at which a ray hits a body (or GROUND, NOTHING); the body; and its surface."""
    nearest, found, surface = most, NOTHING, 0
    if towards[2] < 0 and -at[2] / towards[2] < nearest:
        nearest, found = -at[2] / towards[2], GROUND
    frame = solids.frame
    x, y = at[0] - frame[0], at[1] - frame[1]
    enters, leaves = _within(x, towards[0], frame[2], 0.0, nearest)
    enters, leaves = _within(y, towards[1], frame[3], enters, leaves)
    enters, leaves = _within(at[2], towards[2], frame[4], enters, leaves)
    if enters >= leaves:
        return nearest, found, surface
    columns, rows = int(frame[2] / GRID_MM), int(frame[3] / GRID_MM)
    column = min(max(int((x + enters * towards[0]) / GRID_MM), 0), columns - 1)
    row = min(max(int((y + enters * towards[1]) / GRID_MM), 0), rows - 1)
    step_x, next_x, each_x = _stepping(x, towards[0], column)
    step_y, next_y, each_y = _stepping(y, towards[1], row)
    while 0 <= column < columns and 0 <= row < rows:
        ends, square = min(next_x, next_y), row * columns + column
        if at[2] + towards[2] * (enters if towards[2] > 0 else ends) <= solids.tops[square]:
            for member in range(solids.begin[square], solids.begin[square + 1]):
                body = solids.members[member]
                reach, part = _met(solids.shapes, solids.planes, body, at, towards)
                if NEAR / 10 < reach < nearest:
                    nearest, found, surface = reach, body, part
        if ends >= min(nearest, leaves):
            break
        enters = ends
        if next_x < next_y:
            column, next_x = column + step_x, next_x + each_x
        else:
            row, next_y = row + step_y, next_y + each_y
    return nearest, found, surface


@numba.njit(cache=True, inline="always")
def _within(from_mm: float, speed: float, wide_mm: float, enters: float, leaves: float) -> tuple[float, float]:
    """From where to where, within ``enters`` and ``leaves``, a ray is between 0 and ``wide_mm`` along an axis."""
    if speed == 0:
        return (enters, leaves) if 0 <= from_mm <= wide_mm else (np.inf, -np.inf)
    one, other = -from_mm / speed, (wide_mm - from_mm) / speed
    return max(enters, min(one, other)), min(leaves, max(one, other))


@numba.njit(cache=True, inline="always")
def _stepping(from_mm: float, speed: float, number: int) -> tuple[int, float, float]:
    """Along one axis: to which neighbour a ray goes, how far away that is, and how far each square after it."""
    if speed > 0:
        return 1, ((number + 1) * GRID_MM - from_mm) / speed, GRID_MM / speed
    if speed < 0:
        return -1, (number * GRID_MM - from_mm) / speed, -GRID_MM / speed
    return 0, np.inf, np.inf


@numba.njit(cache=True, inline="always")
def _met(shapes: Array, planes: Array, body: int, at: Vector, towards: Vector) -> tuple[float, int]:
    """Distance at which a ray enters a body, and the surface that it enters; inf if it misses."""
    x, y, z = shapes[body, 0] - at[0], shapes[body, 1] - at[1], shapes[body, 2] - at[2]
    along, apart2 = x * towards[0] + y * towards[1] + z * towards[2], x * x + y * y + z * z
    if apart2 - along * along > shapes[body, 3]:
        return np.inf, 0
    begin, end = int(shapes[body, 10]), int(shapes[body, 11])
    if begin == end:
        return _disc_met(shapes, body, at, towards)
    enters, leaves, entered = -np.inf, np.inf, 0
    for number in range(begin, end):
        a, b, c = planes[number, 0], planes[number, 1], planes[number, 2]
        speed = a * towards[0] + b * towards[1] + c * towards[2]
        left = planes[number, 3] - (a * at[0] + b * at[1] + c * at[2])
        if speed < 0 and left / speed > enters:
            enters, entered = left / speed, number - begin
        elif speed > 0:
            leaves = min(leaves, left / speed)
        elif speed == 0 and left < 0:
            return np.inf, 0
        if enters > leaves:
            return np.inf, 0
    return enters, entered


@numba.njit(cache=True)
def _disc_met(shapes: Array, body: int, at: Vector, towards: Vector) -> tuple[float, int]:
    """The same for a disc: the intersection of its cylinder, the slab of its faces, and the cones of its bevels."""
    x, y, radius = at[0] - shapes[body, 4], at[1] - shapes[body, 5], shapes[body, 8]
    bottom, top = shapes[body, 6], shapes[body, 7]
    speed2, closing, apart2 = towards[0] ** 2 + towards[1] ** 2, x * towards[0] + y * towards[1], x * x + y * y
    enters, leaves, part = -np.inf, np.inf, SIDE
    if speed2 < 1e-12:
        if apart2 > radius * radius:
            return np.inf, part
    else:
        root = closing * closing - speed2 * (apart2 - radius * radius)
        if root < 0:
            return np.inf, part
        root = np.sqrt(root)
        enters, leaves = (-closing - root) / speed2, (-closing + root) / speed2
    if towards[2] != 0:
        low, high = (bottom - at[2]) / towards[2], (top - at[2]) / towards[2]
        if min(low, high) > enters:
            enters, part = min(low, high), TOP if towards[2] < 0 else BOTTOM
        leaves = min(leaves, max(low, high))
    elif not bottom < at[2] < top:
        return np.inf, part
    # A cone's tip is as far beyond the face as the face is wide.
    wide = radius - shapes[body, 9]
    for cone in (UPPER, LOWER):
        left, speed = top + wide - at[2], towards[2]
        if cone == LOWER:
            left, speed = at[2] - bottom + wide, -towards[2]
        into, out = _cone_met(speed2 - speed * speed, closing + left * speed, apart2 - left * left, speed)
        if into > enters:
            enters, part = into, cone
        leaves = min(leaves, out)
    return (enters, part) if enters < leaves else (np.inf, part)


@numba.njit(cache=True, inline="always")
def _cone_met(a: float, b: float, c: float, speed: float) -> tuple[float, float]:
    """From where to where a t² + 2 b t + c ≤ 0 on the nappe that a ray with this ``speed`` towards the tip is in."""
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
