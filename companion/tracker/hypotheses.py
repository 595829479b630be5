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
from companion.tracker.sights import PILLAR, Changes, Place, cell_of, is_pillar, seen_of

LOG_SAME = log(0.5)
"""Prior that nothing has changed: half of all calm scenes."""

LOG_TURN = log(0.4)
"""Prior of a legal move, shared equally among all legal moves."""

LOG_BACK = log(0.01)
"""Prior of taking back the last move; each further move halves it."""

LOG_PLIES, LOG_PLY = -1.5, -6.0
"""Log prior of several plies since the last verdict: once, and for each ply.  A pair of quick plies happens in one turn
in fifty, shared among some thousand pairs; more only pass unseen when the view was bad for a while."""

LOG_ACT = -8.0
"""Log prior of one illegal act: some three nats less than a legal move of a usual position, so that a doubtful cell is
read in favour of the rules, and a well-read one is not.  One act in thirty turns, shared among hundreds that look
different, would be less still; but an act that stands plainly on the table must be named even if it changes one cell
only, against the 15 nats of evidence.MISREAD."""

LOG_FAULT, LOG_FAULT_CELL = -3.0, -5.0
"""Log prior of a fault on an expected table: once, and for each cell.  One cell costs as much as an illegal act."""

CHANGED_NATS = 1.0
"""Log-likelihood ratio of a cell's best state to the expected one above which the cell may have changed."""

FEW_FAULTS = 3
"""If more cells than this look wrong, the hypotheses that only one of them is are not tried."""

LOG_FAULT_PIECE = -2.0
"""Added for every further piece by which a cell has grown: nobody smuggles in five pieces, but a cell may look so."""

LOG_FAULT_EXCHANGED = -4.0
"""Added for another piece on top of a stack of the same height, besides a move: that takes two more pieces and two more
grips, while something that a move shades or partly hides is misread now and then."""

LOG_BEGUN = log(0.5)
"""Prior that a turn seen half done has been finished, likelier than all else; shared among the moves it may be."""

LOG_DOUBTED = log(0.3)
"""Prior that something which seemed to have been played or taken back, but not clearly, really was: if people go on
without an answer, their next act tells.  Shared among the lines that it may have been; times the prior of the next
move."""

LOG_STANDING = log(0.25)
"""Prior that a table that has been announced (half done, illegal, in question) still stands unchanged."""

QUICK_PLIES, MOST_PLIES = 2, 4
"""Number of plies that may follow each other before a calm table is seen, and the upper limit: one further ply for each
calm table in a row that was unclear, since three plies of two players look like two acts of one of them."""

MOST_LEVELS = 6
"""Number of levels by which a pillar may jump at most: from end to end of the model with sensors."""

MOST_CELLS, MOST_POSITIONS = 8, 100
"""Sequences are sought if at most so many cells have changed, through so many positions: a few milliseconds."""

LOG_REPLAY = -13.5
"""Log prior of at most REPLAYED moves taken back and another one played in one go: as rare as two plies."""

REPLAYED = 3


@dataclass(frozen=True, slots=True)
class Same:
    """The table of the last accepted position."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A legal move, complete."""

    move: Move


@dataclass(frozen=True, slots=True)
class Half:
    """A legal move that is half done."""

    move: Move
    stage: Stage


@dataclass(frozen=True, slots=True)
class Line:
    """The last ``undone`` moves taken back, then ``moves`` played, all legal; a single move alone is a Turn."""

    moves: tuple[Move, ...]
    undone: int = 0

    def after(self, match: Match) -> Match:
        """``match`` after this line; raises what :meth:`Match.take_back` raises."""
        return reduce(Match.play, self.moves, match.take_back(self.undone) if self.undone else match)


@dataclass(frozen=True, slots=True)
class LineAndAct:
    """A line that had been in doubt has happened, followed by one illegal act."""

    line: Line


@dataclass(frozen=True, slots=True)
class Act:
    """A single act, not yet known to be illegal."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Jump:
    """One pillar moved by several levels at once: a single act for which there is no notation."""


@dataclass(frozen=True, slots=True)
class Other:
    """None of these: each cell is as it is read best."""


Story = Same | Turn | Half | Line | LineAndAct | Act | Jump | Other


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What may have happened, its log prior, and how its view differs from the last accepted one."""

    story: Story
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
    sights = seen_of(game, table)
    seer = _Seer(game, table, sights)
    hypotheses = [Hypothesis(Same(), LOG_SAME, ()), *seer.turns(position), *seer.backs(match)]
    return Prediction(match, table, sights, Batch(hypotheses))


