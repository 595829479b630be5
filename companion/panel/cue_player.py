"""Which step of which cue is shown at a given time.  Pure: values in, values out, time passed in.

The hold of the highest rank is shown, and over it one intro at a time:

* a new cue replaces what its own topic shows and plays, whatever the ranks: a restored table ends the alarm;
* over another topic's intro it prevails unless its rank is lower; then it waits, and is dropped when stale;
* the same intro again within its ``pause_s`` is left out, its hold is not: no alarm storms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from companion.panel.cues import OFF, Colour, Cue, Step, Steps, Topic
from companion.rules.board import Player

STALE_S = 3.0
"""An intro that had to wait longer than this is about a moment that has passed."""


@dataclass(frozen=True, slots=True)
class Lights:
    """What the panel shows: colour of the status light, whose lights are on, the buzzer's tone (None: silence)."""

    colour: Colour = OFF
    players: tuple[Player, ...] = ()
    tone_hz: float | None = None


@dataclass(frozen=True, slots=True)
class Intro:
    """A cue's intro that began, or will begin, at ``t``."""

    cue: Cue
    t: float

    @property
    def end(self) -> float:
        """When the intro ends."""
        return self.t + length_s(self.cue.intro)


@dataclass(frozen=True, slots=True)
class PlaybackState:
    """The state of playback.

    Attributes:
        turn: the players to move.
        standing: the current cue of each topic, with its start time.
        playing: the intro being played.
        waiting: the intro to be played next.
        begun: when the intro of each cue, by its name, was last started.
    """

    turn: tuple[Player, ...] = ()
    standing: Mapping[Topic, Intro] = field(default_factory=lambda: MappingProxyType({}))
    playing: Intro | None = None
    waiting: Intro | None = None
    begun: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def length_s(steps: Steps) -> float:
    """How long the steps last in total."""
    return sum(step.seconds for step in steps)


def start_cue(state: PlaybackState, cue: Cue, t: float) -> PlaybackState:
    """``state`` after ``cue`` arrived at ``t``."""
    state = advance(state, t)
    turn = state.turn if cue.turn is None else cue.turn
    standing = {**state.standing, cue.topic: Intro(cue, t)}
    state = replace(state, turn=turn, standing=MappingProxyType(standing))
    if state.playing and state.playing.cue.topic is cue.topic:
        state = replace(state, playing=None)
    if state.waiting and state.waiting.cue.topic is cue.topic:
        state = replace(state, waiting=None)
    is_storm = t - state.begun.get(cue.name, float("-inf")) < cue.pause_s
    if not cue.intro or is_storm:
        return advance(state, t)
    if state.playing and state.playing.cue.rank > cue.rank:
        return state if _is_outranked(cue, state.waiting) else replace(state, waiting=Intro(cue, t))
    return _begun(state, cue, t)


def advance(state: PlaybackState, t: float) -> PlaybackState:
    """``state`` at ``t``: an intro that has ended makes room for the waiting one.

    To be called before :func:`lights_at` and :func:`next_change`.
    """
    if state.playing and t >= state.playing.end:
        state = replace(state, playing=None)
    if state.playing or state.waiting is None:
        return state
    waited = state.waiting
    state = replace(state, waiting=None)
    return state if t - waited.t > STALE_S else _begun(state, waited.cue, t)


def lights_at(state: PlaybackState, t: float) -> Lights:
    """What to show at ``t``."""
    step = step_at(state, t)[0]
    return Lights(step.colour, state.turn if step.players is None else step.players, step.tone_hz)


def next_change(state: PlaybackState, t: float) -> float | None:
    """When the panel may have to show something other than at ``t``; None: never without a further cue."""
    return step_at(state, t)[1]


def step_at(state: PlaybackState, t: float) -> tuple[Step, float | None]:
    """The step shown at ``t``, and when it ends (None: never)."""
    if state.playing and t < state.playing.end:
        return _within(state.playing.cue.intro, t - state.playing.t, t)
    holds = [intro for intro in state.standing.values() if intro.cue.hold]
    if not holds:
        return Step(0.0, OFF), None
    shown = max(holds, key=lambda intro: (intro.cue.rank, intro.t))
    steps = shown.cue.hold
    if len(steps) == 1:
        return steps[0], None
    return _within(steps, (t - shown.end) % length_s(steps), t)


def _begun(state: PlaybackState, cue: Cue, t: float) -> PlaybackState:
    """``state`` with the intro of ``cue`` started at ``t``."""
    return replace(state, playing=Intro(cue, t), begun=MappingProxyType({**state.begun, cue.name: t}))


def _is_outranked(cue: Cue, other: Intro | None) -> bool:
    return other is not None and other.cue.rank > cue.rank


def _within(steps: Steps, since_s: float, t: float) -> tuple[Step, float]:
    """The step shown ``since_s`` after the first began, and when it ends, if it is ``t`` now."""
    for step in steps:
        if since_s < step.seconds:
            return step, t + step.seconds - since_s
        since_s -= step.seconds
    return steps[-1], t
