"""Where a board's own markers are in a picture, by all that is printed on them: intensity-based image alignment.

A sticker that reaches over the board's edge has lost a corner: detection by outlines does not find it, or has the
corner wrong by several pixels.  Its modules, however, are where the other markers say that it must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Mat
from calibration.markers import dictionary

Gray = npt.NDArray[np.uint8]
Points = npt.NDArray[np.float64]

QUIET_ZONE = 0.5
"""Width, in modules, of the white paper that is compared, too: stickers have one module, where it is not cut off."""

OVERSAMPLING = 4
"""Factor by which a marker is drawn finer than the picture, before it is averaged."""

BLUR_PX = 1.0
"""Standard deviation of the blur of a usual picture."""

SMOOTHING_PX = 5
"""Window of the Gaussian by which both are smoothed before they are aligned: OpenCV's default."""

MIN_CORRELATION = 0.8
"""Least correlation of a marker with the picture at its place.  On 13 boards drawn at random, half of whose stickers
are cut, it was 0.86 or more; in 770 places with another marker or none, 0.70 at most."""

MAX_SHEAR = 0.3
"""Largest stretch or shear of the aligned marker: more is another pattern."""

MAX_BENT = 0.13
"""Largest deviation from a marker's shape, as a share of its edge, of trusted corners from outlines: on markers of
22 mm that somebody measured with a ruler it is 0.12 at most on two boards; a corner that is cut off adds to it."""

MAX_SKEW = 0.06
"""Largest deviation from a parallelogram, as a share of an edge, of trusted corners from outlines where nothing says
yet where they should be: perspective makes 0.04 at most.  Of 62 stickers on 20 boards drawn at random seven were
farther; their corners were 1.5 to 4.3 px off, aligned 0.6 to 1.3 px."""

DIAGONALS = np.array([1.0, -1.0, 1.0, -1.0])[:, None]
"""Signs that tell to which diagonal each of a marker's corners belongs."""

STEPS = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 50, 1e-4)
"""Alignment ends after so many iterations, or where the correlation grows by less."""

NEAR_SHARE = 0.15
"""How far from its detected corners a marker is searched for, as a share of its edge; where it is only expected, by
its whole edge."""

REACH_OF_FEW, FEW_MARKERS = 3.0, 2
"""How many times as far where no more than so many markers say where it is expected: a pixel at a corner of one moves
what is fifteen times as far away by as many pixels, and two on one side of a board leave its tilt undetermined."""


TRUNCATED = (0.55, 0.42, 0.3)
"""Thresholds between ink and dark things beside it, as shares of the brightness of paper."""

BOARD_SHARES = (0.45, 0.3, 0.6)
"""Thresholds between a board and a dark table, as shares of the brightness of paper."""

GAP_PX, SMOOTH_PX, RIM_PX = 15, 2.0, 2
"""Width of dark lines on a board that are bridged, the blur before that, and the width of its rim that is left out as
half table.  On nine pictures of one board all of whose stickers are cut, on a table as dark as ink, one to three are
found with each of these shares."""


def apart_from_table(gray: Gray) -> Iterator[Gray]:
    """Copies of a picture (height, width) uint8 in which stickers are separated from a dark table.

    A sticker whose black border the board's edge cuts off touches the table there, so that it has no outline of its
    own.  For a table that is not as dark as ink, some make all white that is brighter than a share of paper; others all
    that lies outside the convex hull of the largest bright part, which is the board.
    """
    paper = max(float(np.percentile(gray[::4, ::4], 99)), 1.0)
    for share in TRUNCATED:
        yield np.asarray(cv2.convertScaleAbs(gray, alpha=255 / (share * paper)), np.uint8)
    smooth, soft = cv2.GaussianBlur(gray, (0, 0), SMOOTH_PX), cv2.GaussianBlur(gray, (0, 0), BLUR_PX)
    for share in BOARD_SHARES:
        yield np.where(_board(np.asarray(smooth > share * paper, np.uint8)), soft, 255).astype(np.uint8)


def _board(bright: Gray) -> npt.NDArray[np.bool_]:
    """(height, width) bool, convex hull, less its rim, of the largest part of ``bright`` (height, width), 0 or 1."""
    closed = cv2.morphologyEx(bright, cv2.MORPH_CLOSE, np.ones((GAP_PX, GAP_PX), np.uint8))
    _, parts, sizes, _ = cv2.connectedComponentsWithStats(closed)
    largest = 1 + int(sizes[1:, cv2.CC_STAT_AREA].argmax()) if len(sizes) > 1 else 0
    outline = cv2.convexHull(cv2.findNonZero(np.asarray(parts == largest, np.uint8)))
    filled = cv2.fillConvexPoly(np.zeros_like(bright), outline, 1)
    return np.asarray(cv2.erode(filled, np.ones((2 * RIM_PX + 1, 2 * RIM_PX + 1), np.uint8)) > 0)


