"""Matches in which a move counts only once the player confirms it."""

from __future__ import annotations

import pytest

from companion.events import Accepted, Event, Unsure
from companion.games import read_position
from companion.match import Match
from companion.referee.orders import Answer, Done, OrderRefused
from companion.referee.referee import Referee

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
TALL = "domination 4/6/8/8/GR,GR,3,G,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"
RESERVE = "domination 4/6/8/1,RRRRR,R,RRGRR,R,G,2/8/8/6/4 R reserve=R1"


def kinds(events: list[Event]) -> list[str]:
    """Return the kinds of the events."""
    return [event.event for event in events]


def confirmed(film, position: str = START, *, confirming: bool = True):
    """Return a film whose first calm table shows the right position."""
    match = Match(*read_position(position))
    shot = film(match)
    shot.referee = Referee(match, confirming=confirming)
    shot.events = list(shot.referee.begin(0.0))
    assert shot.show() == []
    return shot


def done(shot) -> list[Event]:
    """Press the button and show the unchanged table; return the events."""
    said = list(shot.referee.order(shot.t_s, Done()))
    return said + shot.keep_still(shot.table.stacks)


def test_nothing_is_said_before_the_word(film) -> None:
    """Nothing is reported of what is tried before, legal or not; then the last table counts."""
    shot = confirmed(film)
    assert shot.show(("e4", ""), ("e5", "GR"), frames=30) == []
    assert shot.show(("e4", ""), ("e7", "GR"), frames=30) == []
    assert shot.show(("c5", ""), ("c4", "GR"), frames=30) == []
    (accepted,) = done(shot)
    assert isinstance(accepted, Accepted)
    assert accepted.move == "c5-c4"
    assert shot.referee.snapshot.mode == "thinking"


def test_a_picture_that_was_taken_before_the_word_does_not_answer_it(film) -> None:
    """A late picture, as from a phone on a slow network, still shows the hand; the next one decides."""
    shot = confirmed(film)
    assert shot.show(("e4", ""), ("e7", "GR"), frames=30) == []
    shot.referee.order(shot.t_s, Done(), now_s=shot.t_s + 0.4)
    assert [shot.referee.glance(shot.t_s + late_s, moving=False).read for late_s in (0.1, 0.3, 0.5)] == [
        False,
        False,
        True,
    ]


def test_an_illegal_act_is_told_after_the_word_and_put_right_without_one(film) -> None:
    """The correction needs no confirmation; then the player is thinking again."""
    shot = confirmed(film)
    assert shot.show(("d7", ""), ("b6", "GG"), frames=30) == []
    assert kinds(done(shot)) == ["illegal"]
    assert kinds(shot.show()) == ["restored"]
    assert shot.show(("e4", ""), ("e5", "GR"), frames=30) == []
    assert kinds(done(shot)) == ["accepted"]


def test_who_has_moved_nothing_is_told_so(film) -> None:
    """The player is told that nothing has moved, and goes on thinking."""
    shot = confirmed(film)
    (unmoved,) = done(shot)
    assert unmoved.todo.startswith("nothing has been moved")
    assert shot.referee.snapshot.mode == "thinking"


def test_a_half_done_turn_is_told_after_the_word(film) -> None:
    """The turn is accepted once its end is on the table."""
    shot = confirmed(film, TALL)
    assert shot.show(("f4", ""), ("g4", "GGGGRG"), frames=30) == []
    assert kinds(done(shot)) == ["unfinished"]
    assert kinds(shot.show(("f4", ""), ("g4", "GGGRG"))) == ["accepted"]


def test_the_question_about_a_move_that_nobody_can_see_stays_while_nothing_moves(film) -> None:
    """Readings of the unchanged table do not replace the question."""
    shot = confirmed(film, RESERVE, confirming=False)
    shot.referee.order(shot.t_s, Done())
    assert kinds(shot.keep_still(shot.table.stacks, 3)) == ["unsure"]
    for _ in range(60):
        shot.frame += 1
        if shot.referee.glance(shot.t_s, moving=False).read:
            assert shot.referee.observe(shot.t_s, shot.reading(shot.table.stacks)) == ()
    assert shot.referee.snapshot.mode == "asking"


@pytest.mark.parametrize("confirming", [False, True])
def test_a_move_that_nobody_can_see_is_asked_about_after_the_word(film, *, confirming: bool) -> None:
    """Putting a reserve piece under one's own stack of five leaves the board unchanged."""
    shot = confirmed(film, RESERVE, confirming=confirming)
    (unsure,) = done(shot)
    assert isinstance(unsure, Unsure)
    assert set(unsure.options) == {"*b5", "*d5"}
    with pytest.raises(OrderRefused, match="answer the question first"):
        shot.referee.order(shot.t_s, Done())
    (accepted,) = shot.referee.order(shot.t_s, Answer(unsure.options.index("*d5")))
    assert accepted.move == "*d5"


def test_done_says_yes_to_a_question_about_one_move(film) -> None:
    """This also works in matches without confirmation."""
    shot = confirmed(film, confirming=False)
    shot.doubts = {"e4": ("R", "", 2.0), "e5": ("GR", "G", 6.0)}
    assert kinds(shot.show(("e4", ""), ("e5", "GR"), frames=30)) == ["unsure"]
    (accepted,) = shot.referee.order(shot.t_s, Done())
    assert accepted.move == "e4-e5"


def test_without_confirmation_done_is_no_news(film) -> None:
    """Players press the button by habit after a move that was already accepted."""
    shot = confirmed(film, confirming=False)
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]
    assert done(shot) == []
