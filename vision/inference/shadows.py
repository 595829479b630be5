"""Heights that are in doubt, weighed by the shadows that stacks of each height would cast on the bare ground.

Ground in the shadow in front of a stack looks like the side of one more dark piece, and a pale piece like lit ground.
But the light, inferred from the shadows of all stacks, predicts where shadows lie, and how far they reach tells how
high each stack is, whatever its colours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from vision.appearance.ground_light import STEP_MM, Ground, GroundLight
from vision.appearance.shadow_light import OUTLINE_MM, ShadowLight, fit_shadow_light
from vision.inference.evidence_weights import combine_scores
from vision.inference.hypothesis import Hypothesis
from vision.inference.ring_heights import rescore
from vision.likelihood.densities import normal_density
from vision.pose.projection import Points
from vision.scene.crops import INDEPENDENT_MM2
from vision.scene.shadows import occluded, unoccluded_share

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

CLOSE_NATS = 6.0
"""Heights that are less likely than the best one by more than this are not tested: shadows count for 3 nats at most."""

DOUBT_NATS = 8.0
"""A stack of which another height is less likely by less than this is not used to infer the light.  With 12 in place of
8 too few are left: 11 in place of 8 squares of 18 sets and folders of discs are read wrongly."""

MIN_SURE = 5.0
"""Where the stacks that are left are together lower than so many radii, all are used, each of the height to be expected
without shadows: a few single discs hardly tell how high a lamp is.  On two boards shadows so preferred towers a piece
too low.  Of sixteen sets and boards the truth falls 58 nats short of certainty without this, 52, 50 and 50 with 3.5, 5
and 8."""

WEIGHT, UNINFORMATIVE = 0.4, 0.05
"""Weight of shadows, since neighbouring places are misled by the same errors of light and position, and how often they
say nothing about a stack at all: of 1,320 stacks on 29 printed sets whose height was in doubt, and 1,482 on 32
boards, shares of 0.3 to 0.7 and probabilities of 0.02 to 0.1 gave the truth the same likelihood within a twentieth."""

REACH, BESIDE_MM = 1.3, 6.0
"""Places are compared up to so many heights of the highest stack in question beyond its foot, and this far around
it."""

MODEL_DEVIATION = 0.04
"""Residual standard deviation between modelled and observed light, besides noise."""

STRAY_PROBABILITY = 0.15
"""How often a place is as bright as any ground, whatever is predicted."""

DARKEST = 0.03
"""Least share of the light that reaches a place."""

LIT, LIT_DEVIATION, BRIGHTEST = 0.7, 0.12, 1.1
"""How often ground is lit, the standard deviation of the light there, and how bright it is at most elsewhere, where
nothing is known of shadows: as in the colour model (``vision.appearance.colour_model.FLOOR_SHADING``)."""


def weigh_by_shadows(
    hypothesis: Hypothesis, look: Callable[[], Ground], measure: Callable[[Ground], GroundLight]
) -> None:
    """Weigh heights of stacks of discs on a flat board that are in doubt, none among them, by their shadows.

    ``look`` gives the bare ground and ``measure`` the light on parts of it; called only where a height is in doubt.
    """
    heights = hypothesis.explanation_scores()
    behind = heights.max(axis=1, keepdims=True) - heights
    tried, is_doubtful = behind < CLOSE_NATS, (behind < DOUBT_NATS).sum(axis=1) > 1
    in_doubt, stacks = np.flatnonzero(hypothesis.updated & (tried.sum(axis=1) > 1)), _stacks(hypothesis)
    stands = np.flatnonzero(stacks[:, 2] > 0)
    if not len(in_doubt) or not len(stands):
        return
    ground, view = look(), (hypothesis.geometry.radius_mm, hypothesis.geometry.pose.centre_mm[None])
    sample = ground.select(np.flatnonzero(ground.is_sample))
    is_sure = ~is_doubtful[stands]
    if stacks[stands[is_sure], 2].sum() < MIN_SURE * view[0]:
        stacks[:, 2], is_sure = _piece_mm(hypothesis) * _expected(heights), np.ones(len(stands), np.bool_)
    lamps = fit_shadow_light(sample, measure(sample), stacks[stands], is_sure, *view)
    for cell in in_doubt.tolist():
        others = np.delete(_stacks(hypothesis), cell, axis=0)
        asked = _stack_positions(hypothesis, cell, np.flatnonzero(tried[cell]))
        near = ground.select(_places_in_reach(ground, asked, view[0]))
        likely = _compare((near, measure(near), lamps), asked, others[others[:, 2] > 0], view)
        both, by_colour = heights[cell].copy(), hypothesis.scores[cell, 1:].reshape(-1, hypothesis.colours)
        both[tried[cell]] += np.log(np.exp(WEIGHT * (likely - likely.max())) + UNINFORMATIVE)
        rescore(hypothesis, cell, combine_scores(by_colour, heights[cell], both, tried[cell]))
    hypothesis.clear_stale()


def _expected(heights: Floats) -> Floats:
    """(n,) expected number of pieces on each cell, by scores (n, 1 + f) of none and of one to f."""
    likely = np.exp(heights - heights.max(axis=1, keepdims=True))
    expected: Floats = likely @ np.arange(heights.shape[1]) / likely.sum(axis=1)
    return expected


def _stack_positions(hypothesis: Hypothesis, cell: int, heights: Indices) -> Points:
    """(k, 3) mm, the stacks of ``heights`` (k,) pieces on a cell, each where it fits best."""
    places_mm = hypothesis.places_mm.get(cell, np.zeros((heights[-1] + 1, 1, 3)))
    aside_mm = np.array([places_mm[height, : max(height, 1), :2].mean(axis=0) for height in heights])
    middle_mm = hypothesis.geometry.crops.centres_mm[cell, :2]
    return np.column_stack([middle_mm + aside_mm, heights * _piece_mm(hypothesis)])


def _stacks(hypothesis: Hypothesis) -> Points:
    """(n, 3) mm, x and y of each cell's middle, and the height of the stack hypothesised on it."""
    heights_mm = _piece_mm(hypothesis) * hypothesis.configuration_count(hypothesis.state)
    return np.column_stack([hypothesis.geometry.crops.centres_mm[:, :2], heights_mm])


