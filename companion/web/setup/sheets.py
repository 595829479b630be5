"""What is printed before a table can be set up: the calibration board, at true size on A4."""

from __future__ import annotations

from io import BytesIO

import cv2
import numpy as np
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from calibration.lens import DEFAULT_BOARD, charuco

TEXELS_PER_MM = 10


def charuco_pdf() -> bytes:
    """The default calibration board, 270 x 180 mm, with a line that says how to print and measure it."""
    width_mm = DEFAULT_BOARD.squares_x * DEFAULT_BOARD.square_mm
    height_mm = DEFAULT_BOARD.squares_y * DEFAULT_BOARD.square_mm
    size = (round(width_mm * TEXELS_PER_MM), round(height_mm * TEXELS_PER_MM))
    texture = np.asarray(charuco(DEFAULT_BOARD).generateImage(size), np.uint8)
    data = BytesIO()
    sheet = Canvas(data, pagesize=landscape(A4), invariant=True)
    left, bottom = (landscape(A4)[0] - width_mm * mm) / 2, (landscape(A4)[1] - height_mm * mm) / 2
    board = ImageReader(BytesIO(cv2.imencode(".png", texture)[1].tobytes()))
    sheet.drawImage(board, left, bottom, width_mm * mm, height_mm * mm)
    sheet.setFont("Helvetica", 9)
    text = f"Print at 100 %. Each square must be {DEFAULT_BOARD.square_mm:g} mm wide. Glue the sheet to something flat."
    sheet.drawString(left, bottom - 6 * mm, text)
    sheet.save()
    return data.getvalue()
