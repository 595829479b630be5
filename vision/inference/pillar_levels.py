"""Levels of pillars from the picture alone, for when their sensors cannot say.

Pillars all have one colour, and each of their faces is mostly evenly lit.  So levels are right when the projected edges
of all faces lie where the picture changes within two millimetres (:mod:`vision.likelihood.boundaries`), the variance of
colour within faces is small (as in :mod:`vision.likelihood.crop_faces`), and each face has a colour that pillars, or
the pieces on them, can have.  Under a single lamp shadows lie across faces, so that colours get little weight compared
with edges.  A level is inferred jointly with what stands on the pillar, since a pillar raised under a piece looks much
like a piece put under it; where few levels are in question, what stands there is moved and turned to where it fits
best.  Pillars are updated one after the other, given the others, until none changes (coordinate ascent of the
likelihood).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import TOP_VALUE, bin_index, normalise
from vision.inference.pillar_views import (
    FURTHER_PIECE_ODDS,
    IN_THE_MIDDLE,
    Labels,
    PillarViews,
    Place,
    is_near,
    paint_pieces,
    paint_pillar,
    visible_reach,
)
from vision.likelihood.boundaries import STEP_MM, Contrasts, measure_contrasts
from vision.likelihood.noise import count_pairs, noise_by_brightness
from vision.likelihood.regions import Colours, Part, score_boundaries, score_faces
from vision.likelihood.segmentation import TURN_RAD, WEIGHT
from vision.scene.configurations import PLACE_MM

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]

SWEEPS = 5
"""Maximum number of sweeps over all pillars; three mostly suffice.  The first infers only what stands on the pillars at
their initial levels, lest one seem high because of a piece behind it that is not hypothesised yet."""

UNEXPECTED_LEVEL_PRIOR = 1e-4
"""Prior probability that a pillar whose level is expected stands at another.  Chosen by eye."""

TEMPERATURE = 8.0
"""Divisor of the evidence from colours and evenness, since shadows and reflections are wrong on all of a face at once
(temperature scaling: Guo et al., On calibration of modern neural networks, 2017).  Of 1,500 pillars in 60 pictures, all
others being known, colours alone got 138 wrong, by up to 53 nats; boundaries alone 7; both, so weighted, 6
(2026-11-24)."""

PLACE_STEPS = tuple((step_mm, step_mm, np.radians(turn_deg)) for step_mm, turn_deg in ((1.5, 6), (1.5, 6), (0.75, 3)))
"""Steps of the search for a place, in turn: each in both directions from the best one, one coordinate after another."""

MAX_GAIN_NATS = 60.0
"""A cube fits better by no more than this where it stands than in the middle of its pillar: what is less likely by more
is not placed.  For cubes 3.5 mm off and turned by the most that pieces are, it was 55 at most (2026-11-24)."""


MAX_PLACED = 4
"""If more pillars than this are in question, nothing is placed, since that takes 40 ms for each, except on up to so
many that seem to hold several pieces, which is rare: a cube off the middle of its pillar may look like two on a lower
one."""


@dataclass(frozen=True, slots=True)
class LevelQuery:
    """What is known about the pillars (n), and what is to be estimated.

    Attributes:
        levels: of all pillars, from which the search begins.
        configurations: what stands on each: 0 for nothing, then the configurations from 1.
        unknown: indices of the pillars whose levels are to be estimated.
        expected: indices of those among them that are expected to stand at their ``levels``.
        loose: indices of the pillars on which something else may stand.
        occupied: whether anything stands on a pillar, by index, where that is known.
    """

    levels: Sequence[int]
    configurations: Sequence[int]
    unknown: Collection[int]
    expected: Collection[int]
    loose: Collection[int]
    occupied: Mapping[int, bool] = field(default_factory=dict)


class _ObservedPicture(NamedTuple):
    """The picture that is explained.

    Attributes:
        image: (height, width, 3) uint8 BGR, the small picture.
        light: (n, 3) float32 at each pillar, r g b, linear.
        noise: of its pixels, see :func:`vision.likelihood.noise.noise_by_brightness`.
        colours: that can be visible.
        step: pixels between two places that are compared.
    """

    image: Picture
    light: Array
    noise: Array
    colours: Colours
    step: int


class _Surroundings(NamedTuple):
    """What surrounds a pillar, in the rows and columns that it can cover.

    Attributes:
        behind: (height, width) int32 labels of what is behind it.
        part: of the picture.
        contrasts: likewise.
    """

    behind: Labels
    part: Part
    contrasts: Contrasts


def estimate_levels(
    small: Picture, light: Array, colours: Colours, views: PillarViews, question: LevelQuery
) -> tuple[tuple[int, ...], Array, npt.NDArray[np.intp]]:
    """The likeliest levels, the log-likelihood of each by the picture alone, and what may stand on the pillars then.

    Args:
        small: (height, width, 3) uint8 BGR, the downscaled picture.
        light: (n, 3) float32 at each pillar, r g b, linear.
        colours: that can be visible.
        views: of the pose.
        question: what is known about the pillars, and which are to be estimated.

    Returns:
        (n,) levels; (n, l) float32 log-likelihood, each row's logsumexp 0, uniform for pillars that are not estimated;
        and (n,) configurations from 1, 0 for none.
    """
    step = max(1, round(STEP_MM * views.px_per_mm))
    noise = noise_by_brightness(count_pairs(small, step, views.mat_px))
    shown = _ObservedPicture(small, light, noise, colours, step)
    found = np.column_stack([np.array(question.levels) - views.lowest, np.array(question.configurations)])
    prior, standing = _priors(views, found[:, 0], question)
    count, fits = prior.shape[1], np.zeros(prior.shape)
    searched, are_few = {*question.unknown, *question.loose}, len(question.unknown) <= MAX_PLACED
    known: dict[tuple[int, bool, tuple[int, ...], bytes], npt.NDArray[np.float64]] = {}

    def infer(pillar: int, tried: Sequence[int], *, are_placed: bool) -> None:
        # For most pillars nothing in sight has changed since they were last fitted.
        seen = pillar, are_placed, tuple(tried), found[is_near(views, pillar)].tobytes()
        log_prior = standing[pillar, tried] + prior[pillar, tried, None]
        if seen not in known:
            known[seen] = _log_likelihoods(shown, views, found, (pillar, tried), log_prior if are_placed else None)
        best = int((known[seen] + log_prior).argmax())
        found[pillar] = tried[best // log_prior.shape[1]], best % log_prior.shape[1]
        if len(tried) == count:
            fits[pillar] = np.logaddexp.reduce(known[seen] + standing[pillar], axis=1)

    for sweep in range(SWEEPS if question.unknown else 0):
        before = found.copy()
        for pillar in (int(pillar) for pillar in views.far_first[::-1] if pillar in searched):
            tried = range(count) if sweep and pillar in question.unknown else (int(found[pillar, 0]),)
            infer(pillar, tried, are_placed=are_few)
        if sweep and (found == before).all():
            break
    for pillar in [pillar for pillar in question.unknown if views.further[found[pillar, 1]]][:MAX_PLACED]:
        infer(pillar, range(count), are_placed=True)
    fits -= np.logaddexp.reduce(fits, axis=1, keepdims=True)
    return tuple(int(level) + views.lowest for level in found[:, 0]), fits.astype(np.float32), found[:, 1]


def _priors(
    views: PillarViews, begun: npt.NDArray[np.intp], question: LevelQuery
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(n, l) log prior of each level, and (n, l, s) of what stands on each pillar at that level.

    ``begun`` (n,): indices of the levels where the search begins, at which the ``expected`` pillars should be.
    """
    count = len(views.faces[0])
    levels = np.zeros((len(begun), count))
    standing = np.tile(views.log_prior, (len(begun), count, 1))
    for pillar in question.expected:
        levels[pillar] = np.log(UNEXPECTED_LEVEL_PRIOR / (count - 1))
        levels[pillar, begun[pillar]] = np.log(1 - UNEXPECTED_LEVEL_PRIOR)
        standing[pillar] += views.further * np.log(FURTHER_PIECE_ODDS)
        standing[pillar, begun[pillar]] = views.log_prior
    for pillar, is_occupied in question.occupied.items():
        standing[pillar, :, slice(0, 1) if is_occupied else slice(1, None)] = -np.inf
    return levels, standing


