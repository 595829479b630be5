"""Where the light comes from, estimated from the shadows that stacks cast on the board.

The light of a direction is missing where a stack occludes it; how much comes from each is fitted to what the bare
ground shows (Sato, Sato and Ikeuchi, Illumination from shadows, 2003), by robust non-negative least squares.  Two
lamps, a large one or the room are several directions at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.ground_light import Ground, GroundLight
from vision.compiled import compiled
from vision.pose.projection import Points
from vision.scene.shadows import occluded, unoccluded_share

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

AZIMUTHS, SLOPES = 16, (0.2, 0.5, 1.0, 1.8)
"""Directions that are tried first: number of azimuths, and horizontal distances per unit of height."""

LAMP_MM = 1500.0
"""Height of the lamps in these directions."""

TURNS, STRETCHES, HEIGHTS_MM = (-0.2, 0.0, 0.2), (0.75, 1.0, 1.3), (1000.0, 2500.0)
"""Directions that are then tried round each of the strongest: rotations in radians, factors of the horizontal distance
per unit of height, and heights of the lamps."""

STRONGEST, MIN_POWER = 2, 0.04
"""How many of the strongest are refined, and the least share of the light that counts as one."""

NEAR_COSINE = 0.93
"""Directions within this angle (cosine) of a strong one are parts of the same lamp."""

MIN_LIGHT_SHARE = 0.004
"""Share of the light below which a direction is left out."""

OUTLINE_MM = 1.5
"""Margin round a stack's outline in which nothing counts as ground: stacks are a little off, pictures are blurred."""

REACH, DOUBTFUL_REACH = 2.5, 1.2
"""Light is fitted to places within the first number of stack heights of a stack's foot; but not within the second
number of those of a stack of doubtful height: what is believed of it must not prove itself."""

FIT_PLACES = 1500
"""Largest number of places that are fitted."""

ROUNDS, REWEIGHTED, SWEEPS = 2, 3, 20
"""How often directions and the usual light of each square are fitted, how often places are reweighted by their
residuals, and sweeps of coordinate descent, after which powers hardly change."""

MAX_LIT_LOSS = 0.12
"""The level of a square is measured at places that lose no more than this share of their light."""

PRIOR_PLACES, MAX_IGNORED_PLACES = 8.0, 4
"""Number of places of the expected brightness that are assumed on each square besides those that are seen (a prior);
and the number of seen ones up to which these are ignored."""

MIN_DEVIATION, USUAL_DEVIATION = 0.03, 0.1
"""Least standard deviation of the light on one square, and the one where it is not measured."""


class ShadowLight(NamedTuple):
    """The light on a board, to predict shadows.

    Attributes:
        lamps_mm: (m, 3) places that light comes from.
        power: (m,) share of the light on an unshaded board that comes from each.
        level: (squares,) share of the usual light on each square of the ground, where nothing shades it.
        deviation: (squares,) standard deviation of the light there, besides noise.
    """

    lamps_mm: Points
    power: Floats
    level: Floats
    deviation: Floats


