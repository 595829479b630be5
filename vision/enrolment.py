"""Enrolment: learn the look of a set from one photograph with single pieces on the kit's [enrol] squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import FLAT_RIM, RIM_STEPS, ColumnLook, Glyph, Reflectance, SetLook, nominal_look
from vision.appearance.illumination import LINEAR, measure_illumination
from vision.appearance.sharpening import legible
from vision.appearance.specular import faces_of, mirrored, paleness, sides_of, without
from vision.capture.frames import Frame
from vision.errors import VisionError
from vision.glyphs.face_detection import DIRECTIONS, Faces, centred
from vision.glyphs.templates import INK_PERCENTILE, WOOD_PERCENTILE, compare, make_alphabet, nothing_before, unrolled
from vision.inference.geometry import Geometry, make_geometry
from vision.inference.hypothesis import Hypothesis
from vision.inference.search import infer
from vision.likelihood.rim_shading import rim_residuals
from vision.pose.projection import Points, project
from vision.pose.registration import register, to_gray
from vision.reader import Reader
from vision.reading import CellState
from vision.scene.terrain import floors_mm

BORDER = np.linspace(0.72, 0.95, 9)
"""Radii, as a share of a face's own, of circles round its character, on which what is printed is rotationally
symmetric."""

CIRCLES = 5
"""Number of the circles of least variance that count: a bevelled rim is lit from one side, or dark on one."""

FINER_MM = (0.5, 0.2, 0.08)
"""Steps of the search for the middle of a face with a character: its template is only as accurate as that."""

ALIKE = -5.0
"""Log-likelihood of one character on the face of another above which they are the same, or too small to be told apart:
two pieces with the same character come to between -1 and -5."""

UNLIKELY = 1e-4
"""Probability below which a square does not show what [enrol] promises.  What people promise counts for much: in poor
light a piece and its shadow can look like two."""

_SQUARE = np.array([(x, y) for x in range(-3, 4) for y in range(-3, 4)])

FLOOR_SHARE = 0.35
"""Share of the pitch round a square's middle that is sampled for the floor, clear of the lines."""


def enrol(image: npt.NDArray[np.uint8], kit: Kit, camera: Camera, levels: tuple[int, ...] = ()) -> SetLook:
    """The look of the set in a photograph (height, width, 3) uint8 BGR.

    ``levels`` are those of terrain or pillars, a cell, while the photograph was taken; empty on a flat board.

    Pieces without characters that are not on their squares keep the kit's colours and are named in the look, unless
    half of all are missing.

    Raises VisionError when the mat is not found, the kit has no [enrol] squares, or the photograph does not show what
    they promise.
    """
    if not kit.enrol:
        raise VisionError(f"the kit {kit.name} has no [enrol] squares: name a square for one piece of each kind")
    pose = register(to_gray(image), kit, camera)
    light = measure_illumination(image, kit, pose, camera)
    floors = dict(zip(kit.cells, floors_mm(kit, levels), strict=True))

    def shown(points_mm: Points) -> Points:
        pixels = np.rint(project(points_mm, pose, camera)).astype(int)
        inside = ((pixels >= 0) & (pixels < (camera.width_px, camera.height_px))).all(axis=1)
        if not inside.any():
            raise VisionError("an [enrol] square lies outside the picture: show the whole mat")
        seen = LINEAR[image[pixels[inside, 1], pixels[inside, 0], ::-1]] / light.at(points_mm[inside])
        return np.asarray(seen, np.float64)

    def reflectance(points_mm: Points, percentile: float = 50.0) -> Reflectance:
        r, g, b = np.percentile(shown(points_mm), percentile, axis=0)
        return float(r), float(g), float(b)

    look = nominal_look(kit)
    pieces, inks = dict(look.pieces), dict(look.inks)
    for cell, letter in kit.enrol.items():
        faces = faces_of(kit.piece(letter), floors[cell], pose.centre_mm)
        if letter in inks:
            inks[letter] = reflectance(faces[0], INK_PERCENTILE)
            pieces[letter] = reflectance(faces[0], WOOD_PERCENTILE)
        else:
            sides = [reflectance(side) for side in sides_of(kit.piece(letter), floors[cell], pose.centre_mm)]
            face = min((reflectance(face) for face in faces), key=paleness)
            pieces[letter] = without(face, mirrored(face, sides))
    woods = {letter: pieces[letter] for letter in inks}
    whites: dict[str, float] = {}
    for letter, wood in woods.items():
        alike = [woods[other] for other in woods if kit.piece(other).colour == kit.piece(letter).colour]
        whites[letter] = mirrored(wood, alike)
        pieces[letter], inks[letter] = without(wood, whites[letter]), without(inks[letter], whites[letter])
    clear = [floors[cell] for cell in kit.cells if _is_clear(kit, cell)]
    flat = [_floor_points(kit, floor) for floor in clear if floor[2] == 0]
    raised = [_floor_points(kit, floor) for floor in clear if floor[2] > 0]
    learned = replace(
        look,
        pieces=pieces,
        inks=inks,
        floor=reflectance(np.vstack(flat)) if flat else look.floor,
        column=_column(look.column, reflectance(np.vstack(raised))) if raised else look.column,
    )
    geometry = make_geometry(kit, levels, pose, camera)
    hypothesis = _explained(image, Reader(kit, camera, learned, levels), geometry)
    learned = replace(learned, rim=_rim(kit, hypothesis))
    inked = _inked(image, kit, hypothesis) if look.inks else None
    if inked:
        lit = [whites[letter] * light.at(floors[cell][None])[0] for cell, letter in kit.enrol.items()]
        matt = legible(_matt(image, inked, lit), kit, pose, camera)
        learned = replace(learned, glyphs=dict(zip(kit.enrol.values(), unrolled(matt, inked), strict=True)))
    learned = _checked(image, Reader(kit, camera, learned, levels), geometry)
    if inked:
        _check_unlike(matt, kit, inked, learned.glyphs)
    return learned


