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
from companion.tracker.hands import has_arms, one_player_log_odds
from companion.tracker.hypotheses import (
    CHANGED_NATS,
    LOG_PRIOR_FAULT_CELL,
    Cause,
    CompleteMove,
    MoveSequence,
    NoChange,
    PartialMove,
    PillarJump,
    Prediction,
    SequenceThenAct,
    SingleAct,
    Unexplained,
    base_columns,
    columns_with,
)
from companion.tracker.scoring import Context, Group, legal_without, score_hypotheses
from companion.tracker.sights import Changes, format_changes, is_pillar
from companion.tracker.verification import CERTAIN, SecondLook, competing_views, reweigh


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Posterior thresholds for announcing what lies on the table.

    ``neutral``: for verdicts without consequences (no change, a turn half done); ``legal``: for moves played or taken
    back; ``illegal``: for violations, since a late verdict costs less than a false one.
    """

    neutral: float
    legal: float
    illegal: float


INITIAL_THRESHOLDS = Thresholds(neutral=0.95, legal=0.99, illegal=0.995)
"""From the first picture on.  ``illegal`` can be reached by one cell (a piece too many), since with
evidence.OUTLIER_PROBABILITY misreading it is a thousand times less likely than an act that changes it."""

PATIENT_READINGS = 4
LATE_THRESHOLDS = Thresholds(neutral=0.95, legal=0.97, illegal=0.98)
"""From the fourth picture of a calm on, since further ones are no new evidence: a question would disturb more than
it helps."""

FALLBACK_THRESHOLD = 0.5
"""Posterior threshold once the doubt has lasted, since saying nothing would hide a violation.  Moves are never guessed:
people are asked which one it was."""

VIOLATION_THRESHOLD = 0.1
"""Posterior of a violation from which people are asked about a table in lasting doubt: a missed violation costs the
match more than a look at a square costs the players."""

ONE_PLAYER_THRESHOLD = 0.98
"""Probability from which one player is accused of having made the moves of two: as LATE_THRESHOLDS.illegal."""

ASK_THRESHOLD, OFFER_THRESHOLD = 0.1, 0.01
"""Posteriors above which people are asked about moves, and above which a single further one is offered with these: one
more answer makes a question no dearer, and one that lacks the move that was played costs an entry by hand."""

KEEP_THRESHOLD = 1e-3
"""Posterior above which an explanation is kept in mind while a table is in doubt, as a later table may prove it right.
Moves and take-backs are kept if at least ASK_THRESHOLD times as probable as the likeliest of them."""

STRANGE_PIECES = 3
"""Nobody adds so many pieces at once; a cell that seems to have grown by so many is behind a sleeve or a hand."""

MAX_RANKED = 6
"""Number of explanations kept with each verdict."""

ACT = "act "
"""Begins the words for a single act that is not named as a legal move."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The table shows the last accepted position, or the one after a ``doubted`` line if squares are hidden."""

    doubted: tuple[MoveSequence, ...] = ()


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
class Undecided:
    """No explanation is clearly the best; ``options`` are the legal ones among the likely ones.

    ``doubted`` are all lines worth keeping in mind.  If the doubt lasts, the table may be taken for ``fallback``, of
    posterior ``fallback_posterior``.  ``is_violation_possible``: a violation of the rules has a considerable
    posterior.  ``or_one_hand``: as in :class:`Ambiguous`.
    """

    options: tuple[tuple[Move, ...], ...]
    fallback: Unchanged | InProgress | Illegal | None = None
    is_violation_possible: bool = False
    fallback_posterior: float = 0.0
    or_one_hand: bool = False
    doubted: tuple[MoveSequence, ...] = ()


Interpretation = Unchanged | Played | Ambiguous | InProgress | TakenBack | Illegal | Undecided


