"""Apparent size of the ring on a face: the larger it is, the nearer to the camera, and the higher the stack under it.

That is the best evidence of heights where stacks are seen from above, and their sides and the places of their faces
tell little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.glyphs.faces import DIRECTIONS, Faces
from vision.likelihood.densities import normal_density
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.float64]

STEP_MM = 0.1
"""Distance between two sampled radii."""

NEIGHBOUR_STEPS = 9
"""Steps from a radius to the two that it must be darker than: somewhat more than a ring is wide."""

NEAR = 7
"""Largest deviation of a ring from its usual radius in any direction, in steps."""

RING_SHARES = (0.6, 0.95)
"""Range of radii, as shares of a face's, in which its ring is searched for at enrolment…"""

GROOVE_SHARES, INNER_SHARES = (0.6, 0.82), (0.35, 0.6)
"""The same for the grooves of a draughtsman: the bevel at its rim may be darker."""

RING_REACH = 0.15
"""…and the range about its own radius later, as a share of it: a face may have been found at a wrong height."""

RING_DIRECTIONS = np.ascontiguousarray(DIRECTIONS[::2])
"""(directions, 2) in which the ring is searched for: half of those used for characters."""

MIN_SEEN = 0.25
"""Share of the directions in which a ring must be visible."""

SPREAD_MM, OUTLIER = 0.04, 5e-4
"""Standard deviation of a radius, and density of outliers, as a share of that of a right radius.  Of 903 rings in eight
sets 894 were within 0.08 mm of the median of their picture and 4 more than 0.3 mm off, which may be anywhere within
:data:`RING_REACH`; from one height to the next a radius changes by 0.13 to 0.24 mm."""

CLEAR_MM = 0.05
"""Largest standard deviation of a clearly visible ring's radius.  In all directions on 138 faces of 63 sets of
draughtsmen those of what was no ring were 0.065 and more, but for one of 0.047; three of four of rings were less."""

ALIKE_MM = 4 * SPREAD_MM
"""Largest difference between radii of one ring."""

ROUNDS = 4
"""Iterations of the fit."""

MIN_RADII = 3
"""Least number of radii: the darkest one needs a neighbour on either side."""

LABEL_STRIDE = 4
"""Stride in radii at which occlusion is tested."""

ON_PIECES, ELSEWHERE, NO_GROOVES = ((0.55, -3.9, 0.5), (0.45, -2.9, 0.6)), (-2.02, 0.33), 2e-5
"""Distribution of the roundness of both grooves, the mean logarithm of the standard deviations of their radii, mm:
shares, means and standard deviations on pieces; mean and standard deviation where there are none, and the uniform
density of outliers.  Of 755 single pieces and 3,478 bare squares on eleven boards half of the pieces were below log
0.03, and no square."""

BLUR = tuple(cv2.getGaussianKernel(9, 1.0).ravel().tolist())
"""Weights of the blur along the radius, whose standard deviation is one step."""

CUBIC = -0.75
"""Slope of the interpolation kernel at its neighbours: OpenCV's."""


class Ring(NamedTuple):
    """A circle on a face: its radius, mm in the plane in which that was found, and its variance, mm²."""

    radius_mm: float
    variance_mm2: float


NO_RING = Ring(0.0, np.inf)


def find_rings(
    image: Picture, faces: Faces, labels: LabelBuffer, about_mm: tuple[float, float], around: Points = RING_DIRECTIONS
) -> list[Ring]:
    """The darkest circle about the centre of each of some ``faces`` (k), of a radius between ``about_mm``.

    A radius is found in each direction, and a circle fitted to them whose centre need not be the face's (iteratively
    reweighted least squares).  Directions that are occluded according to ``labels`` (height, width) are left out.
    ``around``: (directions, 2) unit vectors in which it is searched for.  A fit to a short arc may have any radius: one
    beyond those that were sampled is no ring.
    """
    radii_mm = np.arange(
        about_mm[0] - NEIGHBOUR_STEPS * STEP_MM, about_mm[1] + (NEIGHBOUR_STEPS + 0.5) * STEP_MM, STEP_MM
    )
    darker, is_seen = _darker(image, faces, labels, radii_mm, around)
    rings = (Ring(*found) for found in _rings(darker, is_seen, radii_mm, around).tolist())
    return [ring if radii_mm[0] <= ring.radius_mm <= radii_mm[-1] else NO_RING for ring in rings]


