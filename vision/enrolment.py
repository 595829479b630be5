"""Enrolment: learns a set's appearance from one photograph of a known layout, and its board's from empty ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.appearance import (
    FLAT_RIM,
    RIM_STEPS,
    ColumnAppearance,
    Reflectance,
    SetAppearance,
    nominal_appearance,
)
from calibration.board_appearance import BoardAppearance
from calibration.camera import Camera
from calibration.kit import Kit
from calibration.printed import printed_appearance
from vision.appearance.board_blocks import BoardBlocks, make_blocks, place_blocks
from vision.appearance.board_learning import covered_texels, learn_board, with_measured_colours
from vision.appearance.board_light import measure_on_board
from vision.appearance.hard_shadow import HardShadow
from vision.appearance.illumination import LINEAR, measure_illumination
from vision.appearance.light_references import references
from vision.appearance.piece_colours import Photograph, floor_points, learn_pieces
from vision.appearance.sharpening import blur_if_sharpened
from vision.appearance.veiling_glare import VeilingGlare, measure_black
from vision.enrolment_check import check_distinct, without_empty_squares
from vision.errors import VisionError
from vision.glyphs.face_detection import centre_faces
from vision.glyphs.faces import DIRECTIONS, Faces
from vision.glyphs.local_light import level_illumination
from vision.glyphs.ring import GROOVE_SHARES, INNER_SHARES, RING_SHARES, find_ring, usual_radius_mm
from vision.glyphs.templates import empty_label_buffer, unrolled
from vision.inference.geometry import Geometry, make_geometry
from vision.inference.hypothesis import Hypothesis
from vision.inference.render_and_compare import rescore_by_rendering
from vision.inference.search import infer
from vision.likelihood.rim_shading import rim_residuals
from vision.pose.projection import Points, Registration
from vision.pose.registration import register, to_gray
from vision.reader import Reader
from vision.scene.terrain import floors_mm

Picture = npt.NDArray[np.uint8]

BORDER = np.linspace(0.72, 0.95, 9)
"""Radii, as a share of the face's, of circles round its character, on which the print is rotationally symmetric."""

CIRCLES = 5
"""Number of circles of least variance that count: a bevelled rim is bright, or dark, on one side."""

FINER_MM = (0.5, 0.2, 0.08)
"""Steps of the search for the centre of a face: its template is only as accurate as that centre."""

_SQUARE = np.array([(x, y) for x in range(-3, 4) for y in range(-3, 4)])


def enrol(
    image: Picture,
    kit: Kit,
    camera: Camera,
    levels: tuple[int, ...] = (),
    layout: Mapping[str, str] | None = None,
    empty: Sequence[Picture] = (),
) -> SetAppearance:
    """Appearance of the set in a photograph (height, width, 3) uint8 BGR, and of its board where that is learned.

    Args:
        image: the photograph.
        kit: of the set.
        camera: that took all photographs.
        levels: of terrain or pillars, per cell, while the photograph was taken; empty on a flat board.
        layout: the stack on each occupied cell in the photograph, bottom first; None: the kit's [enrol].
        empty: photographs of the empty board, from which its appearance is learned.

    Kinds without characters that are missing from their squares get the colour of those found that have the same colour
    in the kit, or else the kit's, and are named in the appearance, unless half of all kinds are missing; so are those
    that are hardly told apart.

    Raises VisionError when the mat is not found, the layout lacks a piece, the photograph does not show the layout, or
    two kinds look alike in it.
    """
    stacks = kit.enrol if layout is None else layout
    if not stacks:
        raise VisionError(
            f"the kit {kit.name} has no [enrol] squares: name a square for one piece of each kind"
            if layout is None
            else "the layout is empty: name a square for one piece of each kind"
        )
    appearance, photograph, whites = measure_colours(image, kit, camera, levels, stacks, empty)
    image = photograph.image
    floors = dict(zip(kit.cells, floors_mm(kit, levels), strict=True))
    geometry = make_geometry(kit, levels, photograph.pose, camera)
    hypothesis = _explained(image, Reader(kit, camera, appearance, levels), geometry)
    appearance = replace(appearance, rim=_rim(kit, hypothesis, stacks))
    if not appearance.inks:
        if geometry.configurations.are_discs:
            faces = _centre_inked_faces(image, kit, hypothesis, stacks)
            outer_mm, inner_mm = (_ring_mm(image, faces, shares) for shares in (GROOVE_SHARES, INNER_SHARES))
            # The inner ring alone serves for heights as well.
            rings = (inner_mm, None) if outer_mm is None else (outer_mm, inner_mm)
            appearance = replace(appearance, ring_mm=rings[0], inner_ring_mm=rings[1])
        return without_empty_squares(image, Reader(kit, camera, appearance, levels), geometry, stacks)
    shown = _first_of_each(stacks)
    inked = {cell: stacks[cell] for cell in shown.values()}
    faces = _centre_inked_faces(image, kit, hypothesis, inked)
    # A character may be more even about another point than about its centre, but is not surrounded by the ring there.
    ring_mm = _ring_mm(image, faces)
    if ring_mm is not None:
        faces = _centre_inked_faces(image, kit, hypothesis, inked, ring_mm)
    lit = [whites[letter] * photograph.light.at(floors[cell][None])[0] for letter, cell in shown.items()]
    matt = _subtract_mirrored_light(image, faces, lit)
    without_halos = level_illumination(blur_if_sharpened(matt, kit, photograph.pose, camera), faces)
    glyphs = dict(zip(shown, unrolled(without_halos, faces), strict=True))
    appearance = replace(appearance, glyphs=glyphs, ring_mm=_ring_mm(matt, faces))
    appearance = without_empty_squares(image, Reader(kit, camera, appearance, levels), geometry, stacks)
    check_distinct(without_halos, shown, faces, appearance.glyphs)
    return appearance


