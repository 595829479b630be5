"""Detection of the upper faces of round pieces: their centres, by the rotational symmetry of what is printed on them.

A face is a circle in a known plane; about its true centre, colour varies least along concentric circles.  Where the
radius of the ring printed on the faces of a set is known, it serves as a matched filter as well: the ring is darker
than the wood on both sides of it, unlike bare ground and a shadow's edge.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.glyphs.circle_variance import (
    AROUND_RING_MM,
    BORDER,
    COARSE_MM,
    FINE_MM,
    coarse_variance,
    fine_variance,
)
from vision.glyphs.faces import Faces
from vision.pose.projection import Points
from vision.scene.configurations import LEAN_MM, PLACE_MM
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]

BORDER_PARTS = 24
"""Independent observations on these circles: each is three or four millimetres long.  Chosen by eye."""

MIN_VISIBLE = 0.4
"""Share of these circles that must be visible: a short arc leaves its centre undetermined.  Chosen by eye."""

MIN_ARC = 0.25
"""The same share where the ring's radius is known, so that an arc of it has one centre only."""

BLUR_PX = 3
"""Width of the box blur before faces are searched: rings are thin, and dim pictures noisy.  Chosen by eye."""

MIN_CIRCLE_VARIANCE = 0.0015
"""Variance along a circle, of three channels as shares of their sum, due to noise and the grain of wood.  Chosen by
eye."""

DARK_RING_VARIANCE = 2 / 9 / 3
"""Variance between three circles, the middle one of which is darker by a share of 1, in the units of
:func:`.circle_variance.fine_variance`: of three channels, as shares of their sum."""

PLACED_MM = float(np.hypot(PLACE_MM, LEAN_MM))
"""Standard deviation of a face's centre from the centre of its cell, along each axis."""


def centre_faces(
    image: npt.NDArray[np.uint8],
    faces: Faces,
    labels: LabelBuffer,
    ring_mm: float | None = None,
    min_variance: float = MIN_CIRCLE_VARIANCE,
) -> tuple[Faces, Array]:
    """Faces with their centres where colour varies least along concentric circles.

    Args:
        image: (height, width, 3) uint8, BGR.
        faces: (k) where they are expected.
        labels: (height, width) uint16.
        ring_mm: the radius of the ring on each face, where the set has one.
        min_variance: variance along a circle due to noise and grain, see :data:`MIN_CIRCLE_VARIANCE`.

    Returns:
        The faces; and (k,) float32 log-likelihood ratio of these centres against the median of the others in reach.
    """
    left, top, right, bottom = box_px(faces, labels.shape)
    cropped = np.ascontiguousarray(labels[top:bottom, left:right])
    blurred = np.asarray(cv2.blur(image[top:bottom, left:right], (BLUR_PX, BLUR_PX)), np.uint8)
    corner_px = np.array([left, top])
    found = faces._replace(centres_px=faces.centres_px - corner_px)
    circles = BORDER if ring_mm is None else (ring_mm + AROUND_RING_MM) / faces.radii_mm[0]
    least_share, between = (MIN_VISIBLE, 0.0) if ring_mm is None else (MIN_ARC, DARK_RING_VARIANCE)
    coarse = coarse_variance(blurred, cropped, found, circles)
    steps_mm, usual, _ = _likeliest(
        coarse, COARSE_MM, np.zeros(len(faces.ranks), np.float32), least_share, between, min_variance
    )
    found = found.displaced(steps_mm)
    fine = fine_variance(blurred, cropped, found, circles)
    steps_mm, _, log_ratio = _likeliest(fine, FINE_MM, usual, least_share, between, min_variance)
    found = found.displaced(steps_mm)
    return found._replace(centres_px=found.centres_px + corner_px), log_ratio


@compiled
def _likeliest(
    circles: tuple[Array, Array, Array],
    steps_mm: Points,
    usual: Array,
    least_share: float,
    between: float,
    min_variance: float,
) -> tuple[Points, Array, Array]:
    """The likeliest of some steps (s, 2) of each face.

    Args:
        circles: (k, s) float32 variance along the circles of each face, displaced by each step; share by which its ring
            is darker; and the share 0…1 of them that is visible.
        steps_mm: (s, 2).
        usual: (k,) float32 logarithm of the variance of each face displaced by any step, where that is known.
        least_share: of the circles that must be visible.
        between: weight of a darker ring, see :data:`DARK_RING_VARIANCE`.
        min_variance: see :func:`centre_faces`.

    Returns:
        (k, 2) mm; (k,) float32 median logarithm of the variances; and (k,) float32 log-likelihood ratio of the step
        against ``usual`` ones.
    """
    uneven, darker, shares = circles
    count, steps = uneven.shape
    best_mm, medians, log_ratio = np.empty((count, 2)), np.empty(count, np.float32), np.empty(count, np.float32)
    logs = np.empty(steps, np.float32)
    for face in range(count):
        share, best, least = shares[face].max(), 0, np.inf
        independent = BORDER_PARTS * float(share) if share > least_share else 0.0
        for k in range(steps):
            along, ring = float(uneven[face, k]) + min_variance, max(float(darker[face, k]), 0.0)
            # Likelier in proportion to the larger variance of one surface without a ring.
            logs[k] = np.log(along) - np.log(1 + between * ring**2 / along)
            off = float(logs[k]) * independent + (steps_mm[k, 0] ** 2 + steps_mm[k, 1] ** 2) / PLACED_MM**2
            if off < least:
                best, least = k, off
        best_mm[face], medians[face] = steps_mm[best], np.median(logs)
        log_ratio[face] = independent / 2 * (usual[face] - logs[best])
    return best_mm, medians, log_ratio


def box_px(faces: Faces, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom (px) of a part of the picture that contains the faces, displaced by any step.

    ``shape``: height and width of the picture.  For faces beyond its edge it is the nearest two pixels along each axis,
    between which codes are interpolated.
    """
    height, width = shape[:2]
    reach_px = 2 * float((faces.radii_mm * np.abs(faces.to_picture).max(axis=(1, 2))).max())
    low, high = faces.centres_px.min(axis=0) - reach_px, faces.centres_px.max(axis=0) + reach_px
    left, top = np.clip(low, 0, (width - 2, height - 2)).astype(int).tolist()
    right, bottom = np.clip(high, (left + 2, top + 2), (width, height)).astype(int).tolist()
    return left, top, right, bottom
