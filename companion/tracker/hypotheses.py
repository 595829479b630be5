"""Hypotheses about the table, given the match, each with its prior.

All of them are weighed together (:mod:`companion.tracker.interpret`).  The priors are orders of magnitude of what
happens at a table; the likelihood of a single well-read cell outweighs most of them, so the picture decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import log

import numpy as np
import numpy.typing as npt

from companion.match import Match
from companion.rules.board import Cell, Sight, Table
from companion.rules.game import Attempt, Game, Move, Position, Stage
from companion.tracker.evidence import Columns, Evidence, cells_against
from companion.tracker.sights import PILLAR, Changes, Place, cell_of, is_pillar, table_sights

LOG_PRIOR_NO_CHANGE = log(0.5)
"""Log prior of no change: half of all calm scenes."""

LOG_PRIOR_MOVE = log(0.4)
"""Log prior of a legal move, shared equally among all legal moves."""

LOG_PRIOR_TAKE_BACK = log(0.01)
"""Log prior of taking back the last move; each further move halves the prior."""

LOG_PRIOR_PLIES, LOG_PRIOR_PLY = -1.5, -6.0
"""Log prior of several plies since the last verdict: once, and for each ply.  A pair of quick plies happens in one turn
in fifty, shared among some thousand pairs; more only pass unseen when the view was bad for a while."""

LOG_PRIOR_ACT = -8.0
"""Log prior of one illegal act: some three nats less than a legal move of a usual position, so that a doubtful cell is
read in favour of the rules, and a well-read one is not.  One act in thirty turns, shared among hundreds that look
different, would be less still; but an act that stands plainly on the table must be named even if it changes one cell
only, against the 15 nats of evidence.OUTLIER_PROBABILITY."""

LOG_PRIOR_FAULT, LOG_PRIOR_FAULT_CELL = -3.0, -5.0
"""Log prior of a fault on an expected table: once, and for each cell.  One cell costs as much as an illegal act."""

CHANGED_NATS = 1.0
"""Log-likelihood ratio of a cell's best state to the expected one above which the cell may have changed."""

GONE_NATS = 7.0
"""A piece that is gone from its place may lie where that is less likely than what was there by no more than this: a
thousandth, which a second look can still turn.  Two of a campaign's pieces that had seemed to be off the board lay, in
deep shade and of the pillars' colour, where readings favoured them by 0.4 and spoke against them by 2.0 nats."""

FEW_FAULTS = 3
"""If more cells than this differ from the expected table, no hypotheses with a fault in a single one are tried."""

LOG_PRIOR_FAULT_PIECE = -2.0
"""Added for every further piece by which a cell has grown: nobody smuggles in five pieces, but a cell may look so."""

LOG_PRIOR_FAULT_EXCHANGED = -4.0
"""Added for another piece on top of a stack of the same height, besides a move: that takes two more pieces and two more
grips, while something that a move shades or partly hides is misread now and then."""

LOG_PRIOR_COMPLETION = log(0.5)
"""Log prior that a turn seen half done has been completed; shared among the moves that it may be part of."""

LOG_PRIOR_DOUBTED = log(0.3)
"""Log prior that a line which was probable, but in doubt, has been played: if people go on without answering a
question, their next move tells.  Shared among the lines in doubt; the log prior of the next move is added."""

LOG_PRIOR_STANDING = log(0.25)
"""Log prior that a table that has been announced (half done, illegal, in question) is unchanged."""

QUICK_PLIES, MAX_PLIES = 2, 4
"""Number of plies that may follow each other before a calm table is seen, and the upper limit: one further ply for each
calm table in a row that was unclear, since three plies of two players look like two acts of one of them."""

MAX_LEVELS = 6
"""Number of levels by which a pillar may jump at most: from end to end of the model with sensors."""

MAX_CELLS, MAX_POSITIONS = 8, 100
"""Sequences are sought if at most so many cells have changed, through so many positions: a few milliseconds."""

