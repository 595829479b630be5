"""The data model of a scene: bodies on a board and marks on them.  Millimetres; plain values, ready for JSON.

World frame: origin in the middle of the board, x to the first player's right, y away from them, z up from the board.
Colours are ``#rrggbb``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from calibration.strokes import strokes


class Look(StrEnum):
    """How a body is drawn: as present, as something that should not be there, or as missing."""

    SOLID = "solid"
    GHOST = "ghost"
    OUTLINE = "outline"


class Tone(StrEnum):
    """The meaning of a mark."""

    MOVED = "moved"
    WRONG = "wrong"
    ASKED = "asked"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Ground:
    """One square: the centre, side and height of its upper face; ``level`` is None on a flat board."""

    cell: str
    x: float
    y: float
    z: float
    side: float
    colour: str
    top_colour: str
    level: int | None


@dataclass(frozen=True, slots=True)
class Body:
    """One piece.

    Attributes:
        cell: the square on which it stands.
        piece: its letter.
        shape: ``disc``, ``cube`` or ``pyramid``.
        x: x of its centre.
        y: y of its centre.
        z: z of its lower face.
        width: diameter, side or base edge.
        height: height from its lower face to its top.
        colour: colour of its sides.
        mark: the character on it: the kit's own, or the piece's letter.
        ink: colour of the mark.
        is_drawn: whether the mark is a character of the kit, drawn on the upper face.
        look: how it is drawn.
        is_hiding: whether a smaller body stands entirely inside it.
    """

    cell: str
    piece: str
    shape: str
    x: float
    y: float
    z: float
    width: float
    height: float
    colour: str
    mark: str
    ink: str
    is_drawn: bool = False
    look: Look = Look.SOLID
    is_hiding: bool = False

    @property
    def top(self) -> float:
        """Height of its top above the board."""
        return self.z + self.height


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame around a square."""

    cell: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Cross:
    """A cross over a surplus body, at its middle."""

    x: float
    y: float
    z: float
    size: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one point to another, (x, y, z) each."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    tone: Tone


@dataclass(frozen=True, slots=True)
class Tally:
    """A label beside a stack with its number of pieces; ``pieces`` are their letters, the lowest first."""

    cell: str
    text: str
    pieces: str
    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything on one board.

    Attributes:
        title: the position as text.
        files: number of squares from left to right.
        ranks: number of squares from front to back.
        pitch: distance between the middles of neighbouring squares.
        ceiling: usual height of stacks, for which the picture leaves room.
        mat_colour: colour of the mat around the squares.
        line_colour: colour of the lines between them.
        grounds: every square.
        bodies: every piece, the lower ones of a stack first.
        tallies: labels of stacks of several pieces.
        frames: frames around marked squares.
        crosses: crosses over surplus bodies.
        arrows: movements to be made.
    """

    title: str
    files: int
    ranks: int
    pitch: float
    ceiling: float
    mat_colour: str
    line_colour: str
    grounds: tuple[Ground, ...]
    bodies: tuple[Body, ...]
    tallies: tuple[Tally, ...] = ()
    frames: tuple[Frame, ...] = ()
    crosses: tuple[Cross, ...] = ()
    arrows: tuple[Arrow, ...] = ()


def to_json(scene: Scene) -> dict[str, Any]:
    """The scene as a JSON object: its fields, and the strokes of the characters on the pieces."""
    drawn = {body.mark: strokes(body.mark) for body in scene.bodies if body.is_drawn}
    return asdict(scene) | {"characters": drawn}
