"""Calibrate a lens from photographs of a board at its place, by the corners of the board's own markers.

A handful of corners in one plane does not determine a lens.  So the likeliest lens is estimated (maximum a posteriori),
with priors on usual lenses and on how well the markers were measured, and so is its uncertainty.  Where markers were
measured with a ruler, the lines between squares determine the lens better, if they are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.kit import Kit
from calibration.least_squares import Fit, fit
from calibration.marker_alignment import align_markers, apart_from_table
from calibration.markers import dictionary
from calibration.picture import load_picture
from calibration.square_lines import Grid, GridView, grid_of, roughness_px, view_grid

Points = npt.NDArray[np.float64]

_Picture = tuple[int, npt.NDArray[np.uint8]]
"""A view's number, and its picture (height, width)."""

PRIOR_FOCAL, FOCAL_SPREAD = 0.75, 0.35
"""Focal length of a usual camera as a share of the picture's longer side, and the standard deviation of its log: fields
of view from 40 to 95 degrees."""

CENTRE_SPREAD = 0.012
"""Standard deviation of the principal point from the picture's centre, as a share of the picture's longer side."""

K1_SPREAD = 0.15
"""Standard deviation of the first radial distortion coefficient."""

K2_SHARE, K2_SPREAD = -0.3, 0.05
"""The second one as a share of the first, and its standard deviation from that."""

CORNER_PX = 0.4
"""Standard deviation of a corner in a picture, along each axis, due to blur, sharpening and JPEG."""

INWARD_PX = 0.4
"""Standard deviation of the distance by which the corners of all markers appear too close to the markers' centres: blur
rounds them off.  In 32 rendered pictures through four cameras it was 0.3 to 0.45 px in the mean: mistaken for
distortion, it made k1 too low by 0.03 (28 cameras; 0.00 with this)."""

RULER_MM, PRINT_MM = 0.3, 0.1
"""Standard deviation, along each axis, of a corner on the board measured with a ruler, and of a printed one."""

LINE_PX = 1.0
"""Standard deviation of an edge of the line between two squares: errors on one line are correlated, more so on wood."""

PITCH_SPREAD = 0.003
"""Standard deviation of the length of a board's side, as a share of it."""

HALF_WIDTH_MM = 1.0
"""Standard deviation of half the width of the lines between squares: positive if they are dark, negative if bright."""

MAX_OFF_PX, MIN_SHARE = 0.3, 0.3
"""Largest median residual of edges, once the lens is fitted to them, and the share of all that must be seen.
On bare boards with squares of two colours or lines round them it was 0.09 to 0.28 px, on two with grain and
hardly a line 0.7 and 1.8, on two real photographs of a start position 0.35: these led the principal point astray
by 40 px."""

GRID_ROUNDS = 3
"""How often lines are searched for, nearer to where they are each time."""

MIN_CORNERS = 8
"""The corners of two markers: fewer do not fix a pose."""

STARTS = (0.7, 1.0, 1.4)
"""Focal lengths from which the search begins, as shares of the usual one."""

GOOD_FOCAL, USABLE_FOCAL = 0.03, 0.1
"""Standard deviation of the focal length as a share of it."""

TOO_STEEP = "the board is seen too steeply or too small to tell the focal length: put the camera lower, and nearer"
"""What to do where the focal length is not known so well."""

TOO_FEW = "fewer than two of the board's markers are seen"
"""Why a photograph is not used, where no better reason is known."""

LENS = 5
"""Parameters of the lens: log focal length, principal point x and y, k1, k2."""

LINES = 3
"""Parameters of the lines between squares."""

LINES_SPREAD = np.array([PITCH_SPREAD, PITCH_SPREAD, HALF_WIDTH_MM])
"""Their standard deviations."""


