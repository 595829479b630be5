"""Registration of the mat: pose of the calibrated camera from markers, by solving the perspective-n-point problem."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import MIN_MARKERS, Kit, Mat
from calibration.marker_alignment import MAX_BENT, align_markers, apart_from_table, side_px
from vision.errors import MatNotFound, VisionError
from vision.pose.certainty import check_certain
from vision.pose.diagnosis import BLURRED, is_blurred, missing_markers_error
from vision.pose.markers import THRESHOLD_WINDOW_PX, detect, detect_coarse_to_fine, detect_near
from vision.pose.projection import Points, Registration, project

MAX_REPROJECTION_SHARE = 0.03
"""Largest credible root mean square reprojection error, as a share of a marker's edge in the picture.  Refined corners
of a blurred square lie about half a pixel too far inside; anything much worse is a wrong marker or a bent mat."""

RULER_MM = 0.7
"""Largest root mean square error of corners measured with a ruler."""

MIN_AGREEING = 3
"""Least number of markers that must agree for another one to be left out: any two nearly fit some pose."""

GOOD_ERROR_SHARE = 1 / 3
"""Share of the largest credible reprojection error within which they must agree: seen through a lens other than the
calibrated one, markers contradict each other as well.  Chosen by eye."""

MIN_WHOLE_SHARE = 0.5
"""At least this share of the markers on somebody's own board must be whole: of each of the others a corner is left
out."""

RIVAL_FACTOR, RIVAL_SHARE = 2.0, 0.01
"""A rival pose is one whose reprojection error is within this factor of the best one's, or below this share of a
marker's edge, by which blur may displace corners…"""

SAME_PLACE_SHARE = 0.05
"""…and whose camera centre is farther from the best one's than this share of the distance to the mat."""

HOPELESS_FACTOR = 10.0
"""Factor by which an initial estimate's error may exceed the other's: refinement does not make up for more."""

MAX_NAMED = 6
"""Cells named in one message."""

MAX_CHOICES = 64
"""Upper bound on the combinations tried when a marker's id is detected more than once."""


def register(gray: npt.NDArray[np.uint8], kit: Kit, camera: Camera) -> Registration:
    """The pose of the camera over the kit's mat.

    Args:
        gray: (height, width) uint8.
        kit: defines the markers and their positions.
        camera: must have the size of ``gray``.

    Raises:
        VisionError: the picture is of another size than the camera was calibrated for, or too dark or bright.
        MatNotFound: too few markers, markers that contradict each other or the mat, squares outside the picture, or
            whose positions the detected markers do not determine.
    """
    check_size(gray, camera)
    wanted = {marker.id for marker in kit.mat.markers}
    # Stickers that overhang a board's edge have outlines that differ from one size of the picture to another.
    seen = {} if kit.mat.is_measured else detect_coarse_to_fine(gray, kit.mat.dictionary, tuple(sorted(wanted)))
    if not wanted <= set(seen):
        seen = detect(gray, kit.mat.dictionary, THRESHOLD_WINDOW_PX)
    if not wanted <= set(seen):
        seen = _detect_missing(gray, seen, kit, camera) or detect(gray, kit.mat.dictionary)
    try:
        return _located(gray, seen, kit, camera)
    except MatNotFound:
        more = _detect_on_dark_table(gray, wanted - set(seen), kit.mat.dictionary) if kit.mat.is_measured else {}
        if not more:
            raise
        return _located(gray, seen | more, kit, camera)


def _located(gray: npt.NDArray[np.uint8], seen: dict[int, list[Points]], kit: Kit, camera: Camera) -> Registration:
    """The pose by the markers ``seen``, some of which may be another mat's; raises as :func:`register`."""
    wanted = {marker.id for marker in kit.mat.markers}
    found = _aligned(gray, {number: corners for number, corners in seen.items() if number in wanted}, kit, camera)
    if len(found) < MIN_MARKERS:
        raise missing_markers_error(gray, kit, found, set(seen) - wanted)
    try:
        pose = _pose(gray, found, kit, camera)
    except MatNotFound as error:
        raise (MatNotFound(BLURRED) if is_blurred(gray) else error) from None
    check_in_view(kit, pose, camera)
    check_certain(kit, pose, camera)
    return pose


def marker_corners(mat: Mat, marker_id: int) -> Points:
    """(4, 3) mm, corners of a marker in the order of ``cv2.aruco``: from its top left clockwise."""
    corners = next(marker.corners_mm for marker in mat.markers if marker.id == marker_id)
    return np.array([(x, y, 0.0) for x, y in corners])


def check_size(image: npt.NDArray[np.uint8], camera: Camera) -> None:
    """Raise VisionError for a picture of another size than the camera was calibrated for."""
    height, width = image.shape[:2]
    if (height, width) != (camera.height_px, camera.width_px):
        raise VisionError(
            f"the picture is {width} x {height} px, the camera file is for "
            f"{camera.width_px} x {camera.height_px} px; calibrate the lens at this size"
        )


