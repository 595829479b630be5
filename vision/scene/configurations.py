"""What can stand on a square, as wire models: every height and size that a kit allows, without its colours.

A figure is made of parts, the uppermost first.  A part is what a piece shows: the upper face of a disc or cube, the
side of one piece, or a whole pyramid.  Seen in a crop, whose columns run along the world's vertical, each part is one
run of pixels a column, below the part before.
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

TALLEST, TALLEST_MM = 10, 100.0
"""The tallest stack that is looked for, in pieces and in mm: twice what the games allow, as an unfinished turn can."""

ROUNDED_MM = 0.5
"""How far from its faces a turned or moulded piece is at its widest."""

RING_SIDES = 28
"""Sides of the polygon that stands for a disc; with its radius as below it is nowhere 0.1 mm off."""

TURNS_DEG = (-8.0, -4.0, 0.0, 4.0, 8.0)
"""Pyramids are tried turned so: their outlines depend on it, and players set them down a little turned."""

PLACE_MM = 1.0
"""Standard deviation of a stack's foot from the middle of its cell, each way."""

LEAN_MM = 0.8
"""Standard deviation of a stack's face from above its foot, each way."""

STEP_MM = 0.4
"""Standard deviation of a piece from above the one below it, each way."""

SECOND_PIECE = 0.05
"""How likely two pieces are beside one where they differ in size: those seldom lie on each other."""

_ANGLES = np.arange(RING_SIDES) * (2 * np.pi / RING_SIDES)
_RING = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)]) / np.sqrt(np.cos(np.pi / RING_SIDES))
_SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


@dataclass(frozen=True, eq=False)
class Wireframe:
    """Corners (p, 3) mm over the middle of the square's floor, and the lines (l, 2) between them."""

    corners_mm: Points
    lines: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Configuration:
    """One thing that can stand on a square.

    Attributes:
        height: in pieces; None where pieces may be hidden in it.
        size: the uppermost piece's kind, up to its colour and character.
        parts: what its pieces show, the uppermost first.
    """

    height: int | None
    size: PieceKind
    parts: tuple[Wireframe, ...]


@dataclass(frozen=True, eq=False)
class Configurations:
    """Everything that can stand on a square of a kit.

    Attributes:
        all: the figures; the first is the smallest.
        colours: the pieces' letters by the colours that the kit gives them, in its order.
        is_single_size: whether figure i is a stack of i + 1 pieces of one size.
        has_faces: whether pieces have upper faces; pyramids have none, their first part is a whole piece.
    """

    all: tuple[Configuration, ...]
    colours: tuple[tuple[str, ...], ...]
    is_single_size: bool
    has_faces: bool
    letters: npt.NDArray[np.object_]
    """(figures, colours) the letters of the pieces that may lie uppermost, as tuples; () where there is none."""

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """(figures, colours) whether there is a piece of that size and colour."""
        return np.array([[bool(letters) for letters in row] for row in self.letters])

    @cached_property
    def states(self) -> tuple[CellState, ...]:
        """Everything that can be read on a square, the empty one first."""
        standing = (
            (configuration.height, letter)
            for configuration, row in zip(self.all, self.letters, strict=True)
            for letters in row
            for letter in letters
        )
        return (EMPTY, *dict.fromkeys(standing))

    @property
    def has_several_sizes(self) -> bool:
        """Whether pieces with upper faces differ in size."""
        return self.has_faces and not self.is_single_size

    @cached_property
    def log_prior(self) -> npt.NDArray[np.float32]:
        """(figures,) how likely each is before anything is seen: alike, but for faced pieces of several sizes."""
        if not self.has_several_sizes:
            return np.zeros(len(self.all), np.float32)
        return np.array(
            [np.log(SECOND_PIECE) * (len(configuration.parts) - 2) for configuration in self.all], np.float32
        )

    @cached_property
    def wireframes(self) -> tuple[Wireframe, ...]:
        """The wires of which all figures are made, each once."""
        return tuple({id(part): part for configuration in self.all for part in configuration.parts}.values())

    @cached_property
    def wireframe_numbers(self) -> tuple[npt.NDArray[np.intp], ...]:
        """For each figure, the numbers of its parts among the wires."""
        number = {id(wireframe): i for i, wireframe in enumerate(self.wireframes)}
        return tuple(np.array([number[id(part)] for part in configuration.parts]) for configuration in self.all)

    @cached_property
    def parts(self) -> npt.NDArray[np.intp]:
        """(figures,) number of parts."""
        return np.array([len(configuration.parts) for configuration in self.all])


@lru_cache(maxsize=8)
def configurations_of(kit_pieces: tuple[PieceKind, ...], rise_mm: float | None) -> Configurations:
    """The figures of pieces of these kinds; ``rise_mm`` of one put over a larger one, where they are nested.

    Pieces of one size stack to any height; nested pyramids stack from large to small; of other pieces of several sizes
    two may lie on each other, either size on either.
    """
    sizes = _sizes(kit_pieces)
    colours: dict[object, list[PieceKind]] = {}
    for kind in kit_pieces:
        colours.setdefault(kind.colour, []).append(kind)
    configurations = [_stack(stack) for stack in stacks_of(kit_pieces)] if rise_mm is None else _nested(sizes, rise_mm)
    letters = np.empty((len(configurations), len(colours)), object)
    for (i, configuration), (j, kinds) in itertools.product(enumerate(configurations), enumerate(colours.values())):
        letters[i, j] = tuple(kind.letter for kind in kinds if _is_size(kind, configuration.size))
    groups = tuple(tuple(kind.letter for kind in kinds) for kinds in colours.values())
    is_single_size = rise_mm is None and len(sizes) == 1
    return Configurations(tuple(configurations), groups, is_single_size, rise_mm is None, letters)


