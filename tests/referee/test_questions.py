"""Questions to the players, their answers, and doubts that are not reported."""

from __future__ import annotations

import pytest

from companion.events import (
    Accepted,
    Corrected,
    Illegal,
    TakenBack,
    Unsure,
)
from companion.referee.orders import (
    Answer,
    OrderRefused,
    RejectVerdict,
)
from companion.referee.patience import DOUBT_S
from tests.referee.conftest import START, kinds, settled

OWN_FIVES = "domination 4/6/8/1,RRRRR,R,RRGRR,R,G,2/8/8/6/4 R"


def test_moves_that_look_alike_are_asked_about_and_answered(film) -> None:
    """The answer is the index of an option, and counts as the move."""
    shot = settled(film, OWN_FIVES)
    (unsure,) = shot.show(("c5", ""))
    assert isinstance(unsure, Unsure)
    assert set(unsure.options) == {"c5-b5", "c5-d5"}
    assert unsure.cells == ("b5", "c5", "d5")
    assert all(option in unsure.question for option in unsure.options)
    assert shot.show(("c5", "")) == []
    with pytest.raises(OrderRefused, match="no option 2"):
        shot.referee.order(shot.t_s, Answer(2))
    (accepted, *_) = shot.referee.order(shot.t_s, Answer(unsure.options.index("c5-d5")), by="R")
    assert isinstance(accepted, Accepted)
    assert accepted.move == "c5-d5"
    assert shot.show() == []


def test_none_of_the_moves_asked_about(film) -> None:
    """The position stays as it was, and the table must show it again."""
    shot = settled(film, OWN_FIVES)
    shot.show(("c5", ""))
    (corrected,) = shot.referee.order(shot.t_s, Answer(None), by="R")
    assert corrected == Corrected(t=corrected.t, n=corrected.n, by="R", position=OWN_FIVES)
    (todo,) = shot.keep_still(shot.table.stacks, frames=60)
    assert (todo.event, todo.cells, todo.stacks) == ("unfinished", ("c5",), ("R",))
    assert kinds(shot.show()) == ["restored"]


def test_a_question_is_settled_by_the_next_clear_view(film) -> None:
    """Here the piece is put back."""
    shot = settled(film, OWN_FIVES)
    shot.show(("c5", ""))
    assert kinds(shot.show()) == ["restored"]
    assert shot.referee.snapshot.options == ()


@pytest.mark.parametrize("nats", [10.0, 13.0])
def test_a_piece_put_on_a_square_that_is_read_well_is_told_within_a_second_or_so(film, nats: float) -> None:
    """Only one cell changes, so no other one can confirm the act."""
    shot = settled(film)
    begins = shot.t_s
    shot.doubts = {"c3": ("RR", "R", nats)}
    (illegal,) = shot.show(("c3", "RR"), frames=30)
    assert isinstance(illegal, Illegal)
    assert (illegal.attempt, illegal.rules) == ("*c3", ("DOM-6",))
    assert illegal.t - begins <= DOUBT_S + 0.5
    shot.doubts = {}
    assert kinds(shot.show()) == ["restored"]


def test_a_square_that_stays_doubtful_is_asked_about(film) -> None:
    """It is asked once, without an accusation."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 8.0)}
    (unsure,) = shot.show(("c3", "RR"), frames=30)
    assert isinstance(unsure, Unsure)
    assert unsure.options == ()
    assert unsure.question == "Has anything been changed that should not be? c3 looks like 2R."
    assert unsure.cells == ("c3",)
    assert shot.show(("c3", "RR"), frames=30) == []
    shot.doubts = {}
    assert kinds(shot.show()) == ["restored"]


def test_a_square_that_people_say_is_right_is_asked_about_no_more(film) -> None:
    """The match goes on around that cell."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 8.0)}
    assert kinds(shot.show(frames=30)) == ["unsure"]
    (corrected,) = shot.referee.order(shot.t_s, Answer(None), by="R")
    assert isinstance(corrected, Corrected)
    assert corrected.position == START
    assert shot.show(frames=30) == []
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_a_slight_doubt_is_kept_to_oneself(film) -> None:
    """This holds while it is far likelier that nothing has changed."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 4.0)}
    assert shot.show(frames=60) == []


def test_who_goes_on_without_an_answer_has_answered(film) -> None:
    """The next move confirms the doubtful one, although its own cells are no clearer than before."""
    shot = settled(film)
    shot.doubts = {"e4": ("R", "", 2.0), "e5": ("GR", "G", 6.0)}
    (unsure,) = shot.show(("e4", ""), ("e5", "GR"), frames=30)
    assert isinstance(unsure, Unsure)
    assert unsure.options == ("e4-e5",)
    first, second = shot.show(("e4", ""), ("e5", "GR"), ("f6", ""), ("f5", "RG"))
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert (first.move, second.move) == ("e4-e5", "f6-f5")


def test_who_goes_on_after_a_take_back_in_doubt_has_taken_back(film) -> None:
    """The cell to which the piece went back is no clearer than before."""
    shot = settled(film)
    back = (("e4", "R"), ("e5", "G"))
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]
    shot.doubts = {"e4": ("", "R", 3.0)}
    assert kinds(shot.show(*back, frames=30)) == ["unsure"]
    taken_back, accepted = shot.show(*back, ("c5", ""), ("b5", "GR"))
    assert isinstance(taken_back, TakenBack)
    assert isinstance(accepted, Accepted)
    assert (taken_back.moves, accepted.move) == (("e4-e5",), "c5-b5")


def test_a_piece_that_has_gone_is_no_take_back_once_its_square_is_seen(film) -> None:
    """While the cell was unclear, the piece might have been put back there."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    shot.doubts = {"e4": ("", "R", 3.0)}
    assert kinds(shot.show(("e4", ""), ("e5", "G"), frames=30)) == ["unsure"]
    shot.doubts = {}
    assert kinds(shot.show(("e4", ""), ("e5", "G"), ("c5", ""), ("b5", "GR"), frames=30)) == ["illegal"]