LOG_PRIOR_REPLAY = -13.5
"""Log prior of at most MAX_REPLAYED moves taken back and another one played in one go: as rare as two plies."""

MAX_REPLAYED = 3


@dataclass(frozen=True, slots=True)
class NoChange:
    """The table of the last accepted position."""


@dataclass(frozen=True, slots=True)
class CompleteMove:
    """A legal move, complete."""

    move: Move


@dataclass(frozen=True, slots=True)
class PartialMove:
    """A legal move that is half done."""

    move: Move
    stage: Stage


@dataclass(frozen=True, slots=True)
class MoveSequence:
    """The last ``undone`` moves taken back, then ``moves`` played, all legal; a single move alone is a CompleteMove."""

    moves: tuple[Move, ...]
    undone: int = 0

    def after(self, match: Match) -> Match:
        """The match after this sequence; raises what :meth:`Match.take_back` raises."""
        return reduce(Match.play, self.moves, match.take_back(self.undone) if self.undone else match)


@dataclass(frozen=True, slots=True)
class SequenceThenAct:
    """A line that had been in doubt, followed by one illegal act."""

    line: MoveSequence


@dataclass(frozen=True, slots=True)
class SingleAct:
    """A single act, not yet known to be illegal."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class PillarJump:
    """One pillar moved by several levels at once: a single act for which there is no notation."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """No act of the other classes: each cell holds its most probable state."""


Cause = NoChange | CompleteMove | PartialMove | MoveSequence | SequenceThenAct | SingleAct | PillarJump | Unexplained


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What may have happened, its log prior, and how its view differs from the last accepted one."""

    cause: Cause
    prior: float
    changes: Changes


@dataclass(frozen=True)
class Prediction:
    """What the table of ``match`` shows, and what may follow from it, computed before any picture is read.

    Attributes:
        table: the table of the last accepted position.
        sights: its view, place by place (:mod:`companion.tracker.sights`).
        expected: turns, their stages, take-backs and no change; see :class:`Batch`.
    """

    match: Match
    table: Table
    sights: tuple[Sight, ...]
    expected: Batch

    @cached_property
    def due(self) -> frozenset[tuple[Place, Sight]]:
        """Every sight of a place that an expected change leads to: a move, half done or whole, or a take-back."""
        return frozenset(change for hypothesis in self.expected.hypotheses for change in hypothesis.changes)


