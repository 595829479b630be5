"""What the referee says to what happens at the table.  Pictures are clear; see test_campaign for others."""

from __future__ import annotations

import pytest

from companion.events import (
    Accepted,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
    from_json,
    to_json,
)
from companion.games import load_game, read_position
from companion.match import Match
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
from companion.referee.patience import DOUBT_S, REPAIR_S
from companion.referee.referee import Referee
from companion.referee.viewing import HAND_S, UNSEEN_S
from companion.rules.notation import format_position, parse_move, parse_position

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
TALL = "domination 4/6/8/8/GR,GR,3,G,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"
TALL_BY_TWO = "domination 4/6/8/8/GR,GR,3,GG,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"
THREE = format_position(load_game("domination/3"), load_game("domination/3").start())
PROMOTING = "cheight 3,k/P,3/4/4/4/4/4/K,NC,2 R"
OWN_FIVES = "domination 4/6/8/1,RRRRR,R,RRGRR,R,G,2/8/8/6/4 R"
LAST = "domination 4/6/8/8/G,R,6/8/6/4 R"


def match_at(text: str) -> Match:
    """A match from a position."""
    return Match(*read_position(text))


def kinds(events: list[Event]) -> list[str]:
    """What was said, in short."""
    return [event.event for event in events]


def settled(film, position: str = START):
    """A film whose first calm table was the right one."""
    shot = film(match_at(position))
    assert shot.show() == []
    return shot


def test_a_match_begins_with_its_position(film) -> None:
    """And nothing is said of a table that shows it."""
    shot = film(match_at(START))
    shot.show()
    assert shot.events == [Start(t=0.0, n=1, position=START)]


def test_a_legal_move_is_accepted_once(film) -> None:
    """From the first calm picture, with the position after it."""
    shot = settled(film)
    begins = shot.t_s
    (accepted,) = shot.show(("e4", ""), ("e5", "GR"))
    assert isinstance(accepted, Accepted)
    assert (accepted.player, accepted.move) == ("R", "e4-e5")
    assert accepted.position == format_position(shot.game, shot.referee.match.position)
    assert accepted.t - begins < 0.35
    assert shot.show() == []


def test_an_illegal_act_is_named_once_until_the_table_is_restored(film) -> None:
    """With player, attempt, rules, squares, and what was seen and expected."""
    shot = settled(film)
    (illegal,) = shot.show(("d7", ""), ("b6", "GG"))
    assert isinstance(illegal, Illegal)
    assert (illegal.player, illegal.attempt) == ("G", "d7-b6")
    assert illegal.rules == ("G-1", "DOM-1", "DOM-4", "DOM-5")
    assert set(illegal.cells) == {"b6", "d7"}
    assert illegal.expected.startswith("4/1R,1R,1G,1G,1R,1R/1,1G,")
    assert illegal.seen.startswith("4/1R,1R,1,1G,1R,1R/1,2G,")
    assert shot.show(("d7", ""), ("b6", "GG"), frames=60) == []
    assert kinds(shot.show()) == ["restored"]


def test_repairs_raise_no_further_alarm(film) -> None:
    """A piece of the wrong table put back, or put somewhere else for a moment."""
    shot = settled(film)
    assert kinds(shot.show(("b7", ""), ("b6", "GR"), ("g7", ""), ("g6", "GR"))) == ["illegal"]
    assert shot.show(("b7", ""), ("b6", "GR")) == [] or kinds(shot.events)[-1] == "accepted"


def test_another_wrong_square_is_told_when_it_stays(film) -> None:
    """It may be a repair on its way; after a while it is not."""
    shot = settled(film)
    shot.show(("d7", ""), ("b6", "GG"))
    assert shot.show(("d7", ""), ("b6", "GG"), ("h3", "G"), frames=12) == []
    (again,) = shot.show(("d7", ""), ("b6", "GG"), ("h3", "G"), frames=60)
    assert isinstance(again, Illegal)
    assert "h3" in again.cells
    assert shot.show(("d7", ""), ("b6", "GG"), frames=60) == []


