"""Evening out the light on faces across which it changes: at the edge of a shadow, or near a lamp.

Strokes are narrow and darker than wood, so that a morphological closing wider than they are leaves only the wood, with
all edges of shadows on it (Serra, Image analysis and mathematical morphology, 1982).  Divided by that, a face looks as
if evenly lit.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.piece_colours import WOOD_PERCENTILE
from vision.compiled import compiled
from vision.glyphs.faces import Faces
from vision.pose.projection import Points

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]

STROKE_MM = 4.0
"""Width up to which dark structures count as ink."""

MARGIN = 1.3
"""Half width of the processed part of the picture about a face's centre, in its radii."""

WOOD_SHARE = 0.85
"""Share of a face's radius within which its wood is seen: beyond that lie its bevel, and what is around it."""

_ORDERS = np.array([1, 1, 2, 2, 2])
"""Powers of the radius by which the terms of a second-order surface are divided."""

SURFACE_ROUNDS, SURFACE_TOLERANCE = 20, 0.005
"""Rounds of reweighting, and differences of log codes that count as none."""


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


def level_illumination(image: Picture, faces: Faces) -> Picture:
    """The picture (height, width, 3) uint8 BGR in which the light on each of ``faces`` (k) is as in its middle.

    Its change across a face, where a lamp is mirrored on one side or a shadow lies there, is a second-order surface of
    the logarithm of each channel of the bare wood.  Unlike :func:`flatten_illumination` this cannot follow strokes,
    however dense they are, nor the sharp edge of a shadow.
    """
    level = image.copy()
    for number in range(len(faces.radii_mm)):
        face = faces.select(np.array([number]))
        reach = face.radii_mm[0] * np.linalg.norm(face.to_picture[0], axis=1)
        left, top = np.maximum(np.floor(face.centres_px[0] - reach), 0).astype(int)
        right, bottom = np.maximum(np.ceil(face.centres_px[0] + reach) + 1, 0).astype(int)
        part = level[top:bottom, left:right]
        if not part.size:
            continue
        y, x = np.mgrid[top : top + len(part), left : left + part.shape[1]].reshape(2, -1)
        across, along = np.linalg.solve(face.to_picture[0], (np.column_stack([x, y]) - face.centres_px[0]).T)
        terms = np.column_stack([across, along, across**2, across * along, along**2]) / face.radii_mm[0] ** _ORDERS
        distance = np.hypot(across, along) / face.radii_mm[0]
        codes, inside = np.maximum(part.reshape(-1, 3), 1).astype(np.float64), distance < WOOD_SHARE
        surfaces = [_wood_surface(terms[inside], np.log(codes[inside, channel])) for channel in range(3)]
        even = np.where((distance <= 1)[:, None], codes * np.exp(-terms @ np.array(surfaces).T), codes)
        level[top:bottom, left:right] = np.clip(np.rint(even), 0, 255).astype(np.uint8).reshape(part.shape)
    return level


def _wood_surface(terms: Points, values: Points) -> Points:
    """(t,) coefficients of ``terms`` (k, t), besides a constant, of the surface on which wood of ``values`` (k,) lies.

    Most values lie below it, as ink is darker: quantile regression (Koenker and Bassett, Regression quantiles, 1978) by
    iteratively reweighted least squares.
    """
    columns, weight = np.column_stack([np.ones(len(terms)), terms]), np.ones(len(terms))
    for _ in range(SURFACE_ROUNDS):
        weighted = columns * weight[:, None]
        surface = np.linalg.solve(weighted.T @ columns, weighted.T @ values)
        off = values - columns @ surface
        weight = np.where(off > 0, WOOD_PERCENTILE, 100 - WOOD_PERCENTILE) / np.maximum(np.abs(off), SURFACE_TOLERANCE)
    return np.asarray(surface[1:], np.float64)


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
