"""Whether a camera sharpens its pictures, which halos along the printed edges of the markers reveal.

Cheap cameras do (unsharp masking).  The halo of a character depends on its size in the picture, so in such pictures
characters are compared slightly blurred.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.pose.projection import Points, Registration, project

Picture = npt.NDArray[np.uint8]

REACH_PX, STEP_PX = 6.5, 0.5
"""How far on either side of an edge the picture is sampled, and how densely."""

HALO_PX, EVEN_PX = (1.0, 3.5), (4.5, 6.5)
"""Ranges of distance from an edge in which a halo lies, and in which there is none."""

EDGE_FRACTIONS = np.linspace(0.15, 0.85, 8)
"""Places on a marker's edges, as shares of their length: clear of its corners."""

MIN_HALO = 0.06
"""Halo, as a share of the step from black to white, above which a picture is sharpened: in 172 pictures of
cameras that sharpen nothing it is 0.028 at most, in 22 of one that does 0.08 at least."""

BLUR_PX = 0.8
"""Standard deviation of the blur that removes halos before comparison: of 0, 0.5, 0.8 and 1.3 this gave the fewest
errors in pictures of a cheap webcam."""

KERNEL_PX = 4
"""Distance at which a pixel contributes less than one code to another's blur: five standard deviations."""


def measure_halo(image: Picture, kit: Kit, pose: Registration, camera: Camera) -> float:
    """How much brighter paper is next to the markers' edges than farther off, as a share of the step to their black.

    ``image`` is (height, width, 3) uint8, BGR.  0 where no edge is in the picture.
    """
    offsets = np.arange(-REACH_PX, REACH_PX + STEP_PX / 2, STEP_PX)
    profiles = _profiles(image, *_edges(kit, pose, camera), offsets)
    if not len(profiles):
        return 0.0
    across = np.median(profiles, axis=0)
    white, near = (float(np.max(across[_between(offsets, *reach)])) for reach in (EVEN_PX, HALO_PX))
    black = float(np.median(across[_between(offsets, -EVEN_PX[1], -HALO_PX[0])]))
    return (near - white) / max(white - black, 1.0)


def _between(offsets: Points, low: float, high: float) -> npt.NDArray[np.bool_]:
    return np.asarray((offsets >= low) & (offsets <= high))


def _edges(kit: Kit, pose: Registration, camera: Camera) -> tuple[Points, Points]:
    """Of all edges (e) of markers in the picture: places (e, k, 2) px on them, and directions (e, 2) off the marker."""
    corners = np.array([marker.corners_mm for marker in kit.mat.markers]).reshape(-1, 2)
    begin = project(np.column_stack([corners, np.zeros(len(corners))]), pose, camera).reshape(-1, 4, 2)
    along = np.roll(begin, -1, axis=1) - begin
    normal = along[..., ::-1] * (1, -1) / np.maximum(np.linalg.norm(along, axis=2, keepdims=True), 1e-6)
    inwards = (normal * (begin - begin.mean(axis=1, keepdims=True))).sum(axis=2, keepdims=True) < 0
    places = (begin[:, :, None] + EDGE_FRACTIONS[:, None] * along[:, :, None]).reshape(-1, len(EDGE_FRACTIONS), 2)
    inside = (places >= REACH_PX) & (places <= np.array([camera.width_px, camera.height_px]) - 1 - REACH_PX)
    is_seen = inside.all(axis=(1, 2))
    return places[is_seen], np.where(inwards, -normal, normal).reshape(-1, 2)[is_seen]


def _profiles(image: Picture, places: Points, outward: Points, offsets: Points) -> Points:
    """(e · k, offsets) brightness across edges; arguments as from :func:`_edges`."""
    at = places[:, :, None] + offsets[:, None] * outward[:, None, None]
    x, y = np.moveaxis(at.reshape(-1, len(offsets), 2), 2, 0).astype(np.float32)
    shown = cv2.remap(image, x, y, cv2.INTER_LINEAR) if len(x) else np.zeros((0, len(offsets), 3))
    profiles: Points = np.asarray(shown).mean(axis=2)
    return profiles


def remove_halo(image: Picture, box_px: tuple[int, int, int, int] | None = None) -> Picture:
    """A sharpened picture (height, width, 3) uint8, blurred by as much as its halos are wide.

    Only within a box, left, top, right and bottom, where one is given.
    """
    height, width, _ = image.shape
    left, top, right, bottom = box_px or (0, 0, width, height)
    blurred = image.copy()
    # The kernel reaches pixels beyond the box, too.
    x, y = max(left - KERNEL_PX, 0), max(top - KERNEL_PX, 0)
    part = cv2.GaussianBlur(image[y : bottom + KERNEL_PX, x : right + KERNEL_PX], (0, 0), BLUR_PX)
    blurred[top:bottom, left:right] = part[top - y : bottom - y, left - x : right - x]
    return blurred


def is_sharpened(image: Picture, kit: Kit, pose: Registration, camera: Camera) -> bool:
    """Whether the camera that took ``image`` (height, width, 3) uint8 BGR sharpens its pictures."""
    return measure_halo(image, kit, pose, camera) > MIN_HALO


def blur_if_sharpened(image: Picture, kit: Kit, pose: Registration, camera: Camera) -> Picture:
    """``image`` prepared for comparing characters: blurred if it is sharpened."""
    return remove_halo(image) if is_sharpened(image, kit, pose, camera) else image
