"""The most probable meaning of a calm table for the match (maximum a posteriori, with the option to abstain).

All hypotheses are scored against the evidence at once; those with the same view are added up; the most probable view
is accepted if its posterior is high enough.  If a view has several explanations, people are told this:

* "nothing changed" comes before all others, unless a turn that was half done would end in the same view: then it has
  ended; or a player says that he has moved, and some moves leave the view unchanged: then the question is which;
* a legal move comes before an illegal act, and several legal moves are a question;
* a legal move comes before a take-back, a take-back before an illegal act;
* if a move or take-back that had been in doubt, followed by an illegal act, explains what no single act does, the
  former has happened: the violation is announced after that;
* an illegal act comes before several quick legal plies, or before a move taken back and another played: that exactly
  these were missed is far less probable.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from companion.match import Match, format_moves
from companion.rules.board import Cell, Sight
from companion.rules.game import Move, Position, Stage
from companion.rules.notation import format_move
from companion.tracker.diagnose import Diagnosis, diagnose
from companion.tracker.evidence import Evidence, cells_against
from companion.tracker.hands import are_seen, log_odds_of_one
from companion.tracker.hypotheses import (
    CHANGED_NATS,
    LOG_FAULT_CELL,
    Act,
    Half,
    Jump,
    Line,
    LineAndAct,
    Other,
    Prediction,
    Same,
    Story,
    Turn,
    base_columns,
    columns_with,
)
from companion.tracker.scoring import Context, Group, legal_without, score_hypotheses
from companion.tracker.sights import Changes, is_pillar
from companion.tracker.verification import CERTAIN, SecondLook, rivals, second_thoughts


@dataclass(frozen=True, slots=True)
class Sureness:
    """Posterior thresholds for announcing what lies on the table.

    ``little``: what commits nobody, that nothing has changed or that a turn is half done; ``legal``: moves played or
    taken back; ``wrong``: accusations, since a late verdict is cheaper than a false one.
    """

    little: float
    legal: float
    wrong: float


AT_FIRST = Sureness(little=0.95, legal=0.99, wrong=0.995)
"""From the first picture on.  ``wrong`` can be reached by one cell (a piece too many), since evidence.MISREAD makes
misreading it a thousand times less likely than an act that changes it."""

PATIENT_READINGS = 4
AFTER_PATIENCE = Sureness(little=0.95, legal=0.97, wrong=0.98)
"""From the fourth picture of a calm on, since further ones are no new evidence: a question would disturb more than
it helps."""

IN_THE_END = 0.5
"""Posterior threshold after lasting doubt, when silence would hide that something is amiss.  Moves are never guessed;
people can be asked which it was."""

AMISS = 0.1
"""Posterior of a violation from which a calm table in lasting doubt is worth a question: missing an act costs the match
more than a look at a square costs people."""

ONE_HAND = 0.98
"""Probability from which one player is said to have done what two might have: as AFTER_PATIENCE.wrong."""

WORTH_ASKING, WORTH_OFFERING = 0.1, 0.01
"""Posteriors above which people are asked about moves, and above which a single further one is offered with these: one
more answer makes a question no dearer, and one that lacks the move that was played costs an entry by hand."""

WORTH_KEEPING = 1e-3
"""Posterior above which an explanation is kept in mind while a table is in doubt, as a later table may prove it right.
Moves and take-backs are kept if at least WORTH_ASKING times as probable as the likeliest of them."""

STRANGE_PIECES = 3
"""Nobody adds so many pieces at once; a cell that seems to have grown by so many is behind a sleeve or a hand."""

RANKED = 6
"""Number of explanations kept with each verdict."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The table shows the last accepted position, or the one after a ``doubted`` line if squares are hidden."""

    doubted: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Played:
    """A legal move lies complete on the table, or several quick ones do."""

    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several moves, or sequences of moves, look exactly like this; ``or_one_hand``: or one player did it all."""

    options: tuple[tuple[Move, ...], ...]
    or_one_hand: bool = False


@dataclass(frozen=True, slots=True)
class InProgress:
    """A legal move is half done at ``stage``; ``moves`` are those that pass through this stage."""

    moves: tuple[Move, ...]
    stage: Stage


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The last ``n`` moves were taken back, and ``then`` was played instead."""

    n: int
    then: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Illegal:
    """A violation of the rules lies on the table; ``is_lifted``: pieces are gone and none has been added."""

    diagnosis: Diagnosis
    is_lifted: bool