@dataclass(frozen=True, eq=False)
class BoardLens:
    """A lens found from a board.

    Attributes:
        camera: the result.
        focal_deviation: standard deviation of the focal length, as a share of it.
        centre_deviation_px: of the principal point.
        k1_deviation: of the first radial distortion coefficient.
        used: photographs that took part.
        skipped: (photograph, why) of those that did not.
    """

    camera: Camera
    focal_deviation: float
    centre_deviation_px: float
    k1_deviation: float
    used: tuple[Path, ...] = ()
    skipped: tuple[tuple[Path, str], ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the focal length is known well enough to tell heights."""
        return self.focal_deviation <= USABLE_FOCAL

    @property
    def summary(self) -> str:
        """The focal length and how well it is known, in words."""
        return f"focal length {self.camera.matrix[0, 0]:.0f} px, known to {self.focal_deviation:.1%}"


@dataclass(frozen=True, eq=False)
class Sighting:
    """The markers of a kit's board in one picture.

    Attributes:
        corners: (k,) indices of the board's corners that are seen, four per marker in the kit's order.
        pixels: (k, 2) where they are seen.
        size: of the picture, width and height in px.
        gray: (height, width) uint8 of the picture, where the markers were measured with a ruler.
    """

    corners: npt.NDArray[np.intp]
    pixels: Points
    size: tuple[int, int]
    gray: npt.NDArray[np.uint8] | None = None

    @property
    def is_enough(self) -> bool:
        """Whether it fixes the pose of the board."""
        return len(self.corners) >= MIN_CORNERS


@dataclass(frozen=True, eq=False)
class _Views:
    """What was seen.

    For each photograph which corners (k,) of the board, and where, (k, 2) px; all corners (c, 2) mm on the board,
    their standard deviation, and the picture's size.
    """

    corners: tuple[npt.NDArray[np.intp], ...]
    pixels: tuple[Points, ...]
    board_mm: Points
    known_mm: float
    size: tuple[int, int]


def calibrate_on_board(
    photos: Sequence[Path], kit: Kit, why: Callable[[npt.NDArray[np.uint8], Kit], str] | None = None
) -> BoardLens:
    """The lens that took photographs of a kit's board.

    ``why``: says what a picture (height, width, 3) uint8 BGR lacks in which fewer than two markers are seen; "" where
    it does not know.

    Raises ProfileError when a photograph cannot be read or differs in size, or none shows two markers.
    """
    seen: list[Sighting] = []
    used: list[Path] = []
    skipped: list[tuple[Path, str]] = []
    size: tuple[int, int] | None = None
    for photo in photos:
        picture = load_picture(photo)
        sighting = find_markers(picture, kit)
        if size is not None and size != sighting.size:
            (width, height), other = sighting.size, size
            raise ProfileError(f"{photo}: is {width} x {height} px, the others {other[0]} x {other[1]} px")
        size = sighting.size
        if sighting.is_enough:
            seen.append(sighting)
            used.append(photo)
        else:
            skipped.append((photo, (why(picture, kit) if why else "") or TOO_FEW))
    if not seen:
        first, lacks = skipped[0]
        raise ProfileError(
            f"lens: none of {len(photos)} photographs shows two of the board's markers; {first}: {lacks}"
        )
    return replace(find_lens(seen, kit), used=tuple(used), skipped=tuple(skipped))


def find_lens(seen: Sequence[Sighting], kit: Kit) -> BoardLens:
    """The lens that took pictures of one size, each of which shows enough of a kit's board.

    Raises ProfileError when the markers are mirrored.
    """
    board_mm = np.array([corner for marker in kit.mat.markers for corner in marker.corners_mm], np.float64)
    size = seen[0].size
    known_mm = RULER_MM if kit.mat.is_measured else PRINT_MM
    views = _Views(tuple(one.corners for one in seen), tuple(one.pixels for one in seen), board_mm, known_mm, size)
    found = _likeliest(views)
    grid, pictures = grid_of(kit), [(number, one.gray) for number, one in enumerate(seen) if one.gray is not None]
    if pictures and len(grid.board_mm):
        found = _on_grid(views, found, _most_precise(found, pictures, grid), grid) or found
    deviations = np.sqrt(np.diag(found.covariance))[:LENS]
    return BoardLens(
        Camera(*size, *pinhole(found.values[:LENS]), _error_px(views, found.values)),
        float(deviations[0]),
        float(np.hypot(*deviations[1:3]) / np.sqrt(2)),
        float(deviations[3]),
    )


def prior_camera(size: tuple[int, int]) -> Camera:
    """The usual camera for pictures of a ``size`` in px."""
    return Camera(*size, *pinhole(prior_lens(size)), 0.0)


def find_markers(image: npt.NDArray[np.uint8], kit: Kit) -> Sighting:
    """What a picture (height, width, 3) uint8 BGR shows of a kit's markers."""
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(dictionary(kit.mat.dictionary), parameters)
    once: dict[int, npt.NDArray[np.float64]] = {}
    for picture in chain([gray], apart_from_table(gray) if kit.mat.is_measured else ()):
        found, ids, _ = detector.detectMarkers(picture)
        numbers = [] if ids is None else ids.ravel().tolist()
        for marker in kit.mat.markers:
            if marker.id not in once and numbers.count(marker.id) == 1:
                once[marker.id] = np.asarray(found[numbers.index(marker.id)], np.float64).reshape(4, 2)
        if 4 * len(once) >= MIN_CORNERS:
            break
    size = (gray.shape[1], gray.shape[0])
    seen = align_markers(gray, kit.mat, once, prior_camera(size))
    corners, pixels = [np.zeros(0, np.intp)], [np.zeros((0, 2))]
    for number, marker in enumerate(kit.mat.markers):
        if marker.id in seen:
            corners.append(4 * number + np.arange(4))
            pixels.append(seen[marker.id])
    kept = gray if kit.mat.is_measured else None
    return Sighting(np.concatenate(corners).astype(np.intp), np.vstack(pixels), size, kept)


def _likeliest(views: _Views) -> Fit:
    """The likeliest parameters of lens, poses and board, from the markers alone."""
    begins = [begin for share in STARTS if (begin := _initial_parameters(views, share)) is not None]
    if not begins:
        raise ProfileError("lens: the markers cannot be seen from above; is the picture mirrored?")
    return min((fit(partial(_residuals, views), begin) for begin in begins), key=lambda one: one.cost)


def _error_px(views: _Views, values: Points) -> float:
    """Root mean square reprojection error of the markers' corners."""
    count = sum(len(corners) for corners in views.corners)
    apart = _residuals(views, values)[: 2 * count] * CORNER_PX
    return float(np.sqrt(2 * (apart**2).mean()))


def _most_precise(found: Fit, pictures: Sequence[_Picture], grid: Grid) -> _Picture:
    """The picture that locates the grid most precisely: it shows many edges, and these not of pieces."""

    def unsureness_px(picture: _Picture) -> float:
        lines = view_grid(picture[1], grid, partial(_project, found.values, picture[0]))
        return roughness_px(lines) / np.sqrt(len(lines.off_px)) if _is_enough(lines, grid) else np.inf

    return min(pictures, key=unsureness_px)


def _is_enough(lines: GridView, grid: Grid) -> bool:
    return len(lines.off_px) >= MIN_SHARE * len(grid.board_mm)


def _on_grid(views: _Views, found: Fit, picture: _Picture, grid: Grid) -> Fit | None:
    """The likeliest parameters from the lines between squares as well; None where a picture does not show these."""
    (number, gray), values = picture, np.append(found.values, np.zeros(LINES))
    for _ in range(GRID_ROUNDS):
        lines = view_grid(gray, grid, partial(_project, values, number))
        if not _is_enough(lines, grid):
            return None
        found = fit(partial(_grid_residuals, views, number, lines), values)
        values = found.values
    off_px = _off_lines_px(values, number, lines)
    if np.median(np.abs(off_px)) > MAX_OFF_PX:
        return None
    return Fit(values[:-LINES], found.cost, found.covariance[:-LINES, :-LINES])


def _grid_residuals(views: _Views, number: int, lines: GridView, values: Points) -> Points:
    """As :func:`_residuals`, with the lines of one view.

    The last ``values`` (LINES,) are the relative excess length of the board's sides, and half the lines' width in mm.
    """
    off, unusual = _off_lines_px(values, number, lines) / LINE_PX, values[-LINES:] / LINES_SPREAD
    return np.concatenate([_residuals(views, values[:-LINES]), off, unusual])


def _off_lines_px(values: Points, number: int, lines: GridView) -> Points:
    """(k,) px, residuals of the edges of lines, across these."""
    *longer, half_width_mm = values[-LINES:]
    apart = _project(values, number, lines.board_mm * (1 + np.array(longer))) - lines.pixels
    off: Points = (apart * lines.normals).sum(axis=1) - (lines.off_px - lines.ahead_px * half_width_mm)
    return off


def _project(values: Points, number: int, board_mm: Points) -> Points:
    """(k, 2) px, projection of places (k, 2) on the board into a view."""
    pose = values[LENS + 6 * number : LENS + 6 * number + 6]
    world = np.column_stack([board_mm, np.zeros(len(board_mm))])
    shown, _ = cv2.projectPoints(world, pose[:3], pose[3:], *pinhole(values[:LENS]))
    return np.asarray(shown[:, 0], np.float64)


def _initial_parameters(views: _Views, share: float) -> Points | None:
    """Initial parameters: the usual lens, except for its focal length, and the poses that it gives; None: no pose."""
    lens = prior_lens(views.size, share)
    matrix, distortion = pinhole(lens)
    poses: list[Points] = []
    for corners, pixels in zip(views.corners, views.pixels, strict=True):
        world = np.column_stack([views.board_mm[corners], np.zeros(len(corners))])
        _, rvecs, tvecs, _ = cv2.solvePnPGeneric(world, pixels, matrix, distortion, flags=cv2.SOLVEPNP_IPPE)
        for rvec, tvec in zip(rvecs, tvecs, strict=True):
            rotation = np.asarray(cv2.Rodrigues(rvec)[0])
            if (-rotation.T @ tvec)[2, 0] > 0:
                poses.append(np.concatenate([rvec.ravel(), tvec.ravel()]))
                break
        else:
            return None
    return np.concatenate([lens, *poses, np.zeros(1 + 2 * len(views.board_mm))])


def _residuals(views: _Views, values: Points) -> Points:
    """Residuals in standard deviations: first of all corners in the pictures, then of the priors of lens and board."""
    of_board = values[LENS + 6 * len(views.corners) :]
    inward_px, moved, off = of_board[0], of_board[1:].reshape(-1, 2), []
    for number, (corners, pixels) in enumerate(zip(views.corners, views.pixels, strict=True)):
        shown = _inward(_project(values, number, views.board_mm[corners] + moved[corners]), inward_px)
        off.append(((shown - pixels) / CORNER_PX).ravel())
    unusual = prior_residuals(values[:LENS], views.size), moved.ravel() / views.known_mm
    return np.concatenate([*off, *unusual, [inward_px / INWARD_PX]])


def _inward(corners_px: Points, by_px: float) -> Points:
    """Corners (k, 2), four of each marker, moved ``by_px`` towards the marker's centre."""
    markers = corners_px.reshape(-1, 4, 2)
    out = markers - markers.mean(axis=1, keepdims=True)
    nearer: Points = markers - by_px * out / np.linalg.norm(out, axis=2, keepdims=True)
    return nearer.reshape(-1, 2)


def prior_lens(size: tuple[int, int], share: float = 1.0) -> Points:
    """(LENS,) parameters of the usual lens for pictures of a ``size`` in px, of ``share`` its focal length."""
    width, height = size
    return np.array([np.log(share * PRIOR_FOCAL * max(size)), (width - 1) / 2, (height - 1) / 2, 0.0, 0.0])


def prior_residuals(lens: Points, size: tuple[int, int]) -> Points:
    """(LENS,) deviations of a lens's parameters from the usual one's, in standard deviations."""
    log_focal, x, y, k1, k2 = lens - prior_lens(size)
    centre_px = CENTRE_SPREAD * max(size)
    return np.array(
        [log_focal / FOCAL_SPREAD, x / centre_px, y / centre_px, k1 / K1_SPREAD, (k2 - K2_SHARE * k1) / K2_SPREAD]
    )


def pinhole(lens: Points) -> tuple[Points, Points]:
    """(3, 3) camera matrix and (5,) distortion, in OpenCV's form, of a lens with these parameters (LENS,)."""
    log_focal, x, y, k1, k2 = lens
    focal = np.exp(log_focal)
    return np.array([[focal, 0, x], [0, focal, y], [0, 0, 1]]), np.array([k1, k2, 0, 0, 0])
