"""The geometry of a board, computed once: what lies in each direction from each cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from companion.rules.board import DIAGONAL, ORTHOGONAL, Cell, Layout

Line = tuple[Cell, ...]
"""Cells in one direction, the nearest first; ends at the edge or at a missing square."""

UP, DOWN = ORTHOGONAL.index((0, 1)), ORTHOGONAL.index((0, -1))
"""The indices of the straight lines that lead towards the higher and the lower ranks."""

Leap = tuple[Cell, Cell, Cell]
"""A knight's move: the target, the orthogonal neighbour on the long axis, the diagonal neighbour."""


@dataclass(frozen=True)
class Lines:
    """For each cell, its ``straight`` lines in the order of ORTHOGONAL, its ``diagonal`` ones in that of DIAGONAL."""

    straight: tuple[tuple[Line, ...], ...]
    diagonal: tuple[tuple[Line, ...], ...]
    leaps: tuple[tuple[Leap, ...], ...]

    def neighbours(self, cell: Cell) -> tuple[Cell, ...]:
        """The orthogonal neighbours of a cell."""
        return tuple(line[0] for line in self.straight[cell] if line)

    def way(self, source: Cell, target: Cell) -> Line:
        """The cells that a piece meets from ``source`` to ``target``, ``target`` last: along a line, or by a leap."""
        for cell, neighbour, _ in self.leaps[source]:
            if cell == target:
                return neighbour, target
        lines = (line for line in self.straight[source] + self.diagonal[source] if target in line)
        return next((line[: line.index(target) + 1] for line in lines), (target,))


@cache
def lines_of(layout: Layout) -> Lines:
    """The geometry of ``layout``."""
    cells = range(len(layout.cells))
    return Lines(
        tuple(tuple(_line(layout, cell, dx, dy) for dx, dy in ORTHOGONAL) for cell in cells),
        tuple(tuple(_line(layout, cell, dx, dy) for dx, dy in DIAGONAL) for cell in cells),
        tuple(tuple(_leaps(layout, cell)) for cell in cells),
    )


def _line(layout: Layout, cell: Cell, dx: int, dy: int) -> Line:
    onward = layout.step(cell, dx, dy)
    return () if onward is None else (onward, *_line(layout, onward, dx, dy))


def _leaps(layout: Layout, cell: Cell) -> Iterator[Leap]:
    for dx, dy in ORTHOGONAL:
        for turn in (-1, 1):
            straight = layout.step(cell, dx, dy)
            slanted = layout.step(cell, dx + turn * dy, dy + turn * dx)
            target = layout.step(cell, 2 * dx + turn * dy, 2 * dy + turn * dx)
            if target is not None and straight is not None and slanted is not None:
                yield target, straight, slanted
