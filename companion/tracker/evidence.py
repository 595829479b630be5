"""The log-likelihood of each state at every place, from one or more readings, ready to be compared with hypotheses.

A :class:`~vision.reading.Reading` is trusted as a distribution, but mixed with an outlier term in every cell, so that
one cell misread with conviction cannot decide alone.  Occluded cells have a uniform likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.rules.board import Cell, Layout, Sight
from companion.tracker.pillars import Rows
from companion.tracker.sights import EMPTY_SIGHT, PILLAR, Changes, Place
from vision.reading import CellState, Reading

OUTLIER_PROBABILITY = 1e-5
"""Outlier probability: that a cell's reading is independent of what stands there, beyond the reading's own uncertainty.

With the forty states of a kit this bounds one cell's evidence to 15 nats.
"""

UNKNOWN: Sight = (None, None)
"""The state of a place about which nothing is known."""

OCCLUSION_THRESHOLD = 0.3
"""Outlier share above which a cell counts as occluded and its reading is ignored."""

STILL_SHARE, CHANGED_SHARE, STILL_NATS = 0.05, 0.2, 6.0
CHANGE_SHARES = np.array((0.02, CHANGED_SHARE, 0.3, 0.5))
SAME_NATS = np.array((STILL_NATS, 1.0, -1.0, -4.0, -5.0))
"""Log-likelihood, in nats, that a cell still holds what it held, by the share of its picture that has changed since
the last table that was understood: below the first share, between each two, and above the last.  Of 5,012 unchanged
cells of Domination 90.3, 7.9, 1.3, 0.4 and 0.1 % fell into these classes, of 184 changed ones 0, 0, 4, 30 and 66 %;
a character or a small pyramid changes less of the picture, so the second value is lower than these figures suggest.
The first share is less than STILL_SHARE: in eight recordings 84 % of 997 unchanged occupied cells had changed by less
than that, and 4 % by something in between, as had 3 of 130 whose height or top had changed (2026-11-23)."""

ALONE_SHARE, ALONE_TIMES, ALONE_NATS = 0.1, 3.0, 5.0
"""A pillar counts as moved, with this many nats, if the same piece is on it and its cell's picture has changed by at
least this share and this many times as much as that of any adjacent cell: other causes of change, such as shadows,
come from a neighbour.  A pillar that has moved by a level changes 0.13 to 0.6 of it (2026-11-24).  Likewise something
has come to an empty cell: of 796 that stayed empty in three traced matches none had changed alone, the pictures of the
14 to which a piece came had changed by 0.3 and more (2026-11-25).  A piece may merely have been nudged."""

ALIKE_NATS = 1.0
"""States that the reading tells apart by no more than this look the same where hardly anything is in sight."""

UNSEEN_NATS, SHADOW_CELLS = 6.0, 2
"""Log-likelihood ratio, in nats, that something out of sight was moved or taken, where a shadow near it has come or
gone and nothing that is in sight explains that.  A shadow on an empty cell is that of something at most so many cells
away: a stack as high as a cell is wide casts a longer one only from a lamp less than 27° above the table."""

HAND_THRESHOLD = 0.5
"""Outlier share of one cell from which on something lies over the board: hands cover several cells wholly."""


@dataclass(frozen=True)
class Columns:
    """The columns of a likelihood table: the states that a camera can read, then the pillar levels."""

    states: tuple[CellState, ...]
    index: dict[CellState, int]
    tallest: dict[str | None, int]

    def of(self, sight: Sight) -> int:
        """The column of ``sight``; for a stack taller than any known one, that of the tallest known; −1 if unknown."""
        column = self.index.get(sight)
        if column is not None:
            return column
        height, top = sight
        highest = self.tallest.get(top)
        return self.index[highest, top] if height is not None and highest is not None and height > highest else -1


@lru_cache(maxsize=16)
def columns_of(states: tuple[CellState, ...], levels: int = 0) -> Columns:
    """The columns of a kit's states and of ``levels`` pillar levels, from 0 on; cached for each kit."""
    tallest: dict[str | None, int] = {}
    for height, top in states:
        if height is not None:
            tallest[top] = max(height, tallest.get(top, 0))
    known = states + tuple((level, PILLAR) for level in range(levels))
    return Columns(known, {state: i for i, state in enumerate(known)}, tallest)


