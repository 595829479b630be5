"""The search for the placement in which a tower of pyramids best fits a close-up of its cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.lateral_boundaries import boundary_log_ratio
from vision.likelihood.lateral_runs import (
    LATERAL_FACES,
    SUMS,
    LateralFaces,
    Walk,
    add_sums,
    gradient_residual,
    make_walk,
    move_pyramids,
    placement_distance2,
    pyramids_of,
    visible_runs,
)
from vision.likelihood.lateral_views import LateralView
from vision.likelihood.memo import Memo, find, make_memo, put

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

FIRST_MM = 1.0
"""Spacing of the 3 × 3 grid of initial placements about the cell's centre."""

TURNED_PLACEMENTS = 3
"""Number of these at which every rotation is tried: all nine found no better placements of 2,000 towers."""

REFINED_PLACEMENTS = 2
"""Number of initial placements from which the search goes on."""

CLOSE_NATS = 10.0
"""Towers that are less likely than the best by more than this are searched from the first placement alone: of 800 the
second one made one in a hundred likelier by more than 2."""

HOPELESS_NATS = 20.0
"""Towers that are less likely than the best by more than this at their first placement stay there: of 761 in five
folders the search from it made none likelier by more than 13, and half of them by no more than 0.6."""

ROUNDS = 12
"""Maximum number of rounds of the search."""

STEPS = np.array(
    [
        *[(0, across, along) for across in (-1, 0, 1) for along in (-1, 0, 1) if across or along],
        *[(0, -2, 0), (0, 2, 0), (0, 0, -2), (0, 0, 2)],
        *[(turn, *step) for turn in (-1, 1) for step in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))],
    ],
    np.float64,
)
"""Search steps of a pyramid and all above it: rotation index; columns right and rows down in the crop.

A rotation moves corners, and so it often helps only in combination with a shift."""

STEPS_BELOW = np.array([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)], np.float64)
"""Search steps of a pyramid without those above it."""

EDGE_MM = 0.5
"""Distance to either side of an edge, in whole rows, rounded down, within which pixels mix both surfaces: blur, bevels,
steps of the search."""

FACE_WEIGHT = 0.5
"""Weight of what faces show: their boundaries, which count in full, come from the same pixels.  Fitted to 614 cells of
nine sets by multinomial regression, as the weight of crops (:mod:`vision.inference.lateral_faces`); fitted to 1,496
cells of twenty sets, half of them new, they differ by a fifth at most."""


class Fits(NamedTuple):
    """The likeliest placements of towers (f) of up to p pyramids, the uppermost first.

    Attributes:
        log_likelihood: (f,) float64, −inf for those that were not tried.
        sums: (f, p, faces, SUMS) float64 over the visible part of each face, see :data:`.lateral_runs.SUMS`.
        placements: (f, p, 3) float64, the index of each pyramid's rotation, columns right, rows down.
    """

    log_likelihood: Floats
    sums: Floats
    placements: Floats


class _Work(NamedTuple):
    """Work arrays for one tower's log-likelihood.

    Attributes:
        walk: through its columns.
        parts: (p · faces, SUMS) float64 sums over each face.
        seams: (p · faces,) float64, see :func:`vision.likelihood.lateral_boundaries.boundary_log_ratio`.
        trial: (p, 3) float64, a placement that is tried.
    """

    walk: Walk
    parts: Floats
    seams: Floats
    trial: Floats


@compiled
def fit(view: LateralView, faces: LateralFaces, towers: Indices, tried: npt.NDArray[np.bool_]) -> Fits:
    """The likeliest placement of each tower that is ``tried`` (f,); ``towers``: (f, t, p), see :func:`visible_runs`."""
    most, count = towers.shape[2], len(LATERAL_FACES)
    likely, sums = np.full(len(towers), -np.inf), np.zeros((len(towers), most, count, SUMS))
    placements, begins = np.zeros((len(towers), most, 3)), np.zeros((len(towers), REFINED_PLACEMENTS, 3))
    walk, memos = make_walk(most, len(view.integrals)), [make_memo(3 * pyramids_of(tower).shape[1]) for tower in towers]
    for trial in range(REFINED_PLACEMENTS):
        least = likely.max() - CLOSE_NATS
        for number in range(len(towers)):
            if not tried[number] or (trial > 0 and likely[number] < least):
                continue
            tower = pyramids_of(towers[number])
            pyramids, memo = tower.shape[1], memos[number]
            parts, seams = np.zeros((pyramids * count, SUMS)), np.zeros(pyramids * count)
            work, at = _Work(walk, parts, seams, np.zeros((pyramids, 3))), np.zeros((pyramids, 3))
            if trial == 0:
                begins[number] = _first_placements(view, faces, tower, work, memo)
            at[:] = begins[number, trial]
            if _known(view, faces, tower, at, work, memo) > likely.max() - HOPELESS_NATS:
                _climb(view, faces, tower, at, work, memo)
            total = _log_likelihood(view, faces, tower, at, work, 1)
            if total > likely[number]:
                likely[number] = total
                sums[number, :pyramids] = parts.reshape(pyramids, count, SUMS)
                placements[number, :pyramids] = at
    return Fits(likely, sums, placements)