def test_a_wrong_table_put_right_by_a_legal_move(film) -> None:
    """The move is accepted; that the table was restored goes without saying."""
    shot = settled(film)
    assert kinds(shot.show(("e4", ""), ("e6", "RR"))) == ["illegal"]
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_a_lifted_piece_is_no_verdict_while_a_hand_may_put_it_down(film) -> None:
    """Two calm frames are not enough; half a second is."""
    shot = settled(film)
    assert shot.show(("g3", ""), frames=3) == []
    assert shot.show(("g3", ""), ("h3", "R"), frames=3) == [shot.events[-1]]
    assert isinstance(shot.events[-1], Accepted)
    (removed,) = shot.show(("d7", ""), frames=9)
    assert isinstance(removed, Illegal)
    assert "DOM-7" in removed.rules


def test_an_overflow_is_unfinished_until_its_pieces_are_off(film) -> None:
    """Said once, then the move."""
    shot = settled(film, TALL)
    (unfinished,) = shot.show(("f4", ""), ("g4", "GGGGRG"))
    assert isinstance(unfinished, Unfinished)
    assert (unfinished.cells, unfinished.stacks, unfinished.rule) == (("g4",), ("GGGRG",), "DOM-7")
    assert shot.show(("f4", ""), ("g4", "GGGGRG")) == []
    (accepted,) = shot.show(("f4", ""), ("g4", "GGGRG"))
    assert isinstance(accepted, Accepted)
    assert accepted.move == "f4-g4"


def test_a_tower_set_aside_to_get_at_its_bottom_is_no_illegal_act(film) -> None:
    """While a turn is half done a wrong table is given time; in the end it is wrong all the same."""
    shot = settled(film, TALL)
    shot.show(("f4", ""), ("g4", "GGGGRG"))
    assert shot.show(("f4", ""), ("g4", "G"), ("g5", "GGGRG"), frames=12) == []
    assert kinds(shot.show(("f4", ""), ("g4", "GGGRG"))) == ["accepted"]
    shot = settled(film, TALL)
    shot.show(("f4", ""), ("g4", "GGGGRG"))
    late = shot.show(("f4", ""), ("g4", "G"), ("g5", "GGGRG"), frames=12 * round(REPAIR_S + 2))
    assert kinds(late) == ["illegal"]


def test_a_half_done_turn_may_be_undone(film) -> None:
    """Then the table is restored."""
    shot = settled(film, TALL)
    assert kinds(shot.show(("f4", ""), ("g4", "GGGGRG"))) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]


