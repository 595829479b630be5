"""A kit's mat as a PDF at true size: one sheet, or two halves to be joined.

World millimetres are the PDF's own units after one scaling, so that every number here is the kit's.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import FILL_NON_ZERO, Canvas

from calibration.errors import ProfileError
from calibration.kit import Colour, Kit
from calibration.markers import dictionary
from calibration.mat import Points, check_layout, parts, rectangle, square, widened

PAPERS: dict[str, tuple[float, float]] = {"a3": (297.0, 420.0), "a4": (210.0, 297.0)}
"""Short and long side, mm (ISO 216)."""

JOIN_MM = 3.5
"""Distance of the mat's middle from the paper's edge on both halves: printers can print up to that line, and the
strip beyond it on one half goes under the other."""

PRINTER_EDGE_MM = 3.0
"""What common printers leave blank along the paper's edge."""

GRID_MM = 0.6
"""Width of the lines between squares."""

STEP_MM = 1.2
"""Width of the lines where the terrain changes its level."""

HAIR_MM = 0.2
RULER_MM = 100.0
RULER_BOX_MM = (RULER_MM + 2, 6.5)
TEXT_MM = 2.4
BLACK, WHITE, GRAY = (0, 0, 0), (255, 255, 255), (110, 110, 110)


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet of paper.

    Attributes:
        size_mm: width and height.
        middle_mm: where on it the mat's middle lies, from its lower left corner.
        shows_mm: left, bottom, right, top of the part of the mat that is printed on it, in the mat's own millimetres.
        half: 0 where the whole mat is on it; -1 for the half that is cut, 1 for the one that goes under it.
        axis: 0 when halves lie side by side, 1 when one above the other.
    """

    size_mm: tuple[float, float]
    middle_mm: tuple[float, float]
    shows_mm: tuple[float, float, float, float]
    half: int = 0
    axis: int = 0


def plan(kit: Kit, paper: str) -> tuple[Page, ...]:
    """The sheets for a kit on this paper (a key of PAPERS).  Raises ProfileError when two are not enough."""
    width, height = kit.mat.width_mm, kit.mat.height_mm
    for size in (PAPERS[paper], PAPERS[paper][::-1]):
        if width <= size[0] and height <= size[1]:
            middle = (size[0] / 2, size[1] / 2)
            return (Page(size, middle, (-width / 2, -height / 2, width / 2, height / 2)),)
    axis = 0 if width >= height else 1
    reach = max(float(np.abs(part.corners[:, axis]).max()) for part in parts(kit)) + JOIN_MM + PRINTER_EDGE_MM
    along, across = (width, height) if axis == 0 else (height, width)
    for size in (PAPERS[paper], PAPERS[paper][::-1]):
        if max(reach, along / 2) <= size[axis] and across <= size[1 - axis]:
            return _halves(kit, size, axis)
    raise ProfileError(
        f"kit {kit.name}: a mat of {width:g} x {height:g} mm does not fit on {paper.upper()}, nor on two sheets of it"
        + ("; try --paper a3" if paper == "a4" else "; make the mat smaller")
    )


def mat_pdf(kit: Kit, paper: str, terrain: Sequence[int] = ()) -> bytes:
    """The mat as a PDF file.

    Args:
        kit: what to draw.
        paper: a key of PAPERS.
        terrain: level of each of the kit's cells, where the board has any.

    Raises ProfileError when parts overlap, leave the sheet, or do not fit on the paper.
    """
    check_layout(kit)
    pages = plan(kit, paper)
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(pages[0].size_mm[0] * mm, pages[0].size_mm[1] * mm), invariant=1)
    canvas.setTitle(f"{kit.name}: mat")
    canvas.setCreator("companion mat")
    for page in pages:
        canvas.setPageSize((page.size_mm[0] * mm, page.size_mm[1] * mm))
        canvas.scale(mm, mm)
        canvas.translate(*page.middle_mm)
        _mat(canvas, kit, page, terrain)
        _notes(canvas, kit, page)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def _halves(kit: Kit, size: tuple[float, float], axis: int) -> tuple[Page, Page]:
    pages = []
    for half in (-1, 1):
        middle = [size[0] / 2, size[1] / 2]
        middle[axis] = JOIN_MM if half > 0 else size[axis] - JOIN_MM
        low, high = [-kit.mat.width_mm / 2, -kit.mat.height_mm / 2], [kit.mat.width_mm / 2, kit.mat.height_mm / 2]
        (low if half > 0 else high)[axis] = 0.0
        pages.append(Page(size, (middle[0], middle[1]), (low[0], low[1], high[0], high[1]), half, axis))
    return pages[0], pages[1]


def _mat(canvas: Canvas, kit: Kit, page: Page, terrain: Sequence[int]) -> None:
    """Draw what the kit says, on the part of the mat that this page shows."""
    canvas.saveState()
    left, bottom, right, top = page.shows_mm
    clip = canvas.beginPath()
    clip.rect(left, bottom, right - left, top - bottom)
    canvas.clipPath(clip, stroke=0)
    fill(canvas, kit.mat.paper, [np.array([(left, top), (right, top), (right, bottom), (left, bottom)])])
    for patch in kit.mat.patches:
        fill(canvas, patch.colour, [square(patch.at_mm, patch.size_mm)])
    for marker in kit.mat.markers:
        fill(canvas, WHITE, [np.array(marker.corners_mm)])
        fill(canvas, BLACK, bars(kit.mat.dictionary, marker.id, np.array(marker.corners_mm)))
    if kit.pillars is not None:
        canvas.setLineWidth(HAIR_MM)
        for cell in kit.cells:
            outline(canvas, GRAY, square(kit.centre_mm(cell), kit.pillars.side_mm))
    else:
        across, up = kit.board.pitch_mm
        wide, narrow = ((across + more, up + more) for more in (GRID_MM, -GRID_MM))
        fill(canvas, kit.board.line_colour, [rectangle(kit.centre_mm(cell), wide) for cell in kit.cells])
        for cell in kit.cells:
            fill(canvas, kit.ground(cell), [rectangle(kit.centre_mm(cell), narrow)])
        _terrain(canvas, kit, terrain)
    canvas.restoreState()


def bars(name: str, number: int, corners_mm: Points) -> list[Points]:
    """The black parts of a marker of dictionary ``name``, (4, 2) mm each: runs of black modules in each of its rows.

    ``corners_mm``: (4, 2), from its own top left clockwise.
    """
    side = dictionary(name).markerSize + 2
    black = np.asarray(cv2.aruco.generateImageMarker(dictionary(name), number, side)) == 0
    own = np.array([(0, 0), (side, 0), (side, side), (0, side)], np.float32)
    place = cv2.getPerspectiveTransform(own, corners_mm.astype(np.float32))
    found = []
    for y, row in enumerate(black):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
        for a, b in edges.reshape(-1, 2):
            corners = np.array([(a, y), (b, y), (b, y + 1), (a, y + 1)], np.float64)
            found.append(np.asarray(cv2.perspectiveTransform(corners[None], place)[0], np.float64))
    return found


def _terrain(canvas: Canvas, kit: Kit, terrain: Sequence[int]) -> None:
    """Bold lines where the level changes, and each raised square's level: where the blocks go."""
    levels = dict(zip(kit.cells, terrain, strict=False))
    places = {kit.centre_mm(cell): level for cell, level in levels.items()}
    canvas.setLineWidth(STEP_MM)
    canvas.setStrokeColorRGB(*_rgb(kit.board.line_colour))
    u, v = kit.board.pitch_mm[0] / 2, kit.board.pitch_mm[1] / 2
    for (x, y), level in places.items():
        if places.get((x + 2 * u, y), level) != level:
            canvas.line(x + u, y - v, x + u, y + v)
        if places.get((x, y + 2 * v), level) != level:
            canvas.line(x - u, y + v, x + u, y + v)
        if level:
            write(canvas, str(level), (x, y - TEXT_MM), 2 * TEXT_MM)