def fit_shadow_light(
    ground: Ground, light: GroundLight, stacks_mm: Points, is_sure: Mask, radius_mm: float, camera_mm: Points
) -> ShadowLight:
    """Fit the light to the shadows of stacks (s, 3), as in :func:`occluded`, seen by a camera at (1, 3) mm.

    ``ground``: an evenly spread sample of it.  ``is_sure`` (s,): which stacks' heights are not in doubt.
    """
    places = ground.places_mm
    bare = np.flatnonzero(light.is_ground & ~occluded(places, stacks_mm, radius_mm + OUTLINE_MM, camera_mm)[:, 0])
    is_used = _is_near(places[bare], stacks_mm, radius_mm + OUTLINE_MM, REACH)
    is_used &= ~_is_near(places[bare], stacks_mm[~is_sure], radius_mm + OUTLINE_MM, DOUBTFUL_REACH)
    used = bare[is_used]
    used = used[:: 1 + len(used) // FIT_PLACES]
    level, deviation, lamps = np.ones(ground.squares), np.full(ground.squares, USUAL_DEVIATION), _everywhere()
    power, square = np.zeros(len(lamps)), ground.square[used]
    for turn in range(ROUNDS):
        tried = _round_strongest(lamps, power) if turn else lamps
        usual, noise = level[square], np.hypot(deviation[square], light.deviation[used])
        shaded = occluded(places[used], stacks_mm, radius_mm, tried)
        power = _powers(shaded, 1 - light.share[used] / usual, noise / usual)
        lamps, power = tried[power > MIN_LIGHT_SHARE], power[power > MIN_LIGHT_SHARE]
        open_ = unoccluded_share(occluded(places[bare], stacks_mm, radius_mm, lamps), power)
        level, deviation = _by_square(light.share[bare], open_, ground.square[bare], ground.squares)
    return ShadowLight(lamps, power, level, deviation)


def _everywhere() -> Points:
    """(m, 3) mm, lamps in all directions."""
    azimuth = np.arange(AZIMUTHS) * 2 * np.pi / AZIMUTHS
    return _lamps(azimuth[:, None], np.array(SLOPES), np.array(LAMP_MM))


def _lamps(azimuth: Floats, slope: Floats, height_mm: Floats) -> Points:
    """(m, 3) mm, lamps of all combinations of these, which are broadcast against each other."""
    aside = slope * height_mm
    places = np.broadcast_arrays(aside * np.cos(azimuth), aside * np.sin(azimuth), height_mm)
    return np.stack(places, axis=-1).reshape(-1, 3)


def _round_strongest(lamps: Points, power: Floats) -> Points:
    """(l, 3) directions round the strongest of lamps (m, 3), and the lamps that are not near those."""
    units, left, found = lamps / np.linalg.norm(lamps, axis=1, keepdims=True), power.copy(), []
    for _ in range(STRONGEST):
        if left.max(initial=0) < MIN_POWER:
            break
        is_near = units @ units[left.argmax()] > NEAR_COSINE
        x, y, z = left[is_near] @ units[is_near]
        turns, slopes = np.arctan2(y, x) + np.array(TURNS), np.hypot(x, y) / z * np.array(STRETCHES)
        found.append(_lamps(turns[:, None, None], slopes[:, None], np.array(HEIGHTS_MM)))
        left[is_near] = 0
    return np.vstack([*found, lamps[left > 0]])


@compiled
def _is_near(places_mm: Points, stacks_mm: Points, beside_mm: float, heights: float) -> Mask:
    """(k,) whether places (k, 2) are near a stack (s, 3): within ``beside_mm`` plus ``heights`` times its height."""
    near = np.zeros(len(places_mm), np.bool_)
    for j in range(len(stacks_mm)):
        x, y, reach = stacks_mm[j, 0], stacks_mm[j, 1], beside_mm + heights * stacks_mm[j, 2]
        for i in range(len(places_mm)):
            near[i] |= (places_mm[i, 0] - x) ** 2 + (places_mm[i, 1] - y) ** 2 < reach * reach
    return near


@compiled
def _powers(shaded: Mask, lost: Floats, noise: Floats) -> Floats:
    """(m,) light of each direction, from the share that places (k) ``lost``, each ``shaded`` (k, m) from some of them.

    By iteratively reweighted least squares: Cauchy's weights, with twice the ``noise`` (k,) as scale.
    """
    count, m = shaded.shape
    power, expected, own = np.zeros(m), np.zeros(count), np.empty(m, np.intp)
    for _ in range(REWEIGHTED):
        gram, target = np.zeros((m, m)), np.zeros(m)
        for k in range(count):
            off = (lost[k] - expected[k]) / noise[k]
            weight = 1 / noise[k] ** 2 / (1 + (off / 2) ** 2)
            many = 0
            for i in range(m):
                if shaded[k, i]:
                    own[many] = i
                    many += 1
            for i in own[:many]:
                target[i] += weight * lost[k]
                for j in own[:many]:
                    gram[i, j] += weight
        _descend(gram, target, power)
        expected = 1 - unoccluded_share(shaded, power)
    return power


@compiled
def _descend(gram: Floats, target: Floats, x: Floats) -> None:
    """Minimise x·gram·x/2 - target·x in place, over non-negative ``x`` (m,), by coordinate descent."""
    slope = -target
    for i in range(len(x)):
        for k in range(len(x)):
            slope[k] += gram[i, k] * x[i]
    for _ in range(SWEEPS):
        for i in range(len(x)):
            step = max(-slope[i] / gram[i, i], -x[i]) if gram[i, i] > 0 else 0.0
            if step != 0:
                x[i] += step
                for k in range(len(x)):
                    slope[k] += gram[i, k] * step


@compiled
def _by_square(share: Floats, open_: Floats, square: Indices, count: int) -> tuple[Floats, Floats]:
    """(``count``,) light of each square where nothing shades it, and its standard deviation.

    From places (k), one square after the other: the ``share`` of the usual light that is seen, and the share to which
    each is ``open_``.
    """
    level, spread = np.ones(count), np.full(count, USUAL_DEVIATION)
    first = 0
    for number in range(count):
        end = first
        while end < len(square) and square[end] == number:
            end += 1
        lit = first + np.flatnonzero(open_[first:end] > 1 - MAX_LIT_LOSS)
        first = end
        if len(lit) > MAX_IGNORED_PLACES:
            middle = np.median(share[lit] / open_[lit])
            level[number] = max(middle, 0.05) ** (len(lit) / (len(lit) + PRIOR_PLACES))
            off = np.median(np.abs(share[lit] - middle * open_[lit]))
            spread[number] = max(1.48 * off, MIN_DEVIATION) if len(lit) > 2 * MAX_IGNORED_PLACES else spread[number]
    return level, spread
