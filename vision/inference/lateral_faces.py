"""A closer look at pyramids that are in doubt, in the light that their sides have in this picture.

The sides of all pyramids that face one way are lit alike, so their brightness distinguishes pieces of different
colours, even where a pale piece in the shade is as dark as a dark one in the light.  The light on each side is
estimated jointly with the colours, by expectation maximisation (Dempster, Laird and Rubin, 1977) over all pyramids on
the board.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.srgb import CURVE_OFFSET, GAMMA, display
from vision.appearance.colour_model import display_value
from vision.appearance.shading import mirroring
from vision.compiled import compiled
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.hues import hue, hue_density, hue_of
from vision.likelihood.lateral_faces import TOWERS, CellGround, CloseUp, TowerFits, by_side, fit_towers
from vision.scene.configurations import Configurations
from vision.scene.crops import Crops
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

DOUBT_NATS = 10.0
"""A cell whose best state is likelier than every other by more than this is not in doubt: with a webcam that sharpens,
edges in crops preferred a small pyramid to a medium one by 9."""

TRIED_NATS = 20.0
"""Towers that are less likely than the best by more than this are not tried."""

CROPS_WEIGHT = 0.6
"""Weight of what crops say of a tower that is examined more closely: they show the same pixels.  Fitted as
:data:`vision.likelihood.lateral_fitting.FACE_WEIGHT`."""

SIDES_WEIGHT = 0.5
"""Weight of the sides' colours: the crops' colours come from the same pixels.  Of 0, 0.5, 0.7 and 1 this made the truth
likeliest on the sets of the collection."""

SIDE_DEVIATION = 0.06
"""Standard deviation of the display value of one side about what light and colour predict: turned pieces, nearby lamps,
varying colours."""

MAX_OFF = 8.0
"""Most nats by which one side counts against a colour: it may be in another's shadow, or reflect a lamp."""

HALF_MM2 = 60.0
"""Area of a side that tells half as much of its colour as a large one: the smaller it is, the more of it is beside an
edge, where the placement decides what it shows.  Of 15, 30, 60 and 120 the last two made the truth likeliest on 14 sets
and 15 own boards."""

TOWER_CORRELATION = 0.8
"""Correlation between the residuals of sides that face one way, of pyramids on top of each other: they are in one
light, and show it at nearly the same place.  0.5 to 0.8 made the truth likeliest there."""

STACKED_NATS, STACKED_NATS_PER_MM2 = 0.9, 0.0035
"""Nats that pyramids lying on another one must explain, at least, and per area of their bases: their positions and
rotations are free, and the larger they are, the more of the shading of the one below they explain by chance.  Fitted
to 1,977 pyramids and towers of 27 sets and folders."""

HUE, HUE_SHARE = 0.03, 0.2
"""Standard deviation of a pyramid's hue (:mod:`vision.likelihood.hues`) about that of its colour: from light of another
hue; and from what faces reflect, as a share of the colour's distance from the floor's hue.  Of 0.03 to 0.08 and 0.2 to
0.3 these separated colours best on 17 sets: in 699 pyramids the other one was likelier by 2.2 nats at most."""

STRAY_HUES = (0.05, 1.0)
"""How often the hue is any other, such as that of a piece that a face reflects, and the area of all of these."""

LOG_LIGHT_STARTS = np.log([0.25, 0.4, 0.6, 0.85, 1.2, 1.7])
"""Light on all sides, relative to the mat's, from which the search begins."""

MEAN_LOG_LIGHT, LOG_LIGHT_DEVIATION = np.log(0.7), 0.7
"""Mean and standard deviation of the logarithm of the light on a side, relative to the mat's.  Chosen by eye."""

ROUNDS = 6
"""Rounds of the search; the first one scales differences by a third, since its light is a guess."""


class _Sides(NamedTuple):
    """Sides of pyramids: (i, 4, 3) mean display values, b g r, and (i, 4) bool which are visible."""

    means: Floats
    is_seen: Mask