def to_gray(image: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """(height, width) uint8 of a picture (height, width, 3) uint8 BGR."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)


def max_reprojection_px(mat: Mat, camera: Camera, edge_px: float) -> float:
    """Largest credible root mean square reprojection error of markers whose edges have ``edge_px`` in the picture.

    A share of the edge, more for stickers measured with a ruler, and the residual error of the ``camera``'s
    calibration: noise and compression displace corners of a cheap one's markers, ten or twenty pixels wide, as much.
    """
    share = np.hypot(MAX_REPROJECTION_SHARE, RULER_MM / mat.marker_mm if mat.is_measured else 0.0)
    return float(np.hypot(share * edge_px, camera.reprojection_px))


def check_in_view(kit: Kit, pose: Registration, camera: Camera) -> None:
    """Raise MatNotFound when squares lie outside the picture."""
    centres = np.array([(*centre, 0.0) for centre in kit.centres_mm])
    pixels = project(centres, pose, camera)
    inside = ((pixels >= 0) & (pixels < (camera.width_px, camera.height_px))).all(axis=1)
    if not inside.all():
        cells = [kit.cells[i] for i in np.flatnonzero(~inside)]
        names = ", ".join(cells[:MAX_NAMED]) + (", …" if len(cells) > MAX_NAMED else "")
        raise MatNotFound(f"only part of the board is in the picture, {names} not: show all of it")


def _detect_missing(
    gray: npt.NDArray[np.uint8], seen: dict[int, list[Points]], kit: Kit, camera: Camera
) -> dict[int, list[Points]]:
    """The markers ``seen``, with those of a printed mat that are missing, where they are seen at their places.

    Empty unless three or more of them agree well about where the mat lies: else the whole picture tells more.
    """
    own = {marker.id: seen[marker.id] for marker in kit.mat.markers if len(seen.get(marker.id, ())) == 1}
    if kit.mat.is_measured or len(own) < MIN_AGREEING:
        return {}
    try:
        pose = _best_pose(own, kit, camera, GOOD_ERROR_SHARE)
    except MatNotFound:
        return {}
    missing = [marker.id for marker in kit.mat.markers if marker.id not in seen]
    places = {number: project(marker_corners(kit.mat, number), pose, camera) for number in missing}
    near = {
        number: detect_near(gray, kit.mat.dictionary, (number,), place[None], None) for number, place in places.items()
    }
    return seen | {number: [corners[0]] for number, corners in near.items() if corners is not None}


def _detect_on_dark_table(gray: npt.NDArray[np.uint8], wanted: set[int], name: str) -> dict[int, list[Points]]:
    """Those of the ``wanted`` markers of a dictionary that are seen once a dark table is told from their ink."""
    found: dict[int, list[Points]] = {}
    for picture in apart_from_table(gray):
        if wanted <= set(found):
            break
        seen = detect(picture, name)
        found |= {number: seen[number] for number in wanted & set(seen) - set(found)}
    return found


def _pose(gray: npt.NDArray[np.uint8], found: dict[int, list[Points]], kit: Kit, camera: Camera) -> Registration:
    """The best pose; if markers contradict each other, with stickers realigned, without one marker, or some corners."""
    try:
        return _best_pose(found, kit, camera)
    except MatNotFound:
        aligned = _aligned(gray, found, kit, camera, most_bent=0.0)
        with suppress(MatNotFound):
            return _best_pose(aligned, kit, camera)
        pose = _pose_without_one(found, kit, camera) or _pose_without_corners(aligned, kit, camera)
        if pose is None:
            raise
        return pose


def _pose_without_one(found: dict[int, list[Points]], kit: Kit, camera: Camera) -> Registration | None:
    """The best pose from all markers but one, a corner of which may be hidden; None unless they agree well."""
    poses = []
    for number in found if len(found) > MIN_AGREEING else ():
        others = {one: corners for one, corners in found.items() if one != number}
        with suppress(MatNotFound):
            poses.append(_best_pose(others, kit, camera, GOOD_ERROR_SHARE))
    return min(poses, key=lambda pose: pose.reprojection_px, default=None)


def _pose_without_corners(found: dict[int, list[Points]], kit: Kit, camera: Camera) -> Registration | None:
    """The best pose without one corner each of some stickers, the worst ones first; None if that does not help.

    A sticker that overhangs the edge of a board on a dark table loses a corner of its white margin, and seems bent.
    """
    if not kit.mat.is_measured or any(len(corners) > 1 for corners in found.values()):
        return None
    ids = tuple(sorted(found))
    world = np.vstack([marker_corners(kit.mat, number) for number in ids])
    pixels = np.vstack([found[number][0] for number in ids])
    is_kept = np.ones(len(pixels), np.bool_)
    for _ in range(int((1 - MIN_WHOLE_SHARE) * len(ids))):
        poses = _poses(world[is_kept], pixels[is_kept], ids, camera)
        if not poses:
            return None
        least = min(poses, key=lambda pose: pose.reprojection_px)
        off_px = np.linalg.norm(project(world, least, camera) - pixels, axis=1)
        off_px[~is_kept.reshape(-1, 4).all(axis=1).repeat(4)] = 0.0
        is_kept[off_px.argmax()] = False
        with suppress(MatNotFound):
            return _best_pose(found, kit, camera, is_kept=is_kept)
    return None


def _aligned(
    gray: npt.NDArray[np.uint8],
    detected: dict[int, list[Points]],
    kit: Kit,
    camera: Camera,
    most_bent: float = MAX_BENT,
) -> dict[int, list[Points]]:
    """The detected markers, and others found where these predict them; those detected more than once are unchanged."""
    once = {number: corners[0] for number, corners in detected.items() if len(corners) == 1}
    aligned = align_markers(gray, kit.mat, once, camera, most_bent)
    return detected | {number: [corners] for number, corners in aligned.items()}


def _best_pose(
    found: dict[int, list[Points]],
    kit: Kit,
    camera: Camera,
    of_most: float = 1.0,
    is_kept: npt.NDArray[np.bool_] | slice = slice(None),
) -> Registration:
    """The pose of least reprojection error relative to the markers' edges.

    ``of_most``: share of :func:`max_reprojection_px` up to which it is credible; ``is_kept`` (4 n,): which corners are
    used, of the markers in the order of their numbers.
    """
    ids = tuple(sorted(found))
    world = np.vstack([marker_corners(kit.mat, i) for i in ids])
    poses = []
    for choice in itertools.islice(itertools.product(*(found[i] for i in ids)), MAX_CHOICES):
        edge_px = side_px(np.stack(choice))
        poses += [
            (pose.reprojection_px / edge_px, edge_px, pose)
            for pose in _poses(world[is_kept], np.vstack(choice)[is_kept], ids, camera)
        ]
    if not poses:
        raise MatNotFound("the markers cannot be seen from above; is the picture mirrored?")
    share, edge_px, best = min(poses, key=lambda item: item[0])
    if best.reprojection_px > of_most * max_reprojection_px(kit.mat, camera, edge_px):
        raise MatNotFound(
            f"the markers contradict each other (reprojection error {best.reprojection_px:.1f} px); "
            "is the mat flat, whole, and of this kit, and the camera file of this camera?"
        )
    for other_share, _, other in poses:
        rival = max(RIVAL_FACTOR * share, RIVAL_SHARE)
        if other_share < rival and _distance(best, other) > SAME_PLACE_SHARE * np.linalg.norm(best.centre_mm):
            raise MatNotFound(
                f"it cannot be told where the mat of {kit.name} lies: show one such mat only, and larger in the picture"
            )
    return best


def _distance(pose: Registration, other: Registration) -> float:
    """Distance of two camera centres in mm."""
    return float(np.linalg.norm(pose.centre_mm - other.centre_mm))


def _poses(world: Points, pixels: Points, ids: tuple[int, ...], camera: Camera) -> list[Registration]:
    """The poses above the mat for one choice of marker detections: a plane in weak perspective has two."""
    _, rvecs, tvecs, errors = cv2.solvePnPGeneric(
        world, pixels, camera.matrix, camera.distortion, flags=cv2.SOLVEPNP_IPPE
    )
    poses: list[Registration] = []
    for begun, moved, error_px in zip(rvecs, tvecs, np.asarray(errors).ravel(), strict=True):
        if poses and error_px > HOPELESS_FACTOR * np.asarray(errors).min():
            break
        pose = refine(world, pixels, ids, camera, (np.asarray(begun, np.float64), np.asarray(moved, np.float64)))
        if pose.centre_mm[2] > 0 and (world @ pose.rotation.T + pose.translation_mm)[:, 2].min() > 0:
            poses.append(pose)
    return poses


def refine(
    world: Points, pixels: Points, ids: tuple[int, ...], camera: Camera, begin: tuple[Points, Points]
) -> Registration:
    """The pose of least reprojection error of ``world`` (n, 3) mm at ``pixels`` (n, 2).

    Refined from ``begin``, rvec and tvec, by Levenberg-Marquardt with ``cv2.solvePnPRefineLM``.
    """
    rvec, tvec = cv2.solvePnPRefineLM(world, pixels, camera.matrix, camera.distortion, *begin)
    rotation, translation = np.asarray(cv2.Rodrigues(rvec)[0], np.float64), np.asarray(tvec, np.float64).ravel()
    pose = Registration(rotation, translation, ids, 0.0)
    error = project(world, pose, camera) - pixels
    return replace(pose, reprojection_px=float(np.sqrt((error**2).sum(axis=1).mean())))
