"""A position as people look at it: with characters, and as a picture (SVG)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from xml.sax.saxutils import escape

from companion.rules.board import FILES, Cell, Piece
from companion.rules.game import Game, Position
from companion.rules.notation import format_position, ranks_downward

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "Red": "#b3202a",
        "Green": "#1f7a3a",
        "Blue": "#1d4fa3",
        "Yellow": "#c99a10",
        "Black": "#2a2a2a",
        "South": "#b3202a",
        "North": "#1d4fa3",
    }
)
"""Of a player's pieces, by what people call him."""

NOBODYS = "#7a7a7e"
GROUND = ("#efeade", "#8f7a58")
"""The lightest and the darkest square: the lowest and the highest level of ground or pillars."""

SQUARE = 60
SLAB = 16
"""Height of a piece in the picture; a stack that would not fit is pressed together."""
MARGIN = 30


def draw_text(game: Game, position: Position) -> str:
    """The board with ranks downward and files to the right; stacks bottom to top, ``.`` for an empty square.

    Empty squares of raised ground show its level; pillars stand after what is on them.
    """
    layout, table = game.layout, game.table(position)
    ground = [str(level) if level else "." for level in layout.terrain or (0,) * len(layout.cells)]
    words = [stack or bare for stack, bare in zip(table.stacks, ground, strict=True)]
    if table.levels is not None:
        words = [f"{word}{level}" for word, level in zip(words, table.levels, strict=True)]
    width = max(len(word) for word in words) + 1
    lines = []
    for cells in ranks_downward(layout):
        row = [""] * layout.files
        for cell in cells:
            row[layout.places[cell][0]] = words[cell]
        number = layout.places[cells[0]][1] + 1
        lines.append(f"{number:>2} " + "".join(f"{word:<{width}}" for word in row).rstrip())
    lines.append("   " + "".join(f"{name:<{width}}" for name in FILES[: layout.files]).rstrip())
    return "\n".join([*lines, *captions(game, position)])


def captions(game: Game, position: Position) -> list[str]:
    """What the board does not show: who is to move or has won, and the position's keys."""
    outcome = game.outcome(position)
    if outcome is None:
        turn = f"to move: {game.names[position.to_move]}"
    elif outcome.winner is None:
        turn = f"drawn ({outcome.rule})"
    else:
        turn = f"won by: {game.names[outcome.winner]} ({outcome.rule})"
    return [turn, *(f"{key}: {value}" for key, value in game.position_keys(position))]


def draw_svg(game: Game, position: Position) -> str:
    """The board as an SVG picture: each stack seen from the side on its square, levels as shades and numbers."""
    layout = game.layout
    width, height = 2 * MARGIN + layout.files * SQUARE, 2 * MARGIN + layout.ranks * SQUARE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
            f"<title>{escape(format_position(game, position))}</title>",
            *(line for cell in range(len(layout.cells)) for line in _draw_cell(game, position, cell)),
            *_draw_names(game),
            "</svg>",
            "",
        ]
    )


def _draw_cell(game: Game, position: Position, cell: Cell) -> Iterator[str]:
    table = game.table(position)
    levels = table.levels or game.layout.terrain
    x, y = _corner(game, cell)
    fill = _shade(levels[cell], min(levels), max(levels)) if levels else GROUND[0]
    yield f'<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" fill="{fill}" stroke="#5b5446"/>'
    if levels:
        yield f'<text x="{x + 4}" y="{y + 12}" font-size="10" fill="#3a3428">{levels[cell]}</text>'
    stack = table.stacks[cell]
    rise = min(SLAB, (SQUARE - 8) / max(len(stack), 1))
    for i, piece in enumerate(stack):
        yield from _draw_piece(game, piece, x + SQUARE / 2, y + SQUARE - 4 - (i + 1) * rise, rise)


def _draw_piece(game: Game, piece: Piece, middle: float, top: float, rise: float) -> Iterator[str]:
    owner = game.owner(piece)
    fill = NOBODYS if owner is None else COLOURS[game.names[owner]]
    width = SQUARE * 0.7
    yield (
        f'<rect x="{middle - width / 2:g}" y="{top:g}" width="{width:g}" height="{rise:g}" rx="3" fill="{fill}" '
        'stroke="#ffffff"/>'
    )
    yield (
        f'<text x="{middle:g}" y="{top + rise * 0.85:g}" font-size="{rise * 0.9:g}" text-anchor="middle" '
        f'fill="#ffffff">{escape(piece)}</text>'
    )


def _draw_names(game: Game) -> Iterator[str]:
    layout = game.layout
    below = MARGIN + layout.ranks * SQUARE + 18
    for file in range(layout.files):
        middle = MARGIN + (file + 0.5) * SQUARE
        yield f'<text x="{middle:g}" y="{below}" font-size="14" text-anchor="middle">{FILES[file]}</text>'
    for rank in range(layout.ranks):
        middle = MARGIN + (layout.ranks - rank - 0.5) * SQUARE + 5
        yield f'<text x="{MARGIN - 12}" y="{middle:g}" font-size="14" text-anchor="middle">{rank + 1}</text>'


def _corner(game: Game, cell: Cell) -> tuple[int, int]:
    x, y = game.layout.places[cell]
    return MARGIN + x * SQUARE, MARGIN + (game.layout.ranks - 1 - y) * SQUARE


def _shade(level: int, lowest: int, highest: int) -> str:
    """A colour between the two of GROUND."""
    share = (level - lowest) / max(highest - lowest, 1)
    light, dark = (tuple(bytes.fromhex(colour[1:])) for colour in GROUND)
    mixed = (round(a + share * (b - a)) for a, b in zip(light, dark, strict=True))
    return "#" + bytes(mixed).hex()
