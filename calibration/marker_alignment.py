"""Where a board's own markers are in a picture, by all that is printed on them: intensity-based image alignment.

A sticker that reaches over the board's edge has lost a corner: what detects markers by their outlines does not find
it, or has the corner wrong by several pixels.  Its modules are all the same where the others say that it must be.
"""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Mat
from calibration.markers import dictionary

Gray = npt.NDArray[np.uint8]
Points = npt.NDArray[np.float64]

QUIET = 0.5
"""Width of the white paper that is compared, too, in modules: stickers have one module, where it is not cut off."""

FINER = 4
"""A marker is drawn so many times finer than the picture, and averaged."""

BLUR_PX = 1.0
"""Standard deviation of the blur of a usual picture."""

SMOOTHING_PX = 5
"""Window of the Gaussian by which noise is taken from both before they are aligned: OpenCV's default."""

LIKE = 0.8
"""Least correlation of a marker with what is seen where it is.  On 13 boards drawn at random, half of whose stickers
are cut, it was 0.86 or more; in 770 places where another marker or none is, 0.70 at most."""

MOST_SHEAR = 0.3
"""By how much the aligned marker may be stretched or sheared: more is another pattern."""

STEPS = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 30, 1e-3)
"""Alignment ends after so many iterations, or where the correlation grows by less."""

NEAR_SHARE = 0.15
"""How far from its detected corners a marker is looked for, as a share of its edge; from where it is expected only, as
far as it is large."""


def align_markers(gray: Gray, mat: Mat, detected: Mapping[int, Points], camera: Camera) -> dict[int, Points]:
    """Corners (4, 2) px of the markers of a mat by id: of those detected, and of those that are where these say.

    Only markers that somebody stuck on a board are aligned or looked for: printed ones are whole.

    Args:
        gray: (height, width) uint8.
        mat: whose markers they are.
        detected: corners (4, 2) px of some of its markers by id; they stay as they are where nothing like them is seen.
        camera: that took the picture, about.
    """
    stuck = {marker.id for marker in mat.markers if marker.is_measured}
    seen = {i: _near(gray, mat, i, corners) if i in stuck else corners for i, corners in detected.items()}
    missing = stuck - set(seen)
    is_found = bool(seen)
    while missing and is_found:
        sought = {
            number: corners for number in missing if (corners := _sought(gray, mat, number, seen, camera)) is not None
        }
        is_found = bool(sought)
        seen |= sought
        missing -= set(sought)
    return seen


def aligned(gray: Gray, name: str, number: int, expected_px: Points, reach_px: int) -> Points | None:
    """Corners (4, 2) px of a marker within ``reach_px`` of ``expected_px`` (4, 2); None where nothing looks like it.

    First it is moved (normalised cross-correlation), then moved and sheared (Evangelidis and Psarakis, Parametric image
    alignment using enhanced correlation coefficient maximization, 2008).
    """
    pad_px = 1 + edge_px(expected_px) * QUIET / _modules(name, number).shape[0]
    low = np.floor(expected_px.min(axis=0) - pad_px).astype(int)
    size = np.ceil(expected_px.max(axis=0) + pad_px).astype(int) + 1 - low
    left, top = np.maximum(low - reach_px, 0).tolist()
    right, bottom = np.maximum(low + size + reach_px, 0).tolist()
    window = gray[top:bottom, left:right]
    if (window.shape[::-1] < size).any():
        return None
    drawn, mask = _drawn(name, number, expected_px - low, size)
    like = np.nan_to_num(cv2.matchTemplate(window, drawn, cv2.TM_CCOEFF_NORMED, mask=mask), posinf=0.0, neginf=0.0)
    row, column = np.unravel_index(int(like.argmax()), like.shape)
    shown = np.ascontiguousarray(window[row : row + size[1], column : column + size[0]])
    try:
        match, warp = cv2.findTransformECC(
            shown, drawn, np.eye(2, 3, dtype=np.float32), cv2.MOTION_AFFINE, STEPS, mask, SMOOTHING_PX
        )
    except cv2.error:  # what is seen is all one gray, or nothing like the marker
        return None
    if match < LIKE or np.abs(warp[:, :2] - np.eye(2)).max() > MOST_SHEAR:
        return None
    back = np.asarray(cv2.invertAffineTransform(warp), np.float64)
    corners: Points = (expected_px - low) @ back[:, :2].T + back[:, 2] + (left + column, top + row)
    return corners


def edge_px(corners_px: Points) -> float:
    """Mean length of the edges of a marker with these corners (4, 2) px."""
    return float(np.linalg.norm(corners_px - np.roll(corners_px, 1, axis=0), axis=1).mean())


def _near(gray: Gray, mat: Mat, number: int, corners_px: Points) -> Points:
    """Corners of a detected marker, aligned if it can be."""
    reach_px = round(NEAR_SHARE * edge_px(corners_px))
    found = aligned(gray, mat.dictionary, number, corners_px, reach_px)
    return corners_px if found is None else found


def _sought(gray: Gray, mat: Mat, number: int, seen: Mapping[int, Points], camera: Camera) -> Points | None:
    """Corners of a marker that was not detected; None where it is not seen."""
    corners_mm = {marker.id: np.array([(x, y, 0.0) for x, y in marker.corners_mm]) for marker in mat.markers}
    world = np.vstack([corners_mm[other] for other in seen])
    pixels = np.vstack(list(seen.values()))
    _, rvecs, tvecs, _ = cv2.solvePnPGeneric(world, pixels, camera.matrix, camera.distortion, flags=cv2.SOLVEPNP_IPPE)
    for rvec, tvec in zip(rvecs, tvecs, strict=True):
        shown, _ = cv2.projectPoints(corners_mm[number], rvec, tvec, camera.matrix, camera.distortion)
        expected = np.asarray(shown[:, 0], np.float64)
        size = edge_px(expected)
        if np.isfinite(expected).all() and size < max(gray.shape):
            found = aligned(gray, mat.dictionary, number, expected, round(size))
            if found is not None:
                return found
    return None


def _modules(name: str, number: int) -> Gray:
    """(side, side) uint8, the modules of a marker with its black border."""
    chosen = dictionary(name)
    return np.asarray(chosen.generateImageMarker(number, chosen.markerSize + 2), np.uint8)


def _drawn(name: str, number: int, corners_px: Points, size: npt.NDArray[np.intp]) -> tuple[Gray, Gray]:
    """(height, width) uint8, a marker as it is seen with its corners (4, 2) px there, and 1 where that is known."""
    modules = np.pad(_modules(name, number), 1, constant_values=255)
    low, high = 0.5, len(modules) - 1.5
    square = np.array([(low, low), (high, low), (high, high), (low, high)], np.float32)
    finer = (corners_px + 0.5) * FINER - 0.5
    to_picture = cv2.getPerspectiveTransform(square, finer.astype(np.float32))
    width, height = (size * FINER).tolist()
    drawn = cv2.warpPerspective(modules, to_picture, (width, height), flags=cv2.INTER_NEAREST, borderValue=255)
    averaged = cv2.resize(drawn, size.tolist(), interpolation=cv2.INTER_AREA)
    middle, share = corners_px.mean(axis=0), 1 + 2 * QUIET / (high - low)
    reach = np.rint(middle + (corners_px - middle) * share).astype(np.int32)
    mask = cv2.fillConvexPoly(np.zeros((size[1], size[0]), np.uint8), reach, 1)
    return np.asarray(cv2.GaussianBlur(averaged, (0, 0), BLUR_PX), np.uint8), np.asarray(mask, np.uint8)