def test_a_square_that_an_answer_shows_to_be_misread_is_not_raised_again(film) -> None:
    """The disc has left e4, which still looks occupied, and more so than before."""
    shot = settled(film)
    shot.doubts = {"e4": ("R", "", 2.0), "e5": ("GR", "G", 6.0)}
    (unsure,) = shot.show(("e4", ""), ("e5", "GR"), frames=30)
    assert isinstance(unsure, Unsure)
    assert unsure.options == ("e4-e5",)
    assert isinstance(shot.referee.order(shot.t_s, Answer(0))[0], Accepted)
    shot.doubts = {"e4": ("R", "", 8.0)}
    assert shot.show(frames=60) == []
    shot.doubts = {}
    shot.show()
    assert kinds(shot.show(("e4", "R"))) == ["illegal"]


def test_a_misread_square_is_not_believed_once_people_say_so(film) -> None:
    """The cell is ignored after the verdict was rejected, until it has looked right again."""
    shot = settled(film)
    assert kinds(shot.show(("h3", "R"))) == ["illegal"]
    (corrected,) = shot.referee.order(shot.t_s, RejectVerdict(), by="Ada")
    assert (corrected.by, corrected.position) == ("Ada", START)
    assert shot.show(("h3", "R")) == []
    assert kinds(shot.show(("h3", "R"), ("e4", ""), ("e5", "GR"))) == ["accepted"]
    assert shot.show(("h3", "R")) == []
    assert shot.show() == []
    assert kinds(shot.show(("h3", "R"))) == ["illegal"]


def test_a_square_that_was_not_believed_is_believed_again_when_it_is_touched(film) -> None:
    """This holds even if it has not looked right in the meantime."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 8.0)}
    assert kinds(shot.show(frames=30)) == ["unsure"]
    shot.referee.order(shot.t_s, Answer(None), by="R")
    shot.changed = ()
    assert shot.show(frames=30) == []
    shot.doubts, shot.changed = {}, ("c3",)
    (illegal,) = shot.show(("c3", ""))
    assert illegal.cells == ("c3",)


def test_play_that_goes_on_shows_what_was_played_though_squares_are_misread(film) -> None:
    """Nobody answers, and two cells look one piece too high, each shaded by a move."""
    shot = settled(film)
    visits = [
        ("e4", "", "e5", "GR", {"c7": ("RR", "R", 5.5)}),
        ("d7", "", "d6", "RG", {"g7": ("RR", "R", 5.5)}),
        ("f5", "", "f6", "GR", {}),
    ]
    board, said = [], []
    for source, nothing, target, stack, misread in visits:
        shot.doubts |= misread
        shot.changed = (source, target, *misread)
        board += [(source, nothing), (target, stack)]
        said += shot.show(*board, frames=30)
        shot.changed = ()
    assert kinds(said) == ["unsure", "unsure", "accepted", "accepted", "accepted"]
    assert [event.move for event in said[2:]] == ["e4-e5", "d7-d6", "f5-f6"]


def test_a_piece_exchanged_beside_a_move_is_less_likely_than_one_misread(film) -> None:
    """A piece shaded by the moved one looks like another: this may be asked about, but nobody is accused."""
    shot = settled(film)
    shot.doubts = {"d5": ("R", "G", 7.0)}
    shot.changed = ("e4", "e5", "d5")
    shot.show(("e4", ""), ("e5", "GR"), frames=30)
    assert "illegal" not in kinds(shot.events)


def test_a_move_between_hidden_squares_makes_the_next_one_no_act_out_of_turn(film) -> None:
    """Neither cell of the move is legible; after the next move both are asked about, and nobody is accused."""
    shot = settled(film)
    shot.doubts = {"e4": ("R", "", 0.0), "e5": ("G", "GR", 0.0)}
    shot.show()
    shot.show(("d7", ""), ("d6", "RG"), frames=30)
    (unsure,) = shot.events[1:]
    assert unsure.options == ("e4-e5 d7-d6",)
