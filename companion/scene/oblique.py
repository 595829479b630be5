"""A scene as a picture: a parallel projection from the first player's side, or from straight above."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, hypot, radians, sin
from types import MappingProxyType

from companion.rules.board import FILES
from companion.scene.model import Arrow, Body, Cross, Frame, Ground, Look, Scene, Tally, Tone
from companion.scene.shapes import Box, Diagram, Path, Pen, Polygon, Shape, Square, Word
from companion.scene.solids import body_shapes, shadow
from companion.scene.view import View, shaded

ELEVATION_DEG = 52.0
"""As people at the table see it: upper faces and sides are both legible, and few squares are hidden."""

ABOVE_DEG = 90.0

INK, FAINT, PAPER = "#231f18", "#4a4436", "#ffffff"
TONES = MappingProxyType({Tone.MOVED: "#1769c2", Tone.WRONG: "#d01c5b", Tone.ASKED: "#1769c2", Tone.LEFT: "#a05a00"})
"""Colours of marks; those of wrong squares are also dashed."""

BORDER_PITCHES = 0.36
"""Width of the board's border, which has the names of files and ranks."""

SLAB_MM = 7.0
"""Thickness of the board under the squares."""

MARGIN = 6.0
SIDE_SHADE, LINE_SHADE = 0.8, 0.55
INSET_MM = 1.6
FIGURE_PITCHES, NAME_PITCHES = 0.2, 0.24
"""Size of the digits of levels, and of the names in the border."""

TALLY_SIZE = 14.0
ARROW_STEPS, ARROW_LIFT, ARROW_WIDTH = 16, 0.14, 5.0
CASING = 4.0
"""How much wider the light line under a mark is than the mark."""


def diagram(scene: Scene, elevation_deg: float = ELEVATION_DEG) -> Diagram:
    """The picture of ``scene``; its size depends on the board only, unless what stands there needs more room."""
    view = _view(scene, elevation_deg)
    frames = {frame.cell: frame for frame in scene.frames}
    order = sorted(scene.grounds, key=lambda ground: (-ground.y, ground.x))
    squares = tuple(_square(scene, ground, frames.get(ground.cell), view) for ground in order)
    over: list[Shape] = []
    for tally in scene.tallies:
        over += _tally(tally, view)
    for cross in scene.crosses:
        over += _cross(cross, view)
    for arrow in scene.arrows:
        over += _arrow(arrow, view)
    return Diagram(scene.title, view.width, view.height, tuple(_slab(scene, view)), squares, tuple(over))


def plan(scene: Scene) -> Diagram:
    """The picture from straight above, with every stack's pieces as bars beside it."""
    return diagram(scene, ABOVE_DEG)


def _view(scene: Scene, elevation_deg: float) -> View:
    rise, fall = sin(radians(elevation_deg)), cos(radians(elevation_deg))
    border = BORDER_PITCHES * scene.pitch
    half_x, half_y = scene.files * scene.pitch / 2 + border, scene.ranks * scene.pitch / 2 + border
    back = half_y - border - scene.pitch / 2
    tops = [body.top * fall + body.y * rise for body in scene.bodies]
    ends = [ground.z * fall + (ground.y + ground.side / 2) * rise for ground in scene.grounds]
    head = max([half_y * rise, scene.ceiling * fall + back * rise, *tops, *ends])
    return View(rise, fall, half_x, head, SLAB_MM * fall + half_y * rise, MARGIN)


def _slab(scene: Scene, view: View) -> Iterator[Shape]:
    """The board itself, with the names of files and ranks in its border."""
    border = BORDER_PITCHES * scene.pitch
    x, y = scene.files * scene.pitch / 2 + border, scene.ranks * scene.pitch / 2 + border
    colour = scene.mat_colour
    left, top = view.at(-x, y, 0)
    right, bottom = view.at(x, -y, 0)
    edge = SLAB_MM * view.fall * view.scale
    pen = Pen(shaded(colour, LINE_SHADE), 1.2)
    yield Box(left, top, right - left, bottom - top + edge, 7, shaded(colour, SIDE_SHADE), pen)
    yield Box(left, top, right - left, bottom - top, 7, colour, pen)
    size, ink = NAME_PITCHES * scene.pitch * view.scale, shaded(colour, 0.45)
    for file in range(scene.files):
        at = view.at((file - (scene.files - 1) / 2) * scene.pitch, -y + border / 2, 0)
        yield Word(*at, FILES[file], size, ink, max(view.rise, 0.85))
    for rank in range(scene.ranks):
        at = view.at(-x + border / 2, (rank - (scene.ranks - 1) / 2) * scene.pitch, 0)
        yield Word(*at, str(rank + 1), size, ink, max(view.rise, 0.85))


def _square(scene: Scene, ground: Ground, frame: Frame | None, view: View) -> Square:
    stack = [body for body in scene.bodies if body.cell == ground.cell]
    shapes = list(_ground(scene, ground, view))
    if frame is not None:
        shapes.append(_frame(ground, frame, view))
    if stack and stack[0].look != Look.OUTLINE:
        shapes.append(shadow(stack[0], view))
    for i, body in enumerate(stack):
        shapes += body_shapes(body, view, is_covered=i + 1 < len(stack) and stack[i + 1].look != Look.OUTLINE)
    if view.fall < 0.01:
        shapes += _bars(ground, stack, view)
    return Square(ground.cell, square_label(ground.cell, stack, ground.level), tuple(shapes))


