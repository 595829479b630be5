"""How long something must stand on the table before the referee announces it.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from companion.referee.states import Mode
from companion.tracker.hypotheses import MoveSequence
from companion.tracker.interpret import (
    Ambiguous,
    Illegal,
    InProgress,
    Judgement,
    Played,
    TakenBack,
    Unchanged,
    Undecided,
)
from companion.tracker.sights import Changes

AGREEING_READINGS = 2
"""An accusation or a question must be seen in two pictures: a hand just out of view must not become a verdict.  So must
a move that some places or a second look contradict: a hand in view between two squares, or the piece in it, may look
like nothing that is known."""

LIFTED_READINGS, LIFTED_S = 3, 0.2
"""Pieces gone from a stack may be in a hand that will put them down; a table that no single act explains may be one
that two hands are still changing."""

DOUBT_S = 1.0
"""A calm table that stays unclear this long is asked about; the next hand often settles it before."""

RESTORED_S = 0.3
"""The same if people had to put something right and most probably have: announcing that accuses nobody."""

LIKELY_WRONG = 0.95
"""Posterior from which a violation is announced after lasting doubt instead of asking: a question costs people a look
at a square, little less than a false accusation.  During set-up there is no such limit: nobody is accused."""

REPAIR_S = 3.0
"""After a violation or a half-done turn was announced, another wrong table counts as a repair in progress (or a tower
set aside to get at its bottom) until it has been unchanged for this long."""

BUSY = (Mode.RESTORING, Mode.UNFINISHED)
"""The modes in which people have been told to change something on the board."""

IN_PLAY = (Mode.WATCHING, Mode.ASKING)
"""The modes in which only the next move is expected: only then are people asked about a possible violation."""

SET_UP_S = 2.0
"""People set up a board piece by piece: what is still wrong is announced no more often than this."""


STRANGE_S = 2.0
"""How long a table that looks like nothing people do (Judgement.is_strange) is taken for a hand before it is judged."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One doubtful view: seen since ``since_s``, in ``readings`` pictures in a row; ``doubted`` lines may explain it.

    ``may_go_on``: the act may be unfinished, since pieces are gone or no single act explains the view.
    """

    kind: type[object]
    changes: Changes
    since_s: float
    readings: int
    doubted: tuple[MoveSequence, ...]
    may_go_on: bool


def suspect(before: Suspicion | None, judgement: Judgement, t_s: float) -> Suspicion | None:
    """The suspicion after one more judgement; None if the judgement can be announced at once."""
    meaning = judgement.interpretation
    if not _needs_patience(judgement):
        return None
    kind, doubted = type(meaning), judgement.doubted
    # An unclear view alternates between its best explanations: it counts as one doubt all the same.
    changes = () if isinstance(meaning, Undecided) else judgement.changes
    may_go_on = isinstance(meaning, Illegal) and (meaning.is_lifted or meaning.diagnosis.move is None)
    if before is not None and before.kind is kind and before.changes == changes:
        return Suspicion(kind, changes, before.since_s, before.readings + 1, doubted, may_go_on)
    return Suspicion(kind, changes, t_s, 1, doubted, may_go_on)


def after_motion(before: Suspicion, mode: Mode) -> Suspicion | None:
    """The suspicion that is kept when something moves: one of a complete act, as chance rarely repeats itself."""
    is_complete = before.kind is Illegal and not before.may_go_on
    return before if is_complete and mode not in BUSY else None


def _needs_patience(judgement: Judgement) -> bool:
    """Whether one picture is not enough: for accusations, questions, several acts at once, odd places."""
    match judgement.interpretation:
        case Played((_, _, *_)) | TakenBack(_, (_, *_)):
            return True
        case Played() | TakenBack():
            return bool(judgement.odd) or judgement.is_disputed
        case meaning:
            return isinstance(meaning, (Illegal, Ambiguous, Undecided))


def require_patience(suspicion: Suspicion | None, judgement: Judgement, mode: Mode, t_s: float) -> Judgement:
    """``judgement``, or its fallback interpretation once the doubt has lasted.

    There is no fallback to "unchanged" in play if a violation is possible, none to a half-done turn that has been
    announced if moves fit too, and none to a violation of a posterior below LIKELY_WRONG: then people are asked.
    """
    meaning = judgement.interpretation
    if suspicion is None or not isinstance(meaning, Undecided):
        return judgement
    is_restored = mode in BUSY and isinstance(meaning.fallback, Unchanged)
    if t_s - suspicion.since_s < (RESTORED_S if is_restored else DOUBT_S):
        return judgement
    if isinstance(meaning.fallback, Unchanged) and meaning.is_violation_possible and mode in IN_PLAY:
        return judgement
    if isinstance(meaning.fallback, InProgress) and meaning.options and mode is Mode.UNFINISHED:
        return judgement
    if (
        isinstance(meaning.fallback, Illegal)
        and meaning.fallback_posterior < LIKELY_WRONG
        and mode is not Mode.SETTING_UP
    ):
        return judgement
    return replace(judgement, interpretation=meaning.fallback or meaning)


def is_due(suspicion: Suspicion, judgement: Judgement, mode: Mode, t_s: float, standing: Changes | None = None) -> bool:
    """Whether it has stood long enough to be announced in ``mode``; ``standing`` is the view last announced."""
    meaning, stood_s = judgement.interpretation, t_s - suspicion.since_s
    if isinstance(meaning, Undecided):
        return stood_s >= DOUBT_S and (bool(meaning.options) or (meaning.is_violation_possible and mode in IN_PLAY))
    if isinstance(meaning, Illegal) and mode in BUSY and _may_be_repair(judgement.changes, standing):
        return stood_s >= REPAIR_S
    if suspicion.may_go_on:
        return suspicion.readings >= LIFTED_READINGS and stood_s >= LIFTED_S
    return suspicion.readings >= AGREEING_READINGS


def _may_be_repair(changes: Changes, standing: Changes | None) -> bool:
    """Whether a place that was announced still differs, so that the table may be a repair in progress."""
    return not standing or not {place for place, _ in standing}.isdisjoint(place for place, _ in changes)
