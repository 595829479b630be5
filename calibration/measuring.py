"""Measure a board from one photograph: where its markers lie, from the four corners of its playing field.

Somebody clicks the four corners; the corners of the markers are detected.  The likeliest board, markers on it and lens
are estimated from these (maximum a posteriori; bundle adjustment of one view of a plane).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_lens import CORNER_PX, LENS, STARTS, USABLE_FOCAL, pinhole, prior_lens, prior_residuals
from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.kit import MAX_FILES, MAX_RANKS, MIN_MARKERS, Marker
from calibration.least_squares import Fit, Points, fit
from calibration.toml import Point

CLICK_PX = 2.0
"""Standard deviation of a clicked corner, along each axis: a hand on a mouse, and lines that are a millimetre wide."""

MAX_OFF_PX = 4 * CLICK_PX
"""Root mean square distance from the clicked corners above which clicks and markers do not fit each other."""

POSE = 6
PLACE = 3
"""Parameters of a marker: x, y of its centre, and its rotation."""


@dataclass(frozen=True, slots=True)
class Field:
    """The playing field in a photograph.

    Attributes:
        corners_px: of the field: that of a1, then the others, either way round.
        files: count of squares along the first player's side.
        ranks: count of squares away from the first player.
        side_mm: length of the field's sides, along files and along ranks; one or both may be None.
        marker_mm: side of the markers' black borders; ignored where a side's length is known.
    """

    corners_px: tuple[Point, Point, Point, Point]
    files: int
    ranks: int
    side_mm: tuple[float | None, float | None]
    marker_mm: float


@dataclass(frozen=True, eq=False)
class MeasuredBoard:
    """A board as it was measured; the middle of its playing field is the origin.

    Attributes:
        pitch_mm: from one square to the next, along the first player's side and away from it.
        markers: with their corners.
        camera: that took the photograph: the one that was given, or the likeliest one.
        reprojection_px: root mean square reprojection error of the markers' corners.
        click_px: the same of the clicked corners.
        focal_deviation: standard deviation of the focal length, as a share of it; 0 where the camera was known.
    """

    pitch_mm: tuple[float, float]
    markers: tuple[Marker, ...]
    camera: Camera
    reprojection_px: float
    click_px: float
    focal_deviation: float

    @property
    def is_consistent(self) -> bool:
        """Whether clicks and markers fit each other."""
        return self.click_px <= MAX_OFF_PX

    @property
    def is_known(self) -> bool:
        """Whether the focal length is known well enough to tell heights."""
        return self.focal_deviation <= USABLE_FOCAL


@dataclass(frozen=True, eq=False)
class _View:
    """What was seen, px: the field's corners (4, 2), anticlockwise from that of a1, and the markers' (m, 4, 2)."""

    field: Field
    corners: Points
    markers: Points
    size: tuple[int, int]
    camera: Camera | None
    is_square: bool

    @property
    def lens(self) -> int:
        """Number of unknown parameters of the lens."""
        return LENS if self.camera is None else 0

    def pinhole(self, values: Points) -> tuple[Points, Points]:
        """Camera matrix and distortion."""
        return pinhole(values[:LENS]) if self.camera is None else (self.camera.matrix, self.camera.distortion)


def measure_board(
    field: Field, markers: Mapping[int, Points], size: tuple[int, int], camera: Camera | None = None
) -> MeasuredBoard:
    """The board whose playing field and markers were seen in one photograph.

    Args:
        field: as it was clicked.
        markers: corners (4, 2) px of each by number, from its own top left clockwise.
        size: of the photograph, px.
        camera: that took it; None where it is not known.

    Raises ProfileError where the corners are those of no field or fewer than two markers are seen.
    """
    if not (1 <= field.files <= MAX_FILES and 1 <= field.ranks <= MAX_RANKS):
        raise ProfileError(f"a board has 1 to {MAX_FILES} files and 1 to {MAX_RANKS} ranks")
    if len(markers) < MIN_MARKERS:
        raise ProfileError(
            f"too few markers are seen ({len(markers)}); stick four or more round the squares, all in the picture"
        )
    shape = np.array(field.corners_px, np.float64)
    corners = _anticlockwise(shape)
    seen_px = np.stack([np.asarray(markers[number], np.float64) for number in sorted(markers)])
    view = _View(field, corners, seen_px, size, camera, is_square=True)
    best = _best(view)
    if any(length is None for length in field.side_mm):
        # Squares are oblong where that explains the picture so much better (Bayesian information criterion).
        oblong = _View(field, corners, seen_px, size, camera, is_square=False)
        other = _best(oblong)
        if best.cost - other.cost > np.log(corners.size + seen_px.size):
            view, best = oblong, other
    return _measured(view, best, sorted(markers))


def _anticlockwise(corners_px: Points) -> Points:
    """(4, 2) the corners of a field, anticlockwise seen from above, the first one kept.  Raises ProfileError."""
    sides = np.roll(corners_px, -1, axis=0) - corners_px
    ahead = np.roll(sides, -1, axis=0)
    turns = sides[:, 0] * ahead[:, 1] - sides[:, 1] * ahead[:, 0]
    if not np.isfinite(turns).all() or not ((turns > 0).all() or (turns < 0).all()):
        raise ProfileError(
            "the four points are no field: give its corners one after the other round it, that of a1 first"
        )
    # In a picture y points down: a left turn there is negative.
    return corners_px if turns[0] < 0 else corners_px[[0, 3, 2, 1]]


def _best(view: _View) -> Fit:
    """The likeliest parameters: lens (where it is not known), pose, sides of the field, side of a marker, places."""

    def residuals(values: Points) -> Points:
        return _residuals(view, values)

    begins = [_initial_parameters(view, share) for share in (STARTS if view.camera is None else (1.0,))]
    try:
        return min((fit(residuals, begin) for begin in begins if begin is not None), key=lambda found: found.cost)
    except (ValueError, np.linalg.LinAlgError):
        raise ProfileError("the four points are no field seen from above; give its corners again") from None


def _initial_parameters(view: _View, share: float) -> Points | None:
    """Initial parameters; None where no camera of this focal length sees the field's corners like this."""
    lens = prior_lens(view.size, share) if view.camera is None else np.zeros(0)
    matrix, distortion = view.pinhole(lens)
    files, ranks = view.field.files, view.field.ranks
    flat = np.array([(-files, -ranks), (files, -ranks), (files, ranks), (-files, ranks)]) / 2
    places = cv2.undistortPoints(view.corners[:, None], matrix, distortion)[:, 0]
    to_board = cv2.getPerspectiveTransform(places.astype(np.float32), flat.astype(np.float32))
    rays = cv2.undistortPoints(view.markers.reshape(-1, 1, 2), matrix, distortion)
    lying = np.asarray(cv2.perspectiveTransform(rays, to_board), np.float64).reshape(-1, 4, 2)
    edge = float(np.median(np.linalg.norm(lying - np.roll(lying, 1, axis=1), axis=2)))
    pitch_mm = _pitch_mm(view.field) or view.field.marker_mm / edge
    upward = lying[:, 0] + lying[:, 1] - lying[:, 2] - lying[:, 3]
    turned = np.arctan2(-upward[:, 0], upward[:, 1])
    pose = _pose(flat * pitch_mm, view, matrix, distortion)
    if pose is None:
        return None
    placed = np.column_stack([lying.mean(axis=1) * pitch_mm, turned])
    ratio = np.zeros(0 if view.is_square else 1)
    scale = np.log([edge * pitch_mm if _pitch_mm(view.field) else pitch_mm])
    return np.concatenate([lens, pose, scale, ratio, placed.ravel()])