@dataclass(frozen=True, slots=True)
class CannotTell:
    """No explanation is clearly the best; ``options`` are the legal ones among the likely ones.

    ``doubted`` are all lines worth keeping in mind.  If the doubt lasts, the table may be taken for ``in_the_end``, of
    posterior ``sure``.  ``is_amiss``: a violation of the rules is quite possible.  ``or_one_hand``: as in
    :class:`Ambiguous`.
    """

    options: tuple[tuple[Move, ...], ...]
    in_the_end: Unchanged | InProgress | Illegal | None = None
    is_amiss: bool = False
    sure: float = 0.0
    or_one_hand: bool = False
    doubted: tuple[Line, ...] = ()


Interpretation = Unchanged | Played | Ambiguous | InProgress | TakenBack | Illegal | CannotTell


@dataclass(frozen=True, slots=True)
class Ranked:
    """One explanation in words, with its posterior and how its view differs from the accepted one."""

    what: str
    posterior: float
    changes: Changes


@dataclass(frozen=True, slots=True)
class Judgement:
    """An interpretation with its grounds.

    ``changes`` is the likeliest view, as differences from the last accepted one; ``odd`` are the places that contradict
    the best explanation by human acts, each with what it looks like; ``is_strange``: these places look like nothing
    that people do either, no move, not even a half-done one, leaves them so, and no second look refutes them: something
    must be in the way.  ``ranked``: the likeliest explanations, the best first; ``rivals``: the views that compete, in
    the order in which they are to be compared.  ``is_disputed``: a second look prefers another view to the one that is
    likeliest by all that is known.
    """

    interpretation: Interpretation
    changes: Changes
    posterior: float
    ranked: tuple[Ranked, ...]
    odd: Changes
    is_strange: bool
    rivals: tuple[Changes, ...] = ()
    is_disputed: bool = False

    @property
    def doubted(self) -> tuple[Line, ...]:
        """The lines by which the match may have gone on, to be kept in mind until something contradicts them."""
        match self.interpretation:
            case Unchanged() | CannotTell() as meaning:
                return meaning.doubted
            case Ambiguous(options):
                return tuple(map(Line, options))
            case _:
                return ()

    @property
    def is_clear(self) -> bool:
        """Whether it needs no second look: it accuses nobody, asks nothing, and has hardly a rival."""
        is_word = isinstance(self.interpretation, (Illegal, Ambiguous, CannotTell))
        return not is_word and self.posterior >= CERTAIN


def interpret(
    evidence: Evidence, prediction: Prediction, context: Context, look: SecondLook | None = None
) -> Judgement:
    """The meaning of the table; ``look`` is the result of comparing the competing tables in this calm, if any."""
    base = base_columns(evidence.columns, prediction.sights)
    groups = score_hypotheses(evidence, prediction, context, base, () if look is None else tuple(look.log_p))
    if look is not None:
        groups = second_thoughts(groups, look, evidence, base)
    best = groups[0]
    wrong = sum(group.posterior for group in groups if group.is_wrong)
    meaning = _meaning(prediction, best, context)
    sure = wrong if best.is_wrong and isinstance(meaning, Illegal) else best.posterior
    plain = legal_without(groups, context.contested)
    if plain or sure < _needed(meaning, AFTER_PATIENCE if evidence.readings >= PATIENT_READINGS else AT_FIRST):
        options = tuple(dict.fromkeys((*plain, *_worth_asking(groups))))
        one_hand = any(_one_hand(prediction.match, moves, context) >= WORTH_ASKING for moves in options)
        end, kept = None if plain else _in_the_end(meaning, sure), (*map(Line, plain), *_worth_keeping(groups))
        meaning = CannotTell(options, end, wrong >= AMISS, sure, one_hand, tuple(dict.fromkeys(kept)))
    elif isinstance(meaning, Unchanged):
        # Without those that look exactly the same: such a ply is never assumed to have passed unseen.
        meaning = Unchanged(_worth_keeping(groups[1:]))
    ranked = tuple(Ranked(_told(prediction, group), group.posterior, group.changes) for group in groups[:RANKED])
    done = next((group for group in groups if any(not isinstance(story, Other) for story in group.stories)), best)
    odd = _odd_cells(evidence, columns_with(evidence, base, done.changes))
    strange = tuple((place, seen) for place, _, seen in odd)
    explained = prediction.due if look is None else prediction.due | look.refuted
    is_strange = _is_strange(tuple(row for row in odd if (row[0], row[2]) not in explained))
    is_disputed = look is not None and look.log_p.get(best.changes, 0.0) < 0
    return Judgement(meaning, best.changes, best.posterior, ranked, strange, is_strange, rivals(groups), is_disputed)


