"""How large pieces are, from a photograph of a known layout: by where their upper faces are seen.

A face is seen the farther from the middle of its square, away from the camera, the higher it lies.  Pieces are put down
a millimetre beside that middle, in any direction: with many of them the height is told (triangulation against the known
grid), with few it is not.  Where a piece meets the board is not looked at: shadows look like its side there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, PieceKind
from vision.appearance.board_surface import view_board
from vision.appearance.colour_model import build_colour_model
from vision.appearance.piece_colours import Photograph
from vision.enrolment import Picture, colours_of
from vision.errors import VisionError
from vision.likelihood.observations import observe
from vision.pose.projection import Points, project
from vision.scene.configurations import PLACE_MM, kit_configurations
from vision.scene.crops import Crops, magnified, make_crops
from vision.scene.materials import Materials
from vision.scene.solids import hull, piece

Array = npt.NDArray[np.float32]

FINER = 2
"""Crop pixels to a millimetre; outlines are drawn more finely."""

MOST_PIXELS = 32_766
"""Of one crop: OpenCV takes no longer lines.  Larger ones have a pixel to a millimetre."""

FINE_BITS = 4
"""Bits of a crop pixel's fraction."""

MOST_NATS = 4.0
"""What one pixel tells at most of whether a piece is there: that of a usual one, so that none decides alone."""

WIDER, HIGHER = 1.35, 1.5
"""Larger than this times what was assumed no piece is looked for."""

STEPS_MM = (1.0, 0.5, 0.25, 0.12)
"""In which the search for a face goes, one after the other."""

ROUNDS = 2
"""The sides below the faces are as high as was found before."""

GRID_MM = 0.5
"""Standard deviation, each way, of how far all pieces together are off the grid: its corners were pointed at, and one
hand puts all of them down alike."""

WIDTH_SHARE = 0.02
"""Standard deviation of a width besides its scatter: of four photographs the discs of three were 1 to 2 % off."""

TOLD_SHARE = 0.07
"""A size is told up to this standard deviation, as a share of it: with heights 8 % off eight in 400 squares of a
webcam's pictures were misread, with heights 15 % off thirty."""

ROBUST_ROUNDS, OUTLIER = 8, 1.5
"""Pieces so many standard deviations off count less (Huber's function), found in so many rounds."""

_MOVES = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], np.float64)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Width and height of a set's discs in mm as a photograph tells them, with their standard deviations."""

    width_mm: float
    width_deviation_mm: float
    height_mm: float
    height_deviation_mm: float

    @property
    def is_width_told(self) -> bool:
        """Whether the width is known well enough to read with."""
        return self.width_deviation_mm <= TOLD_SHARE * self.width_mm

    @property
    def is_height_told(self) -> bool:
        """Whether the height is."""
        return self.height_deviation_mm <= TOLD_SHARE * self.height_mm

    @property
    def is_told(self) -> bool:
        """Whether both are."""
        return self.is_width_told and self.is_height_told


@dataclass(frozen=True, eq=False)
class _Stack:
    """A stack of a photograph.

    Attributes:
        number: of its crop.
        count: of its pieces.
        kind: of its uppermost piece.
        face: (rows, columns) float32, nats by which each pixel of its crop is likelier its face than the bare board.
        side: the same of its side.
    """

    number: int
    count: int
    kind: PieceKind
    face: Array
    side: Array


def measure_discs(
    image: Picture, kit: Kit, camera: Camera, layout: Mapping[str, str], empty: Sequence[Picture] = ()
) -> Sizes:
    """The sizes of a kit's discs in a photograph (height, width, 3) uint8 BGR of a ``layout``, stacks by cell.

    The kit says how large they are about.  ``empty``: photographs of the bare board, from which its look is learned.

    Raises VisionError when the mat is not found, pieces are no discs of one size, or none can be seen.
    """
    if len({(kind.shape, kind.width_mm, kind.height_mm) for kind in kit.pieces}) > 1 or kit.pieces[0].shape != "disc":
        raise VisionError("only discs of one size are measured in a picture: measure a piece by hand")
    for _ in range(ROUNDS):
        sizes = _measured(image, kit, camera, layout, empty)
        width, height = max(sizes.width_mm, 1.0), max(sizes.height_mm, 1.0)
        kit = replace(kit, pieces=tuple(replace(k, width_mm=width, height_mm=height) for k in kit.pieces))
    return sizes


