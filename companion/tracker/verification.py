"""The second look: which of a few competing tables does the picture show?  A question to the vision, and its answer.

A reading says what each place shows, given its likeliest neighbours.  Before anybody is accused or asked, and whenever
the winner is not clear, the competing tables are compared with the pictures as wholes, where they differ.  Both have
looked at the same pixels: if they agree on the difference between two tables, the clearer one counts, not both; if they
contradict each other, the second look counts for less, unless it is clear, since it considers less.  About all other
tables a second look says nothing, and what else is known about a place, for instance that its picture is unchanged,
counts as before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from companion.rules.board import Cell, Layout, Sight
from companion.tracker.evidence import Evidence
from companion.tracker.hypotheses import Prediction, columns_with
from companion.tracker.scoring import Group
from companion.tracker.sights import Changes, Place, apply_changes
from vision.reading import CellState

CERTAIN = 0.9999
"""A winner with this posterior that accuses nobody is accepted without a second look.  Legal moves have some five nats
more of prior than acts: at 0.999 a square may look two nats more like the act, and the move still be accepted."""

MAX_TABLES = 3
"""Number of tables compared at once, at most."""

MAX_PLACES = 8
"""Tables that differ in more places are not misreadings of each other, and would take long to compare."""

VERIFIED_NATS = 25.0
"""Limit of a comparison's weight for each place in which two tables differ: it may be wrong without knowing it.  More
than a reading (15 nats by evidence.OUTLIER_PROBABILITY), which it is to overrule where it is clear."""

CONTRADICTING_NATS = 20.0
"""If a second look contradicts the reading, which considers shadows and grooves as well, so many nats of it count for
half, and fewer for less.  Of 2,040 pairs of tables that differ in one place in doubt, on 41 sets and boards of discs,
blocks and characters, the reading preferred the wrong one in 45, the second look in 138; both together in 66
(533 nats), or in 48 (286 nats) with this and less weight for colours on learned boards."""

REFUTED_NATS = math.log(CERTAIN / (1 - CERTAIN))
"""What appears only in views that a second look finds so much less likely than the best one is not there."""


@dataclass(frozen=True, slots=True)
class VerificationQuestion:
    """The question, at ``t_s``: which of these tables do the pictures of this calm show?

    Attributes:
        t_s: time of the newest frame, in seconds since the start.
        cells: names of the n cells.
        views: each table's differences from the last accepted view, the likeliest table first.
        tables: the same tables in full, each as n states that a camera can tell apart.
    """

    t_s: float
    cells: tuple[str, ...]
    views: tuple[Changes, ...]
    tables: tuple[tuple[CellState, ...], ...]


@dataclass(frozen=True, slots=True)
class VerificationAnswer:
    """The answer to a :class:`VerificationQuestion`.

    Attributes:
        log_p: log-likelihood of each table in question, in nats, up to a constant.
        picture: the place in question as the pictures show it, JPEG; empty if there is none.
        renderings: the same place as each of the tables would show it.
    """

    log_p: tuple[float, ...]
    picture: bytes = b""
    renderings: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedView:
    """A view's log-likelihood, in nats, relative to others compared in the same calm, and its rendering."""

    view: Changes
    log_p: float
    rendering: bytes


@dataclass(frozen=True, slots=True)
class SecondLook:
    """All answers of one calm: the views compared, and the place in question as the pictures show it, JPEG."""

    compared: tuple[ComparedView, ...]
    picture: bytes

    @property
    def log_p(self) -> Mapping[Changes, float]:
        """The log-likelihood of each view relative to the best: no less than −VERIFIED_NATS a place."""
        best = max(self.compared, key=lambda one: one.log_p)
        return {
            one.view: max(one.log_p - best.log_p, -VERIFIED_NATS * _places(one.view, best.view))
            for one in self.compared
        }

    @property
    def refuted(self) -> frozenset[tuple[Place, Sight]]:
        """What a place shows only in those views that the second look makes far less likely than the best."""
        log_ps = self.log_p
        likely = {change for view, log_p in log_ps.items() if log_p > -REFUTED_NATS for change in view}
        return frozenset(change for view in log_ps for change in view) - likely


def _places(one: Changes, other: Changes) -> int:
    """The number of places in which two views differ."""
    return len({place for place, _ in set(one) ^ set(other)})


def add_answer(before: SecondLook | None, views: Sequence[Changes], answer: VerificationAnswer) -> SecondLook:
    """The result once ``views`` have been compared too: the newest answer on each, on one scale with earlier ones."""
    pictures = answer.renderings or (b"",) * len(views)
    new = tuple(map(ComparedView, views, answer.log_p, pictures))
    known = {one.view: one.log_p for one in before.compared} if before else {}
    common = next((one for one in new if one.view in known), None)
    if before is None or common is None:
        return SecondLook(new, answer.picture)
    shift = known[common.view] - common.log_p
    anew = {one.view: replace(one, log_p=one.log_p + shift) for one in new}
    older = (one for one in before.compared if one.view not in anew)
    return SecondLook((*anew.values(), *older), answer.picture or before.picture)