def test_moves_are_taken_back_on_the_table(film) -> None:
    """All of them in one event, in the order in which they had been played."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    shot.show(("f6", ""), ("f5", "RG"))
    board = dict(zip(shot.game.layout.cells, shot.match.start.board, strict=True))
    (back,) = shot.show(*board.items())
    assert back == TakenBack(t=back.t, n=back.n, moves=("e4-e5", "f6-f5"), position=START)
    assert shot.referee.match.plies == ()


def test_moves_that_look_alike_are_asked_about_and_answered(film) -> None:
    """By number; the answer counts as the move."""
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
    """The position stands, and the table must show it."""
    shot = settled(film, OWN_FIVES)
    shot.show(("c5", ""))
    (corrected,) = shot.referee.order(shot.t_s, Answer(None), by="R")
    assert corrected == Corrected(t=corrected.t, n=corrected.n, by="R", position=OWN_FIVES)
    (todo,) = shot.lie(shot.table.stacks, frames=60)
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
    """One square is all that such an act changes, so that no other square can confirm it."""
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
    """Nobody is accused, nothing is passed over in silence; once, and until people have looked."""
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
    """And the match goes on around it."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 8.0)}
    assert kinds(shot.show(frames=30)) == ["unsure"]
    (corrected,) = shot.referee.order(shot.t_s, Answer(None), by="R")
    assert isinstance(corrected, Corrected)
    assert corrected.position == START
    assert shot.show(frames=30) == []
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_a_slight_doubt_is_kept_to_oneself(film) -> None:
    """While it is far likelier that nothing has changed."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 4.0)}
    assert shot.show(frames=60) == []


def test_who_goes_on_without_an_answer_has_answered(film) -> None:
    """The next move tells that the doubtful one was played, though its own squares are no clearer than before."""
    shot = settled(film)
    shot.doubts = {"e4": ("R", "", 2.0), "e5": ("GR", "G", 6.0)}
    (unsure,) = shot.show(("e4", ""), ("e5", "GR"), frames=30)
    assert isinstance(unsure, Unsure)
    assert unsure.options == ("e4-e5",)
    first, second = shot.show(("e4", ""), ("e5", "GR"), ("f6", ""), ("f5", "RG"))
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert (first.move, second.move) == ("e4-e5", "f6-f5")


def test_what_is_left_of_a_turn_is_told_although_the_height_of_a_tower_is_hard_to_tell(film) -> None:
    """It commits nobody, so the likelier one of two will do after a while."""
    shot = settled(film, TALL_BY_TWO)
    shot.doubts = {"g4": ("GGGGGRG", "GGGGRG", 1.5)}
    (unfinished,) = shot.show(("f4", ""), ("g4", "GGGGGRG"), frames=30)
    assert isinstance(unfinished, Unfinished)
    assert unfinished.todo.startswith("take two pieces")


def test_a_promotion_that_is_due_is_told_until_it_is_made(film) -> None:
    """After the move that makes it due, and whenever the table is right again; it is not asked of who has made it."""
    shot = settled(film, PROMOTING)
    accepted, todo = shot.show(("a7", ""), ("a8", "P"))
    assert isinstance(accepted, Accepted)
    assert isinstance(todo, Unfinished)
    assert "pawn on a8" in todo.todo
    assert (todo.cells, todo.stacks, todo.rule) == (("a8",), (), "CHE-11")
    assert shot.referee.snapshot.todo == todo.todo
    assert kinds(shot.show(("d8", ""), ("d7", "k"))) == ["illegal"]
    assert kinds(shot.show()) == ["restored", "unfinished"]
    assert kinds(shot.show(("a8", "C"), ("b1", "NP"))) == ["accepted"]
    assert shot.referee.snapshot.todo == ""


def test_nobody_is_reminded_of_an_ordinary_first_turn(film) -> None:
    """That it is to put the piece in hand."""
    shot = settled(film, THREE)
    assert kinds(shot.show(("c1", "R"))) == ["accepted"]


def test_the_wrong_set_up_is_told_square_by_square(film) -> None:
    """It is nobody's fault yet."""
    shot = film(match_at(START))
    (todo,) = shot.show(("c3", "G"), ("d4", ""), frames=24)
    assert isinstance(todo, Unfinished)
    assert dict(zip(todo.cells, todo.stacks, strict=True)) == {"c3": "R", "d4": "R"}
    assert "c3 must hold R" in todo.todo
    assert kinds(shot.show()) == ["restored"]
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_the_end_is_told_after_the_move_and_then_the_table_may_be_cleared(film) -> None:
    """No alarm after the end, but the last move may be taken back."""
    shot = settled(film, LAST)
    events = shot.show(("b4", ""), ("a4", "GR"))
    assert kinds(events) == ["accepted", "game-over"]
    assert isinstance(events[1], GameOver)
    assert (events[1].winner, events[1].rule) == ("R", "DOM-8")
    assert shot.show(("a4", "")) == []
    assert shot.referee.snapshot.mode == "over"
    assert kinds(shot.show(("b4", "R"), ("a4", "G"))) == ["taken-back"]
    assert shot.referee.snapshot.mode == "watching"


def test_skipped_players_are_told(film) -> None:
    """After the move that leaves them nothing."""
    shot = settled(film, "domination/4 4/6/8/8/G,R,6/BRR,7/3,Y,2/4 R")
    assert [event for event in shot.show(("b4", ""), ("a4", "GR")) if isinstance(event, Skipped)] == [
        Skipped(t=shot.events[-1].t, n=3, player="G"),
        Skipped(t=shot.events[-1].t, n=4, player="B"),
    ]


def test_repetitions_are_told_and_the_third_ends_the_match(film) -> None:
    """G-4."""
    shot = settled(film)
    for _ in range(2):
        shot.show(("e4", ""), ("e5", "GR"))
        shot.show(("g6", ""), ("g5", "RG"))
        shot.show(("e4", "R"), ("e5", "G"))
        shot.show(("g6", "G"), ("g5", "R"))
    times = [event.times for event in shot.events if isinstance(event, Repeated)]
    assert times == [2, 2, 2, 2, 3]
    assert isinstance(shot.events[-1], GameOver)
    assert (shot.events[-1].winner, shot.events[-1].rule) == (None, "G-4")


