"""Which tower of pyramids stands there: every facet that a figure predicts should show one even colour.

Colour alone cannot tell a large pyramid from a smaller one of its colour put over it, and a flank may mirror a lamp and
look like the floor.  But each flank is evenly lit, so a figure is right when its edges lie where the picture's are:
then the colours within each of its facets vary least (piecewise constant segmentation: Mumford and Shah, 1989; Chan
and Vese, 2001; here with the few contours that geometry allows).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import BINS, STRAY
from vision.compiled import compiled
from vision.likelihood.observations import Backdrop, Observations
from vision.pose.projection import Points, Registration
from vision.scene.configurations import LEAN_MM, PLACE_MM, TURNS_DEG, Configurations
from vision.scene.crops import INDEPENDENT_MM2, Crops
from vision.scene.outlines import widen

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

UNEXPLAINED_LOG = float(np.log(STRAY / BINS**3)) + 1
"""Log-likelihood under which a pixel is no bare ground."""

UNEVEN = 0.08
"""Standard deviation of a facet's display values: light that falls off along it, texture, edges a little off."""

BEGINS = (0.0, 0.5, 1.0)
"""The search for a stand begins in the middle of the cell, where colour alone has the piece, and between."""

STEPS = np.array(
    [
        *[(0, sideways, along) for sideways in (-1, 0, 1) for along in (-1, 0, 1) if sideways or along],
        *[(0, 0, -0.5), (0, 0, 0.5), (-1, 0, 0), (1, 0, 0)],
    ],
    np.float32,
)
"""Changes (number of the turn; sideways and along, mm) that are tried of each pyramid with all that stand on it."""

AROUND = 8
"""The first of these are the places a millimetre around; the last two are the turns."""

PUT_ON_NATS = float(np.log(2 * np.pi * LEAN_MM**2 * len(TURNS_DEG)))
"""Log of how many ways a pyramid may be put on another: in as many mm² and turns its stand spreads."""

ROUNDS = 4
"""Most rounds of these changes; two or three mostly do."""

REFINED = 3
"""Ways a tower is turned from which its stand is looked for more closely: those that suit best at first."""

CLOSE_NATS = 20.0
"""A tower that after the first closer look is so much less likely than another is looked at no more."""

OTHER_TURN = np.float32(-1e3)
"""Log-likelihood ratio of the turns of a tower that are not the likeliest."""

FLANKS = ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
"""Corners of a pyramid's flanks (:func:`vision.scene.configurations` has the base first, then the tip)."""


class Facets(NamedTuple):
    """Flanks of the pyramids (w) that towers are made of, each of them turned in every way, on every cell (n).

    Attributes:
        far: (n, w, flanks, k) float32, in crops of all their k columns, the row in which each flank that is seen
            begins, as in :class:`vision.scene.outlines.Outlines`; the most sideways flank comes first; inf beside it.
        near: (n, w, flanks, k) float32, where it ends; −inf beside it.
        towers: (f, t, p) the pyramids of each tower when it is turned so, in the order of the figures; the uppermost
            first, −1 after the last.
    """

    far: Array
    near: Array
    towers: Indices


def make_facets(crops: Crops, pose: Registration, configurations: Configurations, pixels: Sequence[Points]) -> Facets:
    """The flanks of pyramids on all cells, seen from ``pose``; ``pixels`` of their wires, each (n, 5, 2)."""
    runs = [
        _flanks(crops.from_picture(points), facing, crops.u_mm)
        for points, facing in zip(pixels, _facing(crops, pose, configurations), strict=True)
    ]
    # wire, flank, cell, column → cell, wire, flank, column
    far, near = (np.array([run[side] for run in runs]).transpose(2, 0, 1, 3) for side in (0, 1))
    first_row = np.float32(crops.v_mm[0] - 0.5)
    towers = np.full((len(configurations.all), int(configurations.parts.max())), -1, np.intp)
    for tower, wireframes in zip(towers, configurations.wireframe_numbers, strict=True):
        tower[: len(wireframes)] = wireframes
    turned = towers.reshape(-1, len(TURNS_DEG), towers.shape[1])
    return Facets(np.ascontiguousarray(far - first_row), np.ascontiguousarray(near - first_row), turned)


def _facing(crops: Crops, pose: Registration, configurations: Configurations) -> Points:
    """(wires, n, flanks) cosine of the angle under which the camera sees pyramids' flanks; negative from behind."""
    corners = np.array([wireframe.corners_mm for wireframe in configurations.wireframes])
    a, b, tip = (corners[:, which] for which in np.array(FLANKS).T)
    normals = np.cross(b - a, tip - a)
    eye = pose.centre_mm - (crops.centres_mm[:, None] + ((a + b + tip) / 3)[:, None])
    lengths = np.linalg.norm(eye, axis=3) * np.linalg.norm(normals, axis=2)[:, None]
    facing: Points = np.einsum("wnfi,wfi->wnf", eye, normals) / lengths
    return facing


