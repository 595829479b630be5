"""The calibration board for a lens, as a PDF at true size."""

from __future__ import annotations

import io

import numpy as np
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from calibration.errors import ProfileError
from calibration.lens import CharucoBoard, charuco
from calibration.sheets import BLACK, PAPERS, PRINTER_EDGE_MM, RULER_BOX_MM, bars, fill, ruler

SAMPLE_PX = 32
"""Side of each square in OpenCV's drawing of the board; its corner pixel tells whether the square is black."""


def chessboard_pdf(board: CharucoBoard, paper: str) -> bytes:
    """The board as a PDF file of one page; ``paper`` is a key of PAPERS.  Raises ProfileError when it does not fit."""
    width, height = board.squares_x * board.square_mm, board.squares_y * board.square_mm
    below = RULER_BOX_MM[1] + PRINTER_EDGE_MM
    for size in (PAPERS[paper], PAPERS[paper][::-1]):
        if width + 2 * PRINTER_EDGE_MM <= size[0] and height + below + PRINTER_EDGE_MM <= size[1]:
            break
    else:
        raise ProfileError(f"a board of {width:g} x {height:g} mm does not fit on {paper.upper()}; make it smaller")
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(size[0] * mm, size[1] * mm), invariant=1)
    canvas.setTitle("board for calibrating a lens")
    canvas.setCreator("companion mat")
    canvas.scale(mm, mm)
    canvas.translate((size[0] - width) / 2, (size[1] - height + below - PRINTER_EDGE_MM) / 2)
    _board(canvas, board)
    ruler(canvas, "charuco", (width / 2, -RULER_BOX_MM[1] / 2))
    canvas.showPage()
    canvas.save()
    return file.getvalue()


def _board(canvas: Canvas, board: CharucoBoard) -> None:
    """Squares and markers; the board's lower left corner is the origin."""
    target, side = charuco(board), board.square_mm
    height = board.squares_y * side
    drawn = np.asarray(target.generateImage((board.squares_x * SAMPLE_PX, board.squares_y * SAMPLE_PX)))
    rows, columns = np.nonzero(drawn[::SAMPLE_PX, ::SAMPLE_PX] == 0)
    corners = np.array([(0, 0), (side, 0), (side, -side), (0, -side)])
    places = np.stack([columns * side, height - rows * side], axis=1)
    fill(canvas, BLACK, list(corners + places[:, None]))
    for number, points in zip(np.asarray(target.getIds()).ravel(), target.getObjPoints(), strict=True):
        # OpenCV counts y downwards from the board's upper edge.
        placed = np.asarray(points, np.float64).reshape(4, 3)[:, :2] * (1, -1) + (0, height)
        fill(canvas, BLACK, bars(board.dictionary, int(number), placed))