@dataclass(frozen=True, slots=True)
class RankedExplanation:
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
    ranked: tuple[RankedExplanation, ...]
    odd: Changes
    is_strange: bool
    rivals: tuple[Changes, ...] = ()
    is_disputed: bool = False

    @property
    def doubted(self) -> tuple[MoveSequence, ...]:
        """The lines by which the match may have gone on, to be kept in mind until something contradicts them."""
        match self.interpretation:
            case Unchanged() | Undecided() as meaning:
                return meaning.doubted
            case Ambiguous(options):
                return tuple(map(MoveSequence, options))
            case _:
                return ()

    @property
    def is_clear(self) -> bool:
        """Whether it needs no second look: it accuses nobody, asks nothing, and has hardly a rival."""
        is_word = isinstance(self.interpretation, (Illegal, Ambiguous, Undecided))
        return not is_word and self.posterior >= CERTAIN


def interpret(
    evidence: Evidence, prediction: Prediction, context: Context, look: SecondLook | None = None
) -> Judgement:
    """The meaning of the table; ``look`` is the result of comparing the competing tables in this calm, if any."""
    base = base_columns(evidence.columns, prediction.sights)
    groups = score_hypotheses(evidence, prediction, context, base, () if look is None else tuple(look.log_p))
    if look is not None:
        groups = reweigh(groups, look, evidence, base)
    best = groups[0]
    wrong = sum(group.posterior for group in groups if group.is_illegal)
    meaning = _meaning(prediction, best, context)
    sure = wrong if best.is_illegal and isinstance(meaning, Illegal) else best.posterior
    plain = legal_without(groups, context.contested)
    if plain or sure < _threshold(
        meaning, LATE_THRESHOLDS if evidence.readings >= PATIENT_READINGS else INITIAL_THRESHOLDS
    ):
        options = tuple(dict.fromkeys((*plain, *_offered_moves(groups))))
        one_hand = any(_one_player_probability(prediction.match, moves, context) >= ASK_THRESHOLD for moves in options)
        end, kept = None if plain else _fallback(meaning, sure), (*map(MoveSequence, plain), *_kept_sequences(groups))
        meaning = Undecided(options, end, wrong >= VIOLATION_THRESHOLD, sure, one_hand, tuple(dict.fromkeys(kept)))
    elif isinstance(meaning, Unchanged):
        # Without those that look exactly the same: such a ply is never assumed to have passed unseen.
        meaning = Unchanged(_kept_sequences(groups[1:]))
    ranked = tuple(
        RankedExplanation(_describe_group(prediction, group), group.posterior, group.changes)
        for group in groups[:MAX_RANKED]
    )
    done = next((group for group in groups if any(not isinstance(cause, Unexplained) for cause in group.causes)), best)
    odd = _odd_cells(evidence, columns_with(evidence, base, done.changes))
    strange = tuple((place, seen) for place, _, seen in odd)
    explained = prediction.due if look is None else prediction.due | look.refuted
    is_strange = _is_strange(tuple(row for row in odd if (row[0], row[2]) not in explained))
    is_disputed = look is not None and look.log_p.get(best.changes, 0.0) < 0
    return Judgement(
        meaning, best.changes, best.posterior, ranked, strange, is_strange, competing_views(groups), is_disputed
    )


def _meaning(prediction: Prediction, group: Group, context: Context) -> Interpretation:
    """The interpretation of a view that is clearly the most probable one."""
    options = tuple(dict.fromkeys(group.legal()))
    finished = tuple(moves for moves in options if len(moves) == 1 and moves[0] in context.begun)
    if len(finished) == 1:
        return Played(finished[0])
    if any(isinstance(cause, NoChange) for cause in group.causes):
        return Ambiguous(options) if context.is_done and options else Unchanged()
    options = finished or options
    halves = [cause for cause in group.causes if isinstance(cause, PartialMove)]
    attempts = [cause.attempt for cause in group.causes if isinstance(cause, SingleAct)]
    is_act = any(isinstance(cause, (SingleAct, PillarJump)) for cause in group.causes)
    is_sequence = bool(options) and len(options[0]) > 1
    if options and not is_sequence:
        return Played(options[0]) if len(options) == 1 else Ambiguous(options)
    if halves:
        return InProgress(tuple(half.move for half in halves), halves[0].stage)
    if backs := [line.undone for line in group.lines if not line.moves]:
        return TakenBack(min(backs))
    if options and not is_act:
        return _sequence(prediction, options, context, group.changes)
    if not is_act and (other := _other_play(prediction.match, group, context)):
        return other
    return Illegal(diagnose(prediction, group.changes, attempts), _is_lifted(prediction, group.changes))