def align_markers(
    gray: Gray, mat: Mat, detected: Mapping[int, Points], camera: Camera, most_bent: float = MAX_BENT
) -> dict[int, Points]:
    """Corners (4, 2) px of the markers of a mat by id: those detected, and those found where these predict them.

    Only markers that somebody stuck on a board are aligned: printed ones are whole.

    Args:
        gray: (height, width) uint8.
        mat: whose markers they are.
        detected: corners (4, 2) px of some of its markers by id; where all are detected, those that have the shape of a
            marker stay as they are, which takes less time.
        camera: that took the picture, approximately.
        most_bent: largest deviation from that shape, as a share of a marker's edge.
    """
    stuck = {marker.id for marker in mat.markers if marker.is_measured}
    seen, missing = dict(detected), stuck - set(detected)
    if stuck and detected:
        expected = _expected(mat, detected, camera)
        for number in stuck & set(detected):
            if missing or all(_shape_deviation(detected[number], corners[number]) > most_bent for corners in expected):
                seen[number] = _align_detected(gray, mat, number, detected[number])
    is_found = bool(seen)
    while missing and is_found:
        expected = _expected(mat, seen, camera)
        for reach in (1.0, REACH_OF_FEW) if len(seen) <= FEW_MARKERS else (1.0,):
            sought = {number: _search_marker(gray, mat, number, expected, reach) for number in missing}
            found = {number: corners for number, corners in sought.items() if corners is not None}
            if found:
                break
        is_found = bool(found)
        seen |= found
        missing -= set(found)
    return seen


def align_cut(gray: Gray, name: str, detected: Mapping[int, Points]) -> dict[int, Points]:
    """Corners (4, 2) px of ``detected`` markers by id, aligned where an outline has lost a corner.

    The places of the markers on their board need not be known.

    Args:
        gray: (height, width) uint8.
        name: of the markers' dictionary.
        detected: corners (4, 2) px by id.
    """
    seen = dict(detected)
    for number, corners in detected.items():
        if _skew(corners) > MAX_SKEW:
            # The nearest parallelogram: a wrong corner looks like perspective, which the alignment would keep.
            even = corners - DIAGONALS * (corners * DIAGONALS).sum(axis=0) / 4
            found = align_marker(gray, name, number, even, round(NEAR_SHARE * side_px(even)))
            seen[number] = corners if found is None else found
    return seen


def align_marker(gray: Gray, name: str, number: int, expected_px: Points, reach_px: int) -> Points | None:
    """Corners (4, 2) px of a marker within ``reach_px`` of ``expected_px`` (4, 2); None where nothing looks like it.

    First it is translated (normalised cross-correlation), then transformed affinely (Evangelidis and Psarakis,
    Parametric image alignment using enhanced correlation coefficient maximization, 2008).
    """
    low, size = box_round(expected_px, _modules(name, number).shape[0])
    left, top = np.maximum(low - reach_px, 0).tolist()
    right, bottom = np.maximum(low + size + reach_px, 0).tolist()
    window = gray[top:bottom, left:right]
    if (window.shape[::-1] < size).any():
        return None
    sharp, mask = draw_marker(name, number, expected_px - low, size)
    drawn = np.asarray(cv2.GaussianBlur(sharp, (0, 0), BLUR_PX), np.uint8)
    like = np.nan_to_num(cv2.matchTemplate(window, drawn, cv2.TM_CCOEFF_NORMED, mask=mask), posinf=0.0, neginf=0.0)
    row, column = np.unravel_index(int(like.argmax()), like.shape)
    shown = np.ascontiguousarray(window[row : row + size[1], column : column + size[0]])
    try:
        match, warp = cv2.findTransformECC(
            shown, drawn, np.eye(2, 3, dtype=np.float32), cv2.MOTION_AFFINE, STEPS, mask, SMOOTHING_PX
        )
    except cv2.error:  # the window is uniformly grey, or nothing like the marker
        return None
    if match < MIN_CORRELATION or np.abs(warp[:, :2] - np.eye(2)).max() > MAX_SHEAR:
        return None
    back = np.asarray(cv2.invertAffineTransform(warp), np.float64)
    corners: Points = (expected_px - low) @ back[:, :2].T + back[:, 2] + (left + column, top + row)
    return corners