class Batch:
    """Hypotheses with their changes as flat arrays, so that all are scored by three array operations."""

    def __init__(self, hypotheses: Iterable[Hypothesis]) -> None:
        self.hypotheses = tuple(hypotheses)
        rows = [(i, cell, sight) for i, h in enumerate(self.hypotheses) for cell, sight in h.changes]
        self._owner = np.array([row[0] for row in rows], dtype=np.intp)
        self._cell = np.array([row[1] for row in rows], dtype=np.intp)
        self._sights = tuple(row[2] for row in rows)
        self._prior = np.array([h.prior for h in self.hypotheses], dtype=np.float64)

    def score(self, evidence: Evidence, base: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """(k,) float64, log prior plus log-likelihood ratio against the last accepted view ``base`` (n,)."""
        if not len(self._owner):
            return self._prior
        column = np.fromiter(map(evidence.columns.of, self._sights), dtype=np.intp, count=len(self._sights))
        gain = evidence.log_p[self._cell, column] - evidence.log_p[self._cell, base[self._cell]]
        return self._prior + np.bincount(self._owner, weights=gain, minlength=len(self.hypotheses))


def base_columns(columns: Columns, sights: Sequence[Sight]) -> npt.NDArray[np.intp]:
    """(n,) the columns of a whole view."""
    return np.fromiter(map(columns.of, sights), dtype=np.intp, count=len(sights))


def predict(match: Match) -> Prediction:
    """The prediction for ``match``: a few milliseconds' work, so it is kept until the match goes on."""
    game, position = match.game, match.position
    table = game.table(position)
    sights = table_sights(game, table)
    diff = _ViewDiff(game, table, sights)
    hypotheses = [
        Hypothesis(NoChange(), LOG_PRIOR_NO_CHANGE, ()),
        *diff.complete_moves(position),
        *diff.take_backs(match),
    ]
    return Prediction(match, table, sights, Batch(hypotheses))


@dataclass(frozen=True)
class _ViewDiff:
    """Expresses tables as differences from the last accepted view."""

    game: Game
    table: Table
    sights: tuple[Sight, ...]

    def changes(self, table: Table) -> Changes:
        """The places whose sight differs, with the sight on ``table``."""
        found: list[tuple[Place, Sight]] = []
        for cell, (before, after) in enumerate(zip(self.table.stacks, table.stacks, strict=True)):
            if before != after and (sight := self.game.sight(after)) != self.sights[cell]:
                found.append((cell, sight))
        if table.levels is not None and table.levels != self.table.levels:
            for place, level in enumerate(table.levels, start=len(table.stacks)):
                if level != self.sights[place][0]:
                    found.append((place, (level, PILLAR)))
        return tuple(found)

    def complete_moves(self, position: Position) -> Iterator[Hypothesis]:
        """Legal moves and their intermediate tables; none once the game is over."""
        moves = self.game.legal_moves(position)
        prior = LOG_PRIOR_MOVE - log(max(len(moves), 1))
        for move in moves:
            yield Hypothesis(CompleteMove(move), prior, self.changes(self.game.table(self.game.play(position, move))))
            for stage in self.game.stages(position, move):
                yield Hypothesis(PartialMove(move, stage), prior, self.changes(stage.table))

    def take_backs(self, match: Match) -> Iterator[Hypothesis]:
        """Take-backs to every earlier position that no arbiter's ruling cuts off."""
        earlier = list(match.positions())[-2::-1][: match.undoable]
        for n, position in enumerate(earlier, start=1):
            yield Hypothesis(
                MoveSequence((), n), LOG_PRIOR_TAKE_BACK - (n - 1) * log(2), self.changes(self.game.table(position))
            )


def acts_within(prediction: Prediction, cells: frozenset[Cell]) -> Iterator[Hypothesis]:
    """Single acts that change no cell but ``cells``."""
    diff = _ViewDiff(prediction.match.game, prediction.table, prediction.sights)
    for attempt in diff.game.attempts(prediction.match.position, cells):
        yield Hypothesis(SingleAct(attempt), LOG_PRIOR_ACT, diff.changes(attempt.table))
    for place, (level, _) in enumerate(
        prediction.sights[len(prediction.table.stacks) :], start=len(prediction.table.stacks)
    ):
        if place - len(prediction.table.stacks) in cells and level is not None:
            for jump in range(2, MAX_LEVELS + 1):
                for there in (level + jump, level - jump):
                    yield Hypothesis(PillarJump(), LOG_PRIOR_ACT, ((place, (there, PILLAR)),))


def acts_reaching(prediction: Prediction, cells: frozenset[Cell], others: frozenset[Cell]) -> Iterator[Hypothesis]:
    """Single acts that change all of ``cells`` and some of the ``others``, but nothing else."""
    for hypothesis in acts_within(prediction, cells | others):
        changed = {cell_of(prediction.match.game.layout, place) for place, _ in hypothesis.changes}
        if changed > cells:
            yield hypothesis


def acts_beside(prediction: Prediction, cells: frozenset[Cell], hidden: frozenset[Cell]) -> Iterator[Hypothesis]:
    """Single acts that change ``cells`` and at least one ``hidden`` cell, where exactly one such act fits."""
    diff = _ViewDiff(prediction.match.game, prediction.table, prediction.sights)
    found: dict[Changes, list[Hypothesis]] = {}
    for attempt in diff.game.attempts(prediction.match.position, cells | hidden):
        changes = diff.changes(attempt.table)
        seen = tuple(change for change in changes if cell_of(diff.game.layout, change[0]) in cells)
        if seen and len(seen) < len(changes):
            found.setdefault(seen, []).append(Hypothesis(SingleAct(attempt), LOG_PRIOR_ACT, changes))
    yield from (acts[0] for acts in found.values() if len(acts) == 1)


def sequences_within(prediction: Prediction, cells: frozenset[Cell], most: int) -> Iterator[Hypothesis]:
    """Two to ``most`` plies that together change ``cells`` and little else, each of them visibly.

    At most one other cell may be touched, since what one ply changes another can change back; and at most one of
    ``cells`` may be left over, since it may merely be misread.
    """
    game = prediction.match.game
    diff = _ViewDiff(game, prediction.table, prediction.sights)
    waiting: deque[tuple[Position, tuple[Move, ...], frozenset[Cell]]] = deque()
    waiting.append((prediction.match.position, (), frozenset()))
    for _ in range(MAX_POSITIONS):
        if not waiting:
            return
        position, moves, before = waiting.popleft()
        # Each further ply touches two cells, and those of the pieces that it captures.
        still = (2 + game.most_taken) * (most - len(moves) - 1) + 1
        for move in game.legal_moves(position):
            touched = before.union(move.cells)
            if len(touched - cells) > 1 or len(cells - touched) > still:
                continue
            following = game.play(position, move)
            if _looks_same(game, position, following):
                continue
            plies = (*moves, move)
            if len(plies) > 1:
                prior = LOG_PRIOR_PLIES + LOG_PRIOR_PLY * len(plies)
                yield Hypothesis(MoveSequence(plies), prior, diff.changes(game.table(following)))
            if len(plies) < most:
                waiting.append((following, plies, touched))


def continuations(
    prediction: Prediction, doubted: Sequence[MoveSequence], cells: frozenset[Cell]
) -> Iterator[Hypothesis]:
    """One more legal move, whole or half done, after each of the ``doubted`` lines, which confirms that line.

    Or an illegal act that, together with the line, changes no cell but ``cells``: it confirms the line too.
    """
    game = prediction.match.game
    diff = _ViewDiff(game, prediction.table, prediction.sights)
    for line in doubted:
        match = line.after(prediction.match)
        following = game.legal_moves(match.position)
        played = LOG_PRIOR_DOUBTED - log(len(doubted))
        prior, legal = played + LOG_PRIOR_MOVE - log(max(len(following), 1)), {diff.changes(game.table(match.position))}
        for move in following:
            after = game.play(match.position, move)
            changes = diff.changes(game.table(after))
            legal.add(changes)
            if not _looks_same(game, match.position, after):
                yield Hypothesis(replace(line, moves=(*line.moves, move)), prior, changes)
            for stage in game.stages(match.position, move):
                legal.add(changes := diff.changes(stage.table))
                yield Hypothesis(line, prior, changes)
        acts = {diff.changes(attempt.table) for attempt in game.attempts(match.position, cells)}
        yield from (Hypothesis(SequenceThenAct(line), played + LOG_PRIOR_ACT, changes) for changes in acts - legal)


def _looks_same(game: Game, before: Position, after: Position) -> bool:
    """Whether a ply leaves the board visibly unchanged: such a ply is never assumed to have passed unseen."""
    here, there = game.table(before), game.table(after)
    pairs = zip(here.stacks, there.stacks, strict=True)
    return here.levels == there.levels and all(a == b or game.sight(a) == game.sight(b) for a, b in pairs)


def replays_within(prediction: Prediction, cells: frozenset[Cell]) -> Iterator[Hypothesis]:
    """A few moves taken back and one legal move played instead, which together change no cell but ``cells``."""
    match = prediction.match
    diff = _ViewDiff(match.game, prediction.table, prediction.sights)
    for back in prediction.expected.hypotheses:
        if not isinstance(back.cause, MoveSequence) or back.cause.undone > MAX_REPLAYED:
            continue
        undone = {cell_of(match.game.layout, place) for place, _ in back.changes}
        earlier = back.cause.after(match).position
        for move in match.game.legal_moves(earlier):
            touched = set(move.cells)
            if undone - cells <= touched <= cells | undone:
                changes = diff.changes(match.game.table(match.game.play(earlier, move)))
                yield Hypothesis(replace(back.cause, moves=(move,)), LOG_PRIOR_REPLAY, changes)


def with_likely_faults(expected: Hypothesis, evidence: Evidence, base: npt.NDArray[np.intp]) -> Iterator[Hypothesis]:
    """``expected`` with faults: each cell shows its own best state where that outweighs the prior of a fault.

    If there are only a few such cells, each is tried alone too: a second look can tell whether the others are misread.
    """
    cells = sorted(cells_against(evidence, columns_with(evidence, base, expected.changes), -LOG_PRIOR_FAULT_CELL))
    for wrong in ([cells] if cells else []) + ([[cell] for cell in cells] if 1 < len(cells) <= FEW_FAULTS else []):
        yield _with_faults(expected, wrong, evidence, base)


def with_possible_fault(expected: Hypothesis, evidence: Evidence, base: npt.NDArray[np.intp]) -> Iterator[Hypothesis]:
    """``expected`` with one fault, in each of a few cells, even if the likelihood hardly outweighs its prior.

    Such a hypothesis is compared in a second look before anything is announced.
    """
    cells = sorted(cells_against(evidence, columns_with(evidence, base, expected.changes), CHANGED_NATS))
    for cell in cells if len(cells) <= FEW_FAULTS else []:
        yield _with_faults(expected, [cell], evidence, base)


def for_compared_views(prediction: Prediction, views: Iterable[Changes]) -> Iterator[Hypothesis]:
    """Hypotheses for the ``views`` that a second look has compared, as faults on the accepted table.

    If two states of a cell are about equally likely, its best state may alternate between readings; so compared views
    remain hypotheses even if the present reading would not suggest them.
    """
    for view in views:
        price = sum(_fault_log_prior(prediction.sights[place], sight, is_besides=False) for place, sight in view)
        yield Hypothesis(Unexplained(), LOG_PRIOR_NO_CHANGE + LOG_PRIOR_FAULT + price, view)


def _with_faults(
    expected: Hypothesis, wrong: Sequence[Place], evidence: Evidence, base: npt.NDArray[np.intp]
) -> Hypothesis:
    """``expected``, except that each place that is ``wrong`` shows its best state."""
    columns, best = columns_with(evidence, base, expected.changes), evidence.best()
    seen = {place: evidence.sight(int(best[place])) for place in wrong}
    view = sorted((dict(expected.changes) | seen).items())
    changes = tuple((place, sight) for place, sight in view if evidence.columns.of(sight) != base[place])
    is_besides = bool(expected.changes)
    there = ((evidence.sight(int(columns[place])), sight) for place, sight in seen.items())
    price = sum(_fault_log_prior(expects, sight, is_besides=is_besides) for expects, sight in there)
    return Hypothesis(Unexplained(), expected.prior + LOG_PRIOR_FAULT + price, changes)


def _fault_log_prior(expected: Sight, seen: Sight, *, is_besides: bool) -> float:
    """Log prior of one sight where another is expected; ``is_besides``: other places have changed, too."""
    if is_pillar(seen):
        return LOG_PRIOR_FAULT_CELL
    growth = (seen[0] or 0) - (expected[0] or 0)
    is_exchanged = is_besides and seen[0] is not None and seen[0] == expected[0]
    return LOG_PRIOR_FAULT_CELL + LOG_PRIOR_FAULT_PIECE * max(0, growth - 1) + LOG_PRIOR_FAULT_EXCHANGED * is_exchanged


def columns_with(evidence: Evidence, base: npt.NDArray[np.intp], changes: Changes) -> npt.NDArray[np.intp]:
    """(n,) the columns of the view that differs from ``base`` by ``changes``."""
    columns = base.copy()
    for cell, sight in changes:
        columns[cell] = evidence.columns.of(sight)
    return columns