def _measured(image: Picture, kit: Kit, camera: Camera, layout: Mapping[str, str], empty: Sequence[Picture]) -> Sizes:
    look, photograph, _ = colours_of(image, kit, camera, (), layout, empty)
    middles = np.array([[*kit.centre_mm(cell), 0.0] for cell in layout])
    kind, tallest = kit.pieces[0], max(map(len, layout.values()))
    reach_mm = kind.width_mm * WIDER, kind.height_mm * tallest * HIGHER
    crops = make_crops(middles, photograph.pose, camera, reach_mm, 1)
    if FINER**2 * crops.u_mm.size * crops.v_mm.size < MOST_PIXELS:
        crops = magnified(crops, FINER, camera)
    configurations = kit_configurations(kit)
    model = build_colour_model(look, configurations, None)
    view = None if look.board is None else view_board(look.board, crops, photograph.pose, camera)
    shown = observe(image, crops, slice(None), photograph.light, model, view)
    colours, stacks = Materials(len(configurations.colours)), []
    for number, stack in enumerate(layout.values()):
        colour = next(i for i, letters in enumerate(configurations.colours) if stack[-1] in letters)
        logs = model[shown.bins[number]]
        free = _free(kit, layout, number, crops, photograph)
        face, side = (
            np.clip(logs[..., column] - shown.floor[number], -MOST_NATS, MOST_NATS) * free
            for column in (Materials.TOPS + colour, colours.sides + colour)
        )
        stacks.append(_Stack(number, len(stack), kit.piece(stack[-1]), face, side))
    seen = [(stack, place) for stack in stacks if (place := _found(stack, crops, photograph)) is not None]
    if not seen:
        raise VisionError("no piece is seen where the layout says: set the pieces as it says")
    counts = np.array([stack.count for stack, _ in seen])
    off_mm = middles[[stack.number for stack, _ in seen]] - photograph.pose.centre_mm
    return _sizes(kind, np.array([place for _, place in seen]), counts, off_mm)


def _free(kit: Kit, layout: Mapping[str, str], number: int, crops: Crops, photograph: Photograph) -> Array:
    """(rows, columns) 1 where a crop shows no other stack, and nothing nearer than the middle of its own foot."""
    free = np.ones((len(crops.v_mm), len(crops.u_mm)), np.uint8)
    free[crops.v_mm > 0] = 0
    for other, (cell, stack) in enumerate(layout.items()):
        if other != number:
            middle = np.array([*kit.centre_mm(cell), 0.0])
            corners = _corners(kit.piece(stack[-1]), len(stack), middle)
            cv2.fillConvexPoly(free, _drawn(corners, number, crops, photograph), 0, cv2.LINE_8, FINE_BITS)
    free[crops.outside[number]] = 0
    return free.astype(np.float32)


def _corners(kind: PieceKind, count: int, foot_mm: Points, wider: float = 1.0) -> Points:
    """(n, 3) mm, the corners of the lowest and the uppermost of ``count`` pieces, so many times ``wider``."""
    points = piece(kind).points * np.array([wider, wider, 1.0]) + foot_mm
    both: Points = np.vstack([points, points + np.array([0.0, 0.0, (count - 1) * kind.height_mm])])
    return both