def stacks_of(kit_pieces: tuple[PieceKind, ...]) -> tuple[tuple[PieceKind, ...], ...]:
    """Everything that can stand on a square, the lowest piece first, up to colours: lower stacks first."""
    sizes = _sizes(kit_pieces)
    if len(sizes) == 1:
        tallest = max(1, min(TALLEST, int(TALLEST_MM / sizes[0].height_mm)))
        return tuple(sizes * height for height in range(1, tallest + 1))
    ordered = sorted(sizes, key=lambda kind: kind.width_mm)
    return tuple(stack for height in (1, 2) for stack in itertools.product(ordered, repeat=height))


def kit_configurations(kit: Kit) -> Configurations:
    """The figures of a kit."""
    stacking = kit.stacking
    return configurations_of(kit.pieces, None if stacking is None else stacking.tower_rise_mm)


def base_of(kind: PieceKind, z_mm: float) -> Points:
    """(p, 3) mm, the outline of a piece's base or upper face at ``z_mm``, in order round it."""
    outline = _RING * (kind.width_mm / 2) if kind.shape == "disc" else _SQUARE * kind.width_mm
    return np.column_stack([outline, np.full(len(outline), z_mm)])


def ring(points_mm: Points) -> Wireframe:
    """The closed line through points (p, 3)."""
    numbers = np.arange(len(points_mm))
    return Wireframe(points_mm, np.column_stack([numbers, np.roll(numbers, -1)]))


def _sizes(kit_pieces: tuple[PieceKind, ...]) -> tuple[PieceKind, ...]:
    """One piece of each size."""
    return tuple({(kind.shape, kind.width_mm, kind.height_mm): kind for kind in kit_pieces}.values())


def _is_size(kind: PieceKind, size: PieceKind) -> bool:
    return (kind.shape, kind.width_mm, kind.height_mm) == (size.shape, size.width_mm, size.height_mm)


def _stack(kinds: tuple[PieceKind, ...]) -> Configuration:
    """A face and the pieces under it, the lowest first: each by the outline of its lower edge, and of a ledge."""
    # A rounded rim begins to curve in below the upper face and above the foot: that is where the outline is widest.
    parts = [_ring(kinds[0], ROUNDED_MM)]
    top_mm = kinds[0].height_mm
    for below, kind in itertools.pairwise(kinds):
        if below.width_mm > kind.width_mm:
            parts[-1] = _prism(parts[-1], _ring(below, top_mm - ROUNDED_MM))
        parts.append(_ring(kind, top_mm - ROUNDED_MM))
        top_mm += kind.height_mm
    parts.append(_ring(kinds[-1], top_mm - ROUNDED_MM))
    return Configuration(len(kinds), kinds[-1], tuple(parts[::-1]))


@lru_cache(maxsize=64)
def _ring(kind: PieceKind, z_mm: float) -> Wireframe:
    """The outline of a piece at a height: one wire for all figures that have it."""
    return ring(base_of(kind, z_mm))


def _prism(foot: Wireframe, top: Wireframe) -> Wireframe:
    """What lies between two outlines of equally many corners."""
    count = len(foot.corners_mm)
    upright = np.column_stack([np.arange(count), np.arange(count, 2 * count)])
    return Wireframe(np.vstack([foot.corners_mm, top.corners_mm]), np.vstack([foot.lines, top.lines + count, upright]))


def _nested(sizes: tuple[PieceKind, ...], rise_mm: float) -> list[Configuration]:
    """Towers of pyramids, lowest tip first; a single one may hide smaller ones, unless it is the smallest."""
    ordered = sorted(sizes, key=lambda kind: -kind.width_mm)
    configurations = []
    for count in range(1, len(ordered) + 1):
        for tower in itertools.combinations(ordered, count):
            if any(_is_inside(above, below, rise_mm) for below, above in itertools.pairwise(tower)):
                continue
            is_certain = count > 1 or tower[0] is ordered[-1]
            for turn_deg in TURNS_DEG:
                parts = tuple(_pyramid(kind, i * rise_mm, turn_deg) for i, kind in enumerate(tower))
                configurations.append(Configuration(count if is_certain else None, tower[-1], parts[::-1]))
    return sorted(configurations, key=lambda configuration: float(configuration.parts[0].corners_mm[:, 2].max()))


def _is_inside(above: PieceKind, below: PieceKind, rise_mm: float) -> bool:
    """Whether a pyramid that stands so much higher does not show outside the one below."""
    return above.width_mm <= below.width_mm * (1 - rise_mm / below.height_mm)


@lru_cache(maxsize=64)
def _pyramid(kind: PieceKind, base_mm: float, turn_deg: float) -> Wireframe:
    turn = np.radians(turn_deg)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = _SQUARE * kind.width_mm @ rotation.T
    points = np.vstack([np.column_stack([corners, np.full(4, base_mm)]), [[0.0, 0.0, base_mm + kind.height_mm]]])
    lines = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)]
    return Wireframe(points, np.array(lines))