def measure_colours(
    image: Picture,
    kit: Kit,
    camera: Camera,
    levels: tuple[int, ...],
    stacks: Mapping[str, str],
    empty: Sequence[Picture],
) -> tuple[SetAppearance, Photograph, Mapping[str, float]]:
    """The colours in a photograph of ``stacks`` by cell, its pose and light, and by letter the white that faces mirror.

    The photograph is without the hard shadow that may lie across the board.  The other arguments are those of
    :func:`enrol` and :func:`.learn_pieces`.  Raises VisionError when the mat is not found or a piece is missing.
    """
    pose = register(to_gray(image), kit, camera)
    black = measure_black(image, kit, pose, camera)
    board = learn_empty_board(empty, kit, camera, black)
    nominal = nominal_appearance(kit)
    blocks = _blocks(board, kit)
    even = HardShadow(kit, nominal.floor, blocks, levels).remove(image, pose, camera)
    photograph = _photograph(even, pose, kit, camera, blocks)
    if board is None and (kit.board.cell_colour is None or kit.board.chequer_colour is not None):
        board = _learn_around(photograph, kit, stacks)
        photograph = _photograph(even, pose, kit, camera, _blocks(board, kit))
    floors = dict(zip(kit.cells, floors_mm(kit, levels), strict=True))
    colours = learn_pieces(photograph, kit, stacks, floors)
    appearance = _with_floor(nominal, photograph, kit, stacks, floors)
    appearance = replace(appearance, pieces=colours.pieces, inks=colours.inks, board=board, black=black)
    return appearance, photograph, colours.whites


def learn_empty_board(
    empty: Sequence[Picture], kit: Kit, camera: Camera, black: Reflectance | None = None
) -> BoardAppearance | None:
    """The appearance of a board from photographs (height, width, 3) uint8 BGR of it empty; None if there are none.

    ``black``: of :func:`.measure_black`; the glare of these photographs is brought to that of the one it was measured
    in.  Raises VisionError when the mat is not found.
    """
    board, glare = None, VeilingGlare(kit, black)
    for picture in empty:
        pose = register(to_gray(picture), kit, camera)
        clear = glare.remove(picture, pose, camera)
        board = learn_board(board, _photograph(clear, pose, kit, camera, _blocks(board, kit)), kit)
    return board


def _blocks(board: BoardAppearance | None, kit: Kit) -> BoardBlocks | None:
    """The blocks of a board, None where its appearance is not known."""
    return None if board is None else make_blocks(board, references(kit))


def _photograph(image: Picture, pose: Registration, kit: Kit, camera: Camera, blocks: BoardBlocks | None) -> Photograph:
    """A picture, its pose and its light, measured on the ``blocks`` of its board if known.  Raises VisionError."""
    if blocks is None:
        return Photograph(image, pose, camera, measure_illumination(image, kit, pose, camera))
    placed = place_blocks(blocks, pose, camera)
    return Photograph(image, pose, camera, measure_on_board(image, placed))


def _learn_around(photograph: Photograph, kit: Kit, stacks: Mapping[str, str]) -> BoardAppearance:
    """Appearance of a board with ``stacks`` by cell on it; beneath them as printed, where the kit describes that."""
    covered = covered_texels(kit, photograph, stacks)
    shown = learn_board(None, photograph, kit, covered)
    if kit.board.chequer_colour is None:
        return shown
    return learn_board(printed_appearance(with_measured_colours(kit, shown)), photograph, kit, covered)


def _first_of_each(stacks: Mapping[str, str]) -> Mapping[str, str]:
    """The first cell, by letter, on which the letter's piece lies uppermost."""
    first: dict[str, str] = {}
    for cell, stack in stacks.items():
        first.setdefault(stack[-1], cell)
    return first


def _with_floor(
    appearance: SetAppearance, photograph: Photograph, kit: Kit, stacks: Mapping[str, str], floors: Mapping[str, Points]
) -> SetAppearance:
    """``appearance`` with the colours of the squares and the terrain that are clear of stacks."""
    clear = [floors[cell] for cell in kit.cells if _is_clear(kit, cell, stacks)]
    flat = [floor_points(kit, floor) for floor in clear if floor[2] == 0]
    raised = [floor_points(kit, floor) for floor in clear if floor[2] > 0]
    floor = photograph.reflectance(np.vstack(flat)) if flat else appearance.floor
    column = _column(appearance.column, photograph.reflectance(np.vstack(raised))) if raised else appearance.column
    return replace(appearance, floor=floor, column=column)


