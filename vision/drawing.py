"""A hypothesis drawn over the picture that it was inferred from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.pose.projection import Points, Registration, project
from vision.reading import CellState, Reading
from vision.scene.solids import cell_corners, hull, pieces
from vision.scene.terrain import far_first

Picture = npt.NDArray[np.uint8]
Ink = tuple[int, int, int]

SURE_P, UNSURE_P = 0.95, 0.7
"""Probabilities above which a cell is drawn as sure, and below which as in great doubt."""

OCCLUDED_SHARE = 0.25
"""Share of outliers in a cell's surroundings above which it is hatched as covered by something that is no piece."""

GRID: Ink = (190, 170, 60)
SURE: Ink = (245, 245, 245)
UNSURE: Ink = (0, 150, 255)
DOUBTFUL: Ink = (40, 40, 255)
CHANGED: Ink = (0, 235, 255)
HATCH: Ink = (200, 60, 220)
DARK: Ink = (20, 20, 20)

HATCH_STEP_PX, HATCH_LINE_PX = 10, 2
FONT = cv2.FONT_HERSHEY_SIMPLEX
LABEL_SCALE, CAPTION_SCALE = 0.42, 0.62
CAPTION_HEIGHT_PX, CAPTION_MARGIN_PX = 34, 12
SHIFT = 4
"""Fractional bits of OpenCV's fixed-point coordinates: lines are placed to 1/16 px."""


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """How a picture was taken: kit, camera, its pose; pillar or terrain levels in the order of the cells."""

    kit: Kit
    camera: Camera
    pose: Registration
    levels: Sequence[int] | None = None

    def polygon(self, points_mm: Points) -> Points:
        """(n, 2) px of points (n, 3) mm."""
        return project(points_mm, self.pose, self.camera)

    def level(self, cell: str) -> int | None:
        """The level of a cell, None where there are none."""
        return None if self.levels is None else self.levels[self.kit.cells.index(cell)]


def draw_belief(
    image: Picture, sight: Viewpoint, reading: Reading, caption: str, changed: Collection[str] = ()
) -> Picture:
    """A copy of a picture with the belief drawn over it.

    Args:
        image: (height, width, 3) uint8 BGR.
        sight: how it was taken.
        reading: what is believed of it.
        caption: one line under it, such as the last verdict; what is not ASCII becomes "?".
        changed: names of cells to highlight.

    Returns:
        (height, width, 3) uint8 BGR: the grid; the outline of each predicted stack with its height and top piece,
        white where sure, orange to red where in doubt; hatching over what a hand covers; the caption.
    """
    picture = image.copy()
    floors = {cell: sight.polygon(cell_corners(sight.kit, cell, sight.level(cell))) for cell in reading.cells}
    for floor in floors.values():
        _line(picture, floor, GRID, 1)
    covered = [
        floors[cell] for cell, share in zip(reading.cells, reading.outlier_share, strict=True) if share > OCCLUDED_SHARE
    ]
    _hatch(picture, covered)
    for i in far_first(sight.kit, sight.pose):
        cell = reading.cells[i]
        _stack(picture, sight, cell, *reading.best(i), floors[cell])
    for cell in changed:
        _line(picture, floors[cell], CHANGED, 3)
    _caption(picture, caption)
    return picture


def _stack(picture: Picture, sight: Viewpoint, cell: str, state: CellState, p: float, floor: Points) -> None:
    """Draw the likeliest stack of one cell, or the doubt whether it is empty."""
    height, top = state
    ink = SURE if p >= SURE_P else UNSURE if p >= UNSURE_P else DOUBTFUL
    if top is None:
        if ink is not SURE:
            _line(picture, _shrink(floor, 0.5), ink, 2)
        return
    bodies = pieces(sight.kit, cell, likely_stack(sight.kit, height, top), sight.level(cell))
    _line(picture, hull(sight.polygon(np.vstack([body.points for body in bodies]))), ink, 1 if ink is SURE else 2)
    face = sight.polygon(bodies[-1].points[list(bodies[-1].top)])
    _line(picture, face, ink, 1)
    text = f"{'?' if height is None else height}{top}"
    _label(picture, text if ink is SURE else f"{text} {100 * p:.0f}%", face.mean(axis=0))


def likely_stack(kit: Kit, height: int | None, top: str) -> str:
    """Letters, bottom first, of a stack that looks like ``height`` pieces with ``top`` on them.

    Only the top piece is known.  Those below are taken to be of its kind; under a pyramid stand larger ones, for a
    tower of equal ones would be no higher than one.  A height of None is that of one piece, which hides what it covers.
    """
    if kit.stacking is None:
        return top * (height or 1)
    letters = {kind.width_mm: kind.letter for kind in kit.pieces}
    larger = sorted(width for width in letters if width > kit.piece(top).width_mm)[: (height or 1) - 1]
    return "".join(letters[width] for width in reversed(larger)) + top


def _shrink(polygon: Points, share: float) -> Points:
    middle = polygon.mean(axis=0)
    smaller: Points = middle + share * (polygon - middle)
    return smaller


def _to_fixed_point(polygon: Points) -> npt.NDArray[np.int32]:
    return np.round(polygon * (1 << SHIFT)).astype(np.int32)


def _line(picture: Picture, polygon: Points, ink: Ink, width_px: int) -> None:
    cv2.polylines(
        picture,
        [_to_fixed_point(polygon)],
        isClosed=True,
        color=ink,
        thickness=width_px,
        lineType=cv2.LINE_AA,
        shift=SHIFT,
    )


def _hatch(picture: Picture, polygons: list[Points]) -> None:
    """Slanting lines over these polygons."""
    if not polygons:
        return
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(mask, [_to_fixed_point(polygon) for polygon in polygons], 1, cv2.LINE_8, SHIFT)
    rows, columns = np.nonzero(mask)
    lined = (rows + columns) % HATCH_STEP_PX < HATCH_LINE_PX
    picture[rows[lined], columns[lined]] = HATCH


def _label(picture: Picture, text: str, middle: Points) -> None:
    (width, height), _ = cv2.getTextSize(text, FONT, LABEL_SCALE, 1)
    at = (round(middle[0] - width / 2), round(middle[1] + height / 2))
    cv2.putText(picture, text, at, FONT, LABEL_SCALE, DARK, 3, cv2.LINE_AA)
    cv2.putText(picture, text, at, FONT, LABEL_SCALE, SURE, 1, cv2.LINE_AA)


def _caption(picture: Picture, caption: str) -> None:
    """One line on a dark bar along the lower edge; what does not fit is cut off."""
    text = caption.encode("ascii", "replace").decode("ascii")
    if not text:
        return
    height, width = picture.shape[:2]
    bar = picture[height - CAPTION_HEIGHT_PX :]
    bar //= 4
    while cv2.getTextSize(text, FONT, CAPTION_SCALE, 1)[0][0] > width - 2 * CAPTION_MARGIN_PX:
        text = f"{text[:-4]}..."
    at = (CAPTION_MARGIN_PX, height - CAPTION_MARGIN_PX)
    cv2.putText(picture, text, at, FONT, CAPTION_SCALE, SURE, 1, cv2.LINE_AA)
