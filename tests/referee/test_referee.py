"""The referee's events for what happens on the table.  Pictures are clear; see test_campaign for others."""

from __future__ import annotations

from companion.events import (
    Accepted,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    ViewChanged,
    from_json,
    to_json,
)
from companion.games import load_game
from companion.referee.patience import REPAIR_S
from companion.referee.referee import Referee
from companion.referee.viewing import HAND_S, UNSEEN_S
from companion.rules.notation import format_position, parse_move
from tests.referee.conftest import START, kinds, match_at, settled

TALL = "domination 4/6/8/8/GR,GR,3,G,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"
TALL_BY_TWO = "domination 4/6/8/8/GR,GR,3,GG,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"
THREE = format_position(load_game("domination/3"), load_game("domination/3").start())
PROMOTING = "cheight 3,k/P,3/4/4/4/4/4/K,NC,2 R"
LAST = "domination 4/6/8/8/G,R,6/8/6/4 R"


def test_a_match_begins_with_its_position(film) -> None:
    """A table that shows the position causes no further events."""
    shot = film(match_at(START))
    shot.show()
    assert shot.events == [Start(t=0.0, n=1, position=START)]


def test_a_legal_move_is_accepted_once(film) -> None:
    """It is accepted from the first calm picture, together with the resulting position."""
    shot = settled(film)
    begins = shot.t_s
    (accepted,) = shot.show(("e4", ""), ("e5", "GR"))
    assert isinstance(accepted, Accepted)
    assert (accepted.player, accepted.move) == ("R", "e4-e5")
    assert accepted.position == format_position(shot.game, shot.referee.match.position)
    assert accepted.t - begins < 0.35
    assert shot.show() == []


def test_an_illegal_act_is_named_once_until_the_table_is_restored(film) -> None:
    """The event names player, attempt, rules, cells, and what was seen and expected."""
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
    """Putting back one of two wrong moves raises no alarm."""
    shot = settled(film)
    assert kinds(shot.show(("b7", ""), ("b6", "GR"), ("g7", ""), ("g6", "GR"))) == ["illegal"]
    assert shot.show(("b7", ""), ("b6", "GR")) == [] or kinds(shot.events)[-1] == "accepted"


def test_another_wrong_square_is_told_when_it_stays(film) -> None:
    """It may be part of a repair; after a while it is not."""
    shot = settled(film)
    shot.show(("d7", ""), ("b6", "GG"))
    assert shot.show(("d7", ""), ("b6", "GG"), ("h3", "G"), frames=12) == []
    (again,) = shot.show(("d7", ""), ("b6", "GG"), ("h3", "G"), frames=60)
    assert isinstance(again, Illegal)
    assert "h3" in again.cells
    assert shot.show(("d7", ""), ("b6", "GG"), frames=60) == []


def test_a_wrong_table_put_right_by_a_legal_move(film) -> None:
    """The move is accepted without a separate event for the restoration."""
    shot = settled(film)
    assert kinds(shot.show(("e4", ""), ("e6", "RR"))) == ["illegal"]
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_a_lifted_piece_is_no_verdict_while_a_hand_may_put_it_down(film) -> None:
    """Two calm frames are not enough for a verdict; eight are."""
    shot = settled(film)
    assert shot.show(("g3", ""), frames=3) == []
    assert shot.show(("g3", ""), ("h3", "R"), frames=3) == [shot.events[-1]]
    assert isinstance(shot.events[-1], Accepted)
    (removed,) = shot.show(("d7", ""), frames=9)
    assert isinstance(removed, Illegal)
    assert "DOM-7" in removed.rules


def test_an_overflow_is_unfinished_until_its_pieces_are_off(film) -> None:
    """It is reported once, then the move is accepted."""
    shot = settled(film, TALL)
    (unfinished,) = shot.show(("f4", ""), ("g4", "GGGGRG"))
    assert isinstance(unfinished, Unfinished)
    assert (unfinished.cells, unfinished.stacks, unfinished.rule) == (("g4",), ("GGGRG",), "DOM-7")
    assert shot.show(("f4", ""), ("g4", "GGGGRG")) == []
    (accepted,) = shot.show(("f4", ""), ("g4", "GGGRG"))
    assert isinstance(accepted, Accepted)
    assert accepted.move == "f4-g4"