@compiled
def uncovered_sums(integrals: Floats, faces: LateralFaces, towers: Indices, placements: Floats) -> Floats:
    """(f, SUMS) sums over all pixels that count in ``integrals``, except for those that a tower covers as placed.

    ``integrals``: see :class:`.lateral_views.LateralView`; ``placements``: of all ``towers``, see :class:`Fits`.
    """
    rows, walk = integrals.shape[1] - 1, make_walk(towers.shape[2], len(integrals))
    left = np.zeros((len(towers), SUMS))
    for column in range(len(integrals)):
        left += integrals[column, rows]
    for number in range(len(towers)):
        tower = pyramids_of(towers[number])
        count = tower.shape[1]
        parts = np.zeros((count * len(LATERAL_FACES), SUMS))
        runs = visible_runs(walk, faces, tower, placements[number, :count], rows, 1)
        add_sums(integrals, walk.runs[:runs], parts)
        left[number] -= parts.sum(axis=0)
    return left


@compiled
def _first_placements(view: LateralView, faces: LateralFaces, tower: Indices, work: _Work, memo: Memo) -> Floats:
    """(:data:`REFINED_PLACEMENTS`, 3) the likeliest rotations and shifts, shared by all pyramids of a tower.

    Shifts are compared in the middle rotation, and rotations at the likeliest :data:`TURNED_PLACEMENTS` of them.
    """
    reach, turns, at = FIRST_MM * view.per_mm, len(tower), np.zeros((tower.shape[1], 3))
    shifts, totals = np.zeros((9, 3)), np.zeros(9)
    for k in range(len(shifts)):
        shifts[k] = np.array([turns // 2, (k // 3 - 1) * reach, (k % 3 - 1) * reach])
        at[:] = shifts[k]
        totals[k] = _known(view, faces, tower, at, work, memo)
    likeliest = np.argsort(-totals)
    begins, totals = np.zeros((TURNED_PLACEMENTS * turns, 3)), np.zeros(TURNED_PLACEMENTS * turns)
    for k in range(len(begins)):
        begins[k] = shifts[likeliest[k // turns]]
        begins[k, 0] = k % turns
        at[:] = begins[k]
        totals[k] = _known(view, faces, tower, at, work, memo)
    return begins[np.argsort(-totals)[:REFINED_PLACEMENTS]]


@allocation_free
def _climb(view: LateralView, faces: LateralFaces, tower: Indices, at: Floats, work: _Work, memo: Memo) -> None:
    """Replace ``at`` (p, 3) by the likeliest placement of a tower near it; every other column suffices for this.

    ``memo``: log-likelihoods of the tower's placements evaluated so far.
    """
    best = _known(view, faces, tower, at, work, memo)
    for _ in range(ROUNDS):
        before = best
        for lowest in range(len(at) - 1, -1, -1):
            best = _step(view, faces, tower, (at, 0, lowest), STEPS, best, work, memo)
            if lowest > 0:
                best = _step(view, faces, tower, (at, lowest, lowest), STEPS_BELOW, best, work, memo)
        if best == before:
            break


@allocation_free
def _step(
    view: LateralView,
    faces: LateralFaces,
    tower: Indices,
    moved: tuple[Floats, int, int],
    steps: Floats,
    best: float,
    work: _Work,
    memo: Memo,
) -> float:
    """Take those ``steps`` (s, 3) that make a tower likelier than ``best``; returns its log-posterior then.

    ``moved``: its placement (p, 3), which is changed, and the first and the last pyramid that move together.
    """
    (at, first, last), trial = moved, work.trial
    for step in range(len(steps)):
        if move_pyramids(trial, at, (first, last), steps[step], len(tower)):
            total = _known(view, faces, tower, trial, work, memo)
            if total > best:
                best = total
                move_pyramids(at, at, (first, last), steps[step], len(tower))
    return best


@allocation_free
def _known(view: LateralView, faces: LateralFaces, tower: Indices, at: Floats, work: _Work, memo: Memo) -> float:
    """Log-posterior of a placement from every other column, memoized."""
    slot = find(memo, at)
    if not memo.is_used[slot]:
        put(memo, slot, at, _log_likelihood(view, faces, tower, at, work, 2))
    return float(memo.values[slot])


@allocation_free
def _log_likelihood(
    view: LateralView, faces: LateralFaces, tower: Indices, at: Floats, work: _Work, step: int
) -> float:
    """Log-posterior of a tower in a placement, up to a constant per cell.

    Args:
        view: of the cell.
        faces: of the cell.
        tower: (t, p) intp its pyramids in each rotation, the uppermost first.
        at: (p, 3) placement of each: index of its rotation, columns right, rows down.
        work: is overwritten.
        step: column stride.
    """
    walk, last = work.walk, view.integrals.shape[1] - 1
    count = visible_runs(walk, faces, tower, at, last, step)
    likely = boundary_log_ratio(view.contrasts, walk, count, step, work.seams)
    # Where boundaries alone decide, sums over faces are needed only of the placement that is found.
    if view.weight > 0 or step == 1:
        likely += FACE_WEIGHT * _face_log_likelihood(view, walk.runs[:count], work.parts, step)
    return float(likely - 0.5 * placement_distance2(at) / view.per_mm**2)


@allocation_free
def _face_log_likelihood(view: LateralView, runs: Indices, parts: Floats, step: int) -> float:
    """Log-likelihood of what the faces with visible ``runs`` (r, 5) and the ground show; sums go into ``parts``."""
    parts[:] = 0
    mixed = add_sums(view.integrals, runs, parts, int(EDGE_MM * view.per_mm))
    unexplained = view.ground
    for part in parts:
        unexplained += step * (gradient_residual(part, 1 / view.per_mm) / 3 - part[5])
    mean = unexplained / max(view.pixels - step * mixed, 1.0)
    variance = max(mean - view.noise, 0.0) + view.variance
    return float(-0.5 * view.weight * np.log(variance))
