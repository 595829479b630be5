"""A position as a picture, made of boxes and words: the same for every page and every film.

Each stack is seen from the side on its square, so that what lies underneath can be read.  Every piece carries its
letter: nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from companion.rules.board import FILES, Cell, Piece, Player
from companion.rules.game import Game, Position
from companion.rules.notation import format_position

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "Red": "#b3202a",
        "Green": "#1f7a3a",
        "Blue": "#1d4fa3",
        "Yellow": "#8a6a00",
        "White": "#86683c",
        "Black": "#2a2a2a",
        "South": "#b3202a",
        "North": "#1d4fa3",
    }
)
"""Of a player's pieces, by what people call him; dark enough for white letters (4.5 : 1, WCAG 2.1), so that White's are
of unpainted wood."""

OTHERS = ("#86683c", "#2a2a2a", "#7a3b8f", "#0f6f73")
"""Of the players, in turn order, of a game that calls them otherwise."""

NOBODYS = "#66666a"
GROUND = ("#efeade", "#b09a74")
"""The lightest and the darkest square: the lowest and the highest level of ground or pillars."""

INK, LINE, FAINT = "#231f18", "#5b5446", "#4a4436"
PAPER = "#ffffff"
MOVED, WRONG = "#1769c2", "#d01c5b"
"""Of the frames round squares that a move went from and to (whole), and that a verdict is about (dashed)."""

SQUARE = 60
SLAB = 16
"""Height of a piece in the picture; a stack that would not fit is pressed together."""
FLOOR = 4
"""Between the lowest piece and its square's edge."""
MARGIN = 30


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, corners rounded by ``radius``; ``fill`` and ``stroke`` are ``#rrggbb``, empty for none."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str = ""
    stroke_width: float = 1.0
    radius: float = 0.0
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word on the base line ``y``, in the middle of ``x`` or, not ``is_centred``, from there on."""

    x: float
    y: float
    text: str
    size: float
    fill: str = INK
    is_centred: bool = True


Shape = Box | Word


@dataclass(frozen=True, slots=True)
class Square:
    """What is drawn of one square: its name, what lies there in words, and the shapes from the back to the front."""

    name: str
    told: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A whole board; ``names`` are those of files and ranks in the margin."""

    title: str
    width: int
    height: int
    squares: tuple[Square, ...]
    names: tuple[Word, ...]

    def shapes(self) -> Iterator[Shape]:
        """All of it, in the order of drawing."""
        for square in self.squares:
            yield from square.shapes
        yield from self.names


def diagram(game: Game, position: Position, moved: Collection[str] = (), wrong: Collection[str] = ()) -> Diagram:
    """The board in ``position``; squares are framed that a move changed, or that something is wrong with."""
    layout = game.layout
    return Diagram(
        title=format_position(game, position),
        width=2 * MARGIN + layout.files * SQUARE,
        height=2 * MARGIN + layout.ranks * SQUARE,
        squares=tuple(_square(game, position, cell, moved, wrong) for cell in range(len(layout.cells))),
        names=tuple(_names(game)),
    )


def _square(game: Game, position: Position, cell: Cell, moved: Collection[str], wrong: Collection[str]) -> Square:
    table, name = game.table(position), game.layout.cells[cell]
    levels = table.levels or game.layout.terrain
    x, y = _corner(game, cell)
    fill = _shade(levels[cell], min(levels), max(levels)) if levels else GROUND[0]
    shapes: list[Shape] = [Box(x, y, SQUARE, SQUARE, fill, LINE)]
    if levels:
        shapes.append(Word(x + 4, y + 12, str(levels[cell]), 10, FAINT, is_centred=False))
    stack = table.stacks[cell]
    rise = min(SLAB, (SQUARE - 2 * FLOOR) / max(len(stack), 1))
    for i, piece in enumerate(stack):
        shapes += _piece(game, piece, x + SQUARE / 2, y + SQUARE - FLOOR - (i + 1) * rise, rise)
    if name in wrong:
        shapes.append(Box(x + 2, y + 2, SQUARE - 4, SQUARE - 4, "", WRONG, 3, 3, is_dashed=True))
    elif name in moved:
        shapes.append(Box(x + 2, y + 2, SQUARE - 4, SQUARE - 4, "", MOVED, 3, 3))
    return Square(name, _told(name, stack, levels[cell] if levels else None), tuple(shapes))


def _told(name: str, stack: str, level: int | None) -> str:
    """The square in words, for who points at it or listens to the page."""
    ground = "" if level is None else f", level {level}"
    if not stack:
        return f"{name}{ground}: empty"
    if len(stack) == 1:
        return f"{name}{ground}: {stack}"
    return f"{name}{ground}: {len(stack)} pieces, from the bottom {' '.join(stack)}"


def _piece(game: Game, piece: Piece, middle: float, top: float, rise: float) -> tuple[Shape, Shape]:
    owner = game.owner(piece)
    fill = NOBODYS if owner is None else colour_of(game, owner)
    width = SQUARE * 0.7
    return (
        Box(middle - width / 2, top, width, rise, fill, PAPER, radius=3),
        Word(middle, top + rise * 0.85, piece, rise * 0.9, PAPER),
    )


def colour_of(game: Game, player: Player) -> str:
    """The colour of a player's pieces in pictures, ``#rrggbb``."""
    return COLOURS.get(game.names[player], OTHERS[game.players.index(player) % len(OTHERS)])


def _names(game: Game) -> Iterator[Word]:
    layout = game.layout
    below = MARGIN + layout.ranks * SQUARE + 18
    for file in range(layout.files):
        yield Word(MARGIN + (file + 0.5) * SQUARE, below, FILES[file], 14)
    for rank in range(layout.ranks):
        yield Word(MARGIN - 12, MARGIN + (layout.ranks - rank - 0.5) * SQUARE + 5, str(rank + 1), 14)


def _corner(game: Game, cell: Cell) -> tuple[int, int]:
    x, y = game.layout.places[cell]
    return MARGIN + x * SQUARE, MARGIN + (game.layout.ranks - 1 - y) * SQUARE


def _shade(level: int, lowest: int, highest: int) -> str:
    """A colour between the two of GROUND."""
    share = (level - lowest) / max(highest - lowest, 1)
    light, dark = (tuple(bytes.fromhex(colour[1:])) for colour in GROUND)
    mixed = (round(a + share * (b - a)) for a, b in zip(light, dark, strict=True))
    return "#" + bytes(mixed).hex()