def square_label(name: str, stack: list[Body], level: int | None) -> str:
    """A square in words, for tooltips and screen readers."""
    ground = "" if level is None else f", level {level}"
    standing = [body.piece for body in stack if body.look == Look.SOLID]
    if not standing:
        return f"{name}{ground}: empty"
    if len(standing) == 1:
        return f"{name}{ground}: {standing[0]}"
    return f"{name}{ground}: {len(standing)} pieces, from the bottom {' '.join(standing)}"


def _ground(scene: Scene, ground: Ground, view: View) -> Iterator[Shape]:
    half = ground.side / 2
    left, back = view.at(ground.x - half, ground.y + half, ground.z)
    right, front = view.at(ground.x + half, ground.y - half, ground.z)
    pen = Pen(scene.line_colour, 0.9)
    foot = view.at(0, ground.y - half, 0)[1]
    if foot > front + 0.1:
        side = ((left, front), (right, front), (right, foot), (left, foot))
        yield Polygon(side, shaded(ground.colour, SIDE_SHADE), pen)
    yield Polygon(((left, back), (right, back), (right, front), (left, front)), ground.top_colour, pen)
    if ground.level is not None:
        size = FIGURE_PITCHES * scene.pitch * view.scale
        at = (left + 0.62 * size, front - 0.62 * size * view.rise)
        yield Word(*at, str(ground.level), size, shaded(ground.top_colour, 0.4), view.rise, is_bold=True)


def _frame(ground: Ground, frame: Frame, view: View) -> Shape:
    half = ground.side / 2 - INSET_MM
    x, y, z = ground.x, ground.y, ground.z
    corners = tuple(view.at(x + dx * half, y + dy * half, z) for dx, dy in ((-1, 1), (1, 1), (1, -1), (-1, -1)))
    return Polygon(corners, "", Pen(TONES[frame.tone], 4.0, is_dashed=frame.tone == Tone.WRONG), 1.0, frame.tone)


def _bars(ground: Ground, stack: list[Body], view: View) -> Iterator[Shape]:
    """Bars for the pieces of a stack of several, the lowest at the bottom, for the view from above."""
    standing = [body for body in stack if body.look != Look.OUTLINE]
    if len(standing) < 2:
        return
    x, y = view.at(ground.x - ground.side / 2 + INSET_MM / 2, ground.y - ground.side / 2 + INSET_MM, 0)
    tall = min(7.0, (ground.side - 2 * INSET_MM) * view.scale / len(standing))
    for i, body in enumerate(standing):
        colour = body.ink if body.is_drawn else body.colour
        yield Box(x, y - (i + 1) * tall, 9.0, tall - 0.8, 1.5, colour, Pen(PAPER, 0.8))


def _tally(tally: Tally, view: View) -> Iterator[Shape]:
    x, y = view.at(tally.x, tally.y, tally.z)
    width = TALLY_SIZE * (0.62 + 0.58 * len(tally.text))
    yield Box(x - 3, y - TALLY_SIZE * 0.62, width, TALLY_SIZE * 1.24, 6, "#fffdf6", Pen("#8b826f", 1.0))
    yield Word(x - 3 + width / 2, y, tally.text, TALLY_SIZE, INK, is_bold=True)


def _cross(cross: Cross, view: View) -> Iterator[Shape]:
    x, y = view.at(cross.x, cross.y, cross.z)
    half = cross.size * view.scale / 2
    lines = (((x - half, y - half), (x + half, y + half)), ((x - half, y + half), (x + half, y - half)))
    yield Path(lines, Pen(PAPER, 5 + CASING))
    yield Path(lines, Pen(TONES[Tone.WRONG], 5), "cross")


def _arrow(arrow: Arrow, view: View) -> Iterator[Shape]:
    points = tuple(view.at(*point) for point in bow(arrow))
    (ax, ay), (bx, by) = points[-3], points[-1]
    length = hypot(bx - ax, by - ay) or 1.0
    along, size = ((bx - ax) / length, (by - ay) / length), 3.4 * ARROW_WIDTH
    base = (bx - along[0] * size, by - along[1] * size)
    across = (-along[1] * size * 0.55, along[0] * size * 0.55)
    head = ((bx, by), (base[0] + across[0], base[1] + across[1]), (base[0] - across[0], base[1] - across[1]))
    shaft = (*points[:-2], base)
    colour = TONES[arrow.tone]
    yield Path((shaft,), Pen(PAPER, ARROW_WIDTH + CASING))
    yield Polygon(head, colour, Pen(PAPER, CASING))
    yield Path((shaft,), Pen(colour, ARROW_WIDTH), "arrow")
    yield Polygon(head, colour)


def bow(arrow: Arrow) -> tuple[tuple[float, float, float], ...]:
    """Points along an arrow, which rises between its ends."""
    (x0, y0, z0), (x1, y1, z1) = arrow.start, arrow.end
    lift = max(ARROW_LIFT * hypot(x1 - x0, y1 - y0), 0.0)
    points = []
    for i in range(ARROW_STEPS + 1):
        t = i / ARROW_STEPS
        points.append((x0 + t * (x1 - x0), y0 + t * (y1 - y0), z0 + t * (z1 - z0) + 4 * t * (1 - t) * lift))
    return tuple(points)