@dataclass(frozen=True)
class _Seer:
    """Turns tables into changes against the last accepted view."""

    game: Game
    table: Table
    sights: tuple[Sight, ...]

    def changes(self, table: Table) -> Changes:
        found: list[tuple[Place, Sight]] = []
        for cell, (before, after) in enumerate(zip(self.table.stacks, table.stacks, strict=True)):
            if before != after and (sight := self.game.sight(after)) != self.sights[cell]:
                found.append((cell, sight))
        if table.levels is not None and table.levels != self.table.levels:
            for place, level in enumerate(table.levels, start=len(table.stacks)):
                if level != self.sights[place][0]:
                    found.append((place, (level, PILLAR)))
        return tuple(found)

    def turns(self, position: Position) -> Iterator[Hypothesis]:
        """Legal moves and their intermediate tables; none once the game is over."""
        moves = self.game.legal_moves(position)
        prior = LOG_TURN - log(max(len(moves), 1))
        for move in moves:
            yield Hypothesis(Turn(move), prior, self.changes(self.game.table(self.game.play(position, move))))
            for stage in self.game.stages(position, move):
                yield Hypothesis(Half(move, stage), prior, self.changes(stage.table))

    def backs(self, match: Match) -> Iterator[Hypothesis]:
        """Take-backs to every earlier position that no arbiter's ruling cuts off."""
        earlier = list(match.positions())[-2::-1][: match.undoable]
        for n, position in enumerate(earlier, start=1):
            yield Hypothesis(Line((), n), LOG_BACK - (n - 1) * log(2), self.changes(self.game.table(position)))


def acts_within(prediction: Prediction, cells: frozenset[Cell]) -> Iterator[Hypothesis]:
    """Single acts that change no cell but ``cells``."""
    seer = _Seer(prediction.match.game, prediction.table, prediction.sights)
    for attempt in seer.game.attempts(prediction.match.position, cells):
        yield Hypothesis(Act(attempt), LOG_ACT, seer.changes(attempt.table))
    for place, (level, _) in enumerate(
        prediction.sights[len(prediction.table.stacks) :], start=len(prediction.table.stacks)
    ):
        if place - len(prediction.table.stacks) in cells and level is not None:
            for jump in range(2, MOST_LEVELS + 1):
                for there in (level + jump, level - jump):
                    yield Hypothesis(Jump(), LOG_ACT, ((place, (there, PILLAR)),))


def acts_beside(prediction: Prediction, cells: frozenset[Cell], hidden: frozenset[Cell]) -> Iterator[Hypothesis]:
    """Single acts that change ``cells`` and at least one ``hidden`` cell, where exactly one such act fits."""
    seer = _Seer(prediction.match.game, prediction.table, prediction.sights)
    found: dict[Changes, list[Hypothesis]] = {}
    for attempt in seer.game.attempts(prediction.match.position, cells | hidden):
        changes = seer.changes(attempt.table)
        seen = tuple(change for change in changes if cell_of(seer.game.layout, change[0]) in cells)
        if seen and len(seen) < len(changes):
            found.setdefault(seen, []).append(Hypothesis(Act(attempt), LOG_ACT, changes))
    yield from (acts[0] for acts in found.values() if len(acts) == 1)


def sequences_within(prediction: Prediction, cells: frozenset[Cell], most: int) -> Iterator[Hypothesis]:
    """Two to ``most`` plies that together change ``cells`` and little else, each of them visibly.

    At most one other cell may be touched, since what one ply changes another can change back; and at most one of
    ``cells`` may be left over, since it may merely be misread.
    """
    game = prediction.match.game
    seer = _Seer(game, prediction.table, prediction.sights)
    waiting: deque[tuple[Position, tuple[Move, ...], frozenset[Cell]]] = deque()
    waiting.append((prediction.match.position, (), frozenset()))
    for _ in range(MOST_POSITIONS):
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
                prior = LOG_PLIES + LOG_PLY * len(plies)
                yield Hypothesis(Line(plies), prior, seer.changes(game.table(following)))
            if len(plies) < most:
                waiting.append((following, plies, touched))