def find_ring(
    image: Picture, face: Faces, labels: LabelBuffer, about_mm: tuple[float, float], around: Points = RING_DIRECTIONS
) -> Ring:
    """As :func:`find_rings`, for one face (1)."""
    return find_rings(image, face, labels, about_mm, around)[0]


def usual_radius_mm(rings: Sequence[Ring]) -> float | None:
    """The radius of the rings of a set; None if it has none, so that what is darkest differs between faces.

    Only clearly visible rings count, which those on black pieces may not be: most of them must agree, weighted by the
    inverse of their variances.
    """
    clear = [ring for ring in rings if ring.variance_mm2 < CLEAR_MM**2]
    if not clear:
        return None
    radii_mm, variances_mm2 = (np.array(column) for column in zip(*clear, strict=True))
    weights, agree = 1 / (variances_mm2 + SPREAD_MM**2), np.abs(radii_mm[:, None] - radii_mm) < ALIKE_MM
    votes = agree @ weights
    mine = agree[votes.argmax()]
    return float(np.average(radii_mm[mine], weights=weights[mine])) if 2 * votes.max() > weights.sum() else None


def ring_log_ratio(
    ring: Ring, planes: Points, ring_mm: float, trust: tuple[float, float] = (SPREAD_MM, OUTLIER)
) -> Scores:
    """(l,) log-likelihood ratio of each plane against one in which the ring has the set's radius.

    ``planes`` (l,): scale of each relative to the plane in which the ring was found.  ``trust``: standard deviation of
    a radius besides its variance, mm, and density of outliers, as a share of that of a right radius.
    """
    spread_mm, outlier = trust
    off = (ring.radius_mm / planes - ring_mm) ** 2 / (spread_mm**2 + ring.variance_mm2)
    ratio: Scores = np.log(outlier + (1 - outlier) * np.exp(-0.5 * off))
    return ratio


def groove_log_ratio(inner: Ring, outer: Ring) -> float:
    """Log-likelihood ratio that two rings are the grooves of a draughtsman, against none, given their roundness."""
    spread = 0.25 * float(np.log(inner.variance_mm2 * outer.variance_mm2))
    on_piece = sum(share * normal_density(spread, mean, deviation) for share, mean, deviation in ON_PIECES)
    return float(np.log(on_piece / ((1 - NO_GROOVES) * normal_density(spread, *ELSEWHERE) + NO_GROOVES)))


@compiled
def _darker(image: Picture, faces: Faces, labels: LabelBuffer, radii_mm: Points, around: Points) -> tuple[Array, Mask]:
    """Codes by which each point round each face (k) is darker than those beside it, and which directions are visible.

    ``around``: (directions, 2) unit vectors.

    Returns:
        (k, directions, radii) and (k, directions).
    """
    count, radii = len(around), len(radii_mm)
    darker = np.empty((len(faces.ranks), count, radii - 2 * NEIGHBOUR_STEPS), np.float32)
    is_seen = np.ones((len(faces.ranks), count), np.bool_)
    along, blurred = np.empty(radii), np.empty(radii)
    # One loop: separate OpenCV calls for each step took three times as long.
    for face in range(len(faces.ranks)):
        (x, y), to_picture, rank = faces.centres_px[face], faces.to_picture[face], faces.ranks[face]
        sums, left, top = _sums_round(image, (x, y), radii_mm[-1] * np.sqrt((to_picture**2).sum(axis=1)))
        for direction in range(count):
            east, north = around[direction]
            right = to_picture[0, 0] * east + to_picture[0, 1] * north
            down = to_picture[1, 0] * east + to_picture[1, 1] * north
            for place in range(0, radii, LABEL_STRIDE):
                at = x + right * radii_mm[place], y + down * radii_mm[place]
                is_seen[face, direction] &= not _is_hidden(labels, at[0], at[1], rank)
            for place in range(radii):
                along[place] = _brightness_at(sums, left, top, x + right * radii_mm[place], y + down * radii_mm[place])
            _blur(along, blurred)
            for place in range(radii - 2 * NEIGHBOUR_STEPS):
                beside = (blurred[place] + blurred[place + 2 * NEIGHBOUR_STEPS]) / 2
                darker[face, direction, place] = beside - blurred[place + NEIGHBOUR_STEPS]
    return darker, is_seen


