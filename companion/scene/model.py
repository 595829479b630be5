"""The bodies that stand on a board, and what is marked on them.  Millimetres; plain values, ready for JSON.

World frame: origin in the middle of the board, x to the first player's right, y away from him, z up from the board.
Colours are ``#rrggbb``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from calibration.strokes import strokes


class Look(StrEnum):
    """How a body is drawn: as it stands, as something that should not be there, or as something that is missing."""

    SOLID = "solid"
    GHOST = "ghost"
    OUTLINE = "outline"


class Tone(StrEnum):
    """What a mark says."""

    MOVED = "moved"
    WRONG = "wrong"
    ASKED = "asked"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Ground:
    """One square: the centre, side and height of its upper face; ``level`` is None where all squares are level."""

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
        x: of its centre.
        y: of its centre.
        z: of its lower face.
        width: diameter, side or base edge.
        height: from its lower face to its top.
        colour: of its sides.
        mark: the character on it: the kit's own, or the piece's letter.
        ink: colour of the mark.
        is_drawn: whether the mark is a character of the kit, drawn on the upper face.
        look: how it is drawn.
        is_hiding: whether a smaller body stands wholly inside it.
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
    """A frame round a square."""

    cell: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Cross:
    """A cross over a body that is too many, at its middle."""

    x: float
    y: float
    z: float
    size: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way from one point to another, (x, y, z) each."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    tone: Tone


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pieces stand on a square, beside the stack; ``pieces`` are their letters, the lowest first."""

    cell: str
    text: str
    pieces: str
    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything of one board.

    Attributes:
        title: the position in text.
        files: squares from left to right.
        ranks: squares from front to back.
        pitch: from the middle of a square to that of the next.
        ceiling: height to which stacks usually reach: the picture leaves room for it.
        mat_colour: of what lies around the squares.
        line_colour: of the lines between them.
        grounds: every square.
        bodies: every piece, the lower ones of a stack first.
        tallies: of stacks of several pieces.
        frames: marked squares.
        crosses: over what is too many.
        arrows: ways to go.
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
    """The scene as a JSON object: the fields of the values above, and the strokes of the characters on the pieces."""
    drawn = {body.mark: strokes(body.mark) for body in scene.bodies if body.is_drawn}
    return asdict(scene) | {"characters": drawn}
