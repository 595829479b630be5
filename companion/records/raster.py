"""Diagrams as raster images, drawn with Pillow from the same shapes as the page's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import hypot

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from companion.scene.oblique import INK, PAPER
from companion.scene.shapes import Barrel, Box, Diagram, Ellipse, Path, Pen, Points, Polygon, Shape, Word

Picture = npt.NDArray[np.uint8]
SUPERSAMPLING = 2
"""Supersampling factor, since Pillow's lines are not anti-aliased."""

DASH, GAP = 6.0, 4.0
"""Length of a dash and of the gap after it, in the diagram's own units."""

ROUND_STEPS = 24
"""Points on half an ellipse: at 30 px radius the polygon stays within 0.2 px of it."""

BOLD_SHARE = 0.055
"""Stroke added to bold letters, as a fraction of their size: Pillow's font comes in one weight."""


@lru_cache(maxsize=64)
def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, ``size`` pixels high: the same on every machine."""
    return ImageFont.load_default(size)


def board_image(diagram: Diagram, width_px: int, height_px: int) -> Image.Image:
    """The diagram as an RGB image, as large as fits into that size."""
    scale = SUPERSAMPLING * min(width_px / diagram.width, height_px / diagram.height)
    size = (
        SUPERSAMPLING * round(diagram.width * scale / SUPERSAMPLING),
        SUPERSAMPLING * round(diagram.height * scale / SUPERSAMPLING),
    )
    large = Image.new("RGB", size, PAPER)
    # Colours with alpha are blended with the background.
    draw = ImageDraw.Draw(large, "RGBA")
    for shape in diagram.shapes():
        _draw(large, draw, shape, scale)
    return large.reduce(SUPERSAMPLING)


def _draw(image: Image.Image, draw: ImageDraw.ImageDraw, shape: Shape, scale: float) -> None:
    match shape:
        case Word():
            _write(image, shape, scale)
        case Path():
            for line in shape.lines:
                _stroke(draw, _scaled(line, scale), shape.pen, scale, is_round=True)
        case Box():
            corners = [
                (shape.x * scale, shape.y * scale),
                ((shape.x + shape.width) * scale, (shape.y + shape.height) * scale),
            ]
            pen = shape.pen
            width = max(1, round(pen.width * scale)) if pen else 0
            draw.rounded_rectangle(
                corners, shape.radius * scale, shape.fill or None, pen.colour if pen else None, width
            )
        case Polygon() | Ellipse() | Barrel():
            outline = _scaled(_outline(shape), scale)
            if shape.fill:
                draw.polygon(outline, fill=_mixed(shape.fill, shape.opacity))
            if shape.pen is not None:
                _stroke(draw, [*outline, outline[0]], shape.pen, scale)


def _outline(shape: Polygon | Ellipse | Barrel) -> Points:
    if isinstance(shape, Polygon):
        return shape.points
    angles = np.linspace(0, np.pi, ROUND_STEPS)
    arc = list(zip(shape.x + shape.rx * np.cos(angles), shape.y + shape.ry * np.sin(angles), strict=True))
    if isinstance(shape, Ellipse):
        return (*arc, *((x, 2 * shape.y - y) for x, y in reversed(arc)))
    return (*arc, *((x, y + shape.height) for x, y in reversed(arc)))


def _scaled(points: Points, scale: float) -> list[tuple[float, float]]:
    return [(x * scale, y * scale) for x, y in points]


def _stroke(
    draw: ImageDraw.ImageDraw, points: list[tuple[float, float]], pen: Pen, scale: float, *, is_round: bool = False
) -> None:
    width = max(1, round(pen.width * scale))
    if pen.is_dashed:
        for dash in _dashes(points, scale):
            draw.line(dash, pen.colour, width)
        return
    draw.line(points, pen.colour, width, joint="curve")
    if is_round:
        half = width / 2
        for x, y in (points[0], points[-1]):
            draw.ellipse((x - half, y - half, x + half, y + half), pen.colour)


def _dashes(points: list[tuple[float, float]], scale: float) -> Iterator[list[tuple[float, float]]]:
    """The dashes of a line; the pattern starts again at every corner."""
    for (x0, y0), (x1, y1) in pairwise(points):
        length = hypot(x1 - x0, y1 - y0)
        for begin in np.arange(0.0, length, (DASH + GAP) * scale):
            end = min(begin + DASH * scale, length)
            yield [(x0 + (x1 - x0) * at / length, y0 + (y1 - y0) * at / length) for at in (begin, end)]


def _write(image: Image.Image, word: Word, scale: float) -> None:
    """Draw a word centred at its place, vertically compressed by its ``squash``."""
    size = word.size * scale
    letters, bold = font(size), BOLD_SHARE * size if word.is_bold else 0
    left, top, right, bottom = letters.getbbox(word.text, stroke_width=bold, anchor="mm")
    tile = Image.new("L", (round(right - left) + 2, round(bottom - top) + 2))
    ImageDraw.Draw(tile).text((1 - left, 1 - top), word.text, 255, letters, stroke_width=bold, anchor="mm")
    if word.squash != 1:
        tile = tile.resize((tile.width, max(1, round(tile.height * word.squash))), Image.Resampling.BILINEAR)
    place = (round(word.x * scale - tile.width / 2), round(word.y * scale - tile.height / 2))
    image.paste(word.fill, (*place, place[0] + tile.width, place[1] + tile.height), tile)


def _mixed(colour: str, opacity: float) -> tuple[int, int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue, round(255 * opacity)


def write_lines(image: Image.Image, box: tuple[int, int, int, int], text: str, size: int) -> None:
    """Write ``text`` into ``image`` inside ``box`` (left, top, right, bottom); what does not fit is left out."""
    left, top, right, bottom = box
    columns = max(8, int((right - left) / (0.5 * size)))
    lines = textwrap.wrap(text, columns)[: max(1, int((bottom - top) / (1.3 * size)))]
    ImageDraw.Draw(image).multiline_text((left, top), "\n".join(lines), INK, font(size), spacing=0.3 * size)


def to_bgr(image: Image.Image) -> Picture:
    """The image as an OpenCV picture, (height, width, 3) uint8 BGR."""
    return np.ascontiguousarray(np.asarray(image.convert("RGB"), np.uint8)[..., ::-1])


def from_bgr(picture: Picture) -> Image.Image:
    """The Pillow image of an OpenCV picture."""
    return Image.fromarray(np.ascontiguousarray(picture[..., ::-1]))
