"""Scheduling of cues: newest and most important first, alarms not cut short by minor cues, no alarm storms."""

import pytest

from companion.events import Accepted, Event, Illegal, Repeated, Restored, SensorsChanged, Start, ViewChanged
from companion.panel.cue_player import Lights, PlaybackState, advance, lights_at, next_change, start_cue
from companion.panel.cues import AMBER, BLUE, GREEN, MAGENTA, OFF, RED, SAVED, UNSAVED, WHITE, Colour, Cue, cue_for
from tests.view_states import VIEW_STATES

LOW, MIDDLE, HIGH, TOP = 261.63, 392.0, 523.25, 783.99
START = Start(t=0, n=1, position="g b R")
ACCEPTED = Accepted(t=0, n=1, player="R", move="m", position="g b G")
ILLEGAL = Illegal(t=0, n=1, player="G", attempt=None, rules=(), reason="", cells=(), seen="", expected="")
RESTORED = Restored(t=0, n=1)


def view(state: str) -> ViewChanged:
    return ViewChanged(t=0, n=1, state=state)


def playing(*told: tuple[float, Event | Cue]) -> PlaybackState:
    """Return the state after events or cues that arrived at these times."""
    state = PlaybackState()
    for t, event in told:
        cue = event if isinstance(event, Cue) else cue_for(event)
        assert cue is not None
        state = start_cue(state, cue, t)
    return state


def film(state: PlaybackState, t: float, until: float) -> list[tuple[float, Lights]]:
    """Return all (time, lights) shown from ``t`` on, with times rounded to milliseconds."""
    state = advance(state, t)
    shown = [(t, lights_at(state, t))]
    while (change := next_change(state, t)) is not None and change < until:
        # Step past each change by a nanosecond, so that rounding errors cannot stop the loop.
        t = change + 1e-9
        state = advance(state, t)
        if (lights := lights_at(state, t)) != shown[-1][1]:
            shown.append((round(t, 3), lights))
    return shown


def on(colour: Colour, *players: str, tone: float | None = None) -> Lights:
    return Lights(colour, players, tone)


def test_a_panel_that_was_told_nothing_is_dark_for_ever() -> None:
    assert lights_at(PlaybackState(), 5.0) == Lights(OFF, (), None)
    assert next_change(PlaybackState(), 5.0) is None


def test_the_start_tests_the_lamps_and_then_stays_ready() -> None:
    state = playing((10.0, START))
    assert film(state, 10.0, 99.0) == [
        (10.0, on(RED, "R")),
        (10.25, on(GREEN, "R")),
        (10.5, on(BLUE, "R")),
        (10.75, on(OFF, "R", tone=HIGH)),
        (11.0, on(GREEN, "R")),
    ]
    assert next_change(state, 11.0) is None


def test_an_accepted_move_winks_and_passes_the_turn() -> None:
    state = playing((0.0, START), (50.0, ACCEPTED))
    assert film(state, 50.0, 99.0) == [
        (50.0, on(OFF, "G")),
        (50.06, on(GREEN, "G", tone=TOP)),
        (50.2, on(GREEN, "G")),
    ]


def test_an_illegal_act_barks_six_times_and_then_blinks_until_the_table_is_right() -> None:
    state = playing((0.0, START), (50.0, ILLEGAL))
    barks = [
        shown
        for i in range(6)
        for shown in ((round(50 + 0.2 * i, 3), on(RED, "G", tone=LOW)), (round(50.12 + 0.2 * i, 3), on(OFF)))
    ]
    assert film(state, 50.0, 52.5) == [
        *barks,
        (51.2, on(RED, "G")),
        (51.45, on(OFF)),
        (51.7, on(RED, "G")),
        (51.95, on(OFF)),
        (52.2, on(RED, "G")),
        (52.45, on(OFF)),
    ]


def test_a_restored_table_ends_the_alarm_at_once_though_it_ranks_lower() -> None:
    state = playing((0.0, START), (50.0, ILLEGAL), (50.3, RESTORED))
    assert film(state, 50.3, 99.0) == [
        (50.3, on(GREEN, "R", tone=MIDDLE)),
        (50.42, on(OFF, "R")),
        (50.5, on(GREEN, "R", tone=HIGH)),
        (50.7, on(GREEN, "R")),
    ]


@pytest.mark.parametrize(
    "state",
    VIEW_STATES,
)
def test_an_alarm_is_not_cut_off_by_the_view(state: str) -> None:
    alone = playing((0.0, START), (50.0, ILLEGAL))
    disturbed = start_cue(alone, cue_for(view(state)) or UNSAVED, 50.1)
    assert film(disturbed, 50.1, 51.19) == film(alone, 50.1, 51.19)


DARK_TOLD = [(51.2, on(AMBER, "R", tone=LOW)), (51.3, on(OFF, "R"))]
"""The cue for a view that is too dark, after an alarm that began at 50 s."""


def test_what_had_to_wait_for_an_alarm_comes_after_it_and_then_the_alarm_goes_on() -> None:
    state = playing((0.0, START), (50.0, ILLEGAL), (50.1, view("dark")))
    assert film(state, 51.15, 53.8) == [
        (51.15, on(OFF)),
        *DARK_TOLD,
        (53.2, on(RED, "G")),
        (53.45, on(OFF)),
        (53.7, on(RED, "G")),
    ]


def test_what_had_to_wait_too_long_is_not_told_any_more() -> None:
    state = playing((0.0, START), (50.0, ILLEGAL), (50.1, view("dark")))
    assert {lights for _, lights in film(state, 53.2, 60.0)} == {on(RED, "G"), on(OFF)}


