"""What pictures are made of: flat shapes in order, from the back to the front.  Lengths in the picture's own units."""

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
    """A closed outline; ``fill`` is ``#rrggbb``, empty for none; ``kind`` is what it marks, empty for a body."""

    points: Points
    fill: str
    pen: Pen | None = None
    opacity: float = 1.0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    pen: Pen | None = None


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse round ``x``, ``y``."""

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
    """Open lines with round ends; ``kind`` is what they mark, empty for a body."""

    lines: tuple[Points, ...]
    pen: Pen
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """A word whose middle is at ``x`` and ``y``; its height is ``squash`` of that of plain letters."""

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
    """What is drawn of one square: its name, what stands there in words, and the shapes from the back to the front."""

    name: str
    told: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A whole board: what lies ``under`` the squares, the squares, and what is written ``over`` them."""

    title: str
    width: float
    height: float
    under: tuple[Shape, ...]
    squares: tuple[Square, ...]
    over: tuple[Shape, ...]

    def shapes(self) -> Iterator[Shape]:
        """All of it, in the order of drawing."""
        yield from self.under
        for square in self.squares:
            yield from square.shapes
        yield from self.over
