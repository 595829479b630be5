"""How large the ring on a face appears: the nearer it is to the camera, the higher is the stack under it.

That tells heights best where stacks are seen from above, and neither their sides nor where their faces are tell much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.glyphs.faces import DIRECTIONS, Faces
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.float64]

STEP_MM = 0.1
"""Distance between two radii that are looked at."""

BESIDE = 9
"""Steps from a radius to the two that it must be darker than: somewhat more than a ring is wide."""

NEAR = 7
"""Most steps by which a ring is off its radius, somewhere on its way round."""

RING_SHARES = (0.6, 0.95)
"""Of a face's radius, between which its ring is looked for at enrolment…"""

GROOVE_SHARES, INNER_SHARES = (0.6, 0.82), (0.35, 0.6)
"""The same for the grooves of a draughtsman: the bevel at its rim may be darker."""

RING_REACH = 0.15
"""…and by which share of its own radius later: a face may have been found at another height than it has."""

AROUND = DIRECTIONS[::2]
"""(directions, 2) in which the ring is looked for: half of those of characters."""

LEAST_SEEN = len(AROUND) // 4
"""Directions in which a ring must be seen."""

SPREAD_MM, OUTLIER = 0.04, 5e-4
"""Standard deviation of a radius, and density of what is no ring, as a share of that of a radius that is right.  Of 903
rings in eight sets 894 were within 0.08 mm of the median of their picture and 4 more than 0.3 mm off, which may be
anywhere within :data:`RING_REACH`; from one height to the next a radius changes by 0.13 to 0.24 mm."""

CLEAR_MM = 0.05
"""Largest standard deviation of a radius that is seen clearly; where there is no ring it was 0.1 and more."""

ALIKE_MM = 4 * SPREAD_MM
"""Largest difference between radii of one ring."""

ROUNDS = 4
"""Iterations of the fit."""

LABEL_STRIDE = 4
"""Every how many radii it is asked what is nearer."""

BLUR_STEPS = 1.0
"""Standard deviation of the blur along the radius."""


class Ring(NamedTuple):
    """A circle on a face: its radius, mm in the plane in which that was found, and its variance, mm²."""

    radius_mm: float
    variance_mm2: float


NO_RING = Ring(0.0, np.inf)


def find_ring(image: Picture, face: Faces, labels: LabelBuffer, about_mm: tuple[float, float]) -> Ring:
    """The darkest circle round the middle of one face (1), of a radius between two.

    Each direction has a radius of its own, to which a circle is fitted, whose middle need not be the face's
    (iteratively reweighted least squares).  What is before the face, in ``labels`` (height, width), is not looked at.
    """
    radii_mm = np.arange(about_mm[0] - BESIDE * STEP_MM, about_mm[1] + (BESIDE + 0.5) * STEP_MM, STEP_MM)
    darker = _darker(image, face, labels, radii_mm)
    is_seen = np.isfinite(darker).all(axis=1)
    if is_seen.sum() < LEAST_SEEN:
        return NO_RING
    darker, around = darker[is_seen], AROUND[is_seen]
    usual = int(np.median(darker, axis=0).argmax())
    first = max(usual - NEAR, 0)
    window = darker[:, first : usual + NEAR + 1]
    if window.shape[1] < 3:
        return NO_RING
    place = np.clip(window.argmax(axis=1), 1, window.shape[1] - 2)
    before, at, after = (window[np.arange(len(window)), place + step] for step in (-1, 0, 1))
    bend = np.minimum(before - 2 * at + after, -1e-6)
    own_mm = radii_mm[BESIDE + first + place] + STEP_MM * np.clip(0.5 * (before - after) / bend, -1, 1)
    return _fitted(np.column_stack([around, np.ones(len(around))]), own_mm, np.maximum(at, 0))