def _other_play(match: Match, group: Group, context: Context) -> TakenBack | Played | None:
    """The legal part of a view that no single move explains: a replayed move, or a line in doubt before an illegal act.

    None if several such lines are possible, or if a single player seems to have made the moves of several.
    """
    again = [line for line in group.lines if line.undone]
    overtaken = [cause.line for cause in group.causes if isinstance(cause, SequenceThenAct)]
    certain = next((lines[0] for lines in (again, overtaken) if len(lines) == 1), None)
    if certain is None:
        return None
    if certain.undone:
        return TakenBack(certain.undone, certain.moves)
    return (
        Played(certain.moves) if _one_player_probability(match, certain.moves, context) < ONE_PLAYER_THRESHOLD else None
    )


def _sequence(
    prediction: Prediction, options: tuple[tuple[Move, ...], ...], context: Context, changes: Changes
) -> Played | Ambiguous | Illegal:
    """The interpretation of several plies.

    People are asked which plies were played, but not in which order if all orders lead to the same position.

    If an earlier table, in doubt, showed the beginning of one of these sequences, only sequences with that beginning
    count.  If a single player may have made the moves of several, that is asked too, or announced as a violation,
    unless a single ply was seen on its own before: then the players took turns.
    """
    match = prediction.match
    fitting = tuple(moves for moves in options if any(_begins(moves, line) for line in context.doubted))
    options = fitting or options
    took_turns = any(len(line.moves) == 1 and _begins(options[0], line) for line in context.doubted)
    one = 0.0 if took_turns else _one_player_probability(match, options[0], context)
    if one >= ONE_PLAYER_THRESHOLD:
        return Illegal(diagnose(prediction, changes, ()), is_lifted=False)
    ends: dict[Position, tuple[Move, ...]] = {}
    for moves in options:
        position = match.position
        for move in moves:
            position = match.game.play(position, move)
        ends.setdefault(position, moves)
    if len(ends) == 1 and (one < ASK_THRESHOLD or not has_arms(context.hands)):
        return Played(next(iter(ends.values())))
    return Ambiguous(tuple(ends.values()), or_one_hand=one >= ASK_THRESHOLD)


def _begins(moves: tuple[Move, ...], line: MoveSequence) -> bool:
    """Whether ``moves`` begin with those of ``line``."""
    return not line.undone and moves[: len(line.moves)] == line.moves


def _one_player_probability(match: Match, moves: tuple[Move, ...], context: Context) -> float:
    """Probability that one player made all of ``moves``; 0 if they are one player's moves by the rules.

    It is 1 if two of their pillars moved at the same time, since players who take turns do not do that.
    """
    turned = {move.target for move in moves if move.step}
    players = []
    for move in moves:
        players.append(match.position.to_move)
        match = match.play(move)
    log_odds = one_player_log_odds(context.hands, players)
    if log_odds is not None and len(turned & context.hands.together) > 1:
        return 1.0
    return 0.0 if log_odds is None else 1 / (1 + exp(-log_odds))


def _is_lifted(prediction: Prediction, changes: Changes) -> bool:
    """Whether every changed stack has become lower, so that the pieces may be in a hand; False if a pillar changed."""
    if any(is_pillar(sight) for _, sight in changes):
        return False
    heights = [(prediction.sights[cell][0], sight[0]) for cell, sight in changes]
    return all(before is not None and after is not None and after < before for before, after in heights)


def _threshold(meaning: Interpretation, thresholds: Thresholds) -> float:
    """The posterior from which an interpretation is announced."""
    if isinstance(meaning, Illegal):
        return thresholds.illegal
    return thresholds.neutral if isinstance(meaning, (Unchanged, InProgress)) else thresholds.legal


