"""Log-likelihood ratio, a piece against the bare board, of each pixel near a stack of a known layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.heights import base_heights_mm
from calibration.kit import Kit, PieceKind
from vision.appearance.board_view import view_board
from vision.appearance.colour_model import build_colour_model
from vision.appearance.piece_colours import Photograph
from vision.appearance.saturation import censor, saturated_bins
from vision.enrolment import Picture, measure_colours
from vision.likelihood.observations import observe
from vision.pose.projection import Points, project
from vision.scene.configurations import kit_configurations
from vision.scene.crops import Crops, magnify, make_crops
from vision.scene.materials import Materials
from vision.scene.solids import hull, piece
from vision.scene.terrain import floors_mm

Array = npt.NDArray[np.float32]

UPSAMPLING = 2
"""Crop pixels per millimetre; outlines are drawn with subpixel precision."""

MAX_PIXELS = 32_766
"""Most pixels of one crop: OpenCV takes no longer lines.  Larger ones have one pixel per millimetre."""

FINE_BITS = 4
"""Bits of a crop pixel's fraction."""

MAX_NATS = 4.0
"""Largest evidence of one pixel for or against a piece: that of a usual one, so that none decides alone."""

MAX_WIDTH_FACTOR, MAX_HEIGHT_FACTOR = 1.35, 1.5
"""Largest factors, up or down, by which the width and height that are searched for differ from what was assumed."""

SIDE, FACE = 1, 2


@dataclass(frozen=True, eq=False)
class Stack:
    """A stack of a photograph.

    Attributes:
        number: of its crop.
        cell: on which it stands.
        count: of its pieces.
        kind: of its uppermost piece, as large as is assumed.
        face: (rows, columns) float32, nats by which each pixel of its crop is likelier to show its face than the bare
            board; 0 where another stack is assumed to be seen.
        side: the same of its side.
    """

    number: int
    cell: str
    count: int
    kind: PieceKind
    face: Array
    side: Array


@dataclass(frozen=True, eq=False)
class Evidence:
    """Stacks in a photograph, and their crops."""

    photograph: Photograph
    crops: Crops
    stacks: tuple[Stack, ...]

    def hull(self, points_mm: Points, number: int) -> npt.NDArray[np.int32]:
        """The convex hull of points (n, 3) in a crop, (k, 2), in OpenCV's fixed-point coordinates."""
        return _hull(points_mm, number, self.crops, self.photograph)

    def log_ratio(self, stack: Stack, body_mm: Points, face_mm: Points) -> float:
        """Log-likelihood ratio, in nats, of a crop with this body to a bare one.

        ``body_mm`` (n, 3) are its corners, ``face_mm`` (m, 3) those of its upper face, none of a pyramid.
        """
        covered = np.zeros(stack.face.shape, np.uint8)
        cv2.fillConvexPoly(covered, self.hull(body_mm, stack.number), SIDE, cv2.LINE_8, FINE_BITS)
        if len(face_mm):
            cv2.fillConvexPoly(covered, self.hull(face_mm, stack.number), FACE, cv2.LINE_8, FINE_BITS)
        return float(stack.face[covered == FACE].sum() + stack.side[covered == SIDE].sum())


def gather_evidence(
    image: Picture,
    kit: Kit,
    camera: Camera,
    layout: Mapping[str, str],
    empty: Sequence[Picture],
    levels: tuple[int, ...],
) -> Evidence:
    """The evidence for the stacks of a ``layout`` by cell in a photograph; arguments as of ``measuring.measure_sizes``.

    Raises VisionError when the mat is not found.
    """
    appearance, photograph, _ = measure_colours(image, kit, camera, levels, layout, empty)
    floors = dict(zip(kit.cells, floors_mm(kit, levels), strict=True))
    middles = np.array([floors[cell] for cell in layout])
    crops = _crops(kit, layout, middles, photograph)
    configurations = kit_configurations(kit)
    model = build_colour_model(appearance, configurations, None)
    censor(model, saturated_bins(photograph.light))
    view = None if appearance.board is None else view_board(appearance.board, crops, photograph.pose, camera)
    shown = observe(image, crops, slice(None), photograph.light, model, view)
    bodies = [_body(kit, stack, floors[cell]) for cell, stack in layout.items()]
    colours, stacks = Materials(len(configurations.colours)), []
    for number, (cell, stack) in enumerate(layout.items()):
        colour = next(i for i, letters in enumerate(configurations.colours) if stack[-1] in letters)
        logs = model[shown.bins[number]]
        free = _free(bodies, number, crops, photograph)
        face, side = (
            np.clip(logs[..., column] - shown.floor[number], -MAX_NATS, MAX_NATS) * free
            for column in (Materials.TOPS + colour, colours.sides + colour)
        )
        stacks.append(Stack(number, cell, len(stack), kit.piece(stack[-1]), face, side))
    return Evidence(photograph, crops, tuple(stacks))


def _crops(kit: Kit, layout: Mapping[str, str], middles: Points, photograph: Photograph) -> Crops:
    widest = max(kind.width_mm for kind in kit.pieces)
    tallest = max(base_heights_mm(kit, stack)[-1] + kit.piece(stack[-1]).height_mm for stack in layout.values())
    crops = make_crops(
        middles, photograph.pose, photograph.camera, (widest * MAX_WIDTH_FACTOR, tallest * MAX_HEIGHT_FACTOR), 1
    )
    if UPSAMPLING**2 * crops.u_mm.size * crops.v_mm.size < MAX_PIXELS:
        crops = magnify(crops, UPSAMPLING, photograph.camera)
    return crops


def _body(kit: Kit, stack: str, floor_mm: Points) -> Points:
    """(n, 3) mm, the corners of all pieces of a stack."""
    rises = zip(stack, base_heights_mm(kit, stack), strict=True)
    corners = [piece(kit.piece(letter)).points + floor_mm + np.array([0.0, 0.0, rise]) for letter, rise in rises]
    body: Points = np.vstack(corners)
    return body


def _free(bodies: Sequence[Points], number: int, crops: Crops, photograph: Photograph) -> Array:
    """(rows, columns) 1 where a crop shows none of the other stacks, whose ``bodies`` are (n, 3) mm each."""
    free = np.ones((len(crops.v_mm), len(crops.u_mm)), np.uint8)
    for other, body in enumerate(bodies):
        if other != number:
            cv2.fillConvexPoly(free, _hull(body, number, crops, photograph), 0, cv2.LINE_8, FINE_BITS)
    free[crops.outside[number]] = 0
    return free.astype(np.float32)


def _hull(points_mm: Points, number: int, crops: Crops, photograph: Photograph) -> npt.NDArray[np.int32]:
    pixels = hull(project(points_mm, photograph.pose, photograph.camera))
    places = (pixels - crops.origin_px[number]) @ crops.to_crop[number].T
    drawn = (places - np.array([crops.u_mm[0], crops.v_mm[0]])) * (1 << FINE_BITS)
    whole: npt.NDArray[np.int32] = np.rint(drawn).astype(np.int32)
    return whole