@compiled
def _flanks(corners_mm: Points, facing: Points, u_mm: npt.NDArray[np.int32]) -> tuple[Array, Array]:
    """(flanks, n, k) rows in which a pyramid's flanks that can be seen begin, and end, the most sideways one first.

    ``corners_mm`` (n, 5, 2) are crop coordinates; ``facing`` (n, flanks).
    """
    cells = len(corners_mm)
    far = np.full((len(FLANKS), cells, len(u_mm)), np.inf, np.float32)
    near = np.full((len(FLANKS), cells, len(u_mm)), -np.inf, np.float32)
    for cell in range(cells):
        place = np.argsort(facing[cell])
        for number in range(len(FLANKS)):
            flank = place[number]
            if facing[cell, flank] > 0:
                a, b, tip = FLANKS[flank]
                for begin, end in ((a, b), (b, tip), (tip, a)):
                    widen(corners_mm[cell, begin], corners_mm[cell, end], u_mm, far[number, cell], near[number, cell])
    return far, near


def facet_log_likelihood(
    observations: Observations, backdrop: Backdrop, facets: Facets, cells: Indices, placement: Array
) -> Array:
    """(b, f) how evenly each figure's facets are coloured, standing where they are so best: log-likelihood ratios.

    Args:
        observations: of all cells.
        backdrop: of the whole crops of ``cells``.
        facets: of the pose.
        cells: (b,) the cells to judge.
        placement: (b, 2) where the search begins: sideways and along, mm.
    """
    found, turns = _search(_sum_values(observations, backdrop, cells), facets, cells, placement)
    ratios = np.full((*found.shape, len(TURNS_DEG)), OTHER_TURN, np.float32)
    np.put_along_axis(ratios, turns[..., None], 0, axis=2)
    ratios += (found - found.max(axis=1, keepdims=True))[..., None]
    return ratios.reshape(len(cells), -1)


@compiled
def _sum_values(observations: Observations, backdrop: Backdrop, cells: Indices) -> Array:
    """Sums down each crop's column, where nothing hides it: (b, columns, rows + 1, 6).

    Of 1, the three display values, their squares together, and by how much the bare ground is likelier than it is
    where it shows.
    """
    codes, gain, base, seen = observations.codes, observations.gain, backdrop.base, backdrop.seen
    _, rows, columns = base.shape
    integrals = np.zeros((len(cells), columns, rows + 1, 6), np.float32)
    for k in range(len(cells)):
        usual = _usual(base[k], seen[k])
        for column in range(columns):
            for row in range(rows):
                for kind in range(6):
                    integrals[k, column, row + 1, kind] = integrals[k, column, row, kind]
                if seen[k, row, column]:
                    integrals[k, column, row + 1, 0] += 1
                    for channel in range(3):
                        value = codes[cells[k], row, column, channel] * gain[cells[k], channel]
                        integrals[k, column, row + 1, 1 + channel] += value
                        integrals[k, column, row + 1, 4] += value**2
                    integrals[k, column, row + 1, 5] += base[k, row, column] - usual
    return integrals


@compiled
def _usual(base: Array, seen: npt.NDArray[np.bool_]) -> float:
    """Mean log-likelihood (rows, columns) of the bare ground where a crop shows it."""
    total, count = 0.0, 0
    for bare, is_seen in zip(base.ravel(), seen.ravel()):  # noqa: B905 - Numba knows no strict=
        if is_seen and bare > UNEXPLAINED_LOG:
            total += float(bare)
            count += 1
    return total / max(count, 1)


@compiled
def _search(integrals: Array, facets: Facets, cells: Indices, placement: Array) -> tuple[Array, Indices]:
    """(b, f) how well each tower fits where it does best, and which way its uppermost pyramid is turned there."""
    towers = facets.towers
    fits = np.full((len(cells), len(towers)), -np.inf, np.float32)
    turns = np.zeros(fits.shape, np.intp)
    for k in range(len(cells)):
        runs = (facets.far[cells[k]], facets.near[cells[k]])
        order, begins = _first_stands(integrals[k], runs, towers, placement[k])
        for trial in range(REFINED):
            least = fits[k].max() - CLOSE_NATS
            for number in range(len(towers)):
                if fits[k, number] >= least or trial == 0:
                    tower = _pyramids(towers[number])
                    at = np.zeros((tower.shape[1], 3), np.float32)
                    at[:] = begins[number, order[number, trial]]
                    fit = _climb(integrals[k], runs, tower, at)
                    if fit > fits[k, number]:
                        fits[k, number], turns[k, number] = fit, int(at[0, 0])
    return fits, turns


