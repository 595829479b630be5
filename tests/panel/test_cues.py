"""Cues: one for every event, distinguishable by rhythm alone, with tones within the buzzer's range."""

from itertools import combinations
from pathlib import Path

import pytest

from companion.events import (
    KINDS,
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    SensorsChanged,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
    Withdrawn,
)
from companion.panel.cues import NOTE, OFF, PAUSED, RED, RESUMED, SAVED, UNSAVED, Cue, Rank, Step, Steps, Topic, cue_for
from tests.view_states import VIEW_STATES

GREEN_NEXT = "domination 4/6/8/8/8/8/6/4 G"
ENDED = "domination 4/6/8/8/8/8/6/4 -"
ILLEGAL = Illegal(t=0, n=1, player="R", attempt=None, rules=(), reason="", cells=(), seen="", expected="")

EVENTS: tuple[Event, ...] = (
    Start(t=0, n=1, position=GREEN_NEXT),
    Accepted(t=0, n=1, player="R", move="c3-d3", position=GREEN_NEXT),
    ILLEGAL,
    Unfinished(t=0, n=1, todo="", cells=()),
    Restored(t=0, n=1),
    Withdrawn(t=0, n=1, player="R", cells=("c3",)),
    TakenBack(t=0, n=1, moves=(), position=GREEN_NEXT),
    Unsure(t=0, n=1, options=(), question=""),
    Corrected(t=0, n=1, by="", position=GREEN_NEXT),
    *(ViewChanged(t=0, n=1, state=state) for state in VIEW_STATES),
    *(SensorsChanged(t=0, n=1, state=state) for state in ("ok", "lost", "fault")),
    Skipped(t=0, n=1, player="G"),
    Repeated(t=0, n=1, times=2, position=GREEN_NEXT),
    Repeated(t=0, n=1, times=3, position=GREEN_NEXT),
    GameOver(t=0, n=1, winner="R", rule="", position=ENDED),
    ClockChanged(t=0, n=1, state="flag", player="R", players=("R", "G"), left=(0.0, 3.0), control="5m"),
)


def cue_of(event: Event) -> Cue:
    """Return the cue of an event, which must have one."""
    cue = cue_for(event)
    assert cue is not None
    return cue


CUES = {cue.name: cue for cue in (*map(cue_of, EVENTS), UNSAVED, SAVED, NOTE, PAUSED, RESUMED)}


def rhythm(steps: Steps) -> tuple[tuple[float, bool], ...]:
    """Return how long the status light is on and off in turn, which is visible without colours."""
    beats: list[tuple[float, bool]] = []
    for step in steps:
        is_lit = step.colour != OFF
        if beats and beats[-1][1] == is_lit:
            beats[-1] = (round(beats[-1][0] + step.seconds, 3), is_lit)
        else:
            beats.append((step.seconds, is_lit))
    return tuple(beats)


def repeating(steps: Steps) -> tuple[tuple[float, bool], ...]:
    """Return the rhythm of a repeating hold; one that is always lit has no length."""
    beats = rhythm(steps)
    return ((0.0, beats[0][1]),) if len(beats) == 1 else beats


def test_the_examples_cover_every_kind_of_event() -> None:
    assert {type(event) for event in EVENTS} == set(KINDS.values())


@pytest.mark.parametrize(("one", "other"), list(combinations([name for name, cue in CUES.items() if cue.intro], 2)))
def test_any_two_intros_differ_by_rhythm_alone(one: str, other: str) -> None:
    assert rhythm(CUES[one].intro) != rhythm(CUES[other].intro)


@pytest.mark.parametrize(("one", "other"), list(combinations([name for name, cue in CUES.items() if cue.hold], 2)))
def test_any_two_holds_differ_by_rhythm_alone(one: str, other: str) -> None:
    both_ready = CUES[one].hold == CUES[other].hold and CUES[one].rank is CUES[other].rank is Rank.CALM
    assert both_ready or repeating(CUES[one].hold) != repeating(CUES[other].hold)


@pytest.mark.parametrize("cue", CUES.values(), ids=CUES)
def test_steps_are_long_enough_to_be_noticed_and_tones_in_the_buzzers_range(cue: Cue) -> None:
    for step in (*cue.intro, *cue.hold):
        assert step.seconds >= 0.06
        assert step.tone_hz is None or 220 <= step.tone_hz <= 880
        assert all(0 <= part <= 1 for part in step.colour)


@pytest.mark.parametrize("cue", CUES.values(), ids=CUES)
def test_no_hold_makes_a_sound_and_no_intro_lasts_long(cue: Cue) -> None:
    assert all(step.tone_hz is None for step in cue.hold)
    assert sum(step.seconds for step in cue.intro) <= 2.5


def test_an_illegal_act_barks_six_times_with_the_offenders_light() -> None:
    bark = (Step(0.12, RED, ("R",), 261.63), Step(0.08, OFF, ()))
    hold = (Step(0.25, RED, ("R",)), Step(0.25, OFF, ()))
    assert cue_for(ILLEGAL) == Cue("illegal", Topic.TABLE, Rank.ALARM, bark * 6, hold, None, 2.0)


def test_an_illegal_act_ranks_above_everything_else() -> None:
    assert all(cue.rank < Rank.ALARM for name, cue in CUES.items() if name != "illegal")


@pytest.mark.parametrize(
    ("event", "turn"),
    [
        (Start(t=0, n=1, position=GREEN_NEXT), ("G",)),
        (Accepted(t=0, n=1, player="R", move="", position=ENDED), ()),
        (TakenBack(t=0, n=1, moves=(), position=GREEN_NEXT), ("G",)),
        (Corrected(t=0, n=1, by="", position=GREEN_NEXT), ("G",)),
        (Corrected(t=0, n=1, by="", move="c3-d3"), None),
        (GameOver(t=0, n=1, winner="R", rule="", position=ENDED), ()),
        (Restored(t=0, n=1), None),
        (ILLEGAL, None),
    ],
)
def test_the_turn_follows_the_position(event: Event, turn: tuple[str, ...] | None) -> None:
    assert cue_of(event).turn == turn


def test_a_repetition_blinks_as_often_as_the_position_occurred() -> None:
    for times in (2, 3):
        lit = [step for step in cue_of(Repeated(t=0, n=1, times=times, position="")).intro if step.colour != OFF]
        assert len(lit) == times


def test_the_winners_light_and_nobodys_after_a_draw() -> None:
    won, drawn = (cue_of(GameOver(t=0, n=1, winner=winner, rule="", position=ENDED)) for winner in ("G", None))
    assert {step.players for step in won.intro} == {("G",)}
    assert {step.players for step in drawn.intro} == {()}


def test_a_state_that_nobody_knows_changes_nothing() -> None:
    assert cue_for(ViewChanged(t=0, n=1, state="upside-down")) is None
    assert cue_for(SensorsChanged(t=0, n=1, state="upside-down")) is None


@pytest.mark.parametrize("name", CUES)
def test_every_cue_is_explained(name: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "panel.md"
    assert f"`{name}`" in page.read_text(encoding="utf-8")
