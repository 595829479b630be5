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
    profiles = [_profiles(image, edge, offsets) for edge in _edges(kit, pose, camera)]
    if not profiles:
        return 0.0
    across = np.median(np.concatenate(profiles), axis=0)
    white, near = (float(np.max(across[_between(offsets, *reach)])) for reach in (EVEN_PX, HALO_PX))
    black = float(np.median(across[_between(offsets, -EVEN_PX[1], -HALO_PX[0])]))
    return (near - white) / max(white - black, 1.0)


def _between(offsets: Points, low: float, high: float) -> npt.NDArray[np.bool_]:
    return np.asarray((offsets >= low) & (offsets <= high))


def _edges(kit: Kit, pose: Registration, camera: Camera) -> list[tuple[Points, Points]]:
    """For each edge of each marker in the picture: places (k, 2) px on it, and the direction (2,) off the marker."""
    edges = []
    for marker in kit.mat.markers:
        corners = np.array(marker.corners_mm)
        pixels = project(np.column_stack([corners, np.zeros(len(corners))]), pose, camera)
        for a, b in zip(pixels, np.roll(pixels, -1, axis=0), strict=True):
            normal = np.array([b[1] - a[1], a[0] - b[0]]) / max(float(np.hypot(*(b - a))), 1e-6)
            outward = normal * np.sign(normal @ (a - pixels.mean(axis=0)))
            edges.append((a + EDGE_FRACTIONS[:, None] * (b - a), outward))
    inside = np.array([camera.width_px, camera.height_px]) - 1 - REACH_PX
    return [(at, out) for at, out in edges if (at >= REACH_PX).all() and (at <= inside).all()]


def _profiles(image: Picture, edge: tuple[Points, Points], offsets: Points) -> Points:
    """(k, offsets) brightness across an edge."""
    places, outward = edge
    at = places[:, None] + offsets[:, None] * outward
    shown = cv2.remap(image, at[..., 0].astype(np.float32), at[..., 1].astype(np.float32), cv2.INTER_LINEAR)
    profiles: Points = shown.mean(axis=2)
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
