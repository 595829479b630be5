"""All hypotheses scored against the evidence: which views of the table are probable, and what would explain each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from companion.rules.game import Move
from companion.tracker.evidence import Evidence, cells_against, cells_undecided
from companion.tracker.hands import NO_HANDS, Hands
from companion.tracker.hypotheses import (
    CHANGED_NATS,
    GONE_NATS,
    LOG_PRIOR_COMPLETION,
    LOG_PRIOR_FAULT_CELL,
    LOG_PRIOR_STANDING,
    MAX_CELLS,
    MAX_PLIES,
    QUICK_PLIES,
    Batch,
    Cause,
    CompleteMove,
    Hypothesis,
    MoveSequence,
    PillarJump,
    Prediction,
    SequenceThenAct,
    SingleAct,
    Unexplained,
    acts_beside,
    acts_reaching,
    acts_within,
    columns_with,
    continuations,
    for_compared_views,
    replays_within,
    sequences_within,
    with_likely_faults,
    with_possible_fault,
)
from companion.tracker.sights import Changes, Place, cell_of

FAR_BEHIND = 25.0
"""Views more than this many nats below the best are not ranked: together their posterior is below 1e-8."""

NEAREST = 3
"""Number of the best expected tables that are also tried with faults on top."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the referee knows besides the match.

    ``begun``: the moves that a turn seen half done may become; ``standing``: another table that it has announced;
    ``unclear``: how many calm tables in a row it could not understand; ``doubted``: the lines that the last table may
    show, whether people were asked about them or not;
    ``distrusted``: places that people say are misread; ``is_done``: a player says that his turn is complete;
    ``hands``: from which sides arms have reached over the board; ``contested``: pillars about which camera and sensor
    disagree.
    """

    begun: tuple[Move, ...] = ()
    standing: Changes | None = None
    unclear: int = 0
    doubted: tuple[MoveSequence, ...] = ()
    distrusted: frozenset[Place] = frozenset()
    is_done: bool = False
    hands: Hands = NO_HANDS
    contested: frozenset[Place] = frozenset()


@dataclass(frozen=True)
class Group:
    """Hypotheses with the same view, and their joint posterior."""

    changes: Changes
    causes: tuple[Cause, ...]
    posterior: float

    @property
    def is_illegal(self) -> bool:
        """Whether no legal hypothesis has this view."""
        return all(isinstance(cause, (SingleAct, SequenceThenAct, PillarJump, Unexplained)) for cause in self.causes)

    def legal(self) -> Iterator[tuple[Move, ...]]:
        """The legal ways to this view: single moves, or sequences if no single move leads here."""
        single_moves: list[tuple[Move, ...]] = [
            (cause.move,) for cause in self.causes if isinstance(cause, CompleteMove)
        ]
        yield from single_moves or [line.moves for line in self.lines if not line.undone]

    @property
    def lines(self) -> tuple[MoveSequence, ...]:
        """Take-backs and sequences of moves that lead to this view."""
        return tuple(cause for cause in self.causes if isinstance(cause, MoveSequence))


def score_hypotheses(
    evidence: Evidence,
    prediction: Prediction,
    context: Context,
    base: npt.NDArray[np.intp],
    looked_at: Collection[Changes] = (),
) -> tuple[Group, ...]:
    """The probable views, best first; ``base`` (n,) are the columns of the last accepted one.

    ``looked_at`` are the views that a second look has compared in this calm.
    """
    field = _ScoredHypotheses(evidence, base)
    field.enter(
        prediction.expected, [_boost(h, context) for h in prediction.expected.hypotheses] if context.begun else None
    )
    if context.standing is not None and not _is_complete_move(prediction, context.standing):
        field.enter(Batch([Hypothesis(Unexplained(), LOG_PRIOR_STANDING, context.standing)]))
    places = cells_against(evidence, base, CHANGED_NATS)
    changed = frozenset(cell_of(prediction.match.game.layout, place) for place in places)
    if changed:
        nearest = [prediction.expected.hypotheses[0], *field.best(NEAREST)]
        field.enter(Batch(acts_within(prediction, changed)))
        if _is_removal(field.best(1)[0].cause):
            # Pieces do not vanish: this one may lie where it is hardly seen.
            seen = frozenset(np.flatnonzero(~evidence.hidden[: len(prediction.table.stacks)]).tolist())
            doubtful = cells_undecided(evidence, base, GONE_NATS) & seen
            field.enter(Batch(acts_reaching(prediction, changed, doubtful - changed)))
        field.enter(Batch(continuations(prediction, context.doubted, changed)))
        if field.is_unexplained():
            field.enter(Batch(replays_within(prediction, changed)))
            if len(changed) <= MAX_CELLS:
                most = min(QUICK_PLIES + context.unclear, MAX_PLIES)
                field.enter(Batch(sequences_within(prediction, changed, most)))
        # Several plies must not explain away one cell that looks different.  What follows doubted lines, acts
        # included, comes from `continuations`, so that these lines count as true.
        if not context.doubted:
            nearest += [h for h in field.best(1) if isinstance(h.cause, MoveSequence) and not h.cause.undone]
        field.enter(Batch(other for h in nearest for other in with_likely_faults(h, evidence, base)))
        field.enter_likelier(other for h in nearest for other in with_possible_fault(h, evidence, base))
        if isinstance(field.best(1)[0].cause, Unexplained):
            hidden = cells_undecided(evidence, base, CHANGED_NATS).intersection(range(len(prediction.table.stacks)))
            if hidden - changed:
                field.enter(Batch(acts_beside(prediction, changed, hidden - changed)))
    field.enter_likelier(for_compared_views(prediction, looked_at))
    return _grouped(field.hypotheses, field.scores)


class _ScoredHypotheses:
    """The hypotheses scored so far, with their scores."""

    def __init__(self, evidence: Evidence, base: npt.NDArray[np.intp]) -> None:
        self._evidence, self._base = evidence, base
        self.hypotheses: list[Hypothesis] = []
        self.scores = np.empty(0)

    def enter(self, batch: Batch, boosts: Iterable[float] | None = None) -> None:
        """Score further hypotheses; ``boosts`` are log-prior offsets."""
        scores = batch.score(self._evidence, self._base)
        self.scores = np.concatenate((self.scores, scores if boosts is None else scores + np.array(list(boosts))))
        self.hypotheses.extend(batch.hypotheses)

    def enter_likelier(self, hypotheses: Iterable[Hypothesis]) -> None:
        """Score those with a higher prior than any known explanation of the same view; the others are dropped."""
        best = {hypothesis.changes: hypothesis for hypothesis in sorted(hypotheses, key=lambda h: h.prior)}
        for known in self.hypotheses if best else ():
            if known.changes in best and known.prior >= best[known.changes].prior:
                del best[known.changes]
        if best:
            self.enter(Batch(best.values()))

    def best(self, n: int) -> list[Hypothesis]:
        """The ``n`` best hypotheses, the best first."""
        return [self.hypotheses[i] for i in np.argsort(-self.scores)[:n]]

    def is_unexplained(self) -> bool:
        """Whether some cell contradicts even the best hypothesis."""
        (best,) = self.best(1)
        return bool(
            cells_against(self._evidence, columns_with(self._evidence, self._base, best.changes), -LOG_PRIOR_FAULT_CELL)
        )


def legal_without(groups: Sequence[Group], contested: frozenset[Place]) -> tuple[tuple[Move, ...], ...]:
    """The moves that the likeliest view shows apart from ``contested`` pillars; none if it is a move with them.

    If only a contested pillar has moved, against its sensor, the camera is believed.  If one has moved besides a
    complete move, that takes a sensor failing just then and a second act, both rare: a misread pillar is as likely.
    """
    best = groups[0]
    rest = tuple((place, sight) for place, sight in best.changes if place not in contested)
    if rest in ((), best.changes) or any(isinstance(cause, CompleteMove) for cause in best.causes):
        return ()
    causes = (cause for group in groups if group.changes == rest for cause in group.causes)
    return tuple((cause.move,) for cause in causes if isinstance(cause, CompleteMove))


def _is_removal(cause: Cause) -> bool:
    """Whether a piece was taken off the board, and nothing else done, against the rules or not."""
    return isinstance(cause, SingleAct) and cause.attempt.move.target is None


def _is_complete_move(prediction: Prediction, changes: Changes) -> bool:
    """Whether a legal move looks like this: having asked about it makes it no likelier."""
    return any(h.changes == changes for h in prediction.expected.hypotheses if isinstance(h.cause, CompleteMove))


def _boost(hypothesis: Hypothesis, context: Context) -> float:
    """What having seen a turn half done adds to the log prior of its completion."""
    cause = hypothesis.cause
    is_end = isinstance(cause, CompleteMove) and cause.move in context.begun
    return LOG_PRIOR_COMPLETION - log(len(context.begun)) - hypothesis.prior if is_end else 0.0


def _grouped(hypotheses: list[Hypothesis], scores: npt.NDArray[np.float64]) -> tuple[Group, ...]:
    """Views with their posteriors, most probable first: hypotheses with the same view are added up."""
    weight = np.exp(scores - scores.max())
    total = float(weight.sum())
    members: dict[Changes, list[int]] = {}
    for i in np.flatnonzero(scores > scores.max() - FAR_BEHIND):
        members.setdefault(hypotheses[i].changes, []).append(int(i))
    groups = [
        Group(changes, tuple(hypotheses[i].cause for i in rows), float(weight[rows].sum()) / total)
        for changes, rows in members.items()
    ]
    return tuple(sorted(groups, key=lambda group: -group.posterior))