def _meaning(prediction: Prediction, group: Group, context: Context) -> Interpretation:
    """What people are told about the one view that is clearly the likeliest."""
    options = tuple(dict.fromkeys(group.legal()))
    finished = tuple(moves for moves in options if len(moves) == 1 and moves[0] in context.begun)
    if len(finished) == 1:
        return Played(finished[0])
    if any(isinstance(story, Same) for story in group.stories):
        return Ambiguous(options) if context.is_done and options else Unchanged()
    options = finished or options
    halves = [story for story in group.stories if isinstance(story, Half)]
    attempts = [story.attempt for story in group.stories if isinstance(story, Act)]
    is_act = any(isinstance(story, (Act, Jump)) for story in group.stories)
    is_sequence = bool(options) and len(options[0]) > 1
    if options and not is_sequence:
        return Played(options[0]) if len(options) == 1 else Ambiguous(options)
    if halves:
        return InProgress(tuple(half.move for half in halves), halves[0].stage)
    if backs := [line.undone for line in group.lines if not line.moves]:
        return TakenBack(min(backs))
    if options and not is_act:
        return _sequence(prediction, options, context, group.changes)
    if not is_act and (other := _otherwise(prediction.match, group, context)):
        return other
    return Illegal(diagnose(prediction, group.changes, attempts), _is_lifted(prediction, group.changes))


def _otherwise(match: Match, group: Group, context: Context) -> TakenBack | Played | None:
    """What was played if no move has this view: a replayed move, or a line in doubt followed by an illegal act.

    None if it is not certain, or if by the arms that were seen one player made the moves of several.
    """
    again = [line for line in group.lines if line.undone]
    overtaken = [story.line for story in group.stories if isinstance(story, LineAndAct)]
    certain = next((lines[0] for lines in (again, overtaken) if len(lines) == 1), None)
    if certain is None:
        return None
    if certain.undone:
        return TakenBack(certain.undone, certain.moves)
    return Played(certain.moves) if _one_hand(match, certain.moves, context) < ONE_HAND else None


def _sequence(
    prediction: Prediction, options: tuple[tuple[Move, ...], ...], context: Context, changes: Changes
) -> Played | Ambiguous | Illegal:
    """Several plies: which ones is asked; the order of the same ones is not, since it leads to the same position.

    If the table passed through a line that was seen in doubt, only the orders that begin with it count.  If one player
    may have done what only several may do, that is asked too, or announced: a single ply that was seen in doubt shows
    that players took turns, but several at once do not.
    """
    match = prediction.match
    fitting = tuple(moves for moves in options if any(_begins(moves, line) for line in context.doubted))
    options = fitting or options
    took_turns = any(len(line.moves) == 1 and _begins(options[0], line) for line in context.doubted)
    one = 0.0 if took_turns else _one_hand(match, options[0], context)
    if one >= ONE_HAND:
        return Illegal(diagnose(prediction, changes, ()), is_lifted=False)
    ends: dict[Position, tuple[Move, ...]] = {}
    for moves in options:
        position = match.position
        for move in moves:
            position = match.game.play(position, move)
        ends.setdefault(position, moves)
    if len(ends) == 1 and (one < WORTH_ASKING or not are_seen(context.hands)):
        return Played(next(iter(ends.values())))
    return Ambiguous(tuple(ends.values()), or_one_hand=one >= WORTH_ASKING)


def _begins(moves: tuple[Move, ...], line: Line) -> bool:
    """Whether ``moves`` go on from ``line``."""
    return not line.undone and moves[: len(line.moves)] == line.moves


def _one_hand(match: Match, moves: tuple[Move, ...], context: Context) -> float:
    """Probability that one player made all of ``moves``, which several should have; 0 if one should have.

    Players take turns: whoever turns two pillars at the same time does both.
    """
    turned = {move.target for move in moves if move.step}
    players = []
    for move in moves:
        players.append(match.position.to_move)
        match = match.play(move)
    log_odds = log_odds_of_one(context.hands, players)
    if log_odds is not None and len(turned & context.hands.together) > 1:
        return 1.0
    return 0.0 if log_odds is None else 1 / (1 + exp(-log_odds))


