"""Writes diagrams as SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from xml.sax.saxutils import escape, quoteattr

from calibration.kit import Kit
from companion.rules.game import Game, Position
from companion.scene.build import scene
from companion.scene.oblique import diagram
from companion.scene.shapes import Barrel, Box, Diagram, Ellipse, Path, Pen, Points, Polygon, Shape, Word

DASHES = "6 4"

RISE_OF_LETTERS = 0.36
"""Half the height of capital letters as a fraction of their size, by which text is centred."""


def draw_svg(
    game: Game,
    position: Position,
    moved: Collection[str] = (),
    wrong: Collection[str] = (),
    kit: Kit | None = None,
) -> str:
    """The board as people at the table see it, as an SVG picture."""
    return svg_text(diagram(scene(game, position, kit, moved, wrong)))


def svg_text(picture: Diagram) -> str:
    """The diagram as SVG.

    Each square is a group of class ``square`` with its name in ``data-cell`` and its stack in words as the title, so
    that a page can find it and show a tooltip.
    """
    size = f"0 0 {_n(picture.width)} {_n(picture.height)}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" stroke-linejoin="round">'
    return "\n".join([head, f"<title>{escape(picture.title)}</title>", *svg_shapes(picture), "</svg>", ""])


def svg_shapes(picture: Diagram) -> Iterator[str]:
    """The lines of SVG for all shapes, in the picture's own coordinates."""
    yield from map(_svg, picture.under)
    for square in picture.squares:
        yield f'<g class="square" data-cell={quoteattr(square.name)}><title>{escape(square.label)}</title>'
        yield from map(_svg, square.shapes)
        yield "</g>"
    if picture.over:
        yield '<g class="over" pointer-events="none">'
        yield from map(_svg, picture.over)
        yield "</g>"


def _svg(shape: Shape) -> str:
    match shape:
        case Polygon():
            style = _style(shape.fill, shape.pen, shape.opacity)
            return f'<path{_class(shape.kind)} d="{_line(shape.points)}z"{style}/>'
        case Box():
            style = _style(shape.fill, shape.pen)
            place = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" height="{_n(shape.height)}"'
            return f'<rect {place} rx="{_n(shape.radius)}"{style}/>'
        case Ellipse():
            style = _style(shape.fill, shape.pen, shape.opacity)
            radii = f'rx="{_n(shape.rx)}" ry="{_n(shape.ry)}"'
            return f'<ellipse cx="{_n(shape.x)}" cy="{_n(shape.y)}" {radii}{style}/>'
        case Barrel():
            return _barrel(shape)
        case Path():
            lines = "".join(map(_line, shape.lines))
            return f'<path{_class(shape.kind)} d="{lines}" stroke-linecap="round"{_style("", shape.pen)}/>'
        case Word():
            return _word(shape)


def _class(kind: str) -> str:
    return f' class="mark {kind}"' if kind else ""


def _barrel(shape: Barrel) -> str:
    rx, ry = _n(shape.rx), _n(shape.ry)
    down = f"M{_n(shape.x - shape.rx)} {_n(shape.y)}v{_n(shape.height)}a{rx} {ry} 0 0 0 {_n(2 * shape.rx)} 0"
    path = f"{down}v{_n(-shape.height)}a{rx} {ry} 0 0 1 {_n(-2 * shape.rx)} 0z"
    return f'<path d="{path}"{_style(shape.fill, shape.pen, shape.opacity)}/>'


def _word(shape: Word) -> str:
    bold = ' font-weight="700"' if shape.is_bold else ""
    looks = f'font-size="{_n(shape.size)}" text-anchor="middle" fill="{shape.fill}"{bold}'
    if shape.squash == 1:
        low = shape.y + RISE_OF_LETTERS * shape.size
        return f'<text x="{_n(shape.x)}" y="{_n(low)}" {looks}>{escape(shape.text)}</text>'
    low = shape.y + RISE_OF_LETTERS * shape.size * shape.squash
    turn = f"matrix(1 0 0 {shape.squash:.2f} {_n(shape.x)} {_n(low)})"
    return f'<text transform="{turn}" {looks}>{escape(shape.text)}</text>'


def _style(fill: str, pen: Pen | None, opacity: float = 1.0) -> str:
    parts = f' fill="{fill or "none"}"'
    if pen is not None:
        parts += f' stroke="{pen.colour}" stroke-width="{_n(pen.width)}"'
        parts += f' stroke-dasharray="{DASHES}"' if pen.is_dashed else ""
    return parts + (f' opacity="{opacity:g}"' if opacity != 1 else "")


def _line(points: Points) -> str:
    (x, y), *others = points
    return f"M{_n(x)} {_n(y)}L" + " ".join(f"{_n(a)} {_n(b)}" for a, b in others)


def _n(value: float) -> str:
    """The number rounded to a tenth of a unit, which nobody can see."""
    return f"{round(value, 1):g}"
