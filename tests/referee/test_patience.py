"""How long a judgement must persist before it is reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.referee.patience import (
    AGREEING_READINGS,
    DOUBT_S,
    LIFTED_S,
    LIKELY_WRONG,
    REPAIR_S,
    RESTORED_S,
    after_motion,
    is_due,
    require_patience,
    suspect,
)
from companion.referee.states import Mode
from companion.rules.board import Table
from companion.rules.game import Move, Stage, Violation
from companion.tracker.diagnose import Diagnosis
from companion.tracker.interpret import (
    Illegal,
    InProgress,
    Interpretation,
    Judgement,
    Played,
    TakenBack,
    Unchanged,
    Undecided,
)

MOVE = Move(0, 1, 1)
BROKEN = (Violation("G-2", "nothing else may be touched.", ("c3",)),)
ACT = Illegal(Diagnosis(MOVE, "R", BROKEN, ("c3",)), is_lifted=False)
LIFTED = Illegal(Diagnosis(MOVE, "R", BROKEN, ("c3",)), is_lifted=True)
MESS = Illegal(Diagnosis(None, "R", BROKEN, ("c3",)), is_lifted=False)


def judged(meaning: Interpretation, cell: int = 5) -> Judgement:
    """Return a judgement of a table that differs in one cell."""
    return Judgement(meaning, ((cell, (0, None)),), 0.999, (), (), is_strange=False)


def due_after(judgement: Judgement, mode: Mode = Mode.WATCHING, frame_s: float = 1 / 12) -> int:
    """Return the number of the reading, from 1, after which the judgement is reported."""
    suspicion = None
    for i in range(1000):
        suspicion = suspect(suspicion, judgement, i * frame_s)
        if suspicion is None or is_due(suspicion, judgement, mode, i * frame_s):
            return i + 1
    raise AssertionError("never said")


@pytest.mark.parametrize("meaning", [Unchanged(), Played((MOVE,)), TakenBack(1)])
def test_what_accuses_nobody_is_said_at_once(meaning: Interpretation) -> None:
    """One clear picture is enough."""
    assert due_after(judged(meaning)) == 1


@pytest.mark.parametrize("meaning", [Played((MOVE,)), TakenBack(1)])
def test_two_pictures_for_a_move_that_places_contradict(meaning: Interpretation) -> None:
    """An arm that is still for one frame may have been mistaken for a piece."""
    assert due_after(replace(judged(meaning), odd=((7, (3, "R")),))) == 2


@pytest.mark.parametrize("meaning", [Played((MOVE,)), TakenBack(1)])
def test_two_pictures_for_a_move_that_a_second_look_disputes(meaning: Interpretation) -> None:
    """A hand that is still for one frame may hold a piece beside a stack."""
    assert due_after(replace(judged(meaning), is_disputed=True)) == 2


@pytest.mark.parametrize("meaning", [ACT, Played((MOVE, MOVE)), TakenBack(1, (MOVE,))])
def test_two_pictures_for_a_complete_act_and_for_several_at_once(meaning: Interpretation) -> None:
    """At 12 frames a second a complete illegal act is reported within three calm frames."""
    assert due_after(judged(meaning)) == 2


@pytest.mark.parametrize("meaning", [LIFTED, MESS])
def test_pieces_gone_and_messes_may_be_on_their_way(meaning: Interpretation) -> None:
    """They need more readings and a minimum time, so that a faster camera does not accuse sooner."""
    assert 3 <= due_after(judged(meaning)) <= 5
    assert due_after(judged(meaning), frame_s=1 / 100) == round(LIFTED_S * 100) + 1


def test_doubt_becomes_a_question_after_a_while_only() -> None:
    """Without options there is nothing to ask."""
    assert due_after(judged(Undecided(((MOVE,),))), frame_s=0.5) == DOUBT_S / 0.5 + 1
    with pytest.raises(AssertionError, match="never"):
        due_after(judged(Undecided(())), frame_s=0.5)


@pytest.mark.parametrize("mode", [Mode.RESTORING, Mode.UNFINISHED])
def test_a_repair_is_given_time(mode: Mode) -> None:
    """This applies while an illegal position or an unfinished turn is on the table."""
    assert due_after(judged(ACT), mode, frame_s=0.5) == REPAIR_S / 0.5 + 1


def test_a_new_act_after_a_repair_is_given_none() -> None:
    """The cells reported before are right again, and another one is wrong."""
    act = judged(ACT)
    ((place, _),) = act.changes
    suspicion = suspect(suspect(None, act, 0.0), act, 0.1)
    assert suspicion is not None
    assert suspicion.readings == AGREEING_READINGS
    assert is_due(suspicion, act, Mode.RESTORING, LIFTED_S, ((place + 1, (1, "R")),))
    assert not is_due(suspicion, act, Mode.RESTORING, LIFTED_S, ((place, (1, "R")),))


@pytest.mark.parametrize("mode", [Mode.RESTORING, Mode.UNFINISHED, Mode.SETTING_UP])
def test_that_something_is_amiss_is_asked_unless_people_are_busy_with_it(mode: Mode) -> None:
    """This is the question without a move as an option."""
    amiss = judged(Undecided((), is_violation_possible=True))
    assert due_after(amiss, frame_s=0.5) == DOUBT_S / 0.5 + 1
    with pytest.raises(AssertionError, match="never"):
        due_after(amiss, mode, frame_s=0.5)


def test_a_table_that_is_most_likely_right_again_is_said_sooner() -> None:
    """While restoring, a likely correct table is reported after RESTORED_S."""
    doubt = judged(Undecided((), fallback=Unchanged()))
    suspicion = suspect(None, doubt, 0.0)
    assert require_patience(suspicion, doubt, Mode.RESTORING, RESTORED_S - 0.1) == doubt
    assert require_patience(suspicion, doubt, Mode.RESTORING, RESTORED_S).interpretation == Unchanged()
    assert require_patience(suspicion, doubt, Mode.WATCHING, RESTORED_S) == doubt


def test_lasting_doubt_comes_to_the_likeliest_end() -> None:
    """It is not settled earlier, and without a likeliest end it stays doubt."""
    doubt = judged(Undecided((), fallback=ACT, is_violation_possible=True, fallback_posterior=LIKELY_WRONG))
    suspicion = suspect(None, doubt, 0.0)
    watching = Mode.WATCHING
    assert require_patience(None, doubt, watching, DOUBT_S) == doubt
    assert require_patience(suspicion, doubt, watching, DOUBT_S - 0.1) == doubt
    assert require_patience(suspicion, doubt, watching, DOUBT_S).interpretation == ACT
    endless = judged(Undecided((), is_violation_possible=True))
    assert require_patience(suspicion, endless, watching, DOUBT_S) == endless
    fallback_posterior = judged(Unchanged())
    assert require_patience(suspicion, fallback_posterior, watching, DOUBT_S) == fallback_posterior


def test_what_may_be_wrong_is_said_of_a_set_up_only() -> None:
    """Nobody is accused during set-up."""
    doubt = judged(Undecided((), fallback=ACT, is_violation_possible=True, fallback_posterior=LIKELY_WRONG - 0.1))
    suspicion = suspect(None, doubt, 0.0)
    assert require_patience(suspicion, doubt, Mode.WATCHING, DOUBT_S) == doubt
    assert require_patience(suspicion, doubt, Mode.SETTING_UP, DOUBT_S).interpretation == ACT


@pytest.mark.parametrize(
    ("mode", "is_violation_possible", "is_believed"),
    [
        (Mode.RESTORING, True, True),
        (Mode.UNFINISHED, True, True),
        (Mode.WATCHING, True, False),
        (Mode.WATCHING, False, True),
    ],
)
def test_that_nothing_has_changed_is_believed_of_those_who_put_it_right(
    mode: Mode, *, is_violation_possible: bool, is_believed: bool
) -> None:
    """Someone who plays on is asked if the table may well be wrong."""
    doubt = judged(Undecided((), fallback=Unchanged(), is_violation_possible=is_violation_possible))
    suspicion = suspect(None, doubt, 0.0)
    meaning = require_patience(suspicion, doubt, mode, DOUBT_S).interpretation
    assert isinstance(meaning, Unchanged) == is_believed


@pytest.mark.parametrize("may_be_complete", [True, False])
def test_who_may_have_completed_a_turn_is_asked(*, may_be_complete: bool) -> None:
    """The rest of the turn was announced before; to find it still unfinished would report nothing."""
    half_done = InProgress((MOVE,), Stage(Table(("W", "B")), "take what was jumped off b1", ("b1",), "DRA-5"))
    doubt = judged(Undecided(((MOVE,),) if may_be_complete else (), fallback=half_done))
    suspicion = suspect(None, doubt, 0.0)
    assert suspicion is not None
    ended = require_patience(suspicion, doubt, Mode.UNFINISHED, DOUBT_S)
    assert isinstance(ended.interpretation, Undecided) == may_be_complete
    if may_be_complete:
        assert is_due(suspicion, ended, Mode.UNFINISHED, DOUBT_S)


def test_another_view_is_another_suspicion() -> None:
    """A different view restarts the count, except that unclear views may vary."""
    first = suspect(None, judged(ACT, 5), 0.0)
    assert first is not None
    again, other = suspect(first, judged(ACT, 5), 0.1), suspect(first, judged(ACT, 6), 0.1)
    assert again is not None
    assert other is not None
    assert (again.readings, again.since_s) == (2, 0.0)
    assert (other.readings, other.since_s) == (1, 0.1)
    unclear = suspect(suspect(None, judged(Undecided(()), 5), 0.0), judged(Undecided(()), 6), 0.1)
    assert unclear is not None
    assert unclear.readings == 2


@pytest.mark.parametrize(
    ("meaning", "mode", "is_kept"),
    [
        (ACT, Mode.WATCHING, True),
        (LIFTED, Mode.WATCHING, False),
        (MESS, Mode.WATCHING, False),
        (Undecided(()), Mode.WATCHING, False),
        (ACT, Mode.RESTORING, False),
        (ACT, Mode.UNFINISHED, False),
    ],
)
def test_a_complete_act_that_lay_there_before_something_moved_needs_no_more_pictures(
    meaning: Interpretation, mode: Mode, is_kept: bool
) -> None:
    """A complete act seen before a motion is due at once if it is seen again, but not another act."""
    before = suspect(None, judged(meaning), 1.0)
    assert before is not None
    kept = after_motion(before, mode)
    assert kept == (before if is_kept else None)
    again = suspect(kept, judged(meaning), 1.5)
    assert again is not None
    assert is_due(again, judged(meaning), mode, 1.5) is is_kept
    other = suspect(kept, judged(meaning, cell=6), 1.5)
    assert other is not None
    assert not is_due(other, judged(meaning, cell=6), mode, 1.5)