def _log_likelihoods(
    shown: _ObservedPicture,
    views: PillarViews,
    found: npt.NDArray[np.intp],
    asked: tuple[int, Sequence[int]],
    log_prior: npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.float64]:
    """(levels, s) log-likelihood of the picture in a pillar's reach if it stood at each of the levels that are tried.

    ``asked``: the pillar, and these levels; ``log_prior`` (levels, s): what may be likely with it is moved to where it
    fits best; None: nothing is.
    """
    pillar, tried = asked
    around = _surroundings(shown, views, found, pillar)
    rows = np.empty((len(tried), len(views.log_prior)))
    for (number, level), configuration in itertools.product(enumerate(tried), range(rows.shape[1])):
        labels = around.behind.copy()
        paint_pillar(labels, views, pillar, (level, configuration))
        rows[number, configuration] = _log_likelihood(shown, views, around, labels)
    if len(tried) == 1 or log_prior is None:
        return rows
    promising = rows + log_prior
    for at in np.argsort(-promising, axis=None):
        number, configuration = (int(index) for index in np.unravel_index(at, rows.shape))
        if promising[number, configuration] < promising.max() - MAX_GAIN_NATS:
            break
        if configuration:
            rows[number, configuration] = _fit_place(shown, views, around, (pillar, tried[number], configuration))
            promising[number, configuration] = rows[number, configuration] + log_prior[number, configuration]
    return rows


