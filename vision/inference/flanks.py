"""A closer look at pyramids that are in doubt, in the light that their sides have in this picture.

All pyramids' sides that face one way are lit alike, so how bright they are tells pieces of different colours apart,
also where a pale piece in the shade is as dark as a dark one in the light.  The light on each side is found together
with the colours, by expectation maximisation (Dempster, Laird and Rubin, 1977) over all pyramids on the board.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import GAMMA, display
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.flanks import CloseUp, Ground, TowerFits, fit_towers
from vision.scene.configurations import Configurations
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

DOUBT_NATS = 10.0
"""A cell whose best state is likelier than each other by more than this is not in doubt: through a webcam that sharpens
edges of facets preferred a small pyramid to a middle one by 9."""

TRIED_NATS = 20.0
"""Towers that are less likely than the best by more than this are not looked at."""

SHARE = 0.5
"""Share that the sides' colours count for: the crops' colours are of the same pixels.  Of 0, 0.5, 0.7 and 1 this gave
the likeliest truths on the sets of the collection."""

LIT_ALIKE = 0.06
"""Standard deviation of the display value of one side about what light and colour predict: turned pieces, lamps that
are near, colours that vary."""

MOST_OFF = 8.0
"""Most nats that one side speaks against a colour: it may be in another's shadow, or mirror a lamp."""

PUT_ON_NATS_PER_MM2 = 0.0125
"""Nats, by the area of its base, that a pyramid lying on another one must explain: its place and turn are free, and
the larger it is the more of the shading of the one below it explains by chance.  In six sets of photographs large ones
alone seemed to carry a middle one by up to 6 nats, one of twenty by any, and middle ones a small one by up to 1; those
that did, by 7 and 2 at least."""

STARTS = np.log([0.25, 0.4, 0.6, 0.85, 1.2, 1.7])
"""Light on all sides, relative to the mat's, from which the search begins."""

USUAL, SPREAD = np.log(0.7), 0.7
"""Mean and standard deviation of the logarithm of the light on a side, relative to the mat's.  Chosen by eye."""

ROUNDS = 6
"""Rounds of the search; the first one counts differences a third, since its light is a guess."""


class _Sides(NamedTuple):
    """Sides of pyramids: (i, 4, 3) mean display values, b g r, and (i, 4) bool which are seen."""

    means: Floats
    is_seen: Mask