def _column(nominal: ColumnLook | None, top: Reflectance) -> ColumnLook:
    """The look of columns whose upper faces were seen; their sides differ from these as the kit says."""
    assert nominal is not None, "what is raised stands on columns"
    r, g, b = (side * seen / max(said, 1e-3) for side, seen, said in zip(nominal.side, top, nominal.top, strict=True))
    return ColumnLook(top, (r, g, b))


def _floor_points(kit: Kit, floor_mm: Points) -> Points:
    steps = np.linspace(-FLOOR_SHARE, FLOOR_SHARE, 5) * kit.board.pitch_mm
    dx, dy = np.meshgrid(steps, steps)
    around: Points = floor_mm + np.column_stack([dx.ravel(), dy.ravel(), np.zeros(dx.size)])
    return around


def _is_clear(kit: Kit, cell: str) -> bool:
    """Whether no enrolled piece stands on or next to ``cell``."""
    x, y = kit.centre_mm(cell)
    reach = 1.5 * kit.board.pitch_mm
    places = (kit.centre_mm(other) for other in kit.enrol)
    return all(abs(x - px) > reach or abs(y - py) > reach for px, py in places)


def _explained(image: npt.NDArray[np.uint8], reader: Reader, geometry: Geometry) -> Hypothesis:
    """The enrolled board as far as it is understood without rims and characters."""
    shown = reader.observations(image, geometry, reader.light(image, geometry.pose))
    return infer(shown, np.zeros(RIM_STEPS, np.float32), geometry)


def _rim(kit: Kit, hypothesis: Hypothesis) -> tuple[float, ...]:
    """Mean shading of the sides of the enrolled pieces, from the lower to the upper edge."""
    rows = [kit.cells.index(cell) for cell in kit.enrol]
    sides = hypothesis.side_steps[rows, :1].reshape(-1, RIM_STEPS, 2)
    if not len(sides):
        return FLAT_RIM
    residual, count = rim_residuals(sides)
    rim = (residual * count).sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    return tuple(float(step) for step in rim[::-1])


def _inked(image: npt.NDArray[np.uint8], kit: Kit, hypothesis: Hypothesis) -> Faces:
    """Where the faces of the enrolled pieces are: in the picture, not blurred, most alike all the way round.

    There is time for that here.
    """
    rows = np.array([kit.cells.index(cell) for cell in kit.enrol])
    faces, _ = centred(
        image, hypothesis.geometry.faces.of(rows * len(hypothesis.geometry.configurations.all)), hypothesis.all_labels()
    )
    circles = BORDER[:, None, None] * DIRECTIONS
    for step_mm in FINER_MM:
        steps_mm = _SQUARE * step_mm
        around_mm = steps_mm[:, None, None] + faces.radii_mm[:, None, None, None, None] * circles
        pixels = faces.middles_px[:, None, None, None] + np.einsum("kij,ksraj->ksrai", faces.to_picture, around_mm)
        x, y = (pixels[..., i].reshape(-1, len(DIRECTIONS)).astype(np.float32) for i in (0, 1))
        codes = cv2.remap(image, x, y, cv2.INTER_LINEAR).reshape(*pixels.shape[:-1], 3)
        uneven = np.sort(codes.var(axis=3).sum(axis=3), axis=2)[..., :CIRCLES].sum(axis=2)
        faces = faces.moved(steps_mm[(uneven / np.maximum(codes.mean(axis=(2, 3, 4)), 1) ** 2).argmin(axis=1)])
    return faces