def test_of_two_that_wait_the_more_important_is_told() -> None:
    notice = Repeated(t=0, n=1, times=2, position="")
    for told in ((50.1, view("dark")), (50.2, notice)), ((50.1, notice), (50.2, view("dark"))):
        state = playing((0.0, START), (50.0, ILLEGAL), *told)
        assert film(state, 51.15, 53.0) == [(51.15, on(OFF)), *DARK_TOLD]


def test_trouble_with_the_view_is_shown_after_its_tones_until_it_ends_and_keeps_the_turn() -> None:
    state = playing((0.0, START), (10.0, ACCEPTED), (20.0, view("blocked")))
    assert film(state, 20.0, 25.0) == [
        (20.0, on(AMBER, "G", tone=LOW)),
        (21.0, on(OFF, "G")),
        (22.0, on(AMBER, "G")),
        (23.0, on(OFF, "G")),
        (24.0, on(AMBER, "G")),
    ]
    for state_after in ("clear", "hand"):
        after = start_cue(state, cue_for(view(state_after)) or UNSAVED, 30.0)
        assert film(after, 30.0, 99.0) == [(30.0, on(GREEN, "G"))]


def test_of_two_troubles_of_one_rank_the_newest_is_shown_and_the_other_stands() -> None:
    fault = SensorsChanged(t=0, n=1, state="lost")
    state = playing((0.0, START), (10.0, view("blocked")), (20.0, fault))
    assert {lights.colour for _, lights in film(state, 20.0, 30.0)} == {MAGENTA, OFF}
    mended = start_cue(state, cue_for(SensorsChanged(t=0, n=1, state="ok")) or UNSAVED, 30.0)
    assert {lights.colour for _, lights in film(mended, 30.0, 34.0)} == {AMBER, OFF}


def test_an_alarm_that_repeats_fast_sounds_once() -> None:
    told = [(50.0 + i / 10, event) for i in range(20) for event in (ILLEGAL, RESTORED)]
    state, sounding = PlaybackState(), 0
    for t, event in told:
        cue = cue_for(event)
        assert cue is not None
        state = start_cue(state, cue, t)
        sounding += lights_at(state, t) == on(RED, "G", tone=LOW)
    assert sounding == 1


def test_an_alarm_left_out_as_a_storm_still_blinks() -> None:
    state = playing((50.0, ILLEGAL), (50.5, RESTORED), (51.0, ILLEGAL))
    assert {lights for _, lights in film(state, 51.0, 52.0)} == {on(RED, "G"), on(OFF)}


def test_an_alarm_two_seconds_later_sounds_again() -> None:
    state = playing((50.0, ILLEGAL), (51.5, RESTORED), (52.0, ILLEGAL))
    assert lights_at(state, 52.0) == on(RED, "G", tone=LOW)


def test_a_flickering_view_sings_at_most_every_five_seconds() -> None:
    state, tones = PlaybackState(), 0
    for i in range(100):
        for word in ("dark", "clear"):
            cue = cue_for(view(word))
            assert cue is not None
            state = start_cue(state, cue, i / 10)
            tones += lights_at(state, i / 10).tone_hz is not None
    assert tones == 2


def test_moves_in_quick_succession_are_all_heard() -> None:
    state = PlaybackState()
    for t in (0.0, 0.1, 0.2):
        cue = cue_for(ACCEPTED)
        assert cue is not None
        state = start_cue(state, cue, t)
        assert lights_at(state, t + 0.06) == on(GREEN, "G", tone=TOP)


def test_unsaved_events_wink_every_three_seconds_until_they_are_saved() -> None:
    state = playing((0.0, START), (10.0, UNSAVED))
    assert film(state, 10.0, 14.0) == [
        (10.0, on(GREEN, "R")),
        (12.7, on(OFF, "R")),
        (12.8, on(MAGENTA, "R")),
        (12.9, on(OFF, "R")),
        (13.0, on(GREEN, "R")),
    ]
    assert film(start_cue(state, SAVED, 20.0), 20.0, 99.0) == [(20.0, on(GREEN, "R"))]


def test_a_cue_is_shown_at_the_very_time_it_arrives() -> None:
    for event in (START, ACCEPTED, ILLEGAL, RESTORED, view("dark"), Repeated(t=0, n=1, times=2, position="")):
        cue = cue_for(event)
        assert cue is not None
        step = cue.intro[0]
        shown = lights_at(start_cue(playing((0.0, START)), cue, 77.7), 77.7)
        assert (shown.colour, shown.tone_hz) == (step.colour, step.tone_hz)


def test_white_is_shown_for_notices_over_what_stands() -> None:
    state = playing((0.0, START), (10.0, Repeated(t=0, n=1, times=2, position="")))
    assert film(state, 10.0, 99.0) == [
        (10.0, on(WHITE, "R", tone=MIDDLE)),
        (10.5, on(OFF, "R")),
        (10.8, on(WHITE, "R", tone=MIDDLE)),
        (11.3, on(OFF, "R")),
        (11.6, on(GREEN, "R")),
    ]


def test_trouble_that_ends_while_it_waits_is_not_told() -> None:
    state = playing((0.0, START), (50.0, ILLEGAL), (50.1, view("dark")), (50.2, view("clear")))
    assert {lights for _, lights in film(state, 51.21, 60.0)} == {on(RED, "G"), on(OFF)}