def rescore_by_flanks(
    image: npt.NDArray[np.uint8],
    hypothesis: Hypothesis,
    close_up: CloseUp,
    colours: tuple[Floats, Floats],
    board: Callable[[int], tuple[Array, Array]] | None = None,
    asked: Mapping[int, Indices] = MappingProxyType({}),
) -> None:
    """Score towers again on updated cells that are in doubt.

    Args:
        image: (height, width, 3) uint8, BGR.
        hypothesis: whose scores are changed.
        close_up: of its pose.
        colours: (colours, 3) reflectances of the pieces, r g b; and (3,) of bare floor.
        board: what the bare board shows round a cell, as in :class:`Ground`, where its look was learned.
        asked: cells that are in doubt whatever their scores, and the configurations that may stand there.
    """
    towers = len(close_up.facets.towers)
    scores = hypothesis.scores[:, 1:].reshape(len(hypothesis.scores), towers, -1, hypothesis.colours)
    by_tower = scores.max(axis=2)
    ordered = np.sort(np.column_stack([hypothesis.scores[:, 0], by_tower.reshape(len(by_tower), -1)]), axis=1)
    stands = np.flatnonzero(by_tower.max(axis=(1, 2)) > 0)
    in_doubt = hypothesis.updated & (ordered[:, -1] - ordered[:, -2] < DOUBT_NATS)
    in_doubt[list(asked)] = True
    if not in_doubt[stands].any():
        return
    best = by_tower.max(axis=2)
    tried = in_doubt[:, None] & (best > best.max(axis=1, keepdims=True) - TRIED_NATS)
    tried[np.arange(len(best)), best.argmax(axis=1)] = True
    for cell, configurations in asked.items():
        tried[cell, configurations // scores.shape[2]] = True
    pieces, floor = colours
    fits: dict[int, TowerFits] = {}
    for cell in stands.tolist():
        bare = None if board is None else board(cell)
        fits[cell] = fit_towers(image, close_up, *looked_at(hypothesis, cell, floor, bare), tried[cell])
    reflectance = pieces[:, ::-1]
    put_on_nats = PUT_ON_NATS_PER_MM2 * _put_on_mm2(hypothesis.geometry.configurations, towers)
    light = _light_on_sides([_best_sides(fit) for fit in fits.values()], reflectance)
    for cell in stands[in_doubt[stands]].tolist():
        fitted = scores[cell] + (_log_likelihood(fits[cell], light, reflectance) - put_on_nats[:, None])[:, None]
        # Whether anything stands there is left to colours: what is usual ground says little about ground in shadow.
        fitted += scores[cell].max() - fitted.max()
        hypothesis.score(np.array([cell]), np.append(hypothesis.scores[cell, 0], fitted)[None].astype(np.float32))


def looked_at(
    hypothesis: Hypothesis, cell: int, floor: Floats, bare: tuple[Array, Array] | None = None
) -> tuple[tuple[int, int, LabelBuffer], Ground]:
    """What :func:`vision.likelihood.flanks.fit_towers` is told of a cell, and of the ground round it.

    ``floor`` (3,): reflectance of bare floor, r g b; ``bare``: :attr:`Ground.board`.
    """
    labels = hypothesis.labels(np.array([cell]), bare=True)
    usual = display(floor)[::-1].astype(np.float32)
    return (cell, int(hypothesis.geometry.rank[cell]), labels), Ground(hypothesis.observations.gain[cell], usual, bare)


def _put_on_mm2(configurations: Configurations, towers: int) -> Floats:
    """(towers,) area of the bases of all pyramids of a tower but the lowest."""
    turned = configurations.all[:: len(configurations.all) // towers]
    bases = [[part.corners_mm[:4, :2] for part in configuration.parts[:-1]] for configuration in turned]
    diagonals = [[(base[2] - base[0], base[3] - base[1]) for base in tower] for tower in bases]
    return np.array([sum(abs(a[0] * b[1] - a[1] * b[0]) / 2 for a, b in tower) for tower in diagonals], float)


def _best_sides(fit: TowerFits) -> _Sides:
    """The sides of the pyramids of the likeliest tower."""
    best = int(fit.log_likelihood.argmax())
    some = fit.is_seen[best].any(axis=1)
    return _Sides(fit.means[best][some], fit.is_seen[best][some])


def _log_likelihood(fit: TowerFits, light: Floats, reflectance: Floats) -> Floats:
    """(f, colours) log-likelihood up to a constant; those that were not tried are as unlikely as the worst."""
    by_colour = -_off(_Sides(fit.means, fit.is_seen), light, reflectance)
    below = by_colour[:, 1:].max(axis=2).sum(axis=1)
    likely: Floats = fit.log_likelihood[:, None] + SHARE * (by_colour[:, 0] + below[:, None])
    is_tried = np.isfinite(fit.log_likelihood)
    likely[~is_tried] = likely[is_tried].min()
    return likely


def _off(sides: _Sides, light: Floats, reflectance: Floats) -> Floats:
    """(…, colours) nats by which the sides (…, 4, 3) of a pyramid speak against each colour.

    ``light``: (4, 3) logarithm of that on each side, relative to the mat's; ``reflectance`` (colours, 3); b g r.
    """
    predicted = display(np.exp(light)[None] * reflectance[:, None])
    squares = ((sides.means[..., None, :, :] - predicted) ** 2).mean(axis=-1) / LIT_ALIKE**2
    nats: Floats = (np.minimum(squares / 2, MOST_OFF) * sides.is_seen[..., None, :]).sum(axis=-1)
    return nats


def _light_on_sides(seen: list[_Sides], reflectance: Floats) -> Floats:
    """(4, 3) logarithm of the light on each side of all pyramids, relative to the mat's, b g r."""
    sides = _Sides(np.concatenate([one.means for one in seen]), np.concatenate([one.is_seen for one in seen]))
    linear = np.maximum((sides.means + 0.055) / 1.055, 1e-3) ** GAMMA
    logs = np.log(linear[:, None] / np.maximum(reflectance[:, None], 0.01))
    orders = _orders(sides.is_seen, logs)
    best, likeliest = np.full((4, 3), USUAL), -np.inf
    for start in STARTS:
        light, weight = np.full((4, 3), start), 1 / 9
        for _ in range(ROUNDS):
            nats = -_off(sides, light, reflectance)
            shares = np.exp(weight * (nats - nats.max(axis=1, keepdims=True)))
            shares /= shares.sum(axis=1, keepdims=True)
            light, weight = _refit(orders, shares, reflectance, light), 1.0
        total = np.logaddexp.reduce(-_off(sides, light, reflectance), axis=1).sum()
        total -= 0.5 * ((light.mean() - USUAL) / SPREAD) ** 2
        if total > likeliest:
            best, likeliest = light, total
    return best


class _Order(NamedTuple):
    """What the pyramids of which one side is seen show there in one channel: values, ascending, of flat indices."""

    side: int
    channel: int
    values: Floats
    indices: Indices


def _orders(is_seen: Mask, logs: Floats) -> list[_Order]:
    """Of all channels of sides that are seen; ``logs`` (i, colours, 4, 3): what each pyramid says in each colour."""
    orders = []
    for side in np.flatnonzero(is_seen.any(axis=0)).tolist():
        mine = np.flatnonzero(np.repeat(is_seen[:, side], logs.shape[1]))
        for channel in range(3):
            values = logs[:, :, side, channel].ravel()[mine]
            order = np.argsort(values)
            orders.append(_Order(side, channel, values[order], mine[order]))
    return orders


def _refit(orders: list[_Order], shares: Floats, reflectance: Floats, light: Floats) -> Floats:
    """(4, 3) light on each side: the weighted median of what its pyramids show in each colour; ``light`` if none does.

    ``shares``: (i, colours) how likely each has the colour, whose channels count as much as they reflect.
    """
    fitted, weights = light.copy(), (shares[..., None] * reflectance).reshape(-1, 3)
    for side, channel, values, indices in orders:
        reached = np.cumsum(weights[indices, channel])
        fitted[side, channel] = values[np.searchsorted(reached, reached[-1] / 2)]
    return fitted