def _surroundings(
    shown: _ObservedPicture, views: PillarViews, found: npt.NDArray[np.intp], pillar: int
) -> _Surroundings:
    """What surrounds a pillar while the others are as ``found`` (n, 2): index of the level, and configuration."""
    reach, near = visible_reach(views, pillar), is_near(views, pillar)
    behind = views.ground[reach].copy()
    hidden = np.zeros_like(behind)
    labels = behind
    for other in views.far_first.tolist():
        if other == pillar:
            labels = hidden
        elif near[other]:
            paint_pillar(labels, views, other, (int(found[other, 0]), int(found[other, 1])), of=pillar)
    image = np.ascontiguousarray(shown.image[reach])
    values = normalise(image, shown.light[pillar])
    part = Part(values, bin_index(np.clip(values, 0, TOP_VALUE)), hidden > 0, views.weight)
    return _Surroundings(behind, part, measure_contrasts(image, (shown.step, views.px_per_mm), shown.noise))


def _log_likelihood(shown: _ObservedPicture, views: PillarViews, around: _Surroundings, labels: Labels) -> float:
    """Log-likelihood of the picture round a pillar, segmented by ``labels``."""
    bodies = len(views.faces) * views.storeys
    faces = score_faces(labels, around.part, shown.colours, views.storeys, bodies)
    return float(faces / TEMPERATURE + WEIGHT * score_boundaries(labels, around.part.hidden, around.contrasts))


def _fit_place(
    shown: _ObservedPicture, views: PillarViews, around: _Surroundings, which: tuple[int, int, int]
) -> float:
    """As :func:`_log_likelihood`, with what stands on a pillar where its boundaries fit best, and its place's prior.

    ``which``: the pillar, its level and what stands on it.
    """
    pillar, level, configuration = which
    pillar_alone = around.behind.copy()
    paint_pillar(pillar_alone, views, pillar, (level, 0))

    def painted(place: Place) -> Labels:
        labels = pillar_alone.copy()
        paint_pieces(labels, views, pillar, (level, configuration), place)
        return labels

    def fit(place: Place) -> float:
        boundaries = score_boundaries(painted(place), around.part.hidden, around.contrasts)
        return float(WEIGHT * boundaries + _log_prior_of_place(place))

    place = IN_THE_MIDDLE
    best = fit(place)
    for steps in PLACE_STEPS:
        for axis, step in enumerate(steps):
            for sign in (1, -1):
                moved = (*place[:axis], place[axis] + sign * step, *place[axis + 1 :])
                if (total := fit(moved)) > best:
                    best, place = total, moved
    return _log_likelihood(shown, views, around, painted(place)) + _log_prior_of_place(place)


def _log_prior_of_place(place: Place) -> float:
    x_mm, y_mm, turn_rad = place
    return float(-0.5 * ((x_mm**2 + y_mm**2) / PLACE_MM**2 + (turn_rad / TURN_RAD) ** 2))