def _matt(image: npt.NDArray[np.uint8], faces: Faces, mirrored: Sequence[Reflectance]) -> npt.NDArray[np.uint8]:
    """The picture with each face as it would be without the light (linear, r g b) that it mirrors."""
    result = image.copy()
    for number, light in enumerate(mirrored):
        if max(light) > 0:
            rim = faces.middles_px[number] + faces.radii_mm[number] * DIRECTIONS @ faces.to_picture[number].T
            area = cv2.fillPoly(np.zeros(image.shape[:2], np.uint8), [np.rint(rim).astype(np.int32)], 1)
            codes = [np.interp(LINEAR - channel, LINEAR, np.arange(256)) for channel in reversed(light)]
            table = np.rint(np.column_stack(codes)).astype(np.uint8)
            cv2.copyTo(cv2.LUT(image, table[None]), area, result)
    return result


def _checked(image: npt.NDArray[np.uint8], reader: Reader, geometry: Geometry) -> SetLook:
    """The look that the reader has, less what was learned on squares where nothing stands.

    Raises VisionError when the photograph, read with this look, is not what [enrol] promises.
    """
    kit, look = reader.kit, reader.look
    wrong = _broken_promises(image, reader, geometry)
    absent = tuple(kit.enrol[cell] for cell, (_, top) in wrong.items() if cell in kit.enrol and not top)
    if not wrong or look.glyphs or not 0 < len(absent) < len(kit.enrol) / 2:
        _refuse(kit, wrong)
        return look
    nominal = nominal_look(kit).pieces
    pieces = {letter: nominal[letter] if letter in absent else colour for letter, colour in look.pieces.items()}
    look = replace(look, pieces=pieces, not_found=absent)
    again = Reader(kit, reader.camera, look, reader.levels)
    left = _broken_promises(image, again, geometry)
    _refuse(kit, {cell: state for cell, state in left.items() if kit.enrol.get(cell) not in absent})
    return look


def _broken_promises(image: npt.NDArray[np.uint8], reader: Reader, geometry: Geometry) -> dict[str, CellState]:
    """What is read on the squares that do not show what [enrol] promises."""
    reading = reader.read_at(Frame(image, 0, 0.0), geometry)
    broken = {}
    for row, cell in enumerate(reading.cells):
        letter = reader.kit.enrol.get(cell)
        promised = [_is_promised(state, letter, reader.look.glyphs) for state in reading.states]
        if np.exp(reading.log_likelihood[row, promised]).sum() < UNLIKELY:
            broken[cell] = reading.best(row)[0]
    return broken


def _refuse(kit: Kit, wrong: Mapping[str, CellState]) -> None:
    """Raise VisionError for the first of the squares that are ``wrong``."""
    for cell, (height, top) in wrong.items():
        should = f"one {kit.enrol[cell]}" if cell in kit.enrol else "nothing"
        seen = f"{height or 1} high, {top} on top" if top else "empty"
        raise VisionError(f"{cell} should hold {should} but looks {seen}; set the pieces as [enrol] says")


def _is_promised(state: CellState, letter: str | None, glyphs: Mapping[str, Glyph]) -> bool:
    """Whether a square shows what it should: a ``letter`` or any other character, for they are learned here."""
    height, top = state
    return height in ((1, None) if letter else (0,)) and (top == letter or letter in glyphs)


def _check_unlike(image: npt.NDArray[np.uint8], kit: Kit, faces: Faces, glyphs: Mapping[str, Glyph]) -> None:
    """Raise VisionError when two characters cannot be told apart, each held against the other's face."""
    likely, _ = compare(image, faces, nothing_before(image), make_alphabet(glyphs))
    np.fill_diagonal(likely, -np.inf)
    if likely.max() > ALIKE:
        names = [f"{cell} ({letter})" for cell, letter in kit.enrol.items()]
        one, other = sorted(np.unravel_index(likely.argmax(), likely.shape))
        px_per_mm = float(np.sqrt(abs(np.linalg.det(faces.to_picture[one]))))
        raise VisionError(
            f"{names[one]} and {names[other]} look alike; set the pieces as [enrol] says, where they mirror no lamp; "
            "if they stand right, bring the camera nearer or take larger pictures: "
            f"a millimetre is only {px_per_mm:.1f} pixels wide there"
        )