def _pitch_mm(field: Field) -> float | None:
    """The pitch that follows from the field's sides, where one is known (the first one, if both are)."""
    along, away = field.side_mm
    return along / field.files if along else away / field.ranks if away else None


def _pose(board_mm: Points, view: _View, matrix: Points, distortion: Points) -> Points | None:
    """(6,) rotation vector and translation of a camera above the board, from the field's corners; None if none fits."""
    world = np.column_stack([board_mm, np.zeros(4)])
    _, rvecs, tvecs, _ = cv2.solvePnPGeneric(world, view.corners, matrix, distortion, flags=cv2.SOLVEPNP_IPPE)
    for rvec, tvec in zip(rvecs, tvecs, strict=True):
        if (-np.asarray(cv2.Rodrigues(rvec)[0]).T @ tvec)[2, 0] > 0:
            return np.concatenate([rvec.ravel(), tvec.ravel()])
    return None


def _sizes(view: _View, values: Points) -> tuple[Points, float, Points]:
    """Sides of the field (2,) mm, side of a marker in mm, and where the markers lie (m, 3)."""
    rest = values[view.lens + POSE :]
    counts = np.array([view.field.files, view.field.ranks])
    known, scale = _pitch_mm(view.field), float(np.exp(rest[0]))
    pitch, marker_mm = (known, scale) if known else (scale, view.field.marker_mm)
    sides = counts * pitch
    along, away = view.field.side_mm
    if along and away:
        sides = np.array([along, away])
    elif not view.is_square:
        sides = sides * np.exp([0.0, rest[1]] if along or not away else [rest[1], 0.0])
    return sides, marker_mm, rest[1 if view.is_square else 2 :].reshape(-1, PLACE)