def test_a_tower_set_aside_to_get_at_its_bottom_is_no_illegal_act(film) -> None:
    """While a turn is in progress a wrong table is tolerated, but only for REPAIR_S."""
    shot = settled(film, TALL)
    shot.show(("f4", ""), ("g4", "GGGGRG"))
    assert shot.show(("f4", ""), ("g4", "G"), ("g5", "GGGRG"), frames=12) == []
    assert kinds(shot.show(("f4", ""), ("g4", "GGGRG"))) == ["accepted"]
    shot = settled(film, TALL)
    shot.show(("f4", ""), ("g4", "GGGGRG"))
    late = shot.show(("f4", ""), ("g4", "G"), ("g5", "GGGRG"), frames=12 * round(REPAIR_S + 2))
    assert kinds(late) == ["illegal"]


def test_a_half_done_turn_may_be_undone(film) -> None:
    """The table is then restored."""
    shot = settled(film, TALL)
    assert kinds(shot.show(("f4", ""), ("g4", "GGGGRG"))) == ["unfinished"]
    assert kinds(shot.show()) == ["restored"]


def test_moves_are_taken_back_on_the_table(film) -> None:
    """One event lists all moves, in the order in which they were played."""
    shot = settled(film)
    shot.show(("e4", ""), ("e5", "GR"))
    shot.show(("f6", ""), ("f5", "RG"))
    board = dict(zip(shot.game.layout.cells, shot.match.start.board, strict=True))
    (back,) = shot.show(*board.items())
    assert back == TakenBack(t=back.t, n=back.n, moves=("e4-e5", "f6-f5"), position=START)
    assert shot.referee.match.plies == ()


def test_what_is_left_of_a_turn_is_told_although_the_height_of_a_tower_is_hard_to_tell(film) -> None:
    """An unfinished turn accuses nobody, so after a while the likelier of two heights is reported."""
    shot = settled(film, TALL_BY_TWO)
    shot.doubts = {"g4": ("GGGGGRG", "GGGGRG", 1.5)}
    (unfinished,) = shot.show(("f4", ""), ("g4", "GGGGGRG"), frames=30)
    assert isinstance(unfinished, Unfinished)
    assert unfinished.todo.startswith("take two pieces")


def test_a_promotion_that_is_due_is_told_until_it_is_made(film) -> None:
    """It is announced after the move that makes it due, and again whenever the table is restored.

    A player who has made it is not asked.
    """
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
    """The first turn, which only puts the piece in hand, is not announced as a task."""
    shot = settled(film, THREE)
    assert kinds(shot.show(("c1", "R"))) == ["accepted"]


def test_the_wrong_set_up_is_told_square_by_square(film) -> None:
    """The event lists the cells without blaming anybody."""
    shot = film(match_at(START))
    (todo,) = shot.show(("c3", "G"), ("d4", ""), frames=24)
    assert isinstance(todo, Unfinished)
    assert dict(zip(todo.cells, todo.stacks, strict=True)) == {"c3": "R", "d4": "R"}
    assert "c3 must hold R" in todo.todo
    assert kinds(shot.show()) == ["restored"]
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_the_end_is_told_after_the_move_and_then_the_table_may_be_cleared(film) -> None:
    """Removing pieces after the end raises no alarm, but the last move can be taken back."""
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
    """They are reported after the move that leaves them without any."""
    shot = settled(film, "domination/4 4/6/8/8/G,R,6/BRR,7/3,Y,2/4 R")
    assert [event for event in shot.show(("b4", ""), ("a4", "GR")) if isinstance(event, Skipped)] == [
        Skipped(t=shot.events[-1].t, n=3, player="G"),
        Skipped(t=shot.events[-1].t, n=4, player="B"),
    ]