def test_a_resting_hand_is_not_judged(film) -> None:
    """However long it rests, and whatever has changed under it; when it stays long that is said once."""
    shot = settled(film)
    shot.sweep()
    board = list(shot.table.stacks)
    cells = [shot.game.layout.index[name] for name in ("e4", "e5")]
    board[cells[0]], board[cells[1]] = "", "GR"
    said = shot.lie(tuple(board), round((HAND_S + 1) * 12), covered=cells)
    assert said == [ViewChanged(t=said[0].t, n=2, state="hand")]
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["view", "accepted"]


def test_an_arm_over_a_marker_is_no_news(film) -> None:
    """A mat that stays out of sight is."""
    shot = settled(film)
    assert shot.referee.view(10.0, "no-mat") == ()
    assert shot.referee.view(10.0 + UNSEEN_S / 2, "no-mat") == ()
    assert kinds(list(shot.referee.view(10.0 + UNSEEN_S, "no-mat"))) == ["view"]
    assert shot.referee.view(11.0 + UNSEEN_S, "no-mat") == ()
    assert kinds(list(shot.referee.view(12.0 + UNSEEN_S, "clear"))) == ["view"]
    assert kinds(list(shot.referee.view(13.0 + UNSEEN_S, "camera-lost"))) == ["view"]


def test_nothing_is_judged_in_a_pause(film) -> None:
    """Then the table must show the position again."""
    shot = settled(film)
    assert shot.referee.order(shot.t_s, Pause()) == ()
    assert shot.show(("e4", ""), ("e6", "RR")) == []
    assert shot.referee.order(shot.t_s, Resume()) == ()
    assert kinds(shot.show(("e4", ""), ("e6", "RR"))) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]


def test_the_arbiter_rules(film) -> None:
    """A move accepted, taken back, a position set; each is an event, and the table must follow."""
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
    """People are told to put the pieces back; after that the same move is a move again."""
    shot = settled(film)
    e4_e5 = ("e4", ""), ("e5", "GR")
    assert kinds(shot.show(*e4_e5)) == ["accepted"]
    shot.referee.order(shot.t_s, TakeBackMoves(1))
    (todo,) = shot.lie(shot.table.stacks, frames=60)
    assert isinstance(todo, Unfinished)
    assert (set(todo.cells), dict(zip(todo.cells, todo.stacks, strict=True))["e5"]) == ({"e4", "e5"}, "G")
    assert shot.referee.match.plies == ()
    assert kinds(shot.show()) == ["restored"]
    assert kinds(shot.show(*e4_e5)) == ["accepted"]


def test_none_of_several_moves_that_were_ruled_away_counts(film) -> None:
    """Whoever puts them back one by one passes through the others; another move instead is one."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    first = shot.table.stacks
    shot.show(("c4", ""), ("d4", "RG"))
    shot.referee.order(shot.t_s, TakeBackMoves(2))
    assert kinds(shot.lie(shot.table.stacks, frames=60)) == ["unfinished"]
    shot.sweep()
    assert kinds(shot.lie(first, frames=60)) == ["unfinished"]
    assert shot.referee.match.plies == ()
    assert [event.move for event in shot.show(("e4", ""), ("e3", "GR"))] == ["e4-e3"]


def test_an_accepted_move_is_not_taken_back_because_the_table_does_not_show_it_yet(film) -> None:
    """The arbiter's word comes first, then the pieces; after that a move can be taken back."""
    shot = settled(film)
    shot.referee.order(shot.t_s, AcceptMove(parse_move(shot.game, shot.match.position, "e4-e5")))
    start = shot.table.stacks
    assert kinds(shot.lie(start, frames=60)) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]
    shot.sweep()
    assert kinds(shot.lie(start)) == ["taken-back"]