def _on_board(view: _View, values: Points) -> tuple[Points, Points]:
    """The corners of the field (4, 2) and of the markers (m, 4, 2), mm."""
    (wide, deep), marker_mm, places = _sizes(view, values)
    field = np.array([(-wide, -deep), (wide, -deep), (wide, deep), (-wide, deep)]) / 2
    own = marker_mm / 2 * np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
    cosines, sines = np.cos(places[:, 2]), np.sin(places[:, 2])
    turns = np.stack([np.stack([cosines, -sines], axis=1), np.stack([sines, cosines], axis=1)], axis=1)
    return field, np.einsum("mij,kj->mki", turns, own) + places[:, None, :2]


def _apart_px(view: _View, values: Points) -> tuple[Points, Points]:
    """Reprojection errors of the corners of the field (4, 2) and of the markers (m, 4, 2), px."""
    field, markers = _on_board(view, values)
    pose = values[view.lens : view.lens + POSE]
    flat = np.vstack([field, markers.reshape(-1, 2)])
    world = np.column_stack([flat, np.zeros(len(flat))])
    shown, _ = cv2.projectPoints(world, pose[:3], pose[3:], *view.pinhole(values))
    off = np.asarray(shown[:, 0], np.float64) - np.vstack([view.corners, view.markers.reshape(-1, 2)])
    return off[:4], off[4:].reshape(view.markers.shape)


def _residuals(view: _View, values: Points) -> Points:
    """Residuals in standard deviations: of clicks, markers, and the prior of an unknown lens."""
    clicks, markers = _apart_px(view, values)
    usual = prior_residuals(values[:LENS], view.size) if view.camera is None else np.zeros(0)
    return np.concatenate([clicks.ravel() / CLICK_PX, markers.ravel() / CORNER_PX, usual])


def _measured(view: _View, best: Fit, numbers: list[int]) -> MeasuredBoard:
    (wide, deep), _, _ = _sizes(view, best.values)
    _, corners = _on_board(view, best.values)
    clicks, markers = (_mean_px(off) for off in _apart_px(view, best.values))
    focal_deviation = 0.0 if view.camera else float(np.sqrt(best.covariance[0, 0]))
    camera = view.camera or Camera(*view.size, *view.pinhole(best.values), markers)
    rows = zip(numbers, corners.tolist(), strict=True)
    return MeasuredBoard(
        pitch_mm=(float(wide) / view.field.files, float(deep) / view.field.ranks),
        markers=tuple(_marker(number, places) for number, places in rows),
        camera=camera,
        reprojection_px=markers,
        click_px=clicks,
        focal_deviation=focal_deviation,
    )


def _marker(number: int, places: list[list[float]]) -> Marker:
    a, b, c, d = ((x, y) for x, y in places)
    return Marker(number, ((a[0] + c[0]) / 2, (a[1] + c[1]) / 2), (a, b, c, d), is_measured=True)


def _mean_px(off: npt.NDArray[np.float64]) -> float:
    """Root mean square length of offsets (…, 2)."""
    return float(np.sqrt((off**2).sum(axis=-1).mean()))
