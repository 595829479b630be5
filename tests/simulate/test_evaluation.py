"""Comparison of the referee's events with the ground truth."""

import pytest

from companion.events import Accepted, Illegal, Unsure
from companion.rules.board import Table
from companion.rules.game import Position
from companion.simulate.evaluation import compare, is_over
from companion.simulate.table import GroundTruth


def done(kind, t_s, text, rules=(), calm_to=None, laid=None):
    """Return the ground truth of an act of Red that ends at ``t_s``."""
    return GroundTruth(kind, "R", t_s - 1, t_s, t_s, calm_to, text, rules, Position((), "R"), Table(()), t_laid=laid)


def accepted(t_s, move):
    return Accepted(t=t_s, n=1, player="R", move=move, position="")


def illegal(t_s, *rules):
    return Illegal(t=t_s, n=1, player="R", attempt=None, rules=rules, reason="", cells=(), seen="", expected="")


PLAYED = [
    done("move", 1.0, "a1-a2", calm_to=1.8),
    done("illegal", 2.0, None, ("G-2", "DOM-7"), calm_to=2.8),
    done("move", 4.0, "a2-a3", calm_to=4.8),
    done("illegal", 5.0, "a3-c5", ("DOM-4",), calm_to=5.8),
    done("restore", 7.0, None),
]


FIRST, SECOND = accepted(1.1, "a1-a2"), accepted(4.1, "a2-a3")


QUESTION = Unsure(t=6.6, n=1, options=(), question="")


MESS, CROOKED = illegal(2.1, "G-2"), illegal(5.1, "DOM-4", "DOM-5")


@pytest.mark.parametrize(
    ("said", "counts", "faults"),
    [
        pytest.param([FIRST, MESS, SECOND, CROOKED], (2, 2), [], id="all right"),
        pytest.param([FIRST, SECOND, CROOKED], (2, 1), [("missed", 2.0)], id="a miss costs no other act its due"),
        pytest.param([FIRST, illegal(2.1, "DOM-4"), SECOND, CROOKED], (2, 1), [("miscited", 2.1)], id="other rules"),
        pytest.param([FIRST, illegal(1.5, "G-2"), MESS, SECOND, CROOKED], (2, 2), [("accused", 1.5)], id="too early"),
        pytest.param([FIRST, MESS, illegal(2.5, "G-2"), SECOND, CROOKED], (2, 2), [("accused", 2.5)], id="twice"),
        pytest.param(
            [FIRST, illegal(2.0, "G-1"), MESS, SECOND, CROOKED], (2, 2), [("accused", 2.0)], id="right at last"
        ),
        pytest.param(
            [FIRST, illegal(3.5, "G-2"), SECOND, CROOKED],
            (2, 1),
            [("missed", 2.0), ("accused", 3.5)],
            id="under a hand",
        ),
        pytest.param([FIRST, MESS, CROOKED], (1, 2), [("lost", 4.0)], id="a move not accepted"),
        pytest.param(
            [FIRST, MESS, accepted(4.1, "a2-b2"), CROOKED], (1, 2), [("lost", 4.0), ("wrong", 4.1)], id="another move"
        ),
        pytest.param([FIRST, MESS, FIRST, SECOND, CROOKED], (2, 2), [("wrong", 1.1)], id="accepted twice"),
        pytest.param([accepted(5.2, "a1-a2"), MESS, accepted(5.2, "a2-a3"), CROOKED], (2, 2), [], id="late in a row"),
    ],
)
def test_the_account_finds_what_was_missed_invented_or_mistaken(said, counts, faults):
    result = compare(PLAYED, said)
    assert (result.accepted, result.caught) == counts
    assert [(fault.kind, fault.t_s) for fault in result.faults] == faults
    assert (result.moves, result.acts) == (2, 2)
    assert result.is_clean == (not faults)


def test_what_was_done_after_the_last_word_counts_for_nobody():
    result = compare(PLAYED, [FIRST, MESS])
    assert (result.moves, result.acts, result.is_clean) == (1, 1, True)


def test_every_fault_is_named_with_its_time_and_both_accounts():
    said = [FIRST, illegal(2.1, "DOM-4"), accepted(4.1, "a2-b2"), illegal(7.5, "G-1"), QUESTION]
    result = compare(PLAYED, said)
    lines = result.lines()
    assert (
        lines[0] == "      2.1 s  miscited: R: illegal no single act (G-2, DOM-7); accused R of no single act (DOM-4)"
    )
    assert lines[1] == "      4.0 s  lost: a2-a3 was played; not accepted"
    assert lines[2] == "      4.1 s  wrong: after R: move a2-a3 at 4.0 s; a2-b2 was accepted"
    assert lines[3] == "      5.0 s  missed: R: illegal a3-c5 (DOM-4); nothing was said"
    assert lines[4] == "      7.5 s  accused: after R: restore at 7.0 s; accused R of no single act (G-1)"
    assert lines[5] == "2 honest moves played: 1 accepted as played, 1 lost; 1 accepted that were not played;"
    assert lines[6] == (
        "2 illegal acts done: 0 caught, 0 asked about, 1 missed, 1 miscited; 1 false accusation; 1 question asked."
    )


def test_a_question_about_an_illegal_act_is_neither_its_due_nor_silence():
    asked = Unsure(t=2.5, n=1, options=(), question="Has anything been changed that should not be?")
    result = compare(PLAYED, [FIRST, asked, SECOND, CROOKED])
    assert (result.acts, result.caught, result.questions) == (2, 1, 1)
    assert [(fault.kind, fault.t_s, fault.said) for fault in result.faults] == [("asked", 2.5, asked.question)]
    assert result.is_clean
    assert compare(PLAYED, [FIRST, asked, MESS, SECOND, CROOKED]).faults == ()


def test_a_demonstration_ends_when_so_many_moves_stand_or_the_referee_has_lost_the_thread():
    moves = [done("move", float(i), "a1-a2") for i in range(6)]
    assert is_over(2, [FIRST, SECOND], moves[:2])
    assert not is_over(2, [FIRST], moves[:5])
    assert is_over(2, [FIRST], moves)
    assert not is_over(2, [FIRST], [*moves, done("takeback", 9.0, None)])


def test_a_verdict_may_fall_as_soon_as_the_board_lies_so():
    """A verdict may come before the calm phase, while the hand is in the picture but hides nothing."""
    caught = done("illegal", 2.0, None, ("G-2",), calm_to=2.8, laid=1.7)
    last = done("move", 4.0, "a2-a3", laid=3.7)
    truth = [done("move", 1.0, "a1-a2", calm_to=1.8), caught, last]
    result = compare(truth, [FIRST, illegal(1.8, "G-2"), accepted(3.8, "a2-a3")])
    assert (result.accepted, result.caught, result.faults) == (2, 1, ())
    assert [fault.kind for fault in compare(truth, [FIRST, illegal(1.6, "G-2"), SECOND]).faults] == [
        "accused",
        "missed",
    ]


def test_an_act_that_is_still_under_the_hand_at_the_end_counts_for_nobody():
    truth = [done("move", 1.0, "a1-a2", calm_to=1.8), done("move", 3.0, "a2-a3", laid=2.7)]
    result = compare(truth, [FIRST, illegal(2.8, "G-2")])
    assert (result.moves, [fault.kind for fault in result.faults]) == (1, ["accused"])