def _is_lifted(prediction: Prediction, changes: Changes) -> bool:
    """Whether every changed stack has become lower, so that the pieces may be in a hand; False if a pillar changed."""
    if any(is_pillar(sight) for _, sight in changes):
        return False
    heights = [(prediction.sights[cell][0], sight[0]) for cell, sight in changes]
    return all(before is not None and after is not None and after < before for before, after in heights)


def _needed(meaning: Interpretation, sureness: Sureness) -> float:
    """The posterior from which ``meaning`` is announced."""
    if isinstance(meaning, Illegal):
        return sureness.wrong
    return sureness.little if isinstance(meaning, (Unchanged, InProgress)) else sureness.legal


def _in_the_end(meaning: Interpretation, sure: float) -> Unchanged | InProgress | Illegal | None:
    """What a table in lasting doubt is taken for, if its likeliest meaning is ``meaning`` with posterior ``sure``."""
    if isinstance(meaning, (Unchanged, InProgress, Illegal)) and sure >= IN_THE_END:
        return meaning
    return None


def _worth_asking(groups: tuple[Group, ...]) -> tuple[tuple[Move, ...], ...]:
    """The moves that are offered to people; none if no question is needed."""
    legal = [(group.posterior, moves) for group in groups for moves in group.legal()]
    likely = [moves for posterior, moves in legal if posterior >= WORTH_ASKING]
    single = [moves for posterior, moves in legal if posterior >= WORTH_OFFERING and len(moves) == 1]
    return tuple(dict.fromkeys((*likely, *single))) if likely else ()


def _worth_keeping(groups: tuple[Group, ...]) -> tuple[Line, ...]:
    kept = [group for group in groups if group.posterior >= WORTH_KEEPING]
    lines = [(group.posterior, tuple(map(Line, group.legal())) or group.lines) for group in kept]
    legal = [(posterior, those) for posterior, those in lines if those]
    likely = (those for posterior, those in legal if posterior >= WORTH_ASKING * legal[0][0])
    return tuple(dict.fromkeys(line for those in likely for line in those))


def contradicting(evidence: Evidence, prediction: Prediction, changes: Changes) -> frozenset[Cell]:
    """The cells that contradict the view that differs from the accepted one by ``changes``."""
    base = base_columns(evidence.columns, prediction.sights)
    return cells_against(evidence, columns_with(evidence, base, changes), CHANGED_NATS)


def _odd_cells(evidence: Evidence, columns: npt.NDArray[np.intp]) -> tuple[tuple[Cell, Sight, Sight], ...]:
    """The cells that contradict the view of ``columns``, each with its expected sight and the one that it shows."""
    best = evidence.best()
    odd = sorted(cells_against(evidence, columns, -LOG_FAULT_CELL))
    return tuple((cell, evidence.sight(int(columns[cell])), evidence.sight(int(best[cell]))) for cell in odd)


def _is_strange(odd: tuple[tuple[Cell, Sight, Sight], ...]) -> bool:
    """Whether some cell has grown by more than anybody adds, and no other cell has lost what it gained."""
    growth = [(seen[0] or 0) - (expected[0] or 0) for _, expected, seen in odd if not is_pillar(seen)]
    return max(growth, default=0) >= STRANGE_PIECES and sum(growth) >= STRANGE_PIECES


def _told(prediction: Prediction, group: Group) -> str:
    """A group in words, for whoever examines a disputed verdict."""
    named = [story for story in group.stories if not isinstance(story, Other)] or group.stories
    return " or ".join(dict.fromkeys(_story(prediction.match, story) for story in named))


def _story(match: Match, story: Story) -> str:
    match story:
        case Same():
            return "no change"
        case Turn(move):
            return format_moves(match, (move,))
        case Half(move, _):
            return f"{format_moves(match, (move,))} half done"
        case Line():
            return _line(match, story)
        case LineAndAct(line):
            return f"{_line(match, line)} and something else"
        case Act(attempt):
            return f"act {format_move(match.game, match.position, attempt.move)}"
        case Jump() | Other():
            return "something else"


def _line(match: Match, line: Line) -> str:
    if not line.undone:
        return format_moves(match, line.moves)
    back = f"{line.undone} taken back"
    return f"{back} and {format_moves(match.take_back(line.undone), line.moves)}" if line.moves else back
