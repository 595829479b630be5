"""Learn the look of a set from one photograph with single pieces on the kit's [enrol] squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import FLAT_RIM, RIM_STEPS, Reflectance, SetLook, nominal_look
from vision.errors import VisionError
from vision.explain import explain
from vision.geometry import Geometry, make_geometry
from vision.light import LINEAR, measure_light
from vision.outlines import CIRCLE
from vision.reader import Reader
from vision.reading import EMPTY
from vision.register import Points, project, register, to_gray
from vision.source import Frame
from vision.stacks import rim_residuals

SAMPLED_SHARE = 0.7
"""Share of a face's radius that is sampled: a piece may stand 1.5 mm off, and rims are in another light."""

FLOOR_SHARE = 0.35
"""Share of the pitch round a square's middle that is sampled for the floor, clear of the lines."""


def enrol(image: npt.NDArray[np.uint8], kit: Kit, camera: Camera) -> SetLook:
    """The look of the set in a photograph (height, width, 3) uint8 BGR.

    Raises VisionError when the mat is not found, the kit has no [enrol] squares, or the photograph does not show what
    they promise.
    """
    if not kit.enrol:
        raise VisionError(f"the kit {kit.name} has no [enrol] squares: name a square for one piece of each kind")
    pose = register(to_gray(image), kit, camera)
    look = nominal_look(kit)
    light = measure_light(image, kit, pose, camera)

    def reflectance(points_mm: Points) -> Reflectance:
        pixels = np.rint(project(points_mm, pose, camera)).astype(int)
        inside = ((pixels >= 0) & (pixels < (camera.width_px, camera.height_px))).all(axis=1)
        if not inside.any():
            raise VisionError("an [enrol] square lies outside the picture: show the whole mat")
        seen = LINEAR[image[pixels[inside, 1], pixels[inside, 0], ::-1]] / light.at(points_mm[inside])
        r, g, b = np.median(seen, axis=0)
        return float(r), float(g), float(b)

    pieces = dict(look.pieces)
    for cell, letter in kit.enrol.items():
        pieces[letter] = reflectance(_face_points(kit, cell, letter))
    floor = reflectance(np.vstack([_floor_points(kit, cell) for cell in kit.cells if _is_clear(kit, cell)]))
    learned = replace(look, floor=floor, pieces=pieces)
    geometry = make_geometry(kit, pose, camera)
    learned = replace(learned, rim=_rim(image, Reader(kit, camera, learned), geometry))
    _check(image, Reader(kit, camera, learned), geometry)
    return learned


def _face_points(kit: Kit, cell: str, letter: str) -> Points:
    """(k, 3) mm, over the inner part of the upper face of a piece that stands alone on ``cell``."""
    kind, (x, y) = kit.piece(letter), kit.centre_mm(cell)
    radii = np.linspace(0, SAMPLED_SHARE * kind.width_mm / 2, 6)[:, None, None]
    disc = (radii * CIRCLE).reshape(-1, 2) + np.array([x, y])
    return np.column_stack([disc, np.full(len(disc), kind.height_mm)])


def _floor_points(kit: Kit, cell: str) -> Points:
    x, y = kit.centre_mm(cell)
    steps = np.linspace(-FLOOR_SHARE, FLOOR_SHARE, 5) * kit.board.pitch_mm
    dx, dy = np.meshgrid(steps, steps)
    return np.column_stack([x + dx.ravel(), y + dy.ravel(), np.zeros(dx.size)])


def _is_clear(kit: Kit, cell: str) -> bool:
    """Whether no enrolled piece stands on or next to ``cell``."""
    x, y = kit.centre_mm(cell)
    reach = 1.5 * kit.board.pitch_mm
    places = (kit.centre_mm(other) for other in kit.enrol)
    return all(abs(x - px) > reach or abs(y - py) > reach for px, py in places)


def _rim(image: npt.NDArray[np.uint8], reader: Reader, geometry: Geometry) -> tuple[float, ...]:
    """Mean shading of the sides of the enrolled pieces, from the lower to the upper edge."""
    kit = reader.kit
    shown = reader.evidence(image, geometry)
    board = explain(shown, np.zeros(RIM_STEPS, np.float32), geometry, image.shape[:2])
    sides = [board.sides[row][0] for cell in kit.enrol if (row := kit.cells.index(cell)) in board.sides]
    if not sides:
        return FLAT_RIM
    residual, count = rim_residuals(np.stack(sides))
    rim = (residual * count).sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    return tuple(float(step) for step in rim)


def _check(image: npt.NDArray[np.uint8], reader: Reader, geometry: Geometry) -> None:
    """Raise VisionError when the photograph, read with what was learned from it, is not what [enrol] promises."""
    reading = reader.read_at(Frame(image, 0, 0.0), geometry)
    for row, cell in enumerate(reading.cells):
        letter = reader.kit.enrol.get(cell)
        wanted = (1, letter) if letter else EMPTY
        (height, top), _ = reading.best(row)
        if (height, top) != wanted:
            should = f"one {letter}" if letter else "nothing"
            seen = f"{height} high, {top} on top" if height else "empty"
            raise VisionError(f"{cell} should hold {should} but looks {seen}; set the pieces as [enrol] says")
