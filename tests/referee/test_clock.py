"""The chess clock: each player's time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.errors import BadText
from companion.events import Accepted, ClockChanged, Event
from companion.games import load_game
from companion.match import Match
from companion.referee.clock import (
    TimeControl,
    add_increment,
    clock_event,
    clock_from_event,
    deduct_elapsed,
    drop_flag,
    new_clock,
    parse_time_control,
    switch_to,
)
from companion.referee.orders import EndMatch, Pause, Resume
from companion.referee.referee import Referee

FIVE = TimeControl(300, 5)
CLOCK = new_clock(FIVE, ("R", "G"))


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("10m", TimeControl(600)),
        ("10m+5s", TimeControl(600, 5)),
        ("1h30m+30s", TimeControl(5400, 30)),
        ("90s", TimeControl(90)),
        (" 5m+0s ", TimeControl(300)),
    ],
)
def test_time_controls_are_written_with_their_units(text: str, control: TimeControl) -> None:
    """A time control is its base time, followed by the increment per move."""
    assert parse_time_control(text) == control


@given(st.integers(1, 86400), st.integers(0, 3600))
def test_a_time_control_survives_its_text(base_s: int, increment_s: int) -> None:
    """Writing and parsing give back the same control."""
    assert parse_time_control(TimeControl(base_s, increment_s).text) == TimeControl(base_s, increment_s)


@pytest.mark.parametrize("text", ["", "10", "m", "5s5m", "10m+", "0m", "10m+5", "10m5", "-5m", "99999h", "10m+5s+5s"])
def test_what_is_no_time_control_is_refused_with_an_example(text: str) -> None:
    """A missing unit is not guessed."""
    with pytest.raises(BadText, match=r"is no time control; write 10m, 10m\+5s"):
        parse_time_control(text)


def test_only_the_running_time_is_spent() -> None:
    """Only the running player's time is spent; the increment is added with the move."""
    clock = switch_to(CLOCK, "R", 10.0)
    clock = switch_to(add_increment(clock, "R", 30.0), "G", 30.0)
    assert clock.left_s == (285.0, 300.0)
    assert deduct_elapsed(clock, 100.0).left_s == (285.0, 230.0)
    assert deduct_elapsed(switch_to(clock, None, 40.0), 100.0).left_s == (285.0, 290.0)


def test_time_never_runs_backwards() -> None:
    """A verdict dates a move back to the departure of the hand, which must not give time back."""
    clock = switch_to(switch_to(CLOCK, "R", 10.0), "G", 8.0)
    assert clock.left_s == (300.0, 300.0)
    assert deduct_elapsed(clock, 20.0).left_s == (300.0, 290.0)


def test_a_flag_falls_once_and_ends_the_increments() -> None:
    """The flag falls for the player whose clock runs; later moves earn no increment."""
    clock = switch_to(CLOCK, "G", 0.0)
    assert drop_flag(clock, 299.9) is None
    fallen = drop_flag(clock, 300.0)
    assert fallen is not None
    assert fallen.fallen == {"G"}
    assert drop_flag(fallen, 310.0) is None
    assert clock_event(fallen, 310.0, flag=True).left == (300.0, 0.0)
    assert add_increment(fallen, "G", 310.0).left_s == (300.0, -10.0)


def test_a_clock_goes_on_after_a_restart() -> None:
    """It resumes from its last event; no time passes in between."""
    event = clock_event(switch_to(CLOCK, "R", 0.0), 20.0)
    clock = clock_from_event(event)
    assert (clock.left_s, clock.running, clock.control) == ((280.0, 300.0), None, FIVE)
    overstepped = clock_event(deduct_elapsed(switch_to(CLOCK, "R", 0.0), 400.0), 400.0)
    assert clock_from_event(overstepped).fallen == {"R"}


@pytest.fixture
def shot(film):
    """Return a film at the start of Domination, seen and accepted, with a clock."""
    game = load_game("domination")
    match = Match(game, game.start())
    shot = film(match)
    shot.referee = Referee(match, timer=new_clock(FIVE, game.players))
    shot.events = list(shot.referee.begin(0.0))
    shot.show()
    return shot


def clocks(events: list[Event]) -> list[tuple[str, str | None]]:
    """Return the states and players of all clock events."""
    return [(event.state, event.player) for event in events if isinstance(event, ClockChanged)]


def test_the_clock_starts_when_the_table_is_right_and_changes_with_each_move(shot) -> None:
    """The mover is charged up to the departure of the hand, and gets the increment."""
    assert clocks(shot.events) == [("stopped", None), ("running", "R")]
    started_s = shot.events[-1].t
    shot.sweep(120)
    left_s = shot.t_s
    accepted, clock = shot.show(("e4", ""), ("e5", "GR"))[-2:]
    assert isinstance(accepted, Accepted)
    assert (clock.state, clock.player) == ("running", "G")
    assert clock.left[0] == pytest.approx(305 - (left_s - started_s), abs=0.4)
    assert clock.left[1] == pytest.approx(300.0, abs=0.1)


def test_the_offender_puts_it_right_in_his_own_time(shot) -> None:
    """An illegal act does not stop the offender's clock."""
    assert clocks(shot.show(("d7", ""), ("b6", "GG"))) == []
    assert clocks(shot.show()) == []
    assert shot.referee.snapshot.clock.running == "R"


def test_nobody_pays_for_a_pause_or_a_blind_camera(shot) -> None:
    """The clock also stops at the end of the match."""
    assert clocks(shot.referee.order(shot.t_s, Pause())) == [("stopped", None)]
    shot.show(frames=60)
    shot.referee.order(shot.t_s, Resume())
    assert clocks(shot.show()) == [("running", "R")]
    assert clocks(shot.referee.view(shot.t_s, "camera-lost")) == [("stopped", None)]
    assert clocks(shot.show()) == [("running", "R")]
    assert clocks(shot.referee.order(shot.t_s, EndMatch("G"))) == [("stopped", None)]


def test_a_flag_is_told_and_the_match_goes_on(shot) -> None:
    """Its consequence is up to the arbiter."""
    shot.frame += 12 * 301
    (flag,) = shot.keep_still(shot.table.stacks, 30)
    assert (flag.state, flag.player, flag.left[0]) == ("flag", "R", 0.0)
    assert [event.event for event in shot.show(("e4", ""), ("e5", "GR"))] == ["accepted", "clock"]


def test_no_flag_falls_while_a_move_is_being_looked_at(shot) -> None:
    """The hand left in time, and the verdict came a moment later."""
    shot.sweep(1)
    shot.referee._clock = switch_to(new_clock(TimeControl(1), ("R", "G")), "R", shot.t_s - 0.95)
    assert [event.event for event in shot.show(("e4", ""), ("e5", "GR"))] == ["accepted", "clock"]
