"""Diagrams as pictures of points, drawn with Pillow from the same shapes as the page's."""

from __future__ import annotations

import textwrap
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from companion.rules.diagram import INK, PAPER, Box, Diagram, Shape, Word

Picture = npt.NDArray[np.uint8]
FINER = 2
"""Drawn so many times larger and then made smaller: Pillow's lines have steps."""

DASH_PX = 6
"""Length of a dash, and of the gap after it, in the diagram's own units."""


@lru_cache(maxsize=64)
def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The letters that come with Pillow, ``size`` pixels high: the same on every machine."""
    return ImageFont.load_default(size)


def board_image(diagram: Diagram, width_px: int, height_px: int) -> Image.Image:
    """The diagram as an RGB picture as large as fits into that size."""
    scale = FINER * min(width_px / diagram.width, height_px / diagram.height)
    size = (FINER * round(diagram.width * scale / FINER), FINER * round(diagram.height * scale / FINER))
    large = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(large)
    for shape in diagram.shapes():
        _draw(draw, shape, scale)
    return large.reduce(FINER)


def _draw(draw: ImageDraw.ImageDraw, shape: Shape, scale: float) -> None:
    match shape:
        case Word():
            anchor = "ms" if shape.is_centred else "ls"
            place = (shape.x * scale, shape.y * scale)
            draw.text(place, shape.text, shape.fill, font(shape.size * scale), anchor=anchor)
        case Box(is_dashed=True):
            _draw_dashed(draw, shape, scale)
        case Box():
            corners = [(shape.x * scale, shape.y * scale), _far_corner(shape, scale)]
            width = max(1, round(shape.stroke_width * scale))
            draw.rounded_rectangle(corners, shape.radius * scale, shape.fill or None, shape.stroke or None, width)


def _draw_dashed(draw: ImageDraw.ImageDraw, box: Box, scale: float) -> None:
    (x0, y0), (x1, y1) = (box.x * scale, box.y * scale), _far_corner(box, scale)
    width, step = max(1, round(box.stroke_width * scale)), 2 * DASH_PX * scale
    for start in np.arange(0.0, x1 - x0, step):
        end = min(x0 + start + step / 2, x1)
        draw.line([(x0 + start, y0), (end, y0)], box.stroke, width)
        draw.line([(x0 + start, y1), (end, y1)], box.stroke, width)
    for start in np.arange(0.0, y1 - y0, step):
        end = min(y0 + start + step / 2, y1)
        draw.line([(x0, y0 + start), (x0, end)], box.stroke, width)
        draw.line([(x1, y0 + start), (x1, end)], box.stroke, width)


def _far_corner(box: Box, scale: float) -> tuple[float, float]:
    return (box.x + box.width) * scale, (box.y + box.height) * scale


def write_lines(image: Image.Image, box: tuple[int, int, int, int], text: str, size: int) -> None:
    """Write ``text`` into ``image`` inside ``box`` (left, top, right, bottom); what does not fit is left out."""
    left, top, right, bottom = box
    columns = max(8, int((right - left) / (0.5 * size)))
    lines = textwrap.wrap(text, columns)[: max(1, int((bottom - top) / (1.3 * size)))]
    ImageDraw.Draw(image).multiline_text((left, top), "\n".join(lines), INK, font(size), spacing=0.3 * size)


def to_bgr(image: Image.Image) -> Picture:
    """(height, width, 3) uint8 BGR, as OpenCV has it."""
    return np.ascontiguousarray(np.asarray(image.convert("RGB"), np.uint8)[..., ::-1])


def from_bgr(picture: Picture) -> Image.Image:
    """The Pillow picture of an OpenCV one."""
    return Image.fromarray(np.ascontiguousarray(picture[..., ::-1]))
