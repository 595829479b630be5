"""Illumination of the mat, measured in every picture from the printed patches and the bare paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
"""(256,) float32 linear light (0…1) of each 8-bit code (sRGB, IEC 61966-2-1)."""

DARKEST_USED = 0.1
"""Reflectance below which a patch is not used: reflections of the room outweigh its own colour.  Chosen by eye."""

TOO_DARK = 0.004
"""Linear level of white paper (about code 13 of 255) at which one 8-bit step is a fifth of the signal: colours
are lost and nothing should be read.  Chosen by eye."""

SAMPLES = 100
"""Planes tried through three references each (RANSAC: Fischler and Bolles, 1981): even with two thirds of the paper
covered the chance that all three of some sample are bare is 97 %."""

AGREE_LOG = 0.1
"""References within about a tenth (log) of a plane are its inliers; the rest is covered or shaded.  Chosen by eye."""

LEAST_AREA = 0.2
"""Least determinant of a sample of three references (4: the whole mat); nearly collinear ones leave the plane's slope
undetermined.  Chosen by eye."""

MARGIN_MM = 6.0
"""How far inside the mat's edge the paper is sampled.  Chosen by eye."""


class References(NamedTuple):
    """Places of known colour on the mat.

    Attributes:
        points_mm: (n, 3) float64.
        reflectance: (n, 3) float64 r g b, linear, relative to white.
    """

    points_mm: Points
    reflectance: Points


@dataclass(frozen=True, eq=False)
class Illumination:
    """Natural logarithm of the light per channel (r, g, b), a plane over the mat.

    Attributes:
        plane: (3 coefficients, 3 channels) float64, for (1, x / half width, y / half height).
        half_mm: half of the mat's width and height.
    """

    plane: Points
    half_mm: tuple[float, float]

    def at(self, points_mm: Points) -> npt.NDArray[np.float32]:
        """(n, 3) float32 light r g b at places (n, 2 or 3) mm: the linear level of white paper there."""
        return np.exp(_terms(points_mm, self.half_mm) @ self.plane).astype(np.float32)


def measure_illumination(
    image: npt.NDArray[np.uint8], kit: Kit, pose: Registration, camera: Camera, places: References | None = None
) -> Illumination:
    """Fit the illumination to patches and paper.

    Args:
        image: (height, width, 3) uint8, BGR.
        kit: whose mat it shows.
        pose: of the camera over the mat.
        camera: that took the picture.
        places: the kit's :func:`references`, where the caller keeps them.

    Raises:
        VisionError: the picture is too dark to tell colours, or no paper is in view.
    """
    points, reflectance = places or references(kit)
    pixels = np.rint(project(points, pose, camera)).astype(int)
    inside = ((pixels >= 0) & (pixels < (camera.width_px, camera.height_px))).all(axis=1)
    sampled = LINEAR[image[pixels[inside, 1], pixels[inside, 0], ::-1]]
    usable = (sampled > 0).all(axis=1) & (image[pixels[inside, 1], pixels[inside, 0]] < 255).all(axis=1)
    half_mm = (kit.mat.width_mm / 2, kit.mat.height_mm / 2)
    if usable.sum() < 12:
        white = float(np.median(sampled)) if sampled.size else 0.0
        raise VisionError(
            "the mat is overexposed: lower the exposure" if white > 0.9 else "the picture is too dark: switch a lamp on"
        )
    terms = _terms(points[inside][usable], half_mm)
    target = np.log(sampled[usable] / reflectance[inside][usable])
    bare = _inliers(terms, target)
    plane = np.linalg.lstsq(terms[bare], target[bare], rcond=None)[0]
    if float(np.exp(plane[0]).max()) < TOO_DARK:
        raise VisionError("the picture is too dark: switch a lamp on or lengthen the exposure")
    return Illumination(plane, half_mm)


def _terms(points_mm: Points, half_mm: tuple[float, float]) -> Points:
    """(n, 3) float64 terms of the plane at places (n, 2 or 3) mm: 1, x and y in halves of the mat."""
    return np.column_stack([np.ones(len(points_mm)), points_mm[:, 0] / half_mm[0], points_mm[:, 1] / half_mm[1]])


def _inliers(terms: Points, target: Points) -> npt.NDArray[np.bool_]:
    """(n,) bool, references on the plane with the most inliers; ``terms`` and ``target`` (log light) (n, 3) float64."""
    rng = np.random.default_rng(0)  # the same picture gives the same light
    rows = rng.integers(0, len(terms), (SAMPLES, 3))
    level = rows[np.abs(np.linalg.det(terms[rows])) > LEAST_AREA]
    if not len(level):
        raise VisionError("too little of the bare mat is to be seen: uncover it, or lower the exposure")
    inliers: npt.NDArray[np.bool_] = _most_inliers(terms, target, np.linalg.solve(terms[level], target[level]))
    return inliers


@compiled
def _most_inliers(terms: Points, target: Points, planes: Points) -> npt.NDArray[np.bool_]:
    """(n,) bool, the most inliers that any of ``planes`` (s, 3, 3) has; see :func:`_inliers`."""
    agree, most = np.empty((2, len(terms)), np.bool_), -1
    for plane in planes:
        count = 0
        for i in range(len(terms)):
            agree[0, i] = True
            for channel in range(3):
                fitted = (
                    terms[i, 0] * plane[0, channel] + terms[i, 1] * plane[1, channel] + terms[i, 2] * plane[2, channel]
                )
                agree[0, i] &= abs(target[i, channel] - fitted) < AGREE_LOG
            count += agree[0, i]
        if count > most:
            agree[1], most = agree[0], count
    inliers: npt.NDArray[np.bool_] = agree[1]
    return inliers


def references(kit: Kit) -> References:
    """The references of a kit: points of its patches and of bare paper."""
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
    return References(np.array(points), np.array(colours))


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