def _column(nominal: ColumnAppearance | None, top: Reflectance) -> ColumnAppearance:
    """The appearance of columns with upper faces of colour ``top``; their sides differ from these as in the kit."""
    assert nominal is not None, "what is raised stands on columns"
    r, g, b = (side * seen / max(said, 1e-3) for side, seen, said in zip(nominal.side, top, nominal.top, strict=True))
    return ColumnAppearance(top, (r, g, b))


def _is_clear(kit: Kit, cell: str, stacks: Mapping[str, str]) -> bool:
    """Whether no stack stands on or next to ``cell``."""
    (x, y), (across, up) = kit.centre_mm(cell), kit.board.pitch_mm
    places = (kit.centre_mm(other) for other in stacks)
    return all(abs(x - px) > 1.5 * across or abs(y - py) > 1.5 * up for px, py in places)


def _explained(image: npt.NDArray[np.uint8], reader: Reader, geometry: Geometry) -> Hypothesis:
    """The hypothesis for the enrolled board, inferred without rims and characters."""
    shown = reader.observations(image, geometry, reader.light(image, geometry.pose))
    hypothesis = infer(shown, np.zeros(RIM_STEPS, np.float32), geometry)
    rescore_by_rendering(image, hypothesis)
    return hypothesis


def _rim(kit: Kit, hypothesis: Hypothesis, stacks: Mapping[str, str]) -> tuple[float, ...]:
    """Mean shading of the sides of the uppermost pieces, from the lower to the upper edge."""
    rows = [kit.cells.index(cell) for cell in stacks]
    sides = hypothesis.side_steps[rows, :1].reshape(-1, RIM_STEPS, 2)
    if not len(sides):
        return FLAT_RIM
    residual, count = rim_residuals(sides)
    rim = (residual * count).sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    return tuple(float(step) for step in rim[::-1])


def _centre_inked_faces(
    image: Picture, kit: Kit, hypothesis: Hypothesis, stacks: Mapping[str, str], ring_mm: float | None = None
) -> Faces:
    """The faces of these stacks, centred where they are most uniform round their circles in the unblurred picture.

    Near where they surround a ring of radius ``ring_mm``, if that is known.  Enrolment has the time for this search.
    """
    count = len(hypothesis.geometry.configurations.all)
    numbers = np.array([kit.cells.index(cell) * count + len(stack) - 1 for cell, stack in stacks.items()])
    faces, _ = centre_faces(image, hypothesis.geometry.faces.select(numbers), hypothesis.labels(), ring_mm)
    circles = BORDER[:, None, None] * DIRECTIONS
    for step_mm in FINER_MM:
        steps_mm = _SQUARE * step_mm
        around_mm = steps_mm[:, None, None] + faces.radii_mm[:, None, None, None, None] * circles
        pixels = faces.centres_px[:, None, None, None] + np.einsum("kij,ksraj->ksrai", faces.to_picture, around_mm)
        x, y = (pixels[..., i].reshape(-1, len(DIRECTIONS)).astype(np.float32) for i in (0, 1))
        codes = cv2.remap(image, x, y, cv2.INTER_LINEAR).reshape(*pixels.shape[:-1], 3)
        uneven = np.sort(codes.var(axis=3).sum(axis=3), axis=2)[..., :CIRCLES].sum(axis=2)
        faces = faces.displaced(steps_mm[(uneven / np.maximum(codes.mean(axis=(2, 3, 4)), 1) ** 2).argmin(axis=1)])
    return faces


def _ring_mm(image: Picture, faces: Faces, shares: tuple[float, float] = RING_SHARES) -> float | None:
    """Radius of the ring on these faces in mm; None if they have no ring in common."""
    labels, rings = empty_label_buffer(image), []
    for number in range(len(faces.radii_mm)):
        face = faces.select(np.array([number]))
        least, most = (share * float(face.radii_mm[0]) for share in shares)
        rings.append(find_ring(image, face, labels, (least, most), DIRECTIONS))
    return usual_radius_mm(rings)


def _subtract_mirrored_light(
    image: npt.NDArray[np.uint8], faces: Faces, mirrored: Sequence[Reflectance]
) -> npt.NDArray[np.uint8]:
    """The picture with the light (linear, r g b) that each face mirrors subtracted from it."""
    result = image.copy()
    for number, light in enumerate(mirrored):
        if max(light) > 0:
            rim = faces.centres_px[number] + faces.radii_mm[number] * DIRECTIONS @ faces.to_picture[number].T
            area = cv2.fillPoly(np.zeros(image.shape[:2], np.uint8), [np.rint(rim).astype(np.int32)], 1)
            codes = [np.interp(LINEAR - channel, LINEAR, np.arange(256)) for channel in reversed(light)]
            table = np.rint(np.column_stack(codes)).astype(np.uint8)
            cv2.copyTo(cv2.LUT(image, table[None]), area, result)
    return result