def test_who_says_done_means_the_table_as_it_lies(film) -> None:
    """Also where a move lies on it that was taken back by mistake."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    shot.referee.order(shot.t_s, TakeBackMoves(1))
    assert kinds(shot.lie(shot.table.stacks, frames=60)) == ["unfinished"]
    shot.referee.order(shot.t_s, Done())
    assert kinds(shot.lie(shot.table.stacks, frames=60)) == ["accepted"]


def test_the_picture_that_was_taken_before_somebody_says_done_is_not_judged_by_it(film) -> None:
    shot = settled(film)
    shot.referee.glance(shot.t_s, moving=False)
    shot.referee.order(shot.t_s, Done())
    assert not shot.referee.glance(shot.t_s, moving=False).read
    assert shot.referee.glance(shot.t_s + 0.1, moving=False).read


def test_a_picture_that_never_rests_is_told_and_read_all_the_same(film) -> None:
    shot = settled(film)
    assert [event.state for event in shot.referee.restless(shot.t_s, "flicker")] == ["flicker"]
    assert shot.referee.restless(shot.t_s, "flicker") == ()
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]
    assert [event.state for event in shot.referee.restless(shot.t_s, "")] == ["clear"]
    assert shot.referee.restless(shot.t_s, "") == ()


def test_a_misread_square_is_not_believed_once_people_say_so(film) -> None:
    """Until it has looked right: then it is believed again."""
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
    """Though it has not looked right meanwhile."""
    shot = settled(film)
    shot.doubts = {"c3": ("RR", "R", 8.0)}
    assert kinds(shot.show(frames=30)) == ["unsure"]
    shot.referee.order(shot.t_s, Answer(None), by="R")
    shot.changed = ()
    assert shot.show(frames=30) == []
    shot.doubts, shot.changed = {}, ("c3",)
    (illegal,) = shot.show(("c3", ""))
    assert illegal.cells == ("c3",)


def test_orders_that_do_not_fit_are_refused(film) -> None:
    """And change nothing."""
    shot = settled(film)
    illegal = parse_move(shot.game, shot.match.position, "e4-e6")
    before = shot.referee.snapshot
    misfits = (Answer(0), Answer(None), AcceptMove(illegal), TakeBackMoves(1), RejectVerdict(), Resume())
    for order in misfits:
        with pytest.raises(OrderRefused):
            shot.referee.order(1.0, order)
    assert shot.referee.snapshot == before


def test_the_arbiter_ends_the_match(film) -> None:
    """Once."""
    shot = settled(film)
    (over,) = shot.referee.order(1.0, EndMatch("G"))
    assert isinstance(over, GameOver)
    assert (over.winner, over.rule) == ("G", "arbiter")
    assert shot.referee.snapshot.mode == "over"
    with pytest.raises(OrderRefused):
        shot.referee.order(2.0, EndMatch("R"))


def test_events_are_numbered_and_can_be_written_down(film) -> None:
    """1, 2, 3, … and each survives JSON."""
    shot = settled(film)
    shot.show(("e4", ""), ("e6", "RR"))
    shot.show()
    shot.show(("e4", ""), ("e5", "GR"))
    assert [event.n for event in shot.events] == list(range(1, len(shot.events) + 1))
    assert len(shot.events) == 4
    assert [from_json(to_json(event)) for event in shot.events] == shot.events
    assert isinstance(shot.events[2], Restored)


def test_every_verdict_has_its_grounds(film) -> None:
    """The ranked explanations of the table that led to it; what people said needs none."""
    shot = settled(film)
    (illegal,) = shot.show(("d7", ""), ("b6", "GG"))
    grounds = shot.referee.grounds(illegal.n)
    assert grounds is not None
    assert grounds.t_s == illegal.t
    assert "d7-b6" in grounds.explanations[0].what
    assert grounds.readings >= 2
    assert shot.referee.grounds(1) is None


def test_a_match_goes_on_after_a_restart(film) -> None:
    """Numbers continue, the table must show the last position first."""
    match = match_at(START)
    match = match.play(parse_move(match.game, match.position, "e4-e5"))
    shot = film(match)
    shot.referee = Referee(match, first_n=7)
    assert shot.show() == []
    (accepted,) = shot.show(("f6", ""), ("f5", "RG"))
    assert (accepted.n, accepted.move) == (7, "f6-f5")


def test_the_snapshot_says_what_is_wrong(film) -> None:
    """For the page."""
    shot = settled(film)
    shot.show(("d7", ""), ("b6", "GG"))
    snapshot = shot.referee.snapshot
    assert snapshot.mode == "restoring"
    assert set(snapshot.wrong) == {"b6", "d7"}
    assert (snapshot.position, snapshot.to_move, snapshot.outcome) == (START, "R", None)