def test_repetitions_are_told_and_the_third_ends_the_match(film) -> None:
    """Rule G-4."""
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
    """This holds however long the hand rests and whatever has changed under it; a long rest is reported once."""
    shot = settled(film)
    shot.sweep()
    board = list(shot.table.stacks)
    cells = [shot.game.layout.index[name] for name in ("e4", "e5")]
    board[cells[0]], board[cells[1]] = "", "GR"
    said = shot.keep_still(tuple(board), round((HAND_S + 1) * 12), covered=cells)
    assert said == [ViewChanged(t=said[0].t, n=2, state="hand")]
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["view", "accepted"]


def test_an_arm_over_a_marker_is_no_news(film) -> None:
    """A briefly hidden mat is not reported; one unseen for UNSEEN_S is."""
    shot = settled(film)
    assert shot.referee.view(10.0, "no-mat") == ()
    assert shot.referee.view(10.0 + UNSEEN_S / 2, "no-mat") == ()
    assert kinds(list(shot.referee.view(10.0 + UNSEEN_S, "no-mat"))) == ["view"]
    assert shot.referee.view(11.0 + UNSEEN_S, "no-mat") == ()
    assert kinds(list(shot.referee.view(12.0 + UNSEEN_S, "clear"))) == ["view"]
    assert kinds(list(shot.referee.view(13.0 + UNSEEN_S, "camera-lost"))) == ["view"]


def test_a_picture_that_never_rests_is_told_and_read_all_the_same(film) -> None:
    """Flicker is reported once, moves are accepted nevertheless, and its end is reported."""
    shot = settled(film)
    assert [event.state for event in shot.referee.report_picture_quality(shot.t_s, "flicker")] == ["flicker"]
    assert shot.referee.report_picture_quality(shot.t_s, "flicker") == ()
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]
    assert [event.state for event in shot.referee.report_picture_quality(shot.t_s, "")] == ["clear"]
    assert shot.referee.report_picture_quality(shot.t_s, "") == ()


def test_events_are_numbered_and_can_be_written_down(film) -> None:
    """Numbers start at 1 without gaps, and each event survives a round trip through JSON."""
    shot = settled(film)
    shot.show(("e4", ""), ("e6", "RR"))
    shot.show()
    shot.show(("e4", ""), ("e5", "GR"))
    assert [event.n for event in shot.events] == list(range(1, len(shot.events) + 1))
    assert len(shot.events) == 4
    assert [from_json(to_json(event)) for event in shot.events] == shot.events
    assert isinstance(shot.events[2], Restored)


def test_every_verdict_has_its_grounds(film) -> None:
    """They are the ranked explanations of the table; the start event has none."""
    shot = settled(film)
    (illegal,) = shot.show(("d7", ""), ("b6", "GG"))
    grounds = shot.referee.grounds(illegal.n)
    assert grounds is not None
    assert grounds.t_s == illegal.t
    assert "d7-b6" in grounds.explanations[0].what
    assert grounds.readings >= 2
    assert shot.referee.grounds(1) is None


def test_a_match_goes_on_after_a_restart(film) -> None:
    """Numbering continues, and the table must first show the last position."""
    match = match_at(START)
    match = match.play(parse_move(match.game, match.position, "e4-e5"))
    shot = film(match)
    shot.referee = Referee(match, first_n=7)
    assert shot.show() == []
    (accepted,) = shot.show(("f6", ""), ("f5", "RG"))
    assert (accepted.n, accepted.move) == (7, "f6-f5")


def test_the_snapshot_says_what_is_wrong(film) -> None:
    """The page displays these fields."""
    shot = settled(film)
    shot.show(("d7", ""), ("b6", "GG"))
    snapshot = shot.referee.snapshot
    assert snapshot.mode == "restoring"
    assert set(snapshot.wrong) == {"b6", "d7"}
    assert (snapshot.position, snapshot.to_move, snapshot.outcome) == (START, "R", None)