def _piece_mm(hypothesis: Hypothesis) -> float:
    """Height of a piece."""
    return hypothesis.geometry.configurations.all[0].size.height_mm


def _places_in_reach(ground: Ground, asked: Points, radius_mm: float) -> Indices:
    """(l,) indices of the places on which the candidate stacks ``asked`` (k, 3) of one cell may cast their shadows."""
    reach = radius_mm + BESIDE_MM + REACH * asked[:, 2].max()
    x, y = (ground.places_mm - asked[0, :2]).T
    return np.flatnonzero(x * x + y * y < reach * reach)


def _compare(
    seen: tuple[Ground, GroundLight, ShadowLight], asked: Points, others: Points, view: tuple[float, Points]
) -> Floats:
    """(k,) log-likelihood, up to a constant, of the ground nearby given each of the candidate stacks ``asked`` (k, 3).

    From what is ``seen`` whichever of them stands there: the ground near them, the light on it and where that comes
    from.  ``others`` (s, 3) stand besides; ``view``: the radius, mm, and the camera's position (1, 3).
    """
    (ground, light, lamps), (radius_mm, camera_mm) = seen, view
    in_front = np.vstack([others, asked[asked[:, 2] > 0]])
    is_behind = occluded(ground.places_mm, in_front, radius_mm + OUTLINE_MM, camera_mm)[:, 0]
    bare = np.flatnonzero(light.is_ground & ~is_behind)
    places, square, share = ground.places_mm[bare], ground.square[bare], light.share[bare]
    level, noise = lamps.level[square], np.hypot(light.deviation[bare], MODEL_DEVIATION)
    shaded, deviation = occluded(places, others, radius_mm, lamps.lamps_mm), np.hypot(lamps.deviation[square], noise)
    unknown = LIT * normal_density(share, 1.0, np.hypot(deviation, LIT_DEVIATION)) + (1 - LIT) * (share < BRIGHTEST)
    likely = np.empty(len(asked))
    for number, stack in enumerate(asked):
        its_shade = occluded(places, stack[None][stack[2:] > 0], radius_mm, lamps.lamps_mm)
        open_ = np.maximum(unoccluded_share(shaded | its_shade, lamps.power), DARKEST)
        ratio = normal_density(share, level * open_, deviation) / np.maximum(unknown, 1e-3)
        likely[number] = (
            np.log((1 - STRAY_PROBABILITY) * ratio + STRAY_PROBABILITY).sum() * STEP_MM**2 / INDEPENDENT_MM2
        )
    return likely
