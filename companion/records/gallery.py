"""A match as diagrams: on one SVG sheet, or as an animated GIF."""

from __future__ import annotations

import io
from xml.sax.saxutils import escape

from PIL import Image

from companion.records.figures import Figure
from companion.records.raster import board_image, write_lines
from companion.scene.oblique import INK, PAPER
from companion.scene.svg import svg_shapes

COLUMNS = 4
LINE = 20
"""Height of a line of text in the sheet, in the diagrams' units."""

GIF_SIDE, GIF_TEXT, GIF_SIZE = 480, 66, 16
"""Pixels: the board's longer side, the height of the caption below it, and the size of its letters."""

GIF_MS, GIF_END_MS = 1200, 4000
"""How long each figure, and the last one, is shown."""

GIF_COLOURS = 64


def svg_sheet(title: str, shown: list[Figure]) -> str:
    """All figures side by side on one sheet, as SVG."""
    width, height = shown[0].diagram.width, shown[0].diagram.height + LINE
    columns = min(COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    size = f"0 0 {columns * width:g} {rows * height + 2 * LINE:g}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        f'<text x="{LINE}" y="{1.5 * LINE:g}" font-size="18" font-weight="bold" fill="{INK}">{escape(title)}</text>',
    ]
    for k, figure in enumerate(shown):
        row, column = divmod(k, columns)
        lines += [
            f'<g transform="translate({column * width:g} {2 * LINE + row * height:g})">',
            f"<title>{escape(figure.caption)}</title>",
            f'<text x="{LINE}" y="{LINE:g}" font-size="15" fill="{INK}">{escape(figure.title)}</text>',
            *svg_shapes(figure.diagram),
            "</g>",
        ]
    return "\n".join([*lines, "</svg>", ""])


def gif(shown: list[Figure]) -> bytes:
    """The figures in order as an animated GIF that repeats for ever."""
    frames = [_captioned(figure).quantize(GIF_COLOURS, dither=Image.Dither.NONE) for figure in shown]
    times = [GIF_MS] * (len(frames) - 1) + [GIF_END_MS]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False)
    return file.getvalue()


def _captioned(figure: Figure) -> Image.Image:
    board = board_image(figure.diagram, GIF_SIDE, GIF_SIDE)
    image = Image.new("RGB", (GIF_SIDE, board.height + GIF_TEXT), PAPER)
    image.paste(board, ((GIF_SIDE - board.width) // 2, 0))
    number, dot, _ = figure.title.partition(". ")
    text = f"{number}{dot}{figure.caption}" if dot else figure.caption
    write_lines(image, (16, board.height, GIF_SIDE - 16, image.height), text, GIF_SIZE)
    return image