def _fallback(meaning: Interpretation, sure: float) -> Unchanged | InProgress | Illegal | None:
    """What to fall back on in lasting doubt; ``meaning`` is the most probable interpretation, of posterior ``sure``."""
    if isinstance(meaning, (Unchanged, InProgress, Illegal)) and sure >= FALLBACK_THRESHOLD:
        return meaning
    return None


def _offered_moves(groups: tuple[Group, ...]) -> tuple[tuple[Move, ...], ...]:
    """The moves among which people are asked to choose; none if no move is probable enough for a question."""
    legal = [(group.posterior, moves) for group in groups for moves in group.legal()]
    likely = [moves for posterior, moves in legal if posterior >= ASK_THRESHOLD]
    single = [moves for posterior, moves in legal if posterior >= OFFER_THRESHOLD and len(moves) == 1]
    return tuple(dict.fromkeys((*likely, *single))) if likely else ()


def _kept_sequences(groups: tuple[Group, ...]) -> tuple[MoveSequence, ...]:
    """The move sequences to be kept in mind while the table is in doubt."""
    kept = [group for group in groups if group.posterior >= KEEP_THRESHOLD]
    lines = [(group.posterior, tuple(map(MoveSequence, group.legal())) or group.lines) for group in kept]
    legal = [(posterior, those) for posterior, those in lines if those]
    likely = (those for posterior, those in legal if posterior >= ASK_THRESHOLD * legal[0][0])
    return tuple(dict.fromkeys(line for those in likely for line in those))


def contradicting(evidence: Evidence, prediction: Prediction, changes: Changes) -> frozenset[Cell]:
    """The cells that contradict the view that differs from the accepted one by ``changes``."""
    base = base_columns(evidence.columns, prediction.sights)
    return cells_against(evidence, columns_with(evidence, base, changes), CHANGED_NATS)


def _odd_cells(evidence: Evidence, columns: npt.NDArray[np.intp]) -> tuple[tuple[Cell, Sight, Sight], ...]:
    """The cells that contradict the view of ``columns``, each with its expected sight and the one that it shows."""
    best = evidence.best()
    odd = sorted(cells_against(evidence, columns, -LOG_PRIOR_FAULT_CELL))
    return tuple((cell, evidence.sight(int(columns[cell])), evidence.sight(int(best[cell]))) for cell in odd)


def _is_strange(odd: tuple[tuple[Cell, Sight, Sight], ...]) -> bool:
    """Whether a stack has grown by more pieces than people add at once, and other stacks have not lost as many."""
    growth = [(seen[0] or 0) - (expected[0] or 0) for _, expected, seen in odd if not is_pillar(seen)]
    return max(growth, default=0) >= STRANGE_PIECES and sum(growth) >= STRANGE_PIECES


def _describe_group(prediction: Prediction, group: Group) -> str:
    """A group in words, for whoever examines a disputed verdict: what may have been done, or else what has changed."""
    words = dict.fromkeys(filter(None, (_describe_cause(prediction.match, cause) for cause in group.causes)))
    # A move that is legal need not be named as an act, too.
    legal = {ACT + word for word in words}
    named = " or ".join(word for word in words if word not in legal)
    return named or format_changes(prediction.match.game.layout, group.changes)


def _describe_cause(match: Match, cause: Cause) -> str:
    """A cause in words; empty if it has none of its own."""
    match cause:
        case NoChange():
            return "no change"
        case CompleteMove(move):
            return format_moves(match, (move,))
        case PartialMove(move, _):
            return f"{format_moves(match, (move,))} half done"
        case MoveSequence():
            return _describe_sequence(match, cause)
        case SequenceThenAct(line):
            return f"{_describe_sequence(match, line)} and something else"
        case SingleAct(attempt):
            return ACT + format_move(match.game, match.position, attempt.move)
        case PillarJump() | Unexplained():
            return ""


def _describe_sequence(match: Match, line: MoveSequence) -> str:
    """A sequence of take-backs and moves in words."""
    if not line.undone:
        return format_moves(match, line.moves)
    back = f"{line.undone} taken back"
    return f"{back} and {format_moves(match.take_back(line.undone), line.moves)}" if line.moves else back
