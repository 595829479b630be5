"""Draws discs, cubes and pyramids as flat shapes."""

from __future__ import annotations

from collections.abc import Iterator

from calibration.strokes import strokes
from companion.scene.model import Body, Look
from companion.scene.shapes import Barrel, Ellipse, Path, Pen, Polygon, Shape, Word
from companion.scene.view import View, shaded

GHOST_OPACITY, GLASS_OPACITY = 0.5, 0.62
"""Opacity of pieces that should not be there, and of those with another piece inside them."""

GHOST_PEN, OUTLINE_PEN = Pen("#d01c5b", 1.8, is_dashed=True), Pen("#231f18", 2.2, is_dashed=True)
STROKE_SHARE = 0.11
"""Width of a character's strokes as a fraction of its size."""

CHARACTER_SHARE, LETTER_SHARE, SIDE_SHARE = 0.6, 0.56, 0.86
"""Size of a character and of a letter on an upper face, relative to its width; of either on a side, to its height."""

SHADOW, SHADOW_OPACITY, SHADOW_SHARE = "#2a2012", 0.22, 0.1
"""Colour and opacity of shadows, and their offset as a fraction of the piece's width."""

LEFT, FRONT, RIGHT, BACK, TOP, RIM = 0.96, 0.8, 0.66, 0.6, 1.0, 1.16
"""Relative brightness of the faces of a body."""


def shadow(body: Body, view: View) -> Shape:
    """The shadow to the right of a stack whose lowest piece is ``body``."""
    half, shift = body.width / 2, SHADOW_SHARE * body.width
    x, y, z = body.x + shift, body.y - shift / 2, body.z
    if body.shape == "disc":
        wide = (half + shift / 2) * view.scale
        return Ellipse(*view.at(x, y, z), wide, wide * view.rise, SHADOW, opacity=SHADOW_OPACITY)
    corners = tuple(view.at(x + dx * half, y + dy * half, z) for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    return Polygon(corners, SHADOW, opacity=SHADOW_OPACITY)


def body_shapes(body: Body, view: View, *, is_covered: bool) -> Iterator[Shape]:
    """The shapes of a body; its mark is on the upper face, or on the side if another piece covers that."""
    makers = {"disc": _disc, "cube": _cube, "pyramid": _pyramid}
    yield from makers[body.shape](body, view, is_covered)


def _pen(body: Body) -> Pen:
    pens = {Look.GHOST: GHOST_PEN, Look.OUTLINE: OUTLINE_PEN}
    return pens.get(body.look, Pen(shaded(body.colour, 0.42), 0.9))


def _fill(body: Body, share: float) -> str:
    return "" if body.look == Look.OUTLINE else shaded(body.colour, share)


def _opacity(body: Body) -> float:
    if body.look == Look.GHOST:
        return GHOST_OPACITY
    return GLASS_OPACITY if body.is_hiding else 1.0


def _disc(body: Body, view: View, is_covered: bool) -> Iterator[Shape]:  # noqa: FBT001 - one of three alike
    x, y = view.at(body.x, body.y, body.top)
    rx = body.width / 2 * view.scale
    ry, tall = rx * view.rise, body.height * view.fall * view.scale
    pen, opacity, is_solid = _pen(body), _opacity(body), body.look == Look.SOLID
    if tall > 0.1:
        yield Barrel(x, y, rx, ry, tall, _fill(body, FRONT), pen, opacity)
        if is_solid:
            edge = ((-0.72, 0.69), (-0.5, 0.87))
            light = [(x + rx * a, y + ry * b) for a, b in edge]
            low = [(px, py + tall) for px, py in reversed(light)]
            yield Polygon((*light, *low), shaded(body.colour, RIM), opacity=0.45)
    yield Ellipse(x, y, rx, ry, _fill(body, TOP), pen, opacity)
    if body.look == Look.OUTLINE:
        return
    if not is_covered:
        yield Ellipse(x, y, 0.84 * rx, 0.84 * ry, "", Pen(shaded(body.colour, 1.28 if is_solid else 0.7), 1.2))
        share = CHARACTER_SHARE if body.is_drawn else LETTER_SHARE
        yield _mark(body, x, y, share * body.width * view.scale, view.rise)
    elif tall > 1:
        yield _mark(body, x, y + ry + tall / 2, SIDE_SHARE * tall, 1.0)


def _cube(body: Body, view: View, is_covered: bool) -> Iterator[Shape]:  # noqa: FBT001 - one of three alike
    half = body.width / 2
    left, back = view.at(body.x - half, body.y + half, body.top)
    right, front = view.at(body.x + half, body.y - half, body.top)
    tall = body.height * view.fall * view.scale
    pen, opacity = _pen(body), _opacity(body)
    if tall > 0.1:
        side = ((left, front), (right, front), (right, front + tall), (left, front + tall))
        yield Polygon(side, _fill(body, FRONT), pen, opacity)
    yield Polygon(((left, back), (right, back), (right, front), (left, front)), _fill(body, TOP), pen, opacity)
    if body.look == Look.OUTLINE:
        return
    middle = (left + right) / 2
    if not is_covered:
        yield _mark(body, middle, (back + front) / 2, LETTER_SHARE * body.width * view.scale, view.rise)
    elif tall > 1:
        yield _mark(body, middle, front + tall / 2, 0.7 * SIDE_SHARE * tall, 1.0)


def _pyramid(body: Body, view: View, is_covered: bool) -> Iterator[Shape]:  # noqa: ARG001, FBT001 - one of three alike
    half = body.width / 2
    tip = view.at(body.x, body.y, body.top)
    a, b, c, d = (
        view.at(body.x + dx * half, body.y + dy * half, body.z) for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    )
    pen, opacity = _pen(body), _opacity(body)
    faces = [((d, a, tip), LEFT), ((b, c, tip), RIGHT), ((a, b, tip), FRONT)]
    if tip[1] > d[1]:
        faces.insert(0, ((c, d, tip), BACK))
    for corners, share in faces:
        yield Polygon(corners, _fill(body, share), pen, opacity)
    if body.look != Look.OUTLINE:
        low = (a[1] + b[1]) / 2
        size = 0.44 * body.width * view.scale
        yield _mark(body, (a[0] + b[0]) / 2, low - 0.62 * size, size, 1.0)


def _mark(body: Body, x: float, y: float, size: float, squash: float) -> Shape:
    """The body's character, centred at a point, ``size`` wide."""
    lines = strokes(body.mark) if body.is_drawn else ()
    if not lines:
        return Word(x, y, body.mark, size, body.ink, squash, is_bold=True)
    placed = tuple(
        tuple((x + (u / 10 - 0.5) * size, y - (v / 10 - 0.5) * size * squash) for u, v in line) for line in lines
    )
    return Path(placed, Pen(body.ink, max(STROKE_SHARE * size, 0.5)))
