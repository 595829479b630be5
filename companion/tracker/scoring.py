"""All hypotheses scored against the evidence: which views of the table are probable, and what would explain each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from companion.rules.game import Move
from companion.tracker.evidence import Evidence, cells_against, cells_undecided
from companion.tracker.hands import NOBODY_CAME, Hands
from companion.tracker.hypotheses import (
    CHANGED_NATS,
    LOG_BEGUN,
    LOG_FAULT_CELL,
    LOG_STANDING,
    MOST_CELLS,
    MOST_PLIES,
    QUICK_PLIES,
    Act,
    Batch,
    Hypothesis,
    Jump,
    Line,
    LineAndAct,
    Other,
    Prediction,
    Story,
    Turn,
    acts_beside,
    acts_within,
    columns_with,
    compared,
    continued,
    doubtful,
    faulty,
    replays_within,
    sequences_within,
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
    doubted: tuple[Line, ...] = ()
    distrusted: frozenset[Place] = frozenset()
    is_done: bool = False
    hands: Hands = NOBODY_CAME
    contested: frozenset[Place] = frozenset()


@dataclass(frozen=True)
class Group:
    """Hypotheses with the same view, and their joint posterior."""

    changes: Changes
    stories: tuple[Story, ...]
    posterior: float

    @property
    def is_wrong(self) -> bool:
        """Whether no legal hypothesis has this view."""
        return all(isinstance(story, (Act, LineAndAct, Jump, Other)) for story in self.stories)

    def legal(self) -> Iterator[tuple[Move, ...]]:
        """The legal ways to this view: single moves, or sequences if no single move leads here."""
        turns: list[tuple[Move, ...]] = [(story.move,) for story in self.stories if isinstance(story, Turn)]
        yield from turns or [line.moves for line in self.lines if not line.undone]

    @property
    def lines(self) -> tuple[Line, ...]:
        """Take-backs and sequences of moves that lead to this view."""
        return tuple(story for story in self.stories if isinstance(story, Line))


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
    field = _Field(evidence, base)
    field.enter(
        prediction.expected, [_boost(h, context) for h in prediction.expected.hypotheses] if context.begun else None
    )
    if context.standing is not None and not _is_a_turn(prediction, context.standing):
        field.enter(Batch([Hypothesis(Other(), LOG_STANDING, context.standing)]))
    places = cells_against(evidence, base, CHANGED_NATS)
    changed = frozenset(cell_of(prediction.match.game.layout, place) for place in places)
    if changed:
        nearest = [prediction.expected.hypotheses[0], *field.best(NEAREST)]
        field.enter(Batch(acts_within(prediction, changed)))
        field.enter(Batch(continued(prediction, context.doubted, changed)))
        if field.is_unexplained():
            field.enter(Batch(replays_within(prediction, changed)))
            if len(changed) <= MOST_CELLS:
                most = min(QUICK_PLIES + context.unclear, MOST_PLIES)
                field.enter(Batch(sequences_within(prediction, changed, most)))
        # Several plies must not explain away one cell that looks different.  What follows doubted lines, acts
        # included, comes from `continued`, so that these lines count as true.
        if not context.doubted:
            nearest += [h for h in field.best(1) if isinstance(h.story, Line) and not h.story.undone]
        field.enter(Batch(other for h in nearest for other in faulty(h, evidence, base)))
        field.enter_likelier(other for h in nearest for other in doubtful(h, evidence, base))
        if isinstance(field.best(1)[0].story, Other):
            hidden = cells_undecided(evidence, base, CHANGED_NATS).intersection(range(len(prediction.table.stacks)))
            if hidden - changed:
                field.enter(Batch(acts_beside(prediction, changed, hidden - changed)))
    field.enter_likelier(compared(prediction, looked_at))
    return _grouped(field.hypotheses, field.scores)


class _Field:
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
            cells_against(self._evidence, columns_with(self._evidence, self._base, best.changes), -LOG_FAULT_CELL)
        )


def legal_without(groups: Sequence[Group], contested: frozenset[Place]) -> tuple[tuple[Move, ...], ...]:
    """The moves that the likeliest view shows apart from ``contested`` pillars; none if it is a move with them.

    If only a contested pillar has moved, against its sensor, the camera is believed.  If one has moved besides a
    complete move, that takes a sensor failing just then and a second act, both rare: a misread pillar is as likely.
    """
    best = groups[0]
    rest = tuple((place, sight) for place, sight in best.changes if place not in contested)
    if rest in ((), best.changes) or any(isinstance(story, Turn) for story in best.stories):
        return ()
    stories = (story for group in groups if group.changes == rest for story in group.stories)
    return tuple((story.move,) for story in stories if isinstance(story, Turn))


def _is_a_turn(prediction: Prediction, changes: Changes) -> bool:
    """Whether a legal move looks like this: having asked about it makes it no likelier."""
    return any(h.changes == changes for h in prediction.expected.hypotheses if isinstance(h.story, Turn))


def _boost(hypothesis: Hypothesis, context: Context) -> float:
    """What having seen a turn half done adds to the log prior of its completion."""
    story = hypothesis.story
    is_end = isinstance(story, Turn) and story.move in context.begun
    return LOG_BEGUN - log(len(context.begun)) - hypothesis.prior if is_end else 0.0


def _grouped(hypotheses: list[Hypothesis], scores: npt.NDArray[np.float64]) -> tuple[Group, ...]:
    """Views with their posteriors, most probable first: hypotheses with the same view are added up."""
    weight = np.exp(scores - scores.max())
    total = float(weight.sum())
    members: dict[Changes, list[int]] = {}
    for i in np.flatnonzero(scores > scores.max() - FAR_BEHIND):
        members.setdefault(hypotheses[i].changes, []).append(int(i))
    groups = [
        Group(changes, tuple(hypotheses[i].story for i in rows), float(weight[rows].sum()) / total)
        for changes, rows in members.items()
    ]
    return tuple(sorted(groups, key=lambda group: -group.posterior))
