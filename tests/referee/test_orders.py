"""Orders from people: pauses, rulings of the arbiter, confirmed turns, the end."""

from __future__ import annotations

import pytest

from companion.events import (
    GameOver,
    Unfinished,
)
from companion.referee.orders import (
    AcceptMove,
    Answer,
    Done,
    EndMatch,
    OrderRefused,
    Pause,
    RejectVerdict,
    Resume,
    SetPosition,
    TakeBackMoves,
)
from companion.rules.notation import parse_move, parse_position
from tests.referee.conftest import START, kinds, settled

TALL = "domination 4/6/8/8/GR,GR,3,G,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"


def test_nothing_is_judged_in_a_pause(film) -> None:
    """After the pause the table must show the position again."""
    shot = settled(film)
    assert shot.referee.order(shot.t_s, Pause()) == ()
    assert shot.show(("e4", ""), ("e6", "RR")) == []
    assert shot.referee.order(shot.t_s, Resume()) == ()
    assert kinds(shot.show(("e4", ""), ("e6", "RR"))) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]


def test_the_arbiter_rules(film) -> None:
    """Accepting a move, taking it back and setting a position are events; the table must follow."""
    shot = settled(film)
    move = parse_move(shot.game, shot.match.position, "e4-e5")
    (accepted,) = shot.referee.order(1.0, AcceptMove(move))
    assert (accepted.by, accepted.move, accepted.position) == ("arbiter", "e4-e5", None)
    (back,) = shot.referee.order(2.0, TakeBackMoves(1), by="Ada")
    assert (back.by, back.move, back.position) == ("Ada", None, START)
    position = parse_position(shot.game, TALL)
    (ruled,) = shot.referee.order(3.0, SetPosition(position))
    assert ruled.position == TALL
    assert shot.referee.match.position == position
    assert shot.show() == []
    assert kinds(shot.show(("f4", ""), ("f3", "RRGG"))) == ["accepted"]


def test_a_move_that_was_ruled_away_does_not_count_because_it_lies_there_still(film) -> None:
    """Players are told to put the pieces back; afterwards the same move counts again."""
    shot = settled(film)
    e4_e5 = ("e4", ""), ("e5", "GR")
    assert kinds(shot.show(*e4_e5)) == ["accepted"]
    shot.referee.order(shot.t_s, TakeBackMoves(1))
    (todo,) = shot.keep_still(shot.table.stacks, frames=60)
    assert isinstance(todo, Unfinished)
    assert (set(todo.cells), dict(zip(todo.cells, todo.stacks, strict=True))["e5"]) == ({"e4", "e5"}, "G")
    assert shot.referee.match.plies == ()
    assert kinds(shot.show()) == ["restored"]
    assert kinds(shot.show(*e4_e5)) == ["accepted"]


def test_what_was_ruled_away_stays_so_after_a_further_ruling(film) -> None:
    """In between, the table has not shown the position that counts."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    shot.referee.order(shot.t_s, TakeBackMoves(1))
    shot.referee.order(shot.t_s, SetPosition(parse_position(shot.game, START)))
    assert kinds(shot.keep_still(shot.table.stacks, frames=60)) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]


def test_none_of_several_moves_that_were_ruled_away_counts(film) -> None:
    """Putting the moves back one by one passes through earlier positions; another move instead does count."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    first = shot.table.stacks
    shot.show(("c4", ""), ("d4", "RG"))
    shot.referee.order(shot.t_s, TakeBackMoves(2))
    assert kinds(shot.keep_still(shot.table.stacks, frames=60)) == ["unfinished"]
    shot.sweep()
    assert kinds(shot.keep_still(first, frames=60)) == ["unfinished"]
    assert shot.referee.match.plies == ()
    assert [event.move for event in shot.show(("e4", ""), ("e3", "GR"))] == ["e4-e3"]


def test_an_accepted_move_is_not_taken_back_because_the_table_does_not_show_it_yet(film) -> None:
    """The ruling comes first, then the pieces; after that the move can be taken back."""
    shot = settled(film)
    shot.referee.order(shot.t_s, AcceptMove(parse_move(shot.game, shot.match.position, "e4-e5")))
    start = shot.table.stacks
    assert kinds(shot.keep_still(start, frames=60)) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]
    shot.sweep()
    assert kinds(shot.keep_still(start)) == ["taken-back"]


def test_who_says_done_means_the_table_as_it_lies(film) -> None:
    """The confirmed table counts even if it shows a move that was taken back by mistake."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    shot.referee.order(shot.t_s, TakeBackMoves(1))
    assert kinds(shot.keep_still(shot.table.stacks, frames=60)) == ["unfinished"]
    shot.referee.order(shot.t_s, Done())
    assert kinds(shot.keep_still(shot.table.stacks, frames=60)) == ["accepted"]


def test_the_picture_that_was_taken_before_somebody_says_done_is_not_judged_by_it(film) -> None:
    """After the confirmation, the next reading is of a frame taken later."""
    shot = settled(film)
    shot.referee.glance(shot.t_s, moving=False)
    shot.referee.order(shot.t_s, Done())
    assert not shot.referee.glance(shot.t_s, moving=False).read
    assert shot.referee.glance(shot.t_s + 0.1, moving=False).read


def test_orders_that_do_not_fit_are_refused(film) -> None:
    """Refused orders change nothing."""
    shot = settled(film)
    illegal = parse_move(shot.game, shot.match.position, "e4-e6")
    before = shot.referee.snapshot
    misfits = (Answer(0), Answer(None), AcceptMove(illegal), TakeBackMoves(1), RejectVerdict(), Resume())
    for order in misfits:
        with pytest.raises(OrderRefused):
            shot.referee.order(1.0, order)
    assert shot.referee.snapshot == before


def test_the_arbiter_ends_the_match(film) -> None:
    """The match can be ended only once."""
    shot = settled(film)
    (over,) = shot.referee.order(1.0, EndMatch("G"))
    assert isinstance(over, GameOver)
    assert (over.winner, over.rule) == ("G", "arbiter")
    assert shot.referee.snapshot.mode == "over"
    with pytest.raises(OrderRefused):
        shot.referee.order(2.0, EndMatch("R"))
