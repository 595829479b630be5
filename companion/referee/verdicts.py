"""What a judged table leads to: its trigger, whether people know it already, and what it takes to be at each place."""

from __future__ import annotations

from collections.abc import Mapping

from companion.match import Match
from companion.referee.state import Options, State
from companion.referee.states import VERIFIED_MODES, Mode, Trigger
from companion.referee.understood import UnderstoodTable
from companion.rules.board import Sight
from companion.tracker.evidence import UNKNOWN, Evidence
from companion.tracker.hypotheses import Prediction
from companion.tracker.interpret import (
    KEEP_THRESHOLD,
    Ambiguous,
    Illegal,
    InProgress,
    Judgement,
    Played,
    TakenBack,
    Unchanged,
    Undecided,
)
from companion.tracker.sights import Place, apply_changes, position_sights

_TRIGGERS: Mapping[type[object], Trigger] = {
    Unchanged: Trigger.SAME,
    Played: Trigger.PLAYED,
    InProgress: Trigger.BEGUN,
    TakenBack: Trigger.BACK,
    Illegal: Trigger.WRONG,
    Ambiguous: Trigger.ALIKE,
    Undecided: Trigger.ALIKE,
}


def is_known(state: State, judgement: Judgement) -> bool:
    """Whether the referee has already announced this very table."""
    return (
        state.mode in (Mode.RESTORING, Mode.ASKING)
        and isinstance(judgement.interpretation, (Illegal, Ambiguous, Undecided))
        and judgement.changes == state.context.standing
    )


def trigger_for(state: State, prediction: Prediction, judgement: Judgement) -> Trigger:
    """The trigger of the judged table; during set-up, one that a ruling has overruled counts as wrong."""
    trigger = _TRIGGERS[type(judgement.interpretation)]
    is_overruled = (
        state.mode is Mode.SETTING_UP and apply_changes(prediction.sights, judgement.changes) in state.overruled
    )
    return Trigger.WRONG if is_overruled and trigger is not Trigger.SAME else trigger


def still_in_doubt(evidence: Evidence, before: tuple[Sight | None, ...] | None) -> frozenset[Place]:
    """The places that were in doubt ``before``, and about which the picture says nothing new."""
    open_before = (place for place, sight in enumerate(before or ()) if sight is None)
    return frozenset(place for place in open_before if evidence.hidden[place])


def understood_table(
    prediction: Prediction, judgement: Judgement, is_open: frozenset[Place] = frozenset()
) -> UnderstoodTable:
    """The table by the judgement: None for places that the picture contradicts, or for all if unknown.

    The places of ``is_open`` stay in doubt and are None too.  Places that an accusation claims to have changed are
    UNKNOWN, so that the claim is not taken as evidence once the table is put right.  If the judgement is undecided, a
    place is known if all explanations above KEEP_THRESHOLD agree on it.
    """
    doubtful = {place for place, _ in judgement.odd} | is_open
    changes = judgement.changes
    if isinstance(judgement.interpretation, Undecided):
        kept = [ranked for ranked in judgement.ranked if ranked.posterior >= KEEP_THRESHOLD]
        if sum(ranked.posterior for ranked in kept) < 1 - KEEP_THRESHOLD * len(judgement.ranked):
            return UnderstoodTable()
        doubtful |= {place for ranked in kept for place, _ in set(ranked.changes) ^ set(changes)}
    claimed = changes if isinstance(judgement.interpretation, Illegal) else ()
    sights = apply_changes(prediction.sights, tuple((place, UNKNOWN) for place, _ in changes) if claimed else changes)
    return UnderstoodTable(tuple(None if place in doubtful else sight for place, sight in enumerate(sights)), claimed)


def options_of(judgement: Judgement) -> Options:
    """The moves that people may be asked about."""
    meaning = judgement.interpretation
    return meaning.options if isinstance(meaning, (Ambiguous, Undecided)) else ()


def shows_more(match: Match, prediction: Prediction, judgement: Judgement) -> bool:
    """Whether the table shows more than the moves just accepted, so that it must be read further.

    ``match`` is what has been accepted by now, ``prediction`` that of the match before.
    """
    if not isinstance(judgement.interpretation, Played) or match is prediction.match:
        return False
    return apply_changes(prediction.sights, judgement.changes) != position_sights(match.game, match.position)


def needs_second_look(state: State, judgement: Judgement) -> bool:
    """Whether a second look is needed before the judgement is announced: it is in doubt and not yet announced."""
    return not judgement.is_clear and not is_known(state, judgement) and state.mode in VERIFIED_MODES
