"""Illumination of the mat, measured in every picture on the printed patches and the bare paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.srgb import linear_light
from vision.appearance.light_references import References, references
from vision.compiled import allocation_free, compiled
from vision.errors import VisionError
from vision.pose.projection import Points, Registration, project

LINEAR = linear_light(np.arange(256) / 255).astype(np.float32)
"""(256,) float32 linear light (0…1) of each 8-bit code (sRGB, IEC 61966-2-1)."""

TOO_DARK = 0.004
"""Linear level of white paper (about code 13 of 255) at which one 8-bit step is a fifth of the signal: colours
are lost and nothing should be read.  Chosen by eye."""

SAMPLES = 100
"""Number of planes tried, through three references each (RANSAC: Fischler and Bolles, 1981): even with two thirds of
the paper covered the chance that all three of some sample are bare is 97 %."""

REFINEMENTS = 20
"""Most refits of a plane to its inliers: 174 pictures of the collection needed two in the median, 18 at most."""

AGREE_LOG = 0.1
"""References within about a tenth (log) of a plane are its inliers; others are covered or shaded.  Chosen by eye."""

CURVED_GAIN = 1.1
"""Factor by which a surface of second order has to have more inliers than a plane: with less, pale pieces that occlude
part of the board would bend it.  In 308 pictures beside lamps 0.8 m away and farther 12 did, and all were read as
before."""

INLIER_MULTIPLES = (3.0, 2.0)
"""Multiples of the inlier threshold within which references count in the first and second fit of such a surface."""

STIFFNESS = 1.0
"""Its curvature is regularised towards zero, as by one more reference that measures it.  Chosen by eye."""

LIT_SHARE = 0.15
"""Share of the references that must lie in more light than most for that part to count as lit and all others as
shaded: with 0.3 fewer pictures with a hard shadow across the board are read.  What mirrors a lamp has fewer of them."""

MIN_AREA = 0.2
"""Least determinant of a sample of three references (4: the whole mat); nearly collinear ones leave the plane's slope
undetermined.  Chosen by eye."""

MIN_REFERENCES = 12
"""Fewest references from which the light is measured.  Chosen by eye."""

WINDOW_PX = np.arange(-1, 2)
"""Offsets of the pixels round a reference that are averaged: noise of 7 codes changes the light measured at one pixel
by a tenth, so that any plane was near only some of them, by chance."""

MIDDLE = len(WINDOW_PX) ** 2 // 2
"""Index of the reference itself among them: where it is well exposed, those of its neighbours that are, too, count."""


@dataclass(frozen=True, eq=False)
class Illumination:
    """Natural logarithm of the light per channel (r, g, b), a surface of first or second order over the mat.

    Attributes:
        plane: (3 or 6 coefficients, 3 channels) float64, for 1, x, y, x², xy, y² in halves of the mat.
        half_mm: half of the mat's width and height.
        specular: (rows, columns) float32, white light that the board mirrors besides, relative to white paper's
            (:func:`vision.appearance.tone_curve.to_linear`), all over the mat, its far left corner first; negative
            where a lamp was mirrored when the board's appearance was learned; None where that is not known.
    """

    plane: Points
    half_mm: tuple[float, float]
    specular: npt.NDArray[np.float32] | None = None

    def at(self, points_mm: Points) -> npt.NDArray[np.float32]:
        """(n, 3) float32 light r g b at places (n, 2 or 3) mm: the linear level of white paper there."""
        return np.exp(_log_light(self, points_mm)).astype(np.float32)


def measure_illumination(
    image: npt.NDArray[np.uint8], kit: Kit, pose: Registration, camera: Camera, places: References | None = None
) -> Illumination:
    """Fit the illumination to patches and paper, or to the white of the markers.

    Args:
        image: (height, width, 3) uint8, BGR.
        kit: whose mat it shows.
        pose: of the camera over the mat.
        camera: that took the picture.
        places: the kit's :func:`references`, where the caller keeps them.

    Raises:
        VisionError: the picture is too dark to tell colours, or no paper is in view.
    """
    known = places or references(kit)
    points, logs = usable_references(image, known, pose, camera)
    if len(points) < MIN_REFERENCES:
        sampled = LINEAR[_codes_at(image, known, pose, camera)[1]]
        white = float(np.median(sampled)) if sampled.size else 0.0
        raise VisionError(
            "the mat is overexposed: lower the exposure" if white > 0.9 else "the picture is too dark: switch a lamp on"
        )
    half_mm = (kit.mat.width_mm / 2, kit.mat.height_mm / 2)
    terms = curved_terms(points, half_mm)
    surface = _fit_curved(terms, logs, fit_plane(points, logs, half_mm).plane)
    return Illumination(_of_lit_part(terms, logs, surface), half_mm)


def usable_references(
    image: npt.NDArray[np.uint8], places: References, pose: Registration, camera: Camera
) -> tuple[Points, Points]:
    """Those ``places``, (n, 3) mm, that a picture (height, width, 3) uint8 BGR exposes well, and their log light."""
    inside, codes = _codes_at(image, places, pose, camera)
    usable, shown = _mean_light(codes)
    logs: Points = np.log(shown[usable] / places.reflectance[inside][usable])
    return places.points_mm[inside][usable], logs


@compiled
def _mean_light(codes: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.bool_], Points]:
    """(n,) bool, which references are well exposed, and (n, 3) their light, the mean of all well exposed pixels there.

    ``codes`` (n, 9, 3) uint8: see :func:`_codes_at`.
    """
    usable, light = np.empty(len(codes), np.bool_), np.empty((len(codes), 3))
    total = np.empty(3, np.float32)
    for i in range(len(codes)):
        count, total[:] = 0, 0
        for pixel in range(codes.shape[1]):
            one, two, three = codes[i, pixel, 0], codes[i, pixel, 1], codes[i, pixel, 2]
            is_exposed = min(one, two, three) > 0 and max(one, two, three) < 255
            if pixel == MIDDLE:
                usable[i] = is_exposed
            if is_exposed:
                count += 1
                for channel in range(3):
                    total[channel] += LINEAR[codes[i, pixel, channel]]
        for channel in range(3):
            light[i, channel] = total[channel] / max(count, 1)
    return usable, light


def _codes_at(
    image: npt.NDArray[np.uint8], places: References, pose: Registration, camera: Camera
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint8]]:
    """(n,) bool, which ``places`` are in the picture, and (k, 9, 3) uint8 its pixels at and around these, r g b."""
    pixels = np.rint(project(places.points_mm, pose, camera)).astype(int)
    inside = np.asarray(((pixels > 0) & (pixels < (camera.width_px - 1, camera.height_px - 1))).all(axis=1))
    x, y = pixels[inside].T[..., None, None]
    return inside, image[y + WINDOW_PX[:, None], x + WINDOW_PX].reshape(len(x), len(WINDOW_PX) ** 2, 3)[..., ::-1]


def fit_plane(points_mm: Points, logs: Points, half_mm: tuple[float, float]) -> Illumination:
    """The plane of log light with the most inliers among references at ``points_mm`` (n, 3), whose logs are (n, 3).

    Raises VisionError when it is too dark, or too few references span a plane.
    """
    terms = _terms(points_mm, half_mm)
    plane = _refine(terms, logs, _inliers(terms, logs))
    if float(np.exp(plane[0]).max()) < TOO_DARK:
        raise VisionError("the picture is too dark: switch a lamp on or lengthen the exposure")
    return Illumination(plane, half_mm)


def _refine(terms: Points, logs: Points, bare: npt.NDArray[np.bool_]) -> Points:
    """(3, 3) float64 coefficients of a plane refitted to its own inliers, starting from a sample's, ``bare`` (n,).

    A plane through three references has their noise, so that its inliers depend on which three were drawn
    (local optimisation of RANSAC: Chum, Matas and Kittler, 2003).
    """
    for _ in range(REFINEMENTS):
        plane = np.linalg.lstsq(*_normal_equations(terms, logs, bare), rcond=None)[0].astype(np.float64)
        agree = _consistent(terms, logs, plane)
        if agree.sum() < len(plane) or (agree == bare).all():
            break
        bare = agree
    return plane


@compiled
def _normal_equations(terms: Points, logs: Points, bare: npt.NDArray[np.bool_]) -> tuple[Points, Points]:
    """Normal equations, (3, 3) float64 each, of the plane through the references that are ``bare`` (n,)."""
    normal, right = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(len(terms)):
        for row in range(3 if bare[i] else 0):
            for column in range(3):
                normal[row, column] += terms[i, row] * terms[i, column]
                right[row, column] += terms[i, row] * logs[i, column]
    return normal, right


@compiled
def _consistent(terms: Points, logs: Points, plane: Points) -> npt.NDArray[np.bool_]:
    """(n,) bool, which references are inliers of a ``plane`` (3, 3)."""
    agree = np.ones(len(terms), np.bool_)
    for i in range(len(terms)):
        for channel in range(3):
            agree[i] &= abs(logs[i, channel] - _at_plane(terms[i], plane, channel)) < AGREE_LOG
    return agree


@allocation_free
def _at_plane(terms: Points, plane: Points, channel: int) -> float:
    """Value of a ``plane`` (3, 3) in a channel, at a place with these ``terms`` (3,)."""
    return float(terms[0] * plane[0, channel] + terms[1] * plane[1, channel] + terms[2] * plane[2, channel])


def _fit_curved(terms: Points, logs: Points, plane: Points) -> Points:
    """(6, 3) float64 coefficients of a surface of second order, or the ``plane`` (3, 3) where it explains as much.

    ``terms`` (n, 6): :func:`curved_terms`.  A lamp half a metre above the board lights its middle by half more than its
    corners, and a plane would leave out much of it.
    """
    far = np.abs(logs - terms[:, :3] @ plane).max(axis=1)
    agree, admitted = int((far < AGREE_LOG).sum()), far < INLIER_MULTIPLES[0] * AGREE_LOG
    stiff = np.diag([0.0, 0.0, 0.0, STIFFNESS, STIFFNESS, STIFFNESS])
    for share in (*INLIER_MULTIPLES[1:], *[1.0] * REFINEMENTS):
        if admitted.sum() < CURVED_GAIN * agree:
            return plane
        bare = terms[admitted]
        # Least squares: few references may leave the equations singular.
        surface = np.linalg.lstsq(bare.T @ bare + stiff, bare.T @ logs[admitted], rcond=None)[0].astype(np.float64)
        before, admitted = admitted, np.abs(logs - terms @ surface).max(axis=1) < share * AGREE_LOG
        if share == 1 and (admitted == before).all():
            break
    return surface if admitted.sum() >= CURVED_GAIN * agree else plane


def _of_lit_part(terms: Points, logs: Points, surface: Points) -> Points:
    """The ``surface`` (3 or 6, 3) raised to the light of the unshaded mat; ``terms`` (n, 6): :func:`curved_terms`.

    A person beside the lamp may shade the larger part.  What is in the shade can be explained, what is brighter than
    the light allows cannot.
    """
    above = logs - terms[:, : len(surface)] @ surface
    step = above.mean(axis=1)
    # Grey: a shadow is equally deep in all channels, a coloured piece is not.
    is_grey = np.abs(above - step[:, None]).max(axis=1) < AGREE_LOG
    is_brighter = is_grey & (step > 2 * AGREE_LOG)
    least = LIT_SHARE * len(terms)
    if is_brighter.sum() >= least:
        lit = is_grey & (np.abs(step - np.median(step[is_brighter])) < AGREE_LOG)
        if lit.sum() >= least:
            surface = surface.copy()
            surface[0] += above[lit].mean(axis=0)
    return surface


def _log_light(light: Illumination, points_mm: Points) -> Points:
    """(n, 3) float64 log light at places (n, 2 or 3) mm."""
    terms = _terms if len(light.plane) == 3 else curved_terms
    logs: Points = terms(points_mm, light.half_mm) @ light.plane
    return logs


def _terms(points_mm: Points, half_mm: tuple[float, float]) -> Points:
    """(n, 3) float64 terms of the plane at places (n, 2 or 3) mm: 1, x and y in halves of the mat."""
    return np.column_stack([np.ones(len(points_mm)), points_mm[:, 0] / half_mm[0], points_mm[:, 1] / half_mm[1]])


def curved_terms(points_mm: Points, half_mm: tuple[float, float]) -> Points:
    """(n, 6) float64 terms of a surface of second order: those of the plane, and x², xy, y²."""
    plane = _terms(points_mm, half_mm)
    _, x, y = plane.T
    return np.column_stack([plane, x * x, x * y, y * y])


def _inliers(terms: Points, target: Points) -> npt.NDArray[np.bool_]:
    """(n,) bool, references on the plane with the most inliers; ``terms`` and ``target`` (log light) (n, 3) float64."""
    rng = np.random.default_rng(0)  # the same picture gives the same light
    rows = rng.integers(0, len(terms), (SAMPLES, 3))
    level = rows[np.abs(np.linalg.det(terms[rows])) > MIN_AREA]
    if not len(level):
        raise VisionError("too little of the bare mat is to be seen: uncover it, or lower the exposure")
    inliers: npt.NDArray[np.bool_] = _most_inliers(terms, target, np.linalg.solve(terms[level], target[level]))
    return inliers


@compiled
def _most_inliers(terms: Points, target: Points, planes: Points) -> npt.NDArray[np.bool_]:
    """(n,) bool, the inliers of the best of ``planes`` (s, 3, 3); see :func:`_inliers`.

    Each reference that is brighter than a plane counts against it.  Darker ones may be covered, or in the shade, so
    that a plane that slopes into a soft shadow may have the most inliers.
    """
    best, most = 0, -len(terms)
    for number in range(len(planes)):
        count = _support(terms, target, planes[number])
        if count > most:
            best, most = number, count
    return _consistent(terms, target, planes[best])


@allocation_free
def _support(terms: Points, logs: Points, plane: Points) -> int:
    """Number of inliers of a ``plane`` (3, 3), less that of references that are brighter in all channels."""
    count = 0
    for i in range(len(terms)):
        is_near, is_brighter = True, True
        for channel in range(3):
            above = logs[i, channel] - _at_plane(terms[i], plane, channel)
            is_near &= abs(above) < AGREE_LOG
            is_brighter &= above > AGREE_LOG
        count += int(is_near) - int(is_brighter)
    return count
