"""What a few squares would look like under several hypotheses, beside what the picture shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import cv2
import numpy as np

from calibration.appearance import Reflectance
from vision.drawing import Ink, Picture, Viewpoint, likely_stack
from vision.pose.projection import Points
from vision.reading import CellState
from vision.scene.solids import Solid, cell_corners, hull, pieces
from vision.scene.terrain import far_first

MARGIN_MM = 12.0
"""Margin of the board that is shown round the squares in question: half a square of a usual board."""

SIDE_SHARE, LIT = 0.55, 0.9
"""Brightness of sides, and of upper faces, as a share of a piece's colour in full light: chosen by eye."""

EDGE: Ink = (20, 20, 20)


def cut_outs(
    image: Picture,
    sight: Viewpoint,
    colours: Mapping[str, Reflectance],
    tables: Sequence[Sequence[CellState]],
    cells: Collection[str],
) -> tuple[Picture, ...]:
    """Pictures of the squares in question, all of one size.

    Args:
        image: (height, width, 3) uint8 BGR.
        sight: how it was taken.
        colours: of each piece letter's upper face.
        tables: (n) states of all cells of the kit each.
        cells: names of the squares in question.

    Returns:
        Each (h, w, 3) uint8 BGR: the picture's own, then for each table the same with its stacks drawn on ``cells``.
        Nothing where the squares lie outside the picture.
    """
    left, top, right, bottom = _box(image, sight, tables, cells)
    if left >= right or top >= bottom:
        return ()
    shown = [image[top:bottom, left:right].copy()]
    for table in tables:
        picture = image.copy()
        for i in far_first(sight.kit, sight.pose):
            if sight.kit.cells[i] in cells:
                _draw(picture, sight, colours, sight.kit.cells[i], table[i])
        shown.append(picture[top:bottom, left:right].copy())
    return tuple(shown)


def _box(
    image: Picture, sight: Viewpoint, tables: Sequence[Sequence[CellState]], cells: Collection[str]
) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of all that may stand on ``cells``, in pixels."""
    corners = [_widened(cell_corners(sight.kit, cell, sight.level(cell))) for cell in cells]
    numbers = [sight.kit.cells.index(cell) for cell in cells]
    bodies = [body for table in tables for i in numbers for body in _bodies(sight, sight.kit.cells[i], table[i])]
    points = sight.polygon(np.vstack([*corners, *(body.points for body in bodies)]))
    height, width = image.shape[:2]
    (left, top), (right, bottom) = np.floor(points.min(axis=0)), np.ceil(points.max(axis=0))
    return max(int(left), 0), max(int(top), 0), min(int(right), width), min(int(bottom), height)


def _widened(corners_mm: Points) -> Points:
    middle = corners_mm.mean(axis=0)
    arms = corners_mm - middle
    wider: Points = middle + arms * (1 + MARGIN_MM / np.linalg.norm(arms, axis=1, keepdims=True))
    return wider


def _bodies(sight: Viewpoint, cell: str, state: CellState) -> tuple[Solid, ...]:
    height, top = state
    return () if top is None else pieces(sight.kit, cell, likely_stack(sight.kit, height, top), sight.level(cell))


def _draw(picture: Picture, sight: Viewpoint, colours: Mapping[str, Reflectance], cell: str, state: CellState) -> None:
    """Draw one stack, wholly in the colour of its top, which alone is known; or the outline of an empty square."""
    top = state[1]
    if top is None:
        _fill(picture, sight.polygon(cell_corners(sight.kit, cell, sight.level(cell))), None)
        return
    for body in _bodies(sight, cell, state):
        _fill(picture, hull(sight.polygon(body.points)), _ink(colours[top], SIDE_SHARE))
        _fill(picture, sight.polygon(body.points[list(body.top)]), _ink(colours[top], LIT))


def _fill(picture: Picture, polygon: Points, ink: Ink | None) -> None:
    corners = [np.round(polygon).astype(np.int32)]
    if ink is not None:
        cv2.fillPoly(picture, corners, ink, cv2.LINE_AA)
    cv2.polylines(picture, corners, isClosed=True, color=EDGE, thickness=1, lineType=cv2.LINE_AA)


def _ink(reflectance: Reflectance, share: float) -> Ink:
    """The display colour of a surface this bright, with a plain gamma: nobody measures it."""
    blue, green, red = (round(255 * min(1.0, share * value) ** (1 / 2.2)) for value in reversed(reflectance))
    return blue, green, red
