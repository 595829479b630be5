"""What stands on a table: cells, stacks, pieces; and what a camera can see of them.

A piece is one letter, a stack is the string of its pieces from bottom to top (``"RGG"``: red below, green
commands), and a cell is an index into :attr:`Layout.cells`.  Names of cells exist only at the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Cell = int
Stack = str
Piece = str
Player = str

NOBODY: Player = "-"
"""The player to move when the game is over (docs/notation.md)."""

FILES = "abcdefghijklmnopqrstuvwxyz"

ORTHOGONAL = ((1, 0), (-1, 0), (0, 1), (0, -1))
DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@dataclass(frozen=True)
class Layout:
    """The cells of a board: ``files`` × ``ranks`` without those named in ``missing``.

    ``cells`` is ordered as sensors are wired and as people count: a1, b1, …, a2, b2, ….  ``terrain`` is the level of
    the ground on each cell, in that order, in heights of a block; empty if the ground is flat.
    """

    files: int
    ranks: int
    missing: frozenset[str] = frozenset()
    terrain: tuple[int, ...] = ()

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """Names of the existing cells; a cell's index here is its ``Cell``."""
        names = (f"{FILES[x]}{y + 1}" for y in range(self.ranks) for x in range(self.files))
        return tuple(name for name in names if name not in self.missing)

    @cached_property
    def index(self) -> dict[str, Cell]:
        """Cell by name."""
        return {name: i for i, name in enumerate(self.cells)}

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """(file, rank), both from 0, of each cell."""
        return tuple((FILES.index(name[0]), int(name[1:]) - 1) for name in self.cells)

    @cached_property
    def at(self) -> dict[tuple[int, int], Cell]:
        """Cell by (file, rank), both from 0; places off the board are absent."""
        return {place: i for i, place in enumerate(self.places)}

    def step(self, cell: Cell, dx: int, dy: int) -> Cell | None:
        """The cell ``dx`` files to the right of ``cell`` and ``dy`` ranks above it; None: off the board."""
        x, y = self.places[cell]
        return self.at.get((x + dx, y + dy))


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that physically stands on the board: one stack a cell, and the pillar levels if it has pillars."""

    stacks: tuple[Stack, ...]
    levels: tuple[int, ...] | None = None


Sight = tuple[int | None, Piece | None]
"""What a perfect camera sees of one cell: (height in pieces, top piece).

``(0, None)`` is an empty cell; a height of ``None`` means that no camera can count it (a Ziggurat Keep).
"""


@dataclass(frozen=True, slots=True)
class View:
    """What a perfect camera (and perfect pillar sensors) see of a :class:`Table`."""

    sights: tuple[Sight, ...]
    levels: tuple[int, ...] | None = None
