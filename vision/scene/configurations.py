"""Configurations of a cell: every height and size of a stack that a kit allows, as wireframes, without its colours.

A configuration consists of parts, the uppermost first.  A part is a visible surface of a piece: the upper face of a
disc or cube, the side of one piece, or a whole pyramid.  In a rectified crop, whose columns run along the projection of
the world's vertical, each part is one run of pixels per column, below the previous part.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from calibration.kit import Kit, PieceKind
from vision.pose.projection import Points
from vision.reading import EMPTY, CellState
from vision.scene.solids import cross_section, square

TALLEST, TALLEST_MM = 10, 100.0
"""Tallest stack that is scored, in pieces and in mm: twice what the games allow, as unfinished turns can be higher."""

ROUNDED_MM = 0.5
"""Distance from a turned or moulded piece's faces at which it is widest.  Chosen by eye."""

BEVEL_MM = 0.8
"""Width and height of the bevel at its rims, where a picture is fine enough to show it: 0.7 to 1 mm in the collection,
whose discs are read better with this than without (log-likelihoods of the truth of 7 sets −16.1 → −11.7)."""

TURNS_DEG = (-8.0, -4.0, 0.0, 4.0, 8.0)
"""Rotations about the vertical in which pyramids are scored: their outlines depend on it, and players set them down
turned by up to 8°, as in the photographs of the collection."""

PLACE_MM = 1.0
"""Standard deviation of the offset of a stack's foot from the centre of its cell, along each axis.  Chosen by eye."""

LEAN_MM = 0.8
"""Standard deviation of the offset of a stack's upper face from its foot, along each axis.  Chosen by eye."""

SEAT_MM = 0.3
"""Likewise of a pyramid from the one it is put over: they are hollow, and seat each other.  Of 0.2 to 0.8 this gave the
likeliest truths on ten sets and five own boards."""

STEP_MM = 0.4
"""Standard deviation of the offset of a piece from the one below it, along each axis.  Chosen by eye."""

SECOND_PIECE = 0.05
"""Prior odds of two pieces against one where pieces differ in size: those are seldom stacked.  Chosen by eye."""

ALIKE_NATS = 18.0
"""Nats by which two nested pyramids of one size must be likelier than anything else: nobody who plays by the rules
makes such a pair.  Each of 20 drawn pairs was likelier by at least 22; of what is no such pair, a worker on a drone of
which four tenths were visible was by 13."""


@dataclass(frozen=True, eq=False)
class Wireframe:
    """A convex polyhedron or polygon: (p, 3) corners, mm from the floor's centre, and (l, 2) indices of its lines."""

    corners_mm: Points
    lines: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Configuration:
    """One configuration of a cell, up to colours.

    Attributes:
        height: in pieces; None where pieces may be hidden in it.
        size: the uppermost piece's kind, up to its colour and character.
        parts: the visible parts of its pieces, the uppermost first.
        log_prior: up to a constant.
    """

    height: int | None
    size: PieceKind
    parts: tuple[Wireframe, ...]
    log_prior: float = 0.0

    @property
    def face_mm(self) -> float:
        """Height of the upper face, if it has one, above the floor: somewhat above where the piece is widest."""
        return float(self.parts[0].corners_mm[0, 2]) + ROUNDED_MM