def _drawn(corners_mm: Points, number: int, crops: Crops, photograph: Photograph) -> npt.NDArray[np.int32]:
    """The hull of corners (n, 3) in a crop, (k, 2), as OpenCV's fixed-point numbers."""
    pixels = hull(project(corners_mm, photograph.pose, photograph.camera))
    places = (pixels - crops.origin_px[number]) @ crops.to_crop[number].T
    drawn = (places - np.array([crops.u_mm[0], crops.v_mm[0]])) * (1 << FINE_BITS)
    whole: npt.NDArray[np.int32] = np.rint(drawn).astype(np.int32)
    return whole


def _found(stack: _Stack, crops: Crops, photograph: Photograph) -> Points | None:
    """(3,) the width of a stack, and how far to x and y it stands off the middle, as its upper face is seen; mm.

    None where none is seen.
    """
    at = np.array([stack.kind.width_mm, 0.0, 0.0])
    best = _score(stack, at, crops, photograph)
    for step in STEPS_MM:
        better = True
        while better:
            tried = at + step * _MOVES
            scores = [_score(stack, place, crops, photograph) for place in tried]
            better = max(scores) > best
            if better:
                best, at = max(scores), tried[int(np.argmax(scores))]
    return at if best > 0 else None


def _score(stack: _Stack, at: Points, crops: Crops, photograph: Photograph) -> float:
    """How much likelier a crop is with a stack of this width at this place (3,) than bare."""
    if not stack.kind.width_mm / WIDER < at[0] < stack.kind.width_mm * WIDER:
        return -np.inf
    foot = crops.centres_mm[stack.number] + np.array([at[1], at[2], 0.0])
    covered = np.zeros(stack.face.shape, np.uint8)
    corners = _corners(stack.kind, stack.count, foot, float(at[0]) / stack.kind.width_mm)
    cv2.fillConvexPoly(covered, _drawn(corners, stack.number, crops, photograph), 1, cv2.LINE_8, FINE_BITS)
    top = corners[np.isclose(corners[:, 2], corners[:, 2].max())]
    cv2.fillConvexPoly(covered, _drawn(top, stack.number, crops, photograph), 2, cv2.LINE_8, FINE_BITS)
    return float(stack.face[covered == 2].sum() + stack.side[covered == 1].sum())


def _sizes(kind: PieceKind, found: Points, counts: npt.NDArray[np.intp], off_mm: Points) -> Sizes:
    """The sizes that faces ``found`` (n, 3), as if pieces were as high as ``kind``, tell: robust least squares.

    ``counts`` (n,): of the pieces of their stacks; ``off_mm`` (n, 3): from the camera to the middles of their squares.
    """
    away = off_mm[:, :2] / -off_mm[:, 2:] * counts[:, None]
    ones, none = np.ones(len(found)), np.zeros(len(found))
    rows = np.vstack([np.column_stack([away[:, 0], ones, none]), np.column_stack([away[:, 1], none, ones])])
    seen, weights = np.concatenate([found[:, 1], found[:, 2]]) / PLACE_MM, np.ones(2 * len(found))
    rows, known = rows / PLACE_MM, np.diag([0.0, GRID_MM**-2, GRID_MM**-2])
    for _ in range(ROBUST_ROUNDS):
        normal = rows.T @ (weights[:, None] * rows) + known
        values = np.linalg.solve(normal, rows.T @ (weights * seen))
        errors = seen - rows @ values
        weights = OUTLIER / np.maximum(np.abs(errors), OUTLIER)
    scatter = max(1.0, float(np.sqrt((weights * errors**2).mean())))
    width = float(np.median(found[:, 0]))
    spread = 1.4826 * float(np.median(np.abs(found[:, 0] - width))) / np.sqrt(len(found))
    return Sizes(
        width_mm=width,
        width_deviation_mm=float(np.hypot(spread, WIDTH_SHARE * width)),
        height_mm=kind.height_mm + float(values[0]),
        height_deviation_mm=scatter * float(np.sqrt(np.linalg.inv(normal)[0, 0])),
    )