def continued(prediction: Prediction, doubted: Sequence[Line], cells: frozenset[Cell]) -> Iterator[Hypothesis]:
    """One more legal move, whole or half done, after each of the ``doubted`` lines, which confirms that line.

    Or an illegal act that, together with the line, changes no cell but ``cells``: it confirms the line too.
    """
    game = prediction.match.game
    seer = _Seer(game, prediction.table, prediction.sights)
    for line in doubted:
        match = line.after(prediction.match)
        following = game.legal_moves(match.position)
        played = LOG_DOUBTED - log(len(doubted))
        prior, legal = played + LOG_TURN - log(max(len(following), 1)), {seer.changes(game.table(match.position))}
        for move in following:
            after = game.play(match.position, move)
            changes = seer.changes(game.table(after))
            legal.add(changes)
            if not _looks_same(game, match.position, after):
                yield Hypothesis(replace(line, moves=(*line.moves, move)), prior, changes)
            for stage in game.stages(match.position, move):
                legal.add(changes := seer.changes(stage.table))
                yield Hypothesis(line, prior, changes)
        acts = {seer.changes(attempt.table) for attempt in game.attempts(match.position, cells)}
        yield from (Hypothesis(LineAndAct(line), played + LOG_ACT, changes) for changes in acts - legal)


def _looks_same(game: Game, before: Position, after: Position) -> bool:
    """Whether a ply leaves the board visibly unchanged: such a ply is never assumed to have passed unseen."""
    here, there = game.table(before), game.table(after)
    pairs = zip(here.stacks, there.stacks, strict=True)
    return here.levels == there.levels and all(a == b or game.sight(a) == game.sight(b) for a, b in pairs)


def replays_within(prediction: Prediction, cells: frozenset[Cell]) -> Iterator[Hypothesis]:
    """A few moves taken back and one legal move played instead, which together change no cell but ``cells``."""
    match = prediction.match
    seer = _Seer(match.game, prediction.table, prediction.sights)
    for back in prediction.expected.hypotheses:
        if not isinstance(back.story, Line) or back.story.undone > REPLAYED:
            continue
        undone = {cell_of(match.game.layout, place) for place, _ in back.changes}
        earlier = back.story.after(match).position
        for move in match.game.legal_moves(earlier):
            touched = set(move.cells)
            if undone - cells <= touched <= cells | undone:
                changes = seer.changes(match.game.table(match.game.play(earlier, move)))
                yield Hypothesis(replace(back.story, moves=(move,)), LOG_REPLAY, changes)


def faulty(expected: Hypothesis, evidence: Evidence, base: npt.NDArray[np.intp]) -> Iterator[Hypothesis]:
    """``expected`` with faults: each cell shows its own best state where that outweighs the prior of a fault.

    If there are only a few such cells, each is tried alone too: a second look can tell whether the others are misread.
    """
    cells = sorted(cells_against(evidence, columns_with(evidence, base, expected.changes), -LOG_FAULT_CELL))
    for wrong in ([cells] if cells else []) + ([[cell] for cell in cells] if 1 < len(cells) <= FEW_FAULTS else []):
        yield _with_faults(expected, wrong, evidence, base)


def doubtful(expected: Hypothesis, evidence: Evidence, base: npt.NDArray[np.intp]) -> Iterator[Hypothesis]:
    """``expected`` with one fault, in one of a few cells that may have changed, though it is hardly worth the prior.

    What one look leaves in doubt is announced only once a second one has decided.
    """
    cells = sorted(cells_against(evidence, columns_with(evidence, base, expected.changes), CHANGED_NATS))
    for cell in cells if len(cells) <= FEW_FAULTS else []:
        yield _with_faults(expected, [cell], evidence, base)


def compared(prediction: Prediction, views: Iterable[Changes]) -> Iterator[Hypothesis]:
    """The ``views`` that a second look has compared, as faults besides the accepted table.

    If two states of a cell are about equally likely, its best state may alternate between readings: a view that has
    been compared remains possible all the same.
    """
    for view in views:
        price = sum(_fault_price(prediction.sights[place], sight, is_besides=False) for place, sight in view)
        yield Hypothesis(Other(), LOG_SAME + LOG_FAULT + price, view)


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
    price = sum(_fault_price(expects, sight, is_besides=is_besides) for expects, sight in there)
    return Hypothesis(Other(), expected.prior + LOG_FAULT + price, changes)


def _fault_price(expected: Sight, seen: Sight, *, is_besides: bool) -> float:
    """Log prior of seeing one sight where another is expected; ``is_besides``: something else has been moved, too."""
    if is_pillar(seen):
        return LOG_FAULT_CELL
    growth = (seen[0] or 0) - (expected[0] or 0)
    is_exchanged = is_besides and seen[0] is not None and seen[0] == expected[0]
    return LOG_FAULT_CELL + LOG_FAULT_PIECE * max(0, growth - 1) + LOG_FAULT_EXCHANGED * is_exchanged


def columns_with(evidence: Evidence, base: npt.NDArray[np.intp], changes: Changes) -> npt.NDArray[np.intp]:
    """(n,) the columns of the view that differs from ``base`` by ``changes``."""
    columns = base.copy()
    for cell, sight in changes:
        columns[cell] = evidence.columns.of(sight)
    return columns