def _notes(canvas: Canvas, kit: Kit, page: Page) -> None:
    """Draw notes for people: names of squares, the ruler, how to join two halves.  Only where nothing else lies."""
    taken = np.array([(*corners.min(axis=0), *corners.max(axis=0)) for corners in map(widened, parts(kit))])
    left, bottom, right, top = page.shows_mm
    for text, at in _coordinates(kit):
        if left < at[0] < right and bottom < at[1] < top and _is_free(at, (2 * TEXT_MM, TEXT_MM), taken):
            write(canvas, text, (at[0], at[1] - TEXT_MM / 3), TEXT_MM)
    if page.half:
        _join(canvas, page)
    free = next((at for at in _places(page) if _is_free(at, RULER_BOX_MM, taken)), None)
    if free is not None:
        ruler(canvas, kit.name, free)


def _coordinates(kit: Kit) -> list[tuple[str, tuple[float, float]]]:
    """Letters under the board and numbers beside it."""
    low = np.array(kit.board.a1_mm) - np.array(kit.board.pitch_mm) / 2 - 1.5 * TEXT_MM
    files = [chr(ord("a") + i) for i in range(kit.board.files)]
    ranks = [str(i + 1) for i in range(kit.board.ranks)]
    x, y = kit.board.a1_mm
    across, up = kit.board.pitch_mm
    under = [(name, (x + i * across, float(low[1]))) for i, name in enumerate(files)]
    return under + [(name, (float(low[0]), y + i * up)) for i, name in enumerate(ranks)]