@dataclass(frozen=True, eq=False)
class Configurations:
    """All configurations of a kit.

    Attributes:
        all: the configurations (f); the first is the smallest.
        colours: the pieces' letters, grouped by the colours that the kit gives them, in its order.
        is_single_size: whether configuration i is a stack of i + 1 pieces of one size.
        has_faces: whether pieces have upper faces; pyramids have none, their first part is a whole piece.
    """

    all: tuple[Configuration, ...]
    colours: tuple[tuple[str, ...], ...]
    is_single_size: bool
    has_faces: bool
    letters: npt.NDArray[np.object_]
    """(f, colours) tuples of the letters of the pieces that may lie uppermost; () where there is none."""

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """(f, colours) bool, whether there is a piece of that size and colour."""
        return np.array([[bool(letters) for letters in row] for row in self.letters])

    @cached_property
    def states(self) -> tuple[CellState, ...]:
        """Every state that may be read for a cell, the empty one first."""
        standing = (
            (configuration.height, letter)
            for configuration, row in zip(self.all, self.letters, strict=True)
            for letters in row
            for letter in letters
        )
        return (EMPTY, *dict.fromkeys(standing))

    @cached_property
    def state_columns(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The columns of a board's scores, grouped by state, and where each state's group begins."""
        index = {state: i for i, state in enumerate(self.states)}
        rows = (
            (configuration.height, letters)
            for configuration, row in zip(self.all, self.letters, strict=True)
            for letters in row
        )
        pairs = [(0, 0)]
        for column, (height, letters) in enumerate(rows, start=1):
            pairs += [(index[height, letter], column) for letter in letters]
        states, columns = np.array(sorted(pairs), np.intp).T
        return columns, np.searchsorted(states, np.arange(len(index)))

    @property
    def has_plain_faces(self) -> bool:
        """Whether pieces are of one size and their upper faces are of one colour, without characters."""
        return self.has_faces and self.is_single_size and all(len(letters) == 1 for letters in self.colours)

    @property
    def are_discs(self) -> bool:
        """Whether pieces are discs of one size."""
        return self.is_single_size and self.all[0].size.shape == "disc"

    @property
    def has_several_sizes(self) -> bool:
        """Whether pieces with upper faces differ in size."""
        return self.has_faces and not self.is_single_size

    @cached_property
    def log_prior(self) -> npt.NDArray[np.float32]:
        """(f,) float32 log prior of each: uniform, except for faced pieces of several sizes and nested pairs of one."""
        return np.array([configuration.log_prior for configuration in self.all], np.float32)

    @cached_property
    def wireframes(self) -> tuple[Wireframe, ...]:
        """The distinct wireframes of which all configurations are made."""
        return tuple({id(part): part for configuration in self.all for part in configuration.parts}.values())

    @cached_property
    def wireframe_numbers(self) -> tuple[npt.NDArray[np.intp], ...]:
        """For each configuration, the indices of its parts in :attr:`wireframes`."""
        number = {id(wireframe): i for i, wireframe in enumerate(self.wireframes)}
        return tuple(np.array([number[id(part)] for part in configuration.parts]) for configuration in self.all)

    @cached_property
    def parts(self) -> npt.NDArray[np.intp]:
        """(f,) intp, number of parts."""
        return np.array([len(configuration.parts) for configuration in self.all])


@lru_cache(maxsize=8)
def configurations_of(kit_pieces: tuple[PieceKind, ...], rise_mm: float | None) -> Configurations:
    """The configurations of pieces of these kinds.

    ``rise_mm``: rise of a nested piece above the one that it is put over; None where pieces do not nest.  Pieces of
    one size stack to any height; nested pyramids stack from large to small; of other pieces of several sizes two may be
    stacked, any size on any.
    """
    sizes = _sizes(kit_pieces)
    colours: dict[object, list[PieceKind]] = {}
    for kind in kit_pieces:
        colours.setdefault(kind.colour, []).append(kind)
    second = np.log(SECOND_PIECE) if len(sizes) > 1 else 0.0
    stacks = (_stack(stack, second * (len(stack) - 1)) for stack in stacks_of(kit_pieces))
    configurations = [*stacks] if rise_mm is None else _nested(sizes, rise_mm)
    letters = np.empty((len(configurations), len(colours)), object)
    for (i, configuration), (j, kinds) in itertools.product(enumerate(configurations), enumerate(colours.values())):
        letters[i, j] = tuple(kind.letter for kind in kinds if _is_size(kind, configuration.size))
    groups = tuple(tuple(kind.letter for kind in kinds) for kinds in colours.values())
    is_single_size = rise_mm is None and len(sizes) == 1
    return Configurations(tuple(configurations), groups, is_single_size, rise_mm is None, letters)


def stacks_of(kit_pieces: tuple[PieceKind, ...]) -> tuple[tuple[PieceKind, ...], ...]:
    """Every stack that a cell can hold, up to colours, the lowest piece first; lower stacks come first."""
    sizes = _sizes(kit_pieces)
    if len(sizes) == 1:
        tallest = max(1, min(TALLEST, int(TALLEST_MM / sizes[0].height_mm)))
        return tuple(sizes * height for height in range(1, tallest + 1))
    ordered = sorted(sizes, key=lambda kind: kind.width_mm)
    return tuple(stack for height in (1, 2) for stack in itertools.product(ordered, repeat=height))


def kit_configurations(kit: Kit) -> Configurations:
    """The configurations of a kit."""
    stacking = kit.stacking
    return configurations_of(kit.pieces, None if stacking is None else stacking.tower_rise_mm)


def ring(points_mm: Points) -> Wireframe:
    """The closed polygon through points (p, 3) mm."""
    numbers = np.arange(len(points_mm))
    return Wireframe(points_mm, np.column_stack([numbers, np.roll(numbers, -1)]))


def _sizes(kit_pieces: tuple[PieceKind, ...]) -> tuple[PieceKind, ...]:
    """One piece of each size."""
    return tuple({(kind.shape, kind.width_mm, kind.height_mm): kind for kind in kit_pieces}.values())


def _is_size(kind: PieceKind, size: PieceKind) -> bool:
    return (kind.shape, kind.width_mm, kind.height_mm) == (size.shape, size.width_mm, size.height_mm)


def _stack(kinds: tuple[PieceKind, ...], log_prior: float) -> Configuration:
    """A face and the sides below it, each given by its lower edge, and its upper one if it is a ledge; lowest first."""
    # A rounded rim begins to curve in below the upper face and above the foot: that is where the outline is widest.
    # Where two discs meet the upper one occludes the other.  Cubes are tall relative to their bevels: visible ones are
    # read equally well with either line, what they occlude is read better with the lower one.
    parts = [_ring(kinds[0], ROUNDED_MM)]
    top_mm = kinds[0].height_mm
    for below, kind in itertools.pairwise(kinds):
        if below.width_mm > kind.width_mm:
            parts[-1] = _prism(parts[-1], _ring(below, top_mm - ROUNDED_MM))
        parts.append(_ring(kind, top_mm + (BEVEL_MM / 2 if kind.shape == "disc" else -ROUNDED_MM)))
        top_mm += kind.height_mm
    parts.append(_ring(kinds[-1], top_mm - ROUNDED_MM))
    return Configuration(len(kinds), kinds[-1], tuple(parts[::-1]), log_prior)


@lru_cache(maxsize=64)
def _ring(kind: PieceKind, z_mm: float) -> Wireframe:
    """The outline of a piece at a height, one object shared by all configurations that have it."""
    return ring(cross_section(kind, z_mm))


def _prism(foot: Wireframe, top: Wireframe) -> Wireframe:
    """The prism between two outlines with the same number of corners."""
    count = len(foot.corners_mm)
    upright = np.column_stack([np.arange(count), np.arange(count, 2 * count)])
    return Wireframe(np.vstack([foot.corners_mm, top.corners_mm]), np.vstack([foot.lines, top.lines + count, upright]))


def _nested(sizes: tuple[PieceKind, ...], rise_mm: float) -> list[Configuration]:
    """Towers of pyramids, lowest tip first; a single one may hide smaller ones, unless it is the smallest.

    Of towers with two pyramids of one size only pairs are included: higher ones are rare, and cost time in every
    picture.
    """
    ordered = sorted(sizes, key=lambda kind: -kind.width_mm)
    towers = [tower for count in range(1, len(ordered) + 1) for tower in itertools.combinations(ordered, count)]
    alike = list(zip(ordered, ordered, strict=True))
    configurations = []
    for tower in towers + alike:
        if any(_is_inside(above, below, rise_mm) for below, above in itertools.pairwise(tower)):
            continue
        height = len(tower) if len(tower) > 1 or tower[0] is ordered[-1] else None
        log_prior = -ALIKE_NATS if tower in alike else 0.0
        for turn_deg in TURNS_DEG:
            parts = tuple(_pyramid(kind, i * rise_mm, turn_deg) for i, kind in enumerate(tower))
            configurations.append(Configuration(height, tower[-1], parts[::-1], log_prior))
    return sorted(configurations, key=lambda configuration: float(configuration.parts[0].corners_mm[:, 2].max()))


def _is_inside(above: PieceKind, below: PieceKind, rise_mm: float) -> bool:
    """Whether a pyramid that is nested on another lies within it."""
    return above.width_mm <= below.width_mm * (1 - rise_mm / below.height_mm)


@lru_cache(maxsize=64)
def _pyramid(kind: PieceKind, base_mm: float, turn_deg: float) -> Wireframe:
    turn = np.radians(turn_deg)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = square(kind.width_mm, base_mm)
    corners[:, :2] = corners[:, :2] @ rotation.T
    points = np.vstack([corners, [[0.0, 0.0, base_mm + kind.height_mm]]])
    lines = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)]
    return Wireframe(points, np.array(lines))
