"""A position as people look at it: with characters, and as a picture (SVG)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from xml.sax.saxutils import escape, quoteattr

from companion.rules.board import FILES
from companion.rules.diagram import Box, Diagram, Shape, Word, diagram
from companion.rules.game import Game, Position
from companion.rules.notation import ranks_downward

DASHES = "6 4"


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


def draw_svg(game: Game, position: Position, moved: Collection[str] = (), wrong: Collection[str] = ()) -> str:
    """The board as an SVG picture (:func:`companion.rules.diagram.diagram`).

    Each square is a group of class ``square`` with its name in ``data-cell`` and its stack in words as the title, so
    that a page can find it and a pointer that rests on it reads what lies there.
    """
    picture = diagram(game, position, moved, wrong)
    size = f"0 0 {picture.width} {picture.height}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif">'
    return "\n".join([head, f"<title>{escape(picture.title)}</title>", *svg_shapes(picture), "</svg>", ""])


def svg_shapes(picture: Diagram) -> Iterator[str]:
    """The lines of SVG inside the picture's own coordinates."""
    for square in picture.squares:
        yield f'<g class="square" data-cell={quoteattr(square.name)}><title>{escape(square.told)}</title>'
        yield from map(_svg, square.shapes)
        yield "</g>"
    yield from map(_svg, picture.names)


def _svg(shape: Shape) -> str:
    match shape:
        case Box():
            stroke = f' stroke="{shape.stroke}"' if shape.stroke else ""
            width = f' stroke-width="{shape.stroke_width:g}"' if shape.stroke_width != 1 else ""
            dashes = f' stroke-dasharray="{DASHES}"' if shape.is_dashed else ""
            radius = f' rx="{shape.radius:g}"' if shape.radius else ""
            return (
                f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}"{radius} '
                f'fill="{shape.fill or "none"}"{stroke}{width}{dashes}/>'
            )
        case Word():
            anchor = ' text-anchor="middle"' if shape.is_centred else ""
            return (
                f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}"{anchor} '
                f'fill="{shape.fill}">{escape(shape.text)}</text>'
            )
