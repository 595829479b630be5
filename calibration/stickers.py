"""Markers to cut out and stick round any board, as a PDF at true size."""

from __future__ import annotations

import io

import numpy as np
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from calibration.errors import ProfileError
from calibration.markers import dictionary
from calibration.sheets import (
    BLACK,
    GRAY,
    HAIR_MM,
    PAPERS,
    PRINTER_EDGE_MM,
    RULER_BOX_MM,
    TEXT_MM,
    bars,
    fill,
    outline,
    ruler,
    write,
)

DICTIONARY = "DICT_APRILTAG_36h11"
FIRST_ID = 200
"""Number of the first sticker: no mat that comes with the program has markers of these numbers."""

STICKER_MM = 25.0
"""Usual side of a black border: the rim of a chessboard is about that wide, and a camera of 1280 px over a board of
400 mm sees a module of it as seven pixels."""

SMALLEST_MM, LARGEST_MM = 10.0, 100.0

CAPTION_MM = 1.6 * TEXT_MM
"""Height of the strip under the marker, within the cutting line, that says number and size."""

GAP_MM = 6.0
"""Least distance between two cutting lines, and between them and the paper's edge."""

MOST, MAX_COLUMNS = 12, 4
"""Most stickers and columns on a page: enough for two boards and their spares, whichever the paper."""

DASH_MM = (1.5, 1.5)
"""Lengths of the dashes of the cutting lines, and of the gaps between them."""


def stickers_pdf(paper: str, marker_mm: float = STICKER_MM) -> bytes:
    """Markers in a PDF file of one page, each with its number, size and cutting line.

    Args:
        paper: a key of PAPERS.
        marker_mm: side of a black border.

    Raises ProfileError when the size does not suit a marker.
    """
    if not SMALLEST_MM <= marker_mm <= LARGEST_MM:
        raise ProfileError(f"stickers: --marker-mm must be {SMALLEST_MM:g} to {LARGEST_MM:g}, got {marker_mm:g}")
    width, height = PAPERS[paper]
    quiet_mm = marker_mm / (dictionary(DICTIONARY).markerSize + 2)
    wide = marker_mm + 2 * quiet_mm
    high = wide + CAPTION_MM
    top = height - PRINTER_EDGE_MM - 3 * TEXT_MM
    columns = min(MAX_COLUMNS, int((width - GAP_MM) / (wide + GAP_MM)))
    rows = int((top - GAP_MM - RULER_BOX_MM[1] - PRINTER_EDGE_MM) / (high + GAP_MM))
    left = (width - columns * wide - (columns - 1) * GAP_MM) / 2
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(width * mm, height * mm), invariant=1)
    canvas.setTitle("stickers: markers to stick round a board")
    canvas.setCreator("companion mat")
    canvas.scale(mm, mm)
    words = "Cut along the dashed lines. Stick four or more flat on the board, round its squares, turned as you like."
    write(canvas, words, (width / 2, top), TEXT_MM * 1.4)
    for number in range(min(MOST, rows * columns)):
        row, column = divmod(number, columns)
        corner = (left + column * (wide + GAP_MM), top - GAP_MM - high - row * (high + GAP_MM))
        _sticker(canvas, FIRST_ID + number, marker_mm, quiet_mm, corner)
    ruler(canvas, "stickers", (width / 2, PRINTER_EDGE_MM + RULER_BOX_MM[1] / 2))
    canvas.showPage()
    canvas.save()
    return file.getvalue()


def _sticker(canvas: Canvas, number: int, marker_mm: float, quiet_mm: float, corner: tuple[float, float]) -> None:
    """One marker; ``corner``: the lower left one of its cutting line."""
    (x, y), wide = corner, marker_mm + 2 * quiet_mm
    low, high = y + CAPTION_MM + quiet_mm, y + CAPTION_MM + quiet_mm + marker_mm
    a, b = x + quiet_mm, x + quiet_mm + marker_mm
    fill(canvas, BLACK, bars(DICTIONARY, number, np.array([(a, high), (b, high), (b, low), (a, low)])))
    write(canvas, f"{number} · {marker_mm:g} mm", (x + wide / 2, y + CAPTION_MM / 2), TEXT_MM)
    canvas.saveState()
    canvas.setLineWidth(HAIR_MM)
    canvas.setDash(*DASH_MM)
    cut = [(x, y), (x + wide, y), (x + wide, y + wide + CAPTION_MM), (x, y + wide + CAPTION_MM)]
    outline(canvas, GRAY, np.array(cut))
    canvas.restoreState()
