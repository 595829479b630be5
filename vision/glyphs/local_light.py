"""Evening out the light on faces across which it changes: at the edge of a shadow, or near a lamp.

Strokes are narrow and darker than wood, so that a morphological closing wider than they are leaves only the wood, with
all edges of shadows on it (Serra, Image analysis and mathematical morphology, 1982).  Divided by that, a face looks as
if evenly lit.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.glyphs.faces import Faces
from vision.pose.projection import Points

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]

STROKE_MM = 4.0
"""Width up to which dark structures count as ink."""

MARGIN = 1.3
"""Half width of the processed part of the picture about a face's centre, in its radii."""


def flatten_illumination(image: Picture, faces: Faces) -> Picture:
    """The picture (height, width, 3) uint8 BGR with all ``faces`` (k) as if evenly lit; the rest is unchanged."""
    lit, parts = image.copy(), []
    reach = MARGIN * faces.radii_mm[:, None] * np.abs(faces.to_picture).sum(axis=2)
    stroke_px = STROKE_MM * faces.px_per_mm
    for rank in np.unique(faces.ranks):
        mine = faces.ranks == rank
        left, top = np.maximum(np.floor((faces.centres_px - reach)[mine].min(axis=0)), 0).astype(int)
        right, bottom = np.maximum(np.ceil((faces.centres_px + reach)[mine].max(axis=0)) + 1, 0).astype(int)
        part = image[top:bottom, left:right]
        if part.size:
            size = round(float(stroke_px[mine].mean())) | 1
            disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
            smooth = cv2.GaussianBlur(part, (3, 3), 0)
            parts.append((left, top, part, np.maximum(cv2.morphologyEx(smooth, cv2.MORPH_CLOSE, disc), 1)))
    if not parts:
        return lit
    usual = np.median([_medians(wood) for *_, wood in parts], axis=0).astype(np.float32)
    for left, top, part, wood in parts:
        height, width, _ = part.shape
        lit[top : top + height, left : left + width] = _divide_by_wood(np.ascontiguousarray(part), wood, usual)
    return lit


@compiled
def _medians(wood: Picture) -> Points:
    """(3,) float64 medians of the channels of a picture (height, width, 3) uint8."""
    counts, codes = np.zeros((3, 256), np.int64), wood.reshape(-1, 3)
    for i in range(len(codes)):
        for channel in range(3):
            counts[channel, codes[i, channel]] += 1
    medians, middle = np.empty(3), len(codes) // 2
    for channel in range(3):
        below = np.cumsum(counts[channel])
        upper = np.searchsorted(below, middle, side="right")
        lower = upper if len(codes) % 2 else np.searchsorted(below, middle - 1, side="right")
        medians[channel] = (lower + upper) / 2
    return medians


@compiled
def _divide_by_wood(part: Picture, wood: Picture, usual: Array) -> Picture:
    """``part`` (height, width, 3) uint8 times ``usual`` (3,) float32 over ``wood``, of the same shape."""
    lit = np.empty(part.shape, np.uint8)
    shown, light, out = part.reshape(-1), wood.reshape(-1), lit.reshape(-1)
    usual_of = np.empty(3 * part.shape[1], np.float32)
    for i in range(len(usual_of)):
        usual_of[i] = usual[i % 3]
    for first in range(0, len(shown), len(usual_of)):
        for i in range(len(usual_of)):
            share = usual_of[i] / np.float32(light[first + i])
            out[first + i] = np.uint8(min(np.float32(shown[first + i]) * share, np.float32(255)))
    return lit