def _join(canvas: Canvas, page: Page) -> None:
    """The line along which one half is cut and laid on the other, with marks that must meet."""
    _, bottom, _, top = page.shows_mm if page.axis == 0 else (0, page.shows_mm[0], 0, page.shows_mm[2])
    canvas.saveState()
    if page.axis == 1:
        canvas.rotate(-90)
        bottom, top = -top, -bottom
    canvas.setLineWidth(HAIR_MM)
    canvas.setStrokeColorRGB(*_rgb(GRAY))
    if page.half < 0:
        canvas.setDash(2, 2)
    canvas.line(0, bottom, 0, top)
    canvas.setDash()
    for y in (bottom + 2 * PRINTER_EDGE_MM, top - 2 * PRINTER_EDGE_MM):
        canvas.line(0, y, page.half * 5, y)
    word = (
        "cut along the dashed line, glue over the other half"
        if page.half < 0
        else "the other half's cut edge lies on this line"
    )
    write(canvas, word, (page.half * 40, top - 2 * PRINTER_EDGE_MM), TEXT_MM)
    canvas.restoreState()


def _places(page: Page) -> list[tuple[float, float]]:
    """Where the ruler's middle may be, best first: near the lower edge, then near the upper."""
    left, bottom, right, top = page.shows_mm
    first, last = bottom + PRINTER_EDGE_MM + RULER_BOX_MM[1] / 2, top - PRINTER_EDGE_MM - RULER_BOX_MM[1] / 2
    x0, x1 = left + PRINTER_EDGE_MM + RULER_BOX_MM[0] / 2, right - PRINTER_EDGE_MM - RULER_BOX_MM[0] / 2
    if x1 < x0:
        return []
    rows = np.concatenate([np.arange(first, first + 30, 0.5), np.arange(last, last - 30, -0.5)])
    columns = sorted(np.arange(x0, x1 + 0.1, 2.0), key=lambda x: abs(x - (left + right) / 2))
    return [(float(x), float(y)) for y in rows if bottom < y < top for x in columns]


def ruler(canvas: Canvas, name: str, at: tuple[float, float]) -> None:
    """A line of 100 mm with a stroke every 10 mm, to check the print's scale with a real ruler."""
    left, low = at[0] - RULER_MM / 2, at[1] - RULER_BOX_MM[1] / 2 + 0.5
    canvas.setLineWidth(HAIR_MM)
    canvas.setStrokeColorRGB(*_rgb(BLACK))
    canvas.line(left, low, left + RULER_MM, low)
    for i in range(11):
        canvas.line(left + 10 * i, low, left + 10 * i, low + (3.0 if i in (0, 10) else 1.5))
    name = name.encode("latin-1", "replace").decode("latin-1")
    write(
        canvas, f"{name}: print at 100 %; this line is {RULER_MM:.0f} mm long", (left + RULER_MM / 2, low + 3), TEXT_MM
    )


def _is_free(at: tuple[float, float], size_mm: tuple[float, float], taken: Points) -> bool:
    """Whether a box round ``at`` keeps clear of ``taken``, (n, 4) left, bottom, right, top."""
    low, high = np.array(at) - np.array(size_mm) / 2, np.array(at) + np.array(size_mm) / 2
    return not ((taken[:, :2] < high) & (low < taken[:, 2:])).all(axis=1).any()


def fill(canvas: Canvas, colour: Colour, polygons: Sequence[Points]) -> None:
    """Fill polygons as one path: no hairline shows where they meet."""
    canvas.setFillColorRGB(*_rgb(colour))
    path = canvas.beginPath()
    for polygon in polygons:
        path.moveTo(*polygon[0])
        for corner in polygon[1:]:
            path.lineTo(*corner)
        path.close()
    canvas.drawPath(path, stroke=0, fill=1, fillMode=FILL_NON_ZERO)


def outline(canvas: Canvas, colour: Colour, polygon: Points) -> None:
    """Draw the edges of a polygon (n, 2) mm."""
    canvas.setStrokeColorRGB(*_rgb(colour))
    path = canvas.beginPath()
    path.moveTo(*polygon[0])
    for corner in polygon[1:]:
        path.lineTo(*corner)
    path.close()
    canvas.drawPath(path, stroke=1, fill=0)


def write(canvas: Canvas, text: str, at: tuple[float, float], size_mm: float) -> None:
    """Write a line of grey text, its baseline centred on ``at``."""
    canvas.setFillColorRGB(*_rgb(GRAY))
    canvas.setFont("Helvetica", size_mm)
    canvas.drawCentredString(at[0], at[1], text)


def _rgb(colour: Colour) -> tuple[float, float, float]:
    r, g, b = (value / 255 for value in colour)
    return r, g, b
