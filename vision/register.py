"""Find the mat in a picture: markers → pose of the calibrated camera."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, Mat
from calibration.markers import dictionary
from vision.errors import MatNotFound, VisionError

Points = npt.NDArray[np.float64]

MIN_MARKERS = 2
"""One marker's four corners fix a pose only loosely (its tilt is ambiguous); two, far apart, fix it well."""

MAX_REPROJECTION_SHARE = 0.03
"""Largest credible root mean square reprojection error, as a share of a marker's edge in the picture.  Refined corners
of a blurred square lie about half a pixel too far inside; anything much worse is a wrong marker or a bent mat."""

THRESHOLD_WINDOW_PX = 13
"""One adaptive threshold window finds markers of 30 px and more at a third of the cost of OpenCV's three; the
three are the second try."""

MAX_CHOICES = 64
"""Upper bound on combinations tried when a marker's id is seen more than once."""


@dataclass(frozen=True, eq=False)
class Registration:
    """Where the camera stands: a world point X (mm) is at ``rotation @ X + translation_mm`` before the lens.

    Attributes:
        rotation: (3, 3) float64, world → camera (x right, y down, z forward).
        translation_mm: (3,) float64.
        markers: ids of the markers that it rests on.
        reprojection_px: root mean square distance of their corners from where the pose puts them.
    """

    rotation: Points
    translation_mm: Points
    markers: tuple[int, ...]
    reprojection_px: float

    @property
    def centre_mm(self) -> Points:
        """(3,) the camera's place in the world."""
        centre: Points = -self.rotation.T @ self.translation_mm
        return centre


def register(gray: npt.NDArray[np.uint8], kit: Kit, camera: Camera) -> Registration:
    """The pose of the camera over the kit's mat.

    Args:
        gray: (height, width) uint8.
        kit: names the markers and where they are.
        camera: must have the size of ``gray``.

    Raises:
        VisionError: the picture is of another size than the camera was calibrated for.
        MatNotFound: too few markers, or markers that contradict each other or the mat.
    """
    check_size(gray, camera)
    wanted = {marker.id for marker in kit.mat.markers}
    found, strangers = _find(gray, kit.mat, THRESHOLD_WINDOW_PX)
    if set(found) != wanted:
        found, strangers = _find(gray, kit.mat, None)
    if len(found) < MIN_MARKERS:
        raise MatNotFound(_missing(kit, found, strangers))
    return _best_pose(found, kit, camera)


def marker_corners(mat: Mat, marker_id: int) -> Points:
    """(4, 3) mm, corners of a marker in the order of ``cv2.aruco``: from its top left clockwise."""
    corners = next(marker.corners_mm for marker in mat.markers if marker.id == marker_id)
    return np.array([(x, y, 0.0) for x, y in corners])


def project(points_mm: Points, pose: Registration, camera: Camera) -> Points:
    """Where world points (n, 3) mm are in the picture: (n, 2) px, the middle of the first pixel being (0, 0)."""
    rvec = cv2.Rodrigues(pose.rotation)[0]
    pixels, _ = cv2.projectPoints(points_mm, rvec, pose.translation_mm, camera.matrix, camera.distortion)
    return np.asarray(pixels, np.float64).reshape(-1, 2)


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


@lru_cache(maxsize=8)
def _detector(name: str, window_px: int | None) -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    if window_px is not None:
        parameters.adaptiveThreshWinSizeMin = parameters.adaptiveThreshWinSizeMax = window_px
    return cv2.aruco.ArucoDetector(dictionary(name), parameters)


def _find(
    gray: npt.NDArray[np.uint8], mat: Mat, window_px: int | None
) -> tuple[dict[int, list[Points]], tuple[int, ...]]:
    """Corners (4, 2) px of the mat's markers by id (one may be seen more than once), and ids that are not the mat's."""
    corners, ids, _ = _detector(mat.dictionary, window_px).detectMarkers(gray)
    wanted = {marker.id for marker in mat.markers}
    found: dict[int, list[Points]] = {}
    strangers: list[int] = []
    for corner, marker_id in zip(corners, [] if ids is None else ids.ravel(), strict=True):
        if int(marker_id) in wanted:
            found.setdefault(int(marker_id), []).append(np.asarray(corner, np.float64).reshape(4, 2))
        else:
            strangers.append(int(marker_id))
    return found, tuple(sorted(set(strangers)))


def _missing(kit: Kit, found: dict[int, list[Points]], strangers: tuple[int, ...]) -> str:
    wanted = sorted(marker.id for marker in kit.mat.markers)
    if strangers and not found:
        others = ", ".join(map(str, strangers))
        return (
            f"another mat is in view (markers {others}); the kit {kit.name} has markers "
            f"{', '.join(map(str, wanted))}: choose the kit of this mat"
        )
    seen = f"only marker {next(iter(found))}" if found else "none"
    return (
        f"the mat is not in view: {seen} of its markers {', '.join(map(str, wanted))} found; "
        "show the whole mat, in focus and in light"
    )


def _best_pose(found: dict[int, list[Points]], kit: Kit, camera: Camera) -> Registration:
    ids = tuple(sorted(found))
    world = np.vstack([marker_corners(kit.mat, i) for i in ids])
    poses = []
    for choice in itertools.islice(itertools.product(*(found[i] for i in ids)), MAX_CHOICES):
        pose = _solve(world, np.vstack(choice), ids, camera)
        if pose is not None:
            edge_px = np.mean([np.linalg.norm(c - np.roll(c, 1, axis=0), axis=1).mean() for c in choice])
            poses.append((pose.reprojection_px / edge_px, pose))
    if not poses:
        raise MatNotFound("the markers cannot be seen from above; is the picture mirrored?")
    share, best = min(poses, key=lambda item: item[0])
    if share > MAX_REPROJECTION_SHARE:
        raise MatNotFound(
            f"the markers contradict each other (reprojection error {best.reprojection_px:.1f} px); "
            "is the mat flat, whole, and of this kit, and the camera file of this camera?"
        )
    return best


def _solve(world: Points, pixels: Points, ids: tuple[int, ...], camera: Camera) -> Registration | None:
    """The pose for one choice of marker sightings; None when it puts the camera under the mat."""
    done, rvec, tvec = cv2.solvePnP(world, pixels, camera.matrix, camera.distortion, flags=cv2.SOLVEPNP_IPPE)
    if not done:
        return None
    rvec, tvec = cv2.solvePnPRefineLM(world, pixels, camera.matrix, camera.distortion, rvec, tvec)
    pose = Registration(np.asarray(cv2.Rodrigues(rvec)[0], np.float64), np.asarray(tvec, np.float64).ravel(), ids, 0.0)
    if pose.centre_mm[2] <= 0:
        return None
    error = project(world, pose, camera) - pixels
    return Registration(pose.rotation, pose.translation_mm, ids, float(np.sqrt((error**2).sum(axis=1).mean())))