@compiled
def _first_stands(
    integrals: Array, runs: tuple[Array, Array], towers: Indices, placement: Array
) -> tuple[Indices, Array]:
    """(f, t) the turns of each tower, the likeliest first; (f, t, 3) where it fits best then, standing straight."""
    order, begins = np.zeros(towers.shape[:2], np.intp), np.zeros((*towers.shape[:2], 3), np.float32)
    for number in range(len(towers)):
        tower = _pyramids(towers[number])
        at = np.zeros((tower.shape[1], 3), np.float32)
        parts = np.zeros((tower.shape[1] * len(FLANKS), 6), np.float32)
        fits = np.full(len(tower), -np.inf, np.float32)
        for turn in range(len(tower)):
            for share in BEGINS:
                at[:, 0], at[:, 1], at[:, 2] = turn, np.rint(share * placement[0]), share * placement[1]
                fit = _fit(integrals, runs, tower, (at, parts), 2)
                if fit > fits[turn]:
                    fits[turn], begins[number, turn] = fit, at[0]
        order[number] = np.argsort(-fits)
    return order, begins


@compiled
def _pyramids(tower: Indices) -> Indices:
    """(t, p) without those that there are not."""
    return tower[:, : np.count_nonzero(tower[0] >= 0)]


@compiled
def _climb(integrals: Array, runs: tuple[Array, Array], tower: Indices, at: Array) -> float:
    """How well a tower fits, looked for from ``at`` on, where it then stands best.

    What has more pyramids is freer to suit by chance.  So what counts is how well it fits on average over all stands:
    as at best, times the share of all stands that suit nearly as well (Laplace's method, on the steps round the best).
    """
    parts, tried = np.zeros((len(at) * len(FLANKS), 6), np.float32), np.zeros((len(at), len(STEPS)), np.float32)
    best, trial = _fit(integrals, runs, tower, (at, parts), 1), np.empty_like(at)
    for _ in range(ROUNDS):
        before = best
        for lowest in range(len(at) - 1, -1, -1):
            for number in range(len(STEPS)):
                trial[:] = at
                trial[: lowest + 1] += STEPS[number]
                tried[lowest, number] = -np.inf
                if trial[:, 0].min() >= 0 and trial[:, 0].max() < len(tower):
                    fit = _fit(integrals, runs, tower, (trial, parts), 1)
                    tried[lowest, number] = fit
                    if fit > best:
                        best = fit
                        at[:] = trial
        if best == before:
            break
    spread = np.exp(tried - best)
    stands = (1 + spread[:, :AROUND].sum(axis=1)) * (1 + spread[:, -2:].sum(axis=1))
    return float(best + np.log(stands).sum() - PUT_ON_NATS * (len(at) - 1))


@compiled
def _fit(integrals: Array, runs: tuple[Array, Array], tower: Indices, work: tuple[Array, Array], step: int) -> float:
    """Log-likelihood of a crop, up to a constant a cell, for a tower that stands so.

    Args:
        integrals: (columns, rows + 1, 6) of the cell.
        runs: (w, flanks, k) each, of the cell: where flanks begin, and end.
        tower: (t, p) its pyramids when they are turned so, the uppermost first.
        work: (p, 3) which way each is turned, how far it is off its place, sideways and along, mm; (p * flanks, 6) room
            to work in.
        step: every how many columns are looked at.
    """
    at, parts = work
    far, near = runs
    columns, last = len(integrals), integrals.shape[1] - 1
    parts[:] = 0
    for column in range(0, columns, step):
        reached = 0  # by the flanks before, which hide what is above their ends
        for place in range(len(at)):
            own = column - int(at[place, 1])
            if own < 0 or own >= columns:
                continue
            wireframe, along = tower[int(at[place, 0]), place], at[place, 2]
            for flank in range(len(FLANKS)):
                ends = near[wireframe, flank, own] + along
                if ends > reached:
                    begin = max(int(np.rint(max(far[wireframe, flank, own] + along, 0.0))), reached)
                    end = int(np.rint(min(ends, last)))
                    if end > begin:
                        part = parts[place * len(FLANKS) + flank]
                        for kind in range(6):
                            part[kind] += integrals[column, end, kind] - integrals[column, begin, kind]
                        reached = end
    uneven, bare = 0.0, 0.0
    for part in parts:
        red, green, blue = part[1], part[2], part[3]
        uneven += max(part[4] - (red**2 + green**2 + blue**2) / max(part[0], 1e-3), 0.0)
        bare += part[5]
    foot = at[len(at) - 1]
    off = (foot[1] ** 2 + foot[2] ** 2) / PLACE_MM**2
    for place in range(len(at) - 1):
        off += ((at[place, 1] - at[place + 1, 1]) ** 2 + (at[place, 2] - at[place + 1, 2]) ** 2) / LEAN_MM**2
    return float((-uneven / (2 * UNEVEN**2) - bare) * (step / INDEPENDENT_MM2) - 0.5 * off)
