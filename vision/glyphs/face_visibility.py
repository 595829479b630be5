"""How much of a face is visible beside nearer stacks: places on it that none of them occludes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.glyphs.faces import DIRECTIONS, Faces
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

SAMPLE_RADII = (0.45, 0.85)
"""Radii of the circles on which a face is sampled, as shares of its own."""


def sample_places(faces: Faces) -> Points:
    """(b, k, 2) px, the middle of each of ``faces`` (b) and places on circles about it."""
    within = np.vstack([np.zeros((1, 2)), *(share * DIRECTIONS[:: len(DIRECTIONS) // 8] for share in SAMPLE_RADII)])
    off_px = faces.radii_mm[:, None, None] * within @ faces.to_picture.transpose(0, 2, 1)
    places_px: Points = faces.centres_px[:, None] + off_px
    return places_px


def are_visible(labels: LabelBuffer, faces: Faces) -> Mask:
    """(b, k) which places on ``faces`` (b) no nearer stack occludes, by ``labels`` (height, width)."""
    height, width = labels.shape
    x, y = np.rint(sample_places(faces)).astype(np.intp).transpose(2, 0, 1)
    nearest = labels[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)] >> RANK_BITS
    visible: Mask = nearest <= faces.ranks[:, None]
    return visible


def visible_shares(labels: LabelBuffer, faces: Faces) -> Array:
    """(b,) share (0…1) of each of ``faces`` (b) that no nearer stack occludes."""
    return np.asarray(are_visible(labels, faces).mean(axis=1), np.float32)