def box_round(corners_px: Points, modules: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Upper left corner (2,) px and size (2,) of the box in which a marker of so many ``modules`` is compared."""
    pad_px = 1 + side_px(corners_px) * QUIET_ZONE / modules
    low = np.floor(corners_px.min(axis=0) - pad_px).astype(int)
    return low, np.ceil(corners_px.max(axis=0) + pad_px).astype(int) + 1 - low


def side_px(corners_px: Points) -> float:
    """Mean side length of markers with these corners (…, 4, 2) px."""
    return float(np.linalg.norm(corners_px - np.roll(corners_px, 1, axis=-2), axis=-1).mean())


def _align_detected(gray: Gray, mat: Mat, number: int, corners_px: Points) -> Points:
    """Corners of a detected marker, aligned if possible."""
    reach_px = round(NEAR_SHARE * side_px(corners_px))
    found = align_marker(gray, mat.dictionary, number, corners_px, reach_px)
    return corners_px if found is None else found


def _expected(mat: Mat, seen: Mapping[int, Points], camera: Camera) -> list[dict[int, Points]]:
    """Corners (4, 2) px of all markers by id, as those ``seen`` predict; a plane in weak perspective has two poses."""
    corners_mm = {marker.id: np.array([(x, y, 0.0) for x, y in marker.corners_mm]) for marker in mat.markers}
    world = np.vstack([corners_mm[number] for number in seen])
    pixels = np.vstack(list(seen.values()))
    _, rvecs, tvecs, _ = cv2.solvePnPGeneric(world, pixels, camera.matrix, camera.distortion, flags=cv2.SOLVEPNP_IPPE)
    poses = []
    for rvec, tvec in zip(rvecs, tvecs, strict=True):
        shown, _ = cv2.projectPoints(np.vstack(list(corners_mm.values())), rvec, tvec, camera.matrix, camera.distortion)
        places = np.asarray(shown, np.float64).reshape(-1, 4, 2)
        if np.isfinite(places).all():
            poses.append(dict(zip(corners_mm, places, strict=True)))
    return poses


def _shape_deviation(corners_px: Points, expected_px: Points) -> float:
    """Deviation of detected corners (4, 2) from the shape of those expected, as a share of an edge.

    However the marker is moved and sheared, its diagonals share a midpoint: a single wrong corner moves that of one.
    """
    return _skew(corners_px - expected_px, side_px(expected_px))


def _skew(corners_px: Points, edge: float | None = None) -> float:
    """Twice the distance between the midpoints of the diagonals of corners (4, 2) px, as a share of an edge."""
    apart = (corners_px * DIAGONALS).sum(axis=0)
    return float(np.linalg.norm(apart)) / (edge or side_px(corners_px))


def _search_marker(gray: Gray, mat: Mat, number: int, expected: list[dict[int, Points]], reach: float) -> Points | None:
    """Corners of a marker that was not detected; None where it is not seen within ``reach`` of its own size."""
    for corners in expected:
        size_px = side_px(corners[number])
        if size_px < max(gray.shape):
            found = align_marker(gray, mat.dictionary, number, corners[number], round(reach * size_px))
            if found is not None:
                return found
    return None


def _modules(name: str, number: int) -> Gray:
    """(side, side) uint8, the modules of a marker with its black border."""
    chosen = dictionary(name)
    return np.asarray(chosen.generateImageMarker(number, chosen.markerSize + 2), np.uint8)


def draw_marker(name: str, number: int, corners_px: Points, size: npt.NDArray[np.intp]) -> tuple[Gray, Gray]:
    """(height, width) uint8 each, a marker as it would be seen without blur, and a mask, 1 where that is known.

    Args:
        name: of the dictionary.
        number: of the marker.
        corners_px: (4, 2) where its corners are there.
        size: (2,) width and height of the drawing.
    """
    modules = np.pad(_modules(name, number), 1, constant_values=255)
    low, high = 0.5, len(modules) - 1.5
    square = np.array([(low, low), (high, low), (high, high), (low, high)], np.float32)
    finer = (corners_px + 0.5) * OVERSAMPLING - 0.5
    to_picture = cv2.getPerspectiveTransform(square, finer.astype(np.float32))
    width, height = (size * OVERSAMPLING).tolist()
    drawn = cv2.warpPerspective(modules, to_picture, (width, height), flags=cv2.INTER_NEAREST, borderValue=255)
    averaged = cv2.resize(drawn, size.tolist(), interpolation=cv2.INTER_AREA)
    middle, share = corners_px.mean(axis=0), 1 + 2 * QUIET_ZONE / (high - low)
    reach = np.rint(middle + (corners_px - middle) * share).astype(np.int32)
    mask = cv2.fillConvexPoly(np.zeros((size[1], size[0]), np.uint8), reach, 1)
    return np.asarray(averaged, np.uint8), np.asarray(mask, np.uint8)