@dataclass(frozen=True)
class Evidence:
    """The likelihood of the states at every place, from one or more readings of the same calm table.

    Attributes:
        columns: the states that the columns of the table stand for.
        log_p: (n, m + 1) float64, log p(pictures | state) of each place (:mod:`companion.tracker.sights`), floored; the
            last column is a state that the camera does not know.  Rows of hidden places are 0.
        pictured: (n, m + 1) float64, the part of ``log_p`` that comes from each cell's look alone, without what is
            known of how its picture has changed; rows of pillars are 0.
        hidden: (n,) bool, which places are occluded or say nothing new.
        covered: (n,) bool, which of these are occluded; a second look can decide about the others.
        readings: number of pictures on which this evidence rests.
    """

    columns: Columns
    log_p: npt.NDArray[np.float64]
    pictured: npt.NDArray[np.float64]
    hidden: npt.NDArray[np.bool_]
    covered: npt.NDArray[np.bool_]
    readings: int

    def best(self) -> npt.NDArray[np.intp]:
        """(n,) the column of the likeliest state of each place."""
        return np.asarray(self.log_p.argmax(axis=1), dtype=np.intp)

    def sight(self, column: int) -> Sight:
        """The sight of a column."""
        return self.columns.states[column]


def evidence_of(
    layout: Layout,
    reading: Reading,
    before: Sequence[Sight | None] | None = None,
    pillars: Rows | None = None,
    claimed: Changes = (),
) -> Evidence:
    """The evidence of one reading, its cells in the order of ``layout``; cells that it lacks are hidden.

    Args:
        layout: the board.
        reading: ``reading.changed`` is relative to the last picture whose table was understood.
        before: the sight of each place in that picture.  None for places that were in doubt even then: while the
            picture of such a cell is unchanged, the cell is hidden, so that the doubt is not raised again.  UNKNOWN for
            places about which nothing is to be assumed.
        pillars: (n, l) log-likelihoods of the pillars' levels, from 0 on; None if there are no pillars.
        claimed: what an accusation took to be at some of the UNKNOWN places: an unchanged picture is no evidence for
            it, a changed one is evidence against it.
    """
    m = len(reading.states)
    rows = _row_numbers(layout, reading.cells)
    log_p = np.full((len(rows), m + 1), np.log(OUTLIER_PROBABILITY / m))
    likelihood = np.exp(reading.log_likelihood.astype(np.float64))
    floored = np.log((1 - OUTLIER_PROBABILITY) * likelihood + OUTLIER_PROBABILITY / m)
    covered = (rows < 0) | (reading.outlier_share[rows] > OCCLUSION_THRESHOLD)
    hidden = covered.copy()
    log_p[:, :m] = floored[rows]
    pictured = log_p.copy()
    if before is not None and reading.changed is not None:
        doubtful = np.array([sight is None for sight in before[: len(rows)]])
        hidden |= doubtful & (reading.changed[rows] < STILL_SHARE)
        known = {cell: sight for cell, sight in enumerate(before[: len(rows)]) if sight is not None}
        for cell in _moved_pillars(before[len(rows) :], pillars):
            # Its picture has changed, whatever stands on it.
            known.pop(cell, None)
        taken_for = {cell: sight for cell, sight in claimed if cell in known}
        nats = _same_nats(layout, reading.changed[rows], known | taken_for)
        nats[list(taken_for)] = np.minimum(nats[list(taken_for)], 0.0)
        nats = np.where(_lost_shadows(layout, reading, known), -UNSEEN_NATS, nats)
        unseen = np.zeros(len(rows), np.bool_) if reading.unseen is None else reading.unseen[rows]
        _add_prior_state(log_p, columns_of(reading.states), known | taken_for, nats, unseen)
    if pillars is not None and reading.level_log_likelihood is not None:
        # A pillar that stands higher than the camera can read looks as if something stood on it.
        beyond = pillars.argmax(axis=1) >= reading.level_log_likelihood.shape[1]
        hidden, covered = hidden | beyond, covered | beyond
    log_p[hidden] = pictured[hidden] = 0.0
    evidence = Evidence(columns_of(reading.states), log_p, pictured, hidden, covered, 1)
    if pillars is None:
        return evidence
    if before is not None and reading.changed is not None:
        pillars = _add_unmoved_pillars(pillars, reading.changed[rows], before[len(rows) :])
    return _join_pillars(evidence, pillars)