def usual_radius_mm(rings: Sequence[Ring]) -> float | None:
    """The radius of the rings of a set; None if it has none, so that what is darkest differs between faces.

    Only rings that are seen clearly count, which on black pieces they may not be: of these most must agree.
    """
    clear = [ring for ring in rings if ring.variance_mm2 < CLEAR_MM**2]
    if not clear:
        return None
    radii_mm, variances_mm2 = (np.array(column) for column in zip(*clear, strict=True))
    agree = np.abs(radii_mm[:, None] - radii_mm) < ALIKE_MM
    mine = agree[agree.sum(axis=1).argmax()]
    if 2 * mine.sum() <= len(clear):
        return None
    return float(np.average(radii_mm[mine], weights=1 / (variances_mm2[mine] + SPREAD_MM**2)))


def ring_log_ratio(
    ring: Ring, planes: Points, ring_mm: float, trust: tuple[float, float] = (SPREAD_MM, OUTLIER)
) -> Scores:
    """(l,) log-likelihood ratio of each plane against one in which the ring has the set's radius.

    ``planes`` (l,): how much larger a millimetre appears there than where the ring was found.  ``trust``: standard
    deviation of a radius besides its variance, mm, and density of what is no ring, as a share of that of a right one.
    """
    spread_mm, outlier = trust
    off = (ring.radius_mm / planes - ring_mm) ** 2 / (spread_mm**2 + ring.variance_mm2)
    ratio: Scores = np.log(outlier + (1 - outlier) * np.exp(-0.5 * off))
    return ratio


def _darker(image: Picture, face: Faces, labels: LabelBuffer, radii_mm: Points) -> Array:
    """(directions, radii) by how many codes each place is darker than those beside it; not finite if it is hidden."""
    around_mm = radii_mm[:, None] * AROUND[:, None]
    pixels = face.centres_px[0] + around_mm @ face.to_picture[0].T
    x, y = (pixels[..., axis].astype(np.float32) for axis in (0, 1))
    codes = cv2.remap(image, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE).mean(axis=2, dtype=np.float32)
    codes = cv2.GaussianBlur(codes, (0, 0), sigmaX=BLUR_STEPS, sigmaY=0.01)
    darker: Array = (codes[:, : -2 * BESIDE] + codes[:, 2 * BESIDE :]) / 2 - codes[:, BESIDE:-BESIDE]
    height, width = labels.shape
    columns, rows = (np.rint(along[:, ::LABEL_STRIDE]).astype(np.intp) for along in (x, y))
    is_inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    nearest = labels[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)] >> RANK_BITS
    darker[(~is_inside | (nearest > face.ranks[0])).any(axis=1)] = np.nan
    return darker


def _fitted(around: Points, own_mm: Points, weights: Points) -> Ring:
    """The circle through points ``own_mm`` (k,) from the middle, in the directions of ``around`` (k, 3)."""
    trust, spread_mm = weights, 0.0
    for _ in range(ROUNDS):
        off_mm = own_mm - around @ _circle(around, own_mm, trust)
        spread_mm = max(1.4826 * float(np.median(np.abs(off_mm))), STEP_MM / 3)
        trust = weights / (1 + (off_mm / (1.5 * spread_mm)) ** 2) ** 2
    covariance = np.linalg.inv(_normal(around, trust / max(float(trust.max()), 1e-9)))
    return Ring(float(_circle(around, own_mm, trust)[2]), spread_mm**2 * float(covariance[2, 2]))


def _circle(around: Points, own_mm: Points, trust: Points) -> Points:
    """(3,) mm, the middle and the radius of the circle that fits best, each point trusted as much."""
    return np.asarray(np.linalg.solve(_normal(around, trust), (around * trust[:, None]).T @ own_mm))


def _normal(around: Points, trust: Points) -> Points:
    """(3, 3) matrix of the normal equations, which can be solved even where nothing is trusted."""
    return np.asarray(around.T @ (around * trust[:, None]) + 1e-9 * np.eye(3))