def rescore_by_lateral_faces(
    image: npt.NDArray[np.uint8],
    hypothesis: Hypothesis,
    close_up: CloseUp,
    colours: tuple[Floats, Floats],
    board: Callable[[Sequence[Crops]], list[tuple[Array, Array]]] | None = None,
    asked: Mapping[int, Indices] = MappingProxyType({}),
) -> None:
    """Rescore towers on updated cells that are in doubt, as where crops prefer another one by its edges alone.

    Args:
        image: (height, width, 3) uint8, BGR.
        hypothesis: whose scores are changed.
        close_up: of its pose.
        colours: (colours, 3) reflectances of the pieces, r g b; and (3,) of bare floor.
        board: what the bare board shows in crops, as in :class:`CellGround`, where its appearance was learned.
        asked: by cell that is in doubt whatever its scores, the configurations that may stand there.
    """
    towers = len(close_up.towers)
    scores = hypothesis.scores[:, 1:].reshape(len(hypothesis.scores), towers, -1, hypothesis.colours)
    by_tower = scores.max(axis=2)
    ordered = np.sort(np.column_stack([hypothesis.scores[:, 0], by_tower.reshape(len(by_tower), -1)]), axis=1)
    stands = np.flatnonzero(by_tower.max(axis=(1, 2)) > 0)
    in_doubt = hypothesis.updated & (ordered[:, -1] - ordered[:, -2] < DOUBT_NATS)
    in_doubt[list(asked)] = True
    best = by_tower.max(axis=2)
    # What coordinate ascent found by the colours of all pixels, before edges in crops counted.
    believed = np.flatnonzero(hypothesis.updated & (hypothesis.state > 0))
    found = (hypothesis.configuration_count(hypothesis.state[believed]) - 1) // scores.shape[2]
    in_doubt[believed] |= found != best[believed].argmax(axis=1)
    if not in_doubt[stands].any():
        return
    tried = in_doubt[:, None] & (best > best.max(axis=1, keepdims=True) - TRIED_NATS)
    tried[np.arange(len(best)), best.argmax(axis=1)] = True
    tried[believed, found] = True
    for cell, configurations in asked.items():
        tried[cell, configurations // scores.shape[2]] = True
    pieces, floor = colours
    # Of the others only the light on their sides is needed, for which their crops are good enough.
    known = stands[~in_doubt[stands] & hypothesis.lateral_sums[stands].any(axis=(1, 2, 3))]
    close = np.setdiff1d(stands, known)
    fits: dict[int, TowerFits] = {}
    shown = (
        repeat(None) if board is None else board([close_up.of(cell, TOWERS.per_mm).crops for cell in close.tolist()])
    )
    for cell, bare in zip(close.tolist(), shown, strict=False):
        fits[cell] = fit_towers(image, close_up, *fit_arguments(hypothesis, cell, floor, bare), tried[cell])
    reflectance = pieces[:, ::-1]
    hues = hue_of(mirroring(pieces))
    spreads = np.hypot(HUE, HUE_SHARE * np.linalg.norm(hue_of(pieces) - hue_of(floor), axis=1))
    put_on_mm2 = _put_on_mm2(hypothesis.geometry.configurations, towers)
    put_on_nats = np.where(put_on_mm2 > 0, STACKED_NATS, 0.0) + STACKED_NATS_PER_MM2 * put_on_mm2
    coarse = [_coarse_sides(hypothesis, cell, close_up) for cell in known.tolist()]
    light = _light_on_sides([*coarse, *map(_best_sides, fits.values())], reflectance)
    predicted = _predicted(light, reflectance)
    for cell in stands[in_doubt[stands]].tolist():
        likely = _log_likelihood(fits[cell], predicted, (hues, spreads))
        fitted = CROPS_WEIGHT * scores[cell] + (likely - put_on_nats[:, None])[:, None]
        # Whether anything stands there is left to colours: usual ground says little about ground in shadow.
        fitted += scores[cell].max() - fitted.max()
        hypothesis.set_scores(np.array([cell]), np.append(hypothesis.scores[cell, 0], fitted)[None].astype(np.float32))


def fit_arguments(
    hypothesis: Hypothesis, cell: int, floor: Floats, bare: tuple[Array, Array] | None = None
) -> tuple[tuple[int, int, LabelBuffer], CellGround]:
    """Arguments of :func:`vision.likelihood.lateral_faces.fit_towers` for a cell, and for the ground round it.

    ``floor`` (3,): reflectance of bare floor, r g b; ``bare``: :attr:`CellGround.board`.
    """
    labels = hypothesis.labels(bare=np.array([cell]))
    usual = display(floor)[::-1].astype(np.float32)
    ground = CellGround(hypothesis.observations.gain[cell], usual, bare)
    return (cell, int(hypothesis.geometry.rank[cell]), labels), ground


def _put_on_mm2(configurations: Configurations, towers: int) -> Floats:
    """(towers,) total area of the bases of all pyramids of a tower but the lowest."""
    turned = configurations.all[:: len(configurations.all) // towers]
    bases = [[part.corners_mm[:4, :2] for part in configuration.parts[:-1]] for configuration in turned]
    diagonals = [[(base[2] - base[0], base[3] - base[1]) for base in tower] for tower in bases]
    return np.array([sum(abs(a[0] * b[1] - a[1] * b[0]) / 2 for a, b in tower) for tower in diagonals], float)


def _best_sides(fit: TowerFits) -> _Sides:
    """The sides of the pyramids of the likeliest tower."""
    best = int(fit.log_likelihood.argmax())
    return _visible_sides(fit.means[best], fit.area_mm2[best])


def _coarse_sides(hypothesis: Hypothesis, cell: int, close_up: CloseUp) -> _Sides:
    """The sides of a tower that is not in doubt, as seen in the crops: one row and column a millimetre."""
    one = slice(cell, cell + 1)
    means, area_mm2 = by_side(hypothesis.lateral_sums[one], hypothesis.lateral_wireframes[one], close_up.sides[cell], 1)
    return _visible_sides(means, area_mm2)


def _visible_sides(means: Floats, area_mm2: Floats) -> _Sides:
    """Those of the pyramids with ``means`` (…, 4, 3) some side of which is visible, by ``area_mm2`` (…, 4) of each."""
    is_seen = area_mm2 > 0
    some = is_seen.any(axis=-1)
    return _Sides(means[some], is_seen[some])


def _log_likelihood(fit: TowerFits, predicted: Floats, hues: tuple[Floats, Floats]) -> Floats:
    """(f, colours) log-likelihood up to a constant; those that were not tried are as unlikely as the worst."""
    by_colour = _by_colour(fit.means, fit.area_mm2, predicted, _by_hue(fit, *hues) / SIDES_WEIGHT)
    likely: Floats = fit.log_likelihood[:, None] + SIDES_WEIGHT * by_colour
    is_tried = np.isfinite(fit.log_likelihood)
    likely[~is_tried] = likely[is_tried].min()
    return likely


def _by_hue(fit: TowerFits, hues: Floats, spreads: Floats) -> Floats:
    """(f, p, colours) log-likelihood ratios, from the pyramids' hues, of each colour against the likeliest.

    They do not say whether there is a pyramid.  ``hues`` (colours, k, 2) of each colour are equally likely, and
    ``spreads`` (colours,) are their standard deviations.
    """
    is_seen = fit.area_mm2 > 0
    count = is_seen.sum(axis=2)
    means = (fit.means * is_seen[..., None]).sum(axis=2) / np.maximum(count, 1)[..., None]
    of_colour = hue_density(hue(means)[:, :, None, None], hues, spreads[:, None], STRAY_HUES).mean(axis=-1)
    likely = np.where(count[..., None] > 0, np.log(of_colour), 0.0)
    ratio: Floats = likely - likely.max(axis=2, keepdims=True)
    return ratio


@compiled
def _by_colour(means: Floats, area_mm2: Floats, predicted: Floats, by_hue: Floats) -> Floats:
    """(f, colours) log-likelihood ratios of what the sides of a tower's pyramids show, by the uppermost one's colour.

    Those below have their likeliest colours.  The residual of one side is partly shared by the side below it, whose
    expected residual therefore depends on the pyramid above (a Markov chain, maximised as by Viterbi, 1967).

    Args:
        means: as in :class:`.TowerFits`.
        area_mm2: as in :class:`.TowerFits`.
        predicted: (colours, 4, 3) display values of the sides in each colour.
        by_hue: (f, p, colours) nats by which the pyramids' hues count for each colour.
    """
    (towers, pyramids, sides), colours = area_mm2.shape, len(predicted)
    nats, nothing, unseen = np.zeros((towers, colours)), np.zeros((sides, 3)), np.zeros(sides)
    for tower in range(towers):
        shown, area = means[tower], area_mm2[tower]
        for pyramid in range(pyramids - 1, 0, -1):
            below = nats[tower] + by_hue[tower, pyramid]
            for over in range(colours):
                off_over, likeliest = shown[pyramid - 1] - predicted[over], -np.inf
                for colour in range(colours):
                    off = shown[pyramid] - predicted[colour]
                    against = _pyramid_against(off, area[pyramid], off_over, area[pyramid - 1])
                    likeliest = max(likeliest, below[colour] - against)
                nats[tower, over] = likeliest
        for colour in range(colours):
            against = _pyramid_against(shown[0] - predicted[colour], area[0], nothing, unseen)
            nats[tower, colour] += by_hue[tower, 0, colour] - against
    return nats


@compiled
def _pyramid_against(off: Floats, area_mm2: Floats, off_over: Floats, area_over_mm2: Floats) -> float:
    """Nats by which the sides (4,) of a pyramid, with residuals ``off`` (4, 3), count against what is predicted.

    ``off_over`` and ``area_over_mm2``: the same of the pyramid on top of it.
    """
    nats = 0.0
    for side in range(len(off)):
        alike = TOWER_CORRELATION if area_over_mm2[side] > 0 else 0.0
        nats += area_mm2[side] / (area_mm2[side] + HALF_MM2) * _nats_against(off[side], off_over[side], alike)
    return nats


@compiled
def _nats_against(off: Floats, off_over: Floats, alike: float) -> float:
    """Nats by which a side with residuals ``off`` (3,) counts against what is predicted, ``off_over`` (3,) being known.

    Those are the residuals of the side above; ``alike``: correlation of both.
    """
    squares = 0.0
    for channel in range(3):
        squares += (off[channel] - alike * off_over[channel]) ** 2
    return float(min(squares / 3 / (SIDE_DEVIATION**2 * (1 - alike**2)) / 2, MAX_OFF))


@compiled
def _nats_off(means: Floats, is_seen: Mask, predicted: Floats) -> Floats:
    """(i, colours) nats by which the sides (i, 4, 3) of pyramids count against each colour.

    ``predicted`` (colours, 4, 3): display values of the sides in each colour.
    """
    nats = np.zeros((len(means), len(predicted)))
    for pyramid in range(len(means)):
        for colour in range(len(predicted)):
            for side in range(4):
                off = means[pyramid, side] - predicted[colour, side]
                if is_seen[pyramid, side]:
                    nats[pyramid, colour] += _nats_against(off, off, 0.0)
    return nats


def _light_on_sides(seen: list[_Sides], reflectance: Floats) -> Floats:
    """(4, 3) logarithm of the light on each side of all pyramids, relative to the mat's, b g r."""
    sides = _Sides(np.concatenate([one.means for one in seen]), np.concatenate([one.is_seen for one in seen]))
    linear = np.maximum((sides.means + CURVE_OFFSET) / (1 + CURVE_OFFSET), 1e-3) ** GAMMA
    logs = np.log(linear[:, None] / np.maximum(reflectance[:, None], 0.01))
    likeliest: Floats = _likeliest_light(_sort_implied_light(sides.is_seen, logs), *sides, reflectance)
    return likeliest


@compiled
def _likeliest_light(shown: _ImpliedLight, means: Floats, is_seen: Mask, reflectance: Floats) -> Floats:
    """See :func:`_light_on_sides`; ``means`` and ``is_seen`` as in :class:`_Sides`."""
    best, likeliest = np.full((4, 3), MEAN_LOG_LIGHT), -np.inf
    for start in LOG_LIGHT_STARTS:
        light, weight = np.full((4, 3), start), 1 / 9
        for _ in range(ROUNDS):
            nats = -_nats_off(means, is_seen, _predicted(light, reflectance))
            light, weight = _refit(shown, nats, weight, reflectance, light), 1.0
        nats, total = -_nats_off(means, is_seen, _predicted(light, reflectance)), 0.0
        for pyramid in range(len(nats)):
            most = nats[pyramid].max()
            total += most + np.log(np.exp(nats[pyramid] - most).sum())
        total -= 0.5 * ((light.mean() - MEAN_LOG_LIGHT) / LOG_LIGHT_DEVIATION) ** 2
        if total > likeliest:
            best, likeliest = light, total
    return best


@compiled
def _predicted(light: Floats, reflectance: Floats) -> Floats:
    """(colours, 4, 3) display values of sides of each ``reflectance`` (colours, 3) under the ``light`` (4, 3) on each.

    ``light`` is the logarithm of the light, relative to the mat's; b g r.
    """
    shown = np.empty((len(reflectance), *light.shape))
    for colour in range(len(reflectance)):
        for side in range(len(light)):
            for channel in range(3):
                linear = np.exp(light[side, channel]) * reflectance[colour, channel]
                shown[colour, side, channel] = display_value(linear)
    return shown


class _ImpliedLight(NamedTuple):
    """The light that the visible sides of pyramids imply, in each channel, for each colour that they may have.

    Attributes:
        values: (4, 3, i · colours) float64, logarithms, ascending.
        indices: (4, 3, i · colours) intp, the pyramid's number times the colours, plus the colour.
        many: (4,) intp, how many of each side's values are of visible ones: the first ones.
    """

    values: Floats
    indices: Indices
    many: Indices


def _sort_implied_light(is_seen: Mask, logs: Floats) -> _ImpliedLight:
    """Sort ``logs`` (i, colours, 4, 3), the light that each pyramid implies in each colour; ``is_seen`` (i, 4)."""
    colours = logs.shape[1]
    values = np.where(is_seen[:, None, :, None], logs, np.inf).reshape(-1, 4, 3).transpose(1, 2, 0)
    indices = np.argsort(values, axis=2)
    return _ImpliedLight(np.take_along_axis(values, indices, axis=2), indices, is_seen.sum(axis=0) * colours)


@compiled
def _refit(shown: _ImpliedLight, nats: Floats, weight: float, reflectance: Floats, light: Floats) -> Floats:
    """(4, 3) light on each side: weighted median of what its pyramids imply in each colour; ``light`` if none is seen.

    ``nats`` (i, colours): log-likelihood of each colour, times ``weight``; channels are weighted by what they reflect.
    """
    fitted, (pyramids, colours), shares = light.copy(), nats.shape, np.empty(nats.size)
    for pyramid in range(pyramids):
        mine = shares[pyramid * colours : (pyramid + 1) * colours]
        mine[:] = np.exp(weight * (nats[pyramid] - nats[pyramid].max()))
        mine /= mine.sum()
    reached = np.empty(len(shares))
    for side in range(4):
        many = shown.many[side]
        for channel in range(3 if many else 0):
            total, indices = 0.0, shown.indices[side, channel]
            for number in range(many):
                total += shares[indices[number]] * reflectance[indices[number] % colours, channel]
                reached[number] = total
            fitted[side, channel] = shown.values[side, channel, np.searchsorted(reached[:many], total / 2)]
    return fitted