@allocation_free
def _is_hidden(labels: LabelBuffer, x: float, y: float, rank: int) -> bool:
    """Whether a point is outside the picture, or occluded by a cell nearer than ``rank``."""
    column, row = int(np.rint(x)), int(np.rint(y))
    if column < 0 or row < 0 or column >= labels.shape[1] or row >= labels.shape[0]:
        return True
    return bool(labels[row, column] >> RANK_BITS > rank)


@compiled
def _sums_round(image: Picture, centre: tuple[float, float], reach: Points) -> tuple[Points, int, int]:
    """(height, width) sums of three channels, and x and y of the first of them, for :func:`_brightness_at`.

    Of all points up to ``reach`` (2,) px from the ``centre``; edge pixels are replicated.
    """
    left, top = int(np.floor(centre[0] - reach[0])) - 2, int(np.floor(centre[1] - reach[1])) - 2
    width, height = int(2 * reach[0]) + 7, int(2 * reach[1]) + 7
    sums = np.empty((height, width))
    for row in range(height):
        v = min(max(top + row, 0), image.shape[0] - 1)
        for column in range(width):
            u = min(max(left + column, 0), image.shape[1] - 1)
            sums[row, column] = float(image[v, u, 0]) + float(image[v, u, 1]) + float(image[v, u, 2])
    return sums, left, top


@allocation_free
def _brightness_at(sums: Points, left: int, top: int, x: float, y: float) -> float:
    """Mean of three channels at a point, codes, by bicubic interpolation (Keys, 1981).

    ``sums``, ``left`` and ``top``: from :func:`_sums_round`.
    """
    column, row, total = int(np.floor(x)), int(np.floor(y)), 0.0
    across, down = _cubic(x - column), _cubic(y - row)
    for j in range(4):
        line = 0.0
        for i in range(4):
            line += across[i] * sums[row + j - 1 - top, column + i - 1 - left]
        total += down[j] * line
    return total / 3


@allocation_free
def _cubic(off: float) -> tuple[float, float, float, float]:
    """Weights of four neighbouring values for interpolation ``off`` (0…1) past the second one."""
    one, other = off, 1 - off
    second = ((CUBIC + 2) * one - (CUBIC + 3)) * one * one + 1
    third = ((CUBIC + 2) * other - (CUBIC + 3)) * other * other + 1
    first = CUBIC * one * other * other
    return first, second, third, 1 - first - second - third


@allocation_free
def _blur(values: Points, blurred: Points) -> None:
    """Put ``values`` (k,), blurred by :data:`BLUR`, into ``blurred``; beyond their ends they are mirrored."""
    reach, last = len(BLUR) // 2, len(values) - 1
    for place in range(len(values)):
        total = 0.0
        for tap in range(len(BLUR)):
            at = abs(place + tap - reach)
            total += BLUR[tap] * values[at if at <= last else 2 * last - at]
        blurred[place] = total