def _add_unmoved_pillars(pillars: Rows, changed: npt.NDArray[np.float32], before: Sequence[Sight | None]) -> Rows:
    """(n, l) ``pillars`` with the evidence that a pillar whose picture is unchanged has not moved.

    A changed picture has many causes, so it adds nothing; a pillar that moves changes more of its picture than a piece
    may (:data:`ALONE_NATS`).
    """
    result = pillars.copy()
    nats = np.where(changed < STILL_SHARE, STILL_NATS, 0.0)
    for cell, sight in enumerate(before):
        if sight is not None and sight[0] is not None and sight[0] < pillars.shape[1]:
            result[cell, sight[0]] += nats[cell]
    return result


def camera_levels(layout: Layout, reading: Reading, before: Sequence[Sight | None] | None = None) -> Rows | None:
    """(n, l) log-likelihoods of the pillars' levels by the picture alone, in the order of ``layout``; None if unknown.

    ``before`` as in :func:`evidence_of`: a pillar whose picture alone has changed is no longer at its former level.
    """
    if reading.level_log_likelihood is None:
        return None
    rows = _row_numbers(layout, reading.cells)
    seen = reading.level_log_likelihood.astype(np.float64)[rows]
    if before is not None and reading.changed is not None:
        columns, best = columns_of(reading.states), reading.log_likelihood.argmax(axis=1)[rows]
        for cell in np.flatnonzero(_changed_alone(layout, reading.changed[rows])).tolist():
            sight, pillar = before[cell], before[len(rows) + cell]
            level = None if pillar is None else pillar[0]
            if sight is not None and columns.of(sight) == best[cell] and level is not None and np.ptp(seen[cell]):
                seen[cell, level] -= ALONE_NATS
                seen[cell] -= np.logaddexp.reduce(seen[cell])
    seen[(rows < 0) | (reading.outlier_share[rows] > OCCLUSION_THRESHOLD)] = -np.log(seen.shape[1])
    return seen


