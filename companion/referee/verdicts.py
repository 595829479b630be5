"""What a judged table leads to: its trigger, whether people know it already, and what it takes to be at each place."""

from __future__ import annotations

from collections.abc import Mapping

from companion.match import Match
from companion.referee.recollection import Understood
from companion.referee.state import Options, State
from companion.referee.states import LOOKED_AT_AGAIN, Mode, Trigger
from companion.rules.board import Sight
from companion.tracker.evidence import UNKNOWN, Evidence
from companion.tracker.hypotheses import Prediction
from companion.tracker.interpret import (
    WORTH_KEEPING,
    Ambiguous,
    CannotTell,
    Illegal,
    InProgress,
    Judgement,
    Played,
    TakenBack,
    Unchanged,
)
from companion.tracker.sights import Place, altered, seen_at

_TRIGGERS: Mapping[type[object], Trigger] = {
    Unchanged: Trigger.SAME,
    Played: Trigger.PLAYED,
    InProgress: Trigger.BEGUN,
    TakenBack: Trigger.BACK,
    Illegal: Trigger.WRONG,
    Ambiguous: Trigger.ALIKE,
    CannotTell: Trigger.ALIKE,
}


def is_known(state: State, judgement: Judgement) -> bool:
    """Whether the referee has already announced this very table."""
    return (
        state.mode in (Mode.RESTORING, Mode.ASKING)
        and isinstance(judgement.interpretation, (Illegal, Ambiguous, CannotTell))
        and judgement.changes == state.context.standing
    )


def trigger_by(state: State, prediction: Prediction, judgement: Judgement) -> Trigger:
    """The trigger of the judged table; what a ruling has annulled does not happen again by still lying there."""
    trigger = _TRIGGERS[type(judgement.interpretation)]
    is_overruled = state.mode is Mode.SETTING_UP and altered(prediction.sights, judgement.changes) in state.overruled
    return Trigger.WRONG if is_overruled and trigger is not Trigger.SAME else trigger


def left_open(evidence: Evidence, before: tuple[Sight | None, ...] | None) -> frozenset[Place]:
    """The places that were in doubt ``before``, and about which the picture says nothing new."""
    open_before = (place for place, sight in enumerate(before or ()) if sight is None)
    return frozenset(place for place in open_before if evidence.hidden[place])


def believed(prediction: Prediction, judgement: Judgement, is_open: frozenset[Place] = frozenset()) -> Understood:
    """What the judgement takes to be at each place; None where the picture contradicts it, or for all if unknown.

    The places of ``is_open`` stay in doubt and are None too.  What an accusation claims to have changed is left open,
    so that it does not prove itself when the table is put right.  In doubt, that is believed on which all explanations
    worth keeping agree.
    """
    doubtful = {place for place, _ in judgement.odd} | is_open
    changes = judgement.changes
    if isinstance(judgement.interpretation, CannotTell):
        kept = [ranked for ranked in judgement.ranked if ranked.posterior >= WORTH_KEEPING]
        if sum(ranked.posterior for ranked in kept) < 1 - WORTH_KEEPING * len(judgement.ranked):
            return Understood()
        doubtful |= {place for ranked in kept for place, _ in set(ranked.changes) ^ set(changes)}
    claimed = changes if isinstance(judgement.interpretation, Illegal) else ()
    sights = altered(prediction.sights, tuple((place, UNKNOWN) for place, _ in changes) if claimed else changes)
    return Understood(tuple(None if place in doubtful else sight for place, sight in enumerate(sights)), claimed)


def options_of(judgement: Judgement) -> Options:
    """The moves that people may be asked about."""
    meaning = judgement.interpretation
    return meaning.options if isinstance(meaning, (Ambiguous, CannotTell)) else ()


def shows_more(match: Match, prediction: Prediction, judgement: Judgement) -> bool:
    """Whether the table shows more than the moves just accepted, so that it must be read further.

    ``match`` is what has been accepted by now, ``prediction`` that of the match before.
    """
    if not isinstance(judgement.interpretation, Played) or match is prediction.match:
        return False
    return altered(prediction.sights, judgement.changes) != seen_at(match.game, match.position)


def is_vital(state: State, judgement: Judgement) -> bool:
    """Whether what is about to be announced needs a second look, since it is in doubt and may be unjust."""
    return not judgement.is_clear and not is_known(state, judgement) and state.mode in LOOKED_AT_AGAIN