@compiled
def _rings(darker: Array, is_seen: Mask, radii_mm: Points, around: Points) -> Points:
    """(k, 2) radius and variance of each ring, see :class:`Ring`; arguments from :func:`_darker`."""
    faces, directions, radii = darker.shape
    rings, values, seen = np.empty((faces, 2)), np.empty(directions), np.empty(directions, np.intp)
    least_seen = int(MIN_SEEN * directions)
    towards, own_mm, weights = np.empty((directions, 2)), np.empty(directions), np.empty(directions)
    for number in range(faces):
        rings[number, 0], rings[number, 1] = NO_RING
        count = 0
        for direction in range(directions):
            seen[count] = direction
            count += int(is_seen[number, direction])
        usual, most = 0, -np.inf
        for place in range(radii if count >= least_seen else 0):
            for k in range(count):
                values[k] = darker[number, seen[k], place]
            middle = np.median(values[:count])
            if middle > most:
                usual, most = place, middle
        first, end = max(usual - NEAR, 0), min(usual + NEAR + 1, radii)
        if count < least_seen or end - first < MIN_RADII:
            continue
        for k in range(count):
            own_mm[k], weights[k] = _darkest(darker[number, seen[k]], radii_mm, first, end)
            towards[k, 0], towards[k, 1] = around[seen[k], 0], around[seen[k], 1]
        rings[number, 0], rings[number, 1] = _fit_circle(towards[:count], own_mm[:count], weights[:count])
    return rings


@compiled
def _darkest(darker: Array, radii_mm: Points, first: int, end: int) -> tuple[float, float]:
    """The radius from ``first`` up to ``end`` at which one direction is darkest, and by how many codes."""
    best = first
    for place in range(first, end):
        if darker[place] > darker[best]:
            best = place
    best = min(max(best, first + 1), end - 2)
    before, at, after = float(darker[best - 1]), float(darker[best]), float(darker[best + 1])
    aside = 0.5 * (before - after) / min(before - 2 * at + after, -1e-6)
    return radii_mm[NEIGHBOUR_STEPS + best] + STEP_MM * min(max(aside, -1.0), 1.0), max(at, 0.0)


@compiled
def _fit_circle(around: Points, own_mm: Points, weights: Points) -> tuple[float, float]:
    """Radius and variance of the circle fitted to points ``own_mm`` (k,) from the centre, in directions (k, 2)."""
    trust, off_mm, spread_mm, most = weights.copy(), np.empty(len(own_mm)), 0.0, 1e-9
    for _ in range(ROUNDS):
        x, y, radius_mm, _ = _circle(around, own_mm, trust)
        for k in range(len(own_mm)):
            off_mm[k] = abs(own_mm[k] - radius_mm - x * around[k, 0] - y * around[k, 1])
        spread_mm, most = max(1.4826 * np.median(off_mm), STEP_MM / 3), 1e-9
        for k in range(len(own_mm)):
            trust[k] = weights[k] / (1 + (off_mm[k] / (1.5 * spread_mm)) ** 2) ** 2
            most = max(most, trust[k])
    _, _, radius_mm, variance = _circle(around, own_mm, trust)
    # Weights are relative to the largest one.
    return radius_mm, spread_mm**2 * variance * most


@compiled
def _circle(around: Points, own_mm: Points, trust: Points) -> tuple[float, float, float, float]:
    """Centre and radius, mm, of the weighted least-squares circle, and the radius' variance; ``trust`` (k,): weights.

    By the normal equations, regularised to be solvable even if all weights are 0, and the adjugate of their matrix.
    """
    xx = yy = one = 1e-9
    xy = x = y = to_x = to_y = to_one = 0.0
    for k in range(len(own_mm)):
        along_x, along_y = trust[k] * around[k, 0], trust[k] * around[k, 1]
        xx, xy, yy = xx + along_x * around[k, 0], xy + along_x * around[k, 1], yy + along_y * around[k, 1]
        x, y, one = x + along_x, y + along_y, one + trust[k]
        to_x, to_y, to_one = to_x + along_x * own_mm[k], to_y + along_y * own_mm[k], to_one + trust[k] * own_mm[k]
    a, b, c = yy * one - y * y, x * y - xy * one, xy * y - x * yy
    d, e, f = xx * one - x * x, xy * x - xx * y, xx * yy - xy * xy
    size = xx * a + xy * b + x * c
    return (
        (a * to_x + b * to_y + c * to_one) / size,
        (b * to_x + d * to_y + e * to_one) / size,
        (c * to_x + e * to_y + f * to_one) / size,
        f / size,
    )