def _changed_alone(layout: Layout, changed: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """(n,) the cells whose picture has changed, by shares ``changed`` (n,), while that of no adjacent cell has.

    An adjacent cell whose share is unknown (NaN) counts as changed.
    """
    alone, most = changed >= ALONE_SHARE, np.where(np.isnan(changed), 1.0, changed)
    for each in np.flatnonzero(alone).tolist():
        alone[each] = changed[each] >= ALONE_TIMES * max(
            (most[cell] for cell in _neighbours(layout, each)), default=0.0
        )
    return alone


def _neighbours(layout: Layout, cell: Cell, reach: int = 1) -> Iterator[Cell]:
    """The cells up to ``reach`` files and ranks away from a cell: up to eight where that is 1."""
    steps = range(-reach, reach + 1)
    for across in steps:
        for up in steps:
            beside = layout.step(cell, across, up)
            if beside is not None and beside != cell:
                yield beside


def _moved_pillars(before: Sequence[Sight | None], pillars: Rows | None) -> Iterator[Cell]:
    """The cells whose pillar has another most probable level than ``before``, or was in doubt then."""
    if pillars is not None:
        for cell, sight in enumerate(before):
            if sight is None or sight[0] != int(pillars[cell].argmax()):
                yield cell


def _join_pillars(evidence: Evidence, pillars: Rows) -> Evidence:
    """The evidence of cells and pillars in one table: n rows of cells, then n rows of pillars."""
    n, m = evidence.log_p.shape
    levels = pillars.shape[1]
    log_p = np.full((2 * n, m + levels), min(evidence.log_p.min(), pillars.min()))
    log_p[:n, : m - 1] = evidence.log_p[:, :-1]
    log_p[n:, m - 1 : -1] = pillars - pillars.max(axis=1, keepdims=True)
    silent = np.concatenate((evidence.hidden, np.ptp(pillars, axis=1) == 0.0))
    log_p[silent] = 0.0
    pictured = np.zeros(log_p.shape)
    pictured[:n, : m - 1], pictured[:n, -1] = evidence.pictured[:, :-1], evidence.pictured[:, -1]
    covered = np.concatenate((evidence.covered, silent[n:]))
    return Evidence(columns_of(evidence.columns.states, levels), log_p, pictured, silent, covered, evidence.readings)


def _add_prior_state(
    log_p: npt.NDArray[np.float64],
    columns: Columns,
    before: Mapping[Cell, Sight],
    nats: npt.NDArray[np.float64],
    unseen: npt.NDArray[np.bool_],
) -> None:
    """Add to ``log_p`` (n, m + 1), at the state each cell held ``before``, the log-likelihoods ``nats`` (n,).

    On ``unseen`` cells (n,), also at states that look the same: no change in the picture speaks against these.
    """
    for cell, sight in before.items():
        column = columns.of(sight)
        if column < 0:
            continue
        if unseen[cell] and nats[cell] > 0:
            log_p[cell, log_p[cell] >= log_p[cell, column] - ALIKE_NATS] += nats[cell]
        else:
            log_p[cell, column] += nats[cell]


def _same_nats(
    layout: Layout, changed: npt.NDArray[np.float32], before: Mapping[Cell, Sight]
) -> npt.NDArray[np.float64]:
    """(n,) log-likelihoods that cells still hold what they held ``before``; 0 where the change is unknown."""
    nats = SAME_NATS[np.searchsorted(CHANGE_SHARES, changed, side="right")]
    was_empty = np.array([before.get(cell) == EMPTY_SIGHT for cell in range(len(changed))])
    nats = np.where(was_empty & _changed_alone(layout, changed), np.minimum(nats, -ALONE_NATS), nats)
    return np.where(np.isnan(changed), 0.0, nats)


def _lost_shadows(layout: Layout, reading: Reading, before: Mapping[Cell, Sight]) -> npt.NDArray[np.bool_]:
    """(n,) where something out of sight may have been moved or taken: a shadow near it has come or gone.

    That is, the picture of an empty cell alone has changed, and nothing came to it.  Nowhere if something that is in
    sight may have changed, too: then the shadow was that one's.
    """
    rows = _row_numbers(layout, reading.cells)
    lost = np.zeros(len(rows), np.bool_)
    if reading.changed is None or reading.unseen is None:
        return lost
    changed, unseen = reading.changed[rows], reading.unseen[rows]
    stood = np.array([before.get(cell, EMPTY_SIGHT) != EMPTY_SIGHT for cell in range(len(rows))])
    is_bare = reading.log_likelihood[rows].argmax(axis=1) == 0
    if (~unseen & np.where(stood, changed >= STILL_SHARE, ~is_bare)).any():
        return lost
    for cell in np.flatnonzero(_changed_alone(layout, changed) & ~stood).tolist():
        lost[list(_neighbours(layout, cell, SHADOW_CELLS))] = True
    lost &= stood & unseen
    return lost


@lru_cache(maxsize=16)
def _row_numbers(layout: Layout, cells: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """(n,) for each cell of the layout its row in the reading, −1 if it has none."""
    row = {name: i for i, name in enumerate(cells)}
    return np.array([row.get(name, -1) for name in layout.cells], dtype=np.intp)


def combine(frames: Sequence[Evidence]) -> Evidence:
    """The evidence of several readings of one calm table: each place's log-likelihoods averaged where it is visible.

    The mean and not the sum: the errors of frames of a motionless scene are correlated, so a third frame that is wrong
    in the same place is no further evidence.  Frames whose states differ from those of the last one are left out.
    """
    frames = [frame for frame in frames if frame.columns == frames[-1].columns]
    if len(frames) == 1:
        return frames[0]
    seen, readings = np.stack([~frame.hidden for frame in frames]), sum(frame.readings for frame in frames)
    count = np.maximum(seen.sum(axis=0), 1)[:, np.newaxis]
    log_p = np.sum([frame.log_p for frame in frames], axis=0) / count
    pictured = np.sum([frame.pictured for frame in frames], axis=0) / count
    covered = np.all([frame.covered for frame in frames], axis=0)
    return Evidence(frames[0].columns, log_p, pictured, np.asarray(~seen.any(axis=0)), np.asarray(covered), readings)


def mask_places(evidence: Evidence, places: frozenset[Place]) -> Evidence:
    """``evidence`` with ``places`` hidden: their log-likelihoods are 0."""
    if not places:
        return evidence
    log_p, pictured = evidence.log_p.copy(), evidence.pictured.copy()
    hidden, covered = evidence.hidden.copy(), evidence.covered.copy()
    rows = list(places)
    log_p[rows], pictured[rows], hidden[rows], covered[rows] = 0.0, 0.0, True, True
    return replace(evidence, log_p=log_p, pictured=pictured, hidden=hidden, covered=covered)


def touched_cells(layout: Layout, reading: Reading) -> frozenset[Cell]:
    """The cells that look as if something had been done there since the last picture that made sense."""
    if reading.changed is None:
        return frozenset()
    rows = _row_numbers(layout, reading.cells)
    share = np.where(rows < 0, 0.0, reading.changed[rows])
    return frozenset(int(cell) for cell in np.flatnonzero(share > CHANGE_SHARES[2]))


def changed_cells(layout: Layout, reading: Reading) -> frozenset[Cell]:
    """The cells that may have changed since the table last made sense; all of them if no comparison is possible."""
    if reading.changed is None:
        return frozenset(range(len(layout.cells)))
    rows = _row_numbers(layout, reading.cells)
    return frozenset(int(cell) for cell in np.flatnonzero((rows < 0) | ~(reading.changed[rows] <= STILL_SHARE)))


def shows_hand(reading: Reading) -> bool:
    """Whether something that is neither board nor piece lies over the board: then the table is not calm."""
    return bool((reading.outlier_share >= HAND_THRESHOLD).any())


def cells_against(evidence: Evidence, columns: npt.NDArray[np.intp], nats: float) -> frozenset[Cell]:
    """The cells where some state fits better than the expected one (``columns``, (n,)) by more than ``nats``."""
    here = np.arange(len(columns))
    gain = evidence.log_p.max(axis=1) - evidence.log_p[here, columns]
    return frozenset(int(cell) for cell in np.flatnonzero(gain > nats))


def cells_undecided(evidence: Evidence, columns: npt.NDArray[np.intp], nats: float) -> frozenset[Cell]:
    """The cells where the expected state fits better than any other by ``nats`` at most, as where all is hidden."""
    here, others = np.arange(len(columns)), evidence.log_p.copy()
    others[here, columns] = -np.inf
    gain = others.max(axis=1) - evidence.log_p[here, columns]
    return frozenset(int(cell) for cell in np.flatnonzero(gain >= -nats))