def question(
    layout: Layout, prediction: Prediction, evidence: Evidence, views: Sequence[Changes], t_s: float
) -> VerificationQuestion | None:
    """The question that tells ``views`` apart, given the likeliest first; None if vision could not answer it.

    It cannot if views differ in the levels of pillars, in what is hidden or in what no camera can tell apart.
    """
    chosen: list[Changes] = []
    tables: list[tuple[CellState, ...]] = []
    for view in views:
        table = _states(evidence, apply_changes(prediction.sights, view)[: len(layout.cells)])
        if table is None or table in tables or not _is_comparable(evidence, [*chosen, view], len(layout.cells)):
            continue
        chosen.append(view)
        tables.append(table)
    chosen, tables = chosen[:MAX_TABLES], tables[:MAX_TABLES]
    return VerificationQuestion(t_s, layout.cells, tuple(chosen), tuple(tables)) if len(chosen) > 1 else None


def _states(evidence: Evidence, sights: Sequence[Sight]) -> tuple[CellState, ...] | None:
    """A view as the camera would name its states; None if it lacks one of them."""
    columns = [evidence.columns.of(sight) for sight in sights]
    return None if min(columns) < 0 else tuple(evidence.sight(column) for column in columns)


def _is_comparable(evidence: Evidence, views: Sequence[Changes], n: Cell) -> bool:
    """Whether the newest of ``views`` differs from the first one in few places, all of them visible cells."""
    places = {place for place, _ in set(views[0]) ^ set(views[-1])}
    return len(places) <= MAX_PLACES and not any(place >= n or evidence.covered[place] for place in places)


def reweigh(
    groups: Sequence[Group], look: SecondLook, evidence: Evidence, base: npt.NDArray[np.intp]
) -> tuple[Group, ...]:
    """``groups``, most probable first, with the joint posterior of the compared views redistributed among them."""
    by_look = look.log_p
    compared = [group for group in groups if group.changes in by_look]
    if len(compared) < 2:
        return tuple(groups)
    best = max(compared, key=lambda group: by_look[group.changes]).changes
    read = {group.changes: _as_read(evidence, base, group.changes) for group in compared}
    gains = [_gain(read[g.changes] - read[best], by_look[g.changes] - by_look[best]) for g in compared]
    logs = np.log([group.posterior for group in compared]) + np.array(gains)
    shares = np.exp(logs - np.logaddexp.reduce(logs)) * sum(group.posterior for group in compared)
    anew = {group.changes: float(share) for group, share in zip(compared, shares, strict=True)}
    weighed = (replace(group, posterior=anew.get(group.changes, group.posterior)) for group in groups)
    return tuple(sorted(weighed, key=lambda group: -group.posterior))


def _gain(reading: float, look: float) -> float:
    """The correction of a reading's log-likelihood ratio by the ratio of a second look.

    If they contradict each other, the second look's is added, discounted while it is small; else the larger one counts.
    """
    if reading * look < 0:
        return look * abs(look) / (abs(look) + CONTRADICTING_NATS)
    return look - reading if abs(look) > abs(reading) else 0.0


def _as_read(evidence: Evidence, base: npt.NDArray[np.intp], changes: Changes) -> float:
    """Log-likelihood of a view by the reading alone, relative to that of ``base``."""
    places = [place for place, _ in changes]
    columns = columns_with(evidence, base, changes)
    return float((evidence.pictured[places, columns[places]] - evidence.pictured[places, base[places]]).sum())


def competing_views(groups: Sequence[Group]) -> tuple[Changes, ...]:
    """The views that compete, in the order in which they are to be compared.

    The winner first; then the best legal one if the winner is illegal, or vice versa; then those that differ from the
    winner in heights only, since these are misread most often; then the rest; last, if the winner is an accusation, the
    accepted view, so that no accusation goes without this comparison.
    """
    winner, others = groups[0], groups[1:]
    opposed = [group for group in others if group.is_illegal is not winner.is_illegal][:1]
    heights = [group for group in others if _differ_in_heights(group.changes, winner.changes)]
    ordered = (winner, *opposed, *heights, *others)
    views = [group.changes for group in ordered]
    return tuple(dict.fromkeys([*views, ()] if winner.is_illegal else views))


def _differ_in_heights(one: Changes, other: Changes) -> bool:
    """Whether both have the same pieces on top, but on stacks of other heights."""
    return [(place, top) for place, (_, top) in one] == [(place, top) for place, (_, top) in other]
