"""The light on the mat, measured in every picture from the printed patches and the bare paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import linear
from vision.compiled import compiled
from vision.errors import VisionError
from vision.pose.projection import Points, Registration, project

_CODES = np.arange(256) / 255
LINEAR = np.where(_CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4).astype(np.float32)
"""Linear light (0…1) of each 8-bit code (sRGB, IEC 61966-2-1)."""

DARKEST_USED = 0.1
"""Reflectance below which a patch is not used for the light: reflections of the room outweigh its own colour."""

TOO_DARK = 0.004
"""Linear level of white paper (about code 13 of 255) at which one 8-bit step is a fifth of the signal: colours
are lost and nothing should be read."""

SAMPLES = 100
"""Planes tried through three references each (RANSAC: Fischler and Bolles, 1981): even with two thirds of the paper
covered the chance that all three of some sample are bare is 97 %."""

AGREE_LOG = 0.1
"""References within a tenth of a plane belong to it; the rest is covered: hands, sleeves, shadows."""

LEAST_AREA = 0.2
"""Three references this close to one line (determinant; 4 is the whole mat) would tip the plane."""

MARGIN_MM = 6.0
"""How far inside the mat's edge the paper is sampled."""


References = tuple[Points, Points]
"""Places (n, 3) mm whose colour is known, and their reflectances (n, 3) relative to white."""


@dataclass(frozen=True, eq=False)
class Illumination:
    """Natural log of the light per channel (r, g, b), a plane over the mat.

    Attributes:
        plane: (3 coefficients, 3 channels) float64, for (1, x / half width, y / half height).
        half_mm: half of the mat's width and height.
    """

    plane: Points
    half_mm: tuple[float, float]

    def at(self, points_mm: Points) -> npt.NDArray[np.float32]:
        """Light (n, 3) r g b at places (n, 2 or more) mm; white paper there shows this linear level."""
        return np.exp(_terms(points_mm, self.half_mm) @ self.plane).astype(np.float32)


def measure_illumination(
    image: npt.NDArray[np.uint8], kit: Kit, pose: Registration, camera: Camera, places: References | None = None
) -> Illumination:
    """Fit the light to patches and paper.

    ``image`` is (height, width, 3) uint8, BGR; ``places`` are the kit's :func:`references` where they are at hand.

    Raises:
        VisionError: the picture is too dark to tell colours, or no paper is in view.
    """
    points, reflectance = places or references(kit)
    pixels = np.rint(project(points, pose, camera)).astype(int)
    inside = ((pixels >= 0) & (pixels < (camera.width_px, camera.height_px))).all(axis=1)
    seen = LINEAR[image[pixels[inside, 1], pixels[inside, 0], ::-1]]
    usable = (seen > 0).all(axis=1) & (image[pixels[inside, 1], pixels[inside, 0]] < 255).all(axis=1)
    half_mm = (kit.mat.width_mm / 2, kit.mat.height_mm / 2)
    if usable.sum() < 12:
        white = float(np.median(seen)) if seen.size else 0.0
        raise VisionError(
            "the mat is overexposed: lower the exposure" if white > 0.9 else "the picture is too dark: switch a lamp on"
        )
    terms = _terms(points[inside][usable], half_mm)
    target = np.log(seen[usable] / reflectance[inside][usable])
    bare = _agreeing(terms, target)
    plane = np.linalg.lstsq(terms[bare], target[bare], rcond=None)[0]
    if float(np.exp(plane[0]).max()) < TOO_DARK:
        raise VisionError("the picture is too dark: switch a lamp on or lengthen the exposure")
    return Illumination(plane, half_mm)


def _terms(points_mm: Points, half_mm: tuple[float, float]) -> Points:
    return np.column_stack([np.ones(len(points_mm)), points_mm[:, 0] / half_mm[0], points_mm[:, 1] / half_mm[1]])


def _agreeing(terms: Points, target: Points) -> npt.NDArray[np.bool_]:
    """(n,) which references (n, 3 terms; n, 3 channels) lie on the plane that most of them agree on."""
    rng = np.random.default_rng(0)  # the same picture gives the same light
    rows = rng.integers(0, len(terms), (SAMPLES, 3))
    level = rows[np.abs(np.linalg.det(terms[rows])) > LEAST_AREA]
    if not len(level):
        raise VisionError("too little of the bare mat is to be seen: uncover it, or lower the exposure")
    agreed: npt.NDArray[np.bool_] = _most_agreed(terms, target, np.linalg.solve(terms[level], target[level]))
    return agreed


@compiled
def _most_agreed(terms: Points, target: Points, planes: Points) -> npt.NDArray[np.bool_]:
    """(n,) the references (n, 3 terms; n, 3 channels) on the one of some planes (s, 3, 3) that most of them are on."""
    agree, most = np.empty((2, len(terms)), np.bool_), -1
    for plane in planes:
        count = 0
        for i in range(len(terms)):
            agree[0, i] = True
            for channel in range(3):
                fits = (
                    terms[i, 0] * plane[0, channel] + terms[i, 1] * plane[1, channel] + terms[i, 2] * plane[2, channel]
                )
                agree[0, i] &= abs(target[i, channel] - fits) < AGREE_LOG
            count += agree[0, i]
        if count > most:
            agree[1], most = agree[0], count
    agreed: npt.NDArray[np.bool_] = agree[1]
    return agreed


def references(kit: Kit) -> References:
    """Places (n, 3) mm whose colour is known, and their reflectances (n, 3) relative to white."""
    points: list[tuple[float, float, float]] = []
    colours: list[tuple[float, float, float]] = []
    for patch in kit.mat.patches:
        colour = linear(patch.colour)
        if min(colour) >= DARKEST_USED:
            step = patch.size_mm / 4
            for dx in (-step, 0.0, step):
                for dy in (-step, 0.0, step):
                    points.append((patch.at_mm[0] + dx, patch.at_mm[1] + dy, 0.0))
                    colours.append(colour)
    paper = paper_points(kit)
    points += paper
    colours += [linear(kit.mat.colour)] * len(paper)
    return np.array(points), np.array(colours)


def paper_points(kit: Kit) -> list[tuple[float, float, float]]:
    """Places (mm) of bare paper: the mat's rim, and rows just outside the squares, clear of markers and patches."""
    half_x, half_y = kit.mat.width_mm / 2 - MARGIN_MM, kit.mat.height_mm / 2 - MARGIN_MM
    rim = [(float(x), y) for x in np.linspace(-half_x, half_x, 19) for y in (-half_y, half_y)]
    rim += [(x, float(y)) for y in np.linspace(-half_y, half_y, 13) for x in (-half_x, half_x)]
    board = kit.board
    left = board.a1_mm[0] - board.pitch_mm / 2
    right = left + board.files * board.pitch_mm
    for x in ((left - half_x) / 2, (right + half_x) / 2):
        rim += [(x, float(y)) for y in np.linspace(-half_y, half_y, 13)]
    return [(x, y, 0.0) for x, y in rim if not _printed(kit, x, y)]


def _printed(kit: Kit, x: float, y: float) -> bool:
    """Whether a marker or a patch is printed within a margin of (x, y) mm."""
    reach = kit.mat.marker_mm / 2 + 3
    if any(abs(x - m.at_mm[0]) < reach and abs(y - m.at_mm[1]) < reach for m in kit.mat.markers):
        return True
    return any(
        abs(x - p.at_mm[0]) < p.size_mm / 2 + 3 and abs(y - p.at_mm[1]) < p.size_mm / 2 + 3 for p in kit.mat.patches
    )
