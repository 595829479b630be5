"""Flat shapes of which pictures are made, in order from back to front.  Lengths are in the picture's own units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Pen:
    """A line: ``colour`` is ``#rrggbb``."""

    colour: str
    width: float = 1.0
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed outline; ``fill`` is ``#rrggbb``, empty for none; ``kind`` is the kind of mark, empty for a body."""

    points: Points
    fill: str
    pen: Pen | None = None
    opacity: float = 1.0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """An axis-aligned rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    pen: Pen | None = None


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse with its centre at ``x``, ``y``."""

    x: float
    y: float
    rx: float
    ry: float
    fill: str
    pen: Pen | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Barrel:
    """The side of an upright round body: ``x``, ``y`` is the middle of its upper face, ``height`` downward."""

    x: float
    y: float
    rx: float
    ry: float
    height: float
    fill: str
    pen: Pen | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Path:
    """Open lines with round ends; ``kind`` is the kind of mark, empty for a body."""

    lines: tuple[Points, ...]
    pen: Pen
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """A word whose middle is at ``x``, ``y``; its height is multiplied by ``squash``."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    squash: float = 1.0
    is_bold: bool = False


Shape = Polygon | Box | Ellipse | Barrel | Path | Word


@dataclass(frozen=True, slots=True)
class Square:
    """The drawing of one square: its name, its content in words, and its shapes from back to front."""

    name: str
    label: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A whole board: shapes ``under`` the squares, the squares, and shapes ``over`` them."""

    title: str
    width: float
    height: float
    under: tuple[Shape, ...]
    squares: tuple[Square, ...]
    over: tuple[Shape, ...]

    def shapes(self) -> Iterator[Shape]:
        """All shapes in drawing order."""
        yield from self.under
        for square in self.squares:
            yield from square.shapes
        yield from self.over
