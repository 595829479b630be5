"""What lights and buzzer do for each event: pure data.

A cue has an ``intro``, played once, and a ``hold``, repeated as long as the state of its topic lasts.  Any two intros
and any two holds differ by their rhythm alone, so that they can be told apart without seeing colours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, IntEnum

from companion.events import (
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    SensorsChanged,
    Skipped,
    Start,
    TakenBack,
    ViewChanged,
)
from companion.phrases import to_move
from companion.rules.board import NOBODY, Player

Colour = tuple[float, float, float]
"""Red, green and blue, each 0 … 1."""

OFF: Colour = (0.0, 0.0, 0.0)
RED: Colour = (1.0, 0.0, 0.0)
AMBER: Colour = (1.0, 0.4, 0.0)
GREEN: Colour = (0.0, 1.0, 0.0)
BLUE: Colour = (0.0, 0.0, 1.0)
MAGENTA: Colour = (1.0, 0.0, 1.0)
WHITE: Colour = (1.0, 1.0, 1.0)

LOW_HZ, MIDDLE_HZ, HIGH_HZ, TOP_HZ = 261.63, 392.0, 523.25, 783.99
"""C4, G4, C5, G5: inside the two octaves around A4 that the buzzer plays, and easily told apart."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a cue.

    Attributes:
        seconds: how long it lasts.
        colour: of the status light.
        players: whose lights are on; None: the light of the player to move.
        tone_hz: what the buzzer plays; None: silence.
    """

    seconds: float
    colour: Colour
    players: tuple[Player, ...] | None = None
    tone_hz: float | None = None


Steps = tuple[Step, ...]


class Topic(Enum):
    """What a cue is about.  A new cue ends the hold of the old one on the same topic, and of no other."""

    TABLE = "table"
    VIEW = "view"
    SENSORS = "sensors"
    STORE = "store"
    PAUSE = "pause"
    NOTICE = "notice"


class Rank(IntEnum):
    """How much a cue matters; of several, the one with the highest rank is shown."""

    CALM = 0
    NOTICE = 1
    WARNING = 2
    TASK = 3
    QUESTION = 4
    TROUBLE = 5
    ALARM = 6


@dataclass(frozen=True, slots=True)
class Cue:
    """What the panel does for one event.

    Attributes:
        name: the same for cues that look the same.
        rank: its priority.
        intro: played once; empty for none.
        hold: repeated afterwards; empty for none.
        turn: who is to move from now on; None: unchanged.
        pause_s: the intro is left out if the same one began less than this ago.
    """

    name: str
    topic: Topic
    rank: Rank
    intro: Steps = ()
    hold: Steps = ()
    turn: tuple[Player, ...] | None = None
    pause_s: float = 0.0


def blinks(count: int, on_s: float, off_s: float, colour: Colour, tone_hz: float | None = None) -> Steps:
    """``count`` times ``on_s`` of light (with a tone) and ``off_s`` of dark silence."""
    return (Step(on_s, colour, None, tone_hz), Step(off_s, OFF)) * count


READY = (Step(1.0, GREEN),)
STORM_S = 2.0
"""Alarms that follow each other faster are one alarm: a hand that fidgets with a wrong piece."""


def cue_for(event: Event) -> Cue | None:
    """The cue of an event; None if the panel does not change."""
    match event:
        case ViewChanged(state=state):
            return VIEWS.get(state)
        case SensorsChanged(state=state):
            return SENSORS.get(state)
        case Skipped(player=player):
            long, short = Step(0.7, WHITE, (player,), MIDDLE_HZ), Step(0.15, WHITE, (player,), MIDDLE_HZ)
            dark = Step(0.15, OFF, ())
            return Cue("skipped", Topic.NOTICE, Rank.NOTICE, (long, dark, short, dark))
        case ClockChanged(player=player):
            return _flag(() if player is None else (player,)) if event.state == "flag" else None
        case Repeated(times=times):
            return Cue(f"repeated {times}", Topic.NOTICE, Rank.NOTICE, blinks(times, 0.5, 0.3, WHITE, MIDDLE_HZ))
        case Illegal(player=player):
            return _illegal(player)
        case GameOver(winner=winner):
            return _game_over(() if winner is None else (winner,))
        case _:
            return _table_cue(event)


def _table_cue(event: Event) -> Cue | None:
    cue = TABLE.get(event.event)
    if cue is None or not isinstance(event, Start | Accepted | TakenBack | Corrected) or event.position is None:
        return cue
    player = to_move(event.position)
    return replace(cue, turn=() if player == NOBODY else (player,))


def _illegal(player: Player) -> Cue:
    """Six short low barks with the offender's light, then a fast even blinking until the table is put right."""
    bark = (Step(0.12, RED, (player,), LOW_HZ), Step(0.08, OFF, ()))
    hold = (Step(0.25, RED, (player,)), Step(0.25, OFF, ()))
    return Cue("illegal", Topic.TABLE, Rank.ALARM, bark * 6, hold, pause_s=STORM_S)


def _flag(players: tuple[Player, ...]) -> Cue:
    """Two long tones and a short one, with the light of the player who has no time left."""
    steps = (Step(0.7, WHITE, players, LOW_HZ), Step(0.2, OFF, ()))
    return Cue(
        "flag", Topic.NOTICE, Rank.NOTICE, (*steps, *steps, Step(0.3, WHITE, players, LOW_HZ), Step(0.2, OFF, ()))
    )


def _game_over(winners: tuple[Player, ...]) -> Cue:
    """A rising fanfare, then slow breathing with the winner's light; no player's light for a draw."""
    tones = (LOW_HZ, MIDDLE_HZ, HIGH_HZ, TOP_HZ)
    fanfare = tuple(Step(0.2 if tone < TOP_HZ else 0.6, WHITE, winners, tone) for tone in tones)
    hold = (Step(1.5, WHITE, winners), Step(0.5, OFF, ()))
    return Cue("game-over", Topic.TABLE, Rank.CALM, fanfare, hold, turn=())


def _table(name: str, intro: Steps, rank: Rank = Rank.CALM, hold: Steps = READY) -> tuple[str, Cue]:
    return name, Cue(name, Topic.TABLE, rank, intro, hold)


def _trouble(name: str, topic: Topic, hold: Steps) -> Cue:
    """The hold's rhythm once with a low tone, at most every five seconds: a flickering state must not sing."""
    intro = tuple(replace(step, tone_hz=None if step.colour == OFF else LOW_HZ) for step in hold)
    return Cue(name, topic, Rank.TROUBLE, intro, hold, pause_s=5.0)


TABLE: dict[str, Cue] = dict(
    (
        _table("start", (Step(0.25, RED), Step(0.25, GREEN), Step(0.25, BLUE), Step(0.25, OFF, None, HIGH_HZ))),
        _table("accepted", (Step(0.06, OFF), Step(0.14, GREEN, None, TOP_HZ))),
        _table(
            "unfinished",
            blinks(2, 0.2, 0.15, AMBER, MIDDLE_HZ),
            Rank.TASK,
            (Step(0.6, AMBER), Step(0.2, OFF), Step(0.2, AMBER), Step(0.2, OFF)),
        ),
        _table("restored", (Step(0.12, GREEN, None, MIDDLE_HZ), Step(0.08, OFF), Step(0.2, GREEN, None, HIGH_HZ))),
        _table("withdrawn", (Step(0.3, WHITE, None, HIGH_HZ), Step(0.08, OFF), Step(0.3, GREEN, None, MIDDLE_HZ))),
        _table("taken-back", tuple(Step(0.18, WHITE, None, tone) for tone in (TOP_HZ, HIGH_HZ, MIDDLE_HZ))),
        _table(
            "unsure",
            (*blinks(2, 0.15, 0.1, BLUE, HIGH_HZ), Step(0.5, BLUE)),
            Rank.QUESTION,
            (*blinks(2, 0.15, 0.15, BLUE), Step(0.8, OFF)),
        ),
        _table("corrected", (Step(0.8, WHITE, None, HIGH_HZ), Step(0.2, OFF))),
    )
)
"""By event: those whose cue is always the same except for who is to move."""

VIEWS: dict[str, Cue] = {
    "clear": Cue("clear", Topic.VIEW, Rank.CALM),
    "hand": Cue("hand", Topic.VIEW, Rank.CALM),
    "moved": Cue("moved", Topic.VIEW, Rank.NOTICE, blinks(3, 0.1, 0.3, WHITE), pause_s=5.0),
    "blocked": _trouble("blocked", Topic.VIEW, blinks(1, 1.0, 1.0, AMBER)),
    "no-mat": _trouble("no-mat", Topic.VIEW, (*blinks(1, 1.0, 0.3, AMBER), *blinks(2, 0.3, 0.3, AMBER))),
    "dark": _trouble("dark", Topic.VIEW, blinks(1, 0.1, 1.9, AMBER)),
    "noise": _trouble("noise", Topic.VIEW, (*blinks(2, 0.1, 0.2, AMBER), Step(1.4, OFF))),
    "flicker": _trouble("flicker", Topic.VIEW, (*blinks(3, 0.1, 0.2, AMBER), Step(1.1, OFF))),
    "shaking": _trouble("shaking", Topic.VIEW, (*blinks(4, 0.1, 0.2, AMBER), Step(0.8, OFF))),
    "slow": _trouble("slow", Topic.VIEW, (*blinks(5, 0.1, 0.2, AMBER), Step(0.5, OFF))),
    "unread": _trouble("unread", Topic.VIEW, (*blinks(6, 0.1, 0.2, RED), Step(0.2, OFF))),
    "camera-lost": _trouble("camera-lost", Topic.VIEW, (*blinks(4, 0.1, 0.2, RED), Step(1.0, OFF))),
}
"""By state of the event ``view``."""

SENSORS: dict[str, Cue] = {
    "ok": Cue("sensors ok", Topic.SENSORS, Rank.CALM),
    "lost": _trouble("sensors lost", Topic.SENSORS, (*blinks(3, 0.2, 0.2, MAGENTA), Step(0.8, OFF))),
    "fault": _trouble("sensors fault", Topic.SENSORS, (*blinks(3, 0.4, 0.2, MAGENTA), Step(0.7, OFF))),
}
"""By state of the event ``sensors``."""

UNSAVED = Cue(
    "unsaved", Topic.STORE, Rank.WARNING, hold=(Step(2.7, GREEN), Step(0.1, OFF), Step(0.1, MAGENTA), Step(0.1, OFF))
)
"""Events are only in memory: play goes on, with a wink every three seconds."""
SAVED = Cue("saved", Topic.STORE, Rank.CALM)
BREATH = (Step(3.0, WHITE, ()), Step(3.0, OFF, ()))
PAUSED = Cue("paused", Topic.PAUSE, Rank.WARNING, (Step(0.6, WHITE, None, MIDDLE_HZ),), BREATH)
"""Somebody has paused the match: very slow breathing, no player's light."""
RESUMED = Cue("resumed", Topic.PAUSE, Rank.CALM, (Step(0.6, GREEN, None, HIGH_HZ), Step(0.1, OFF)))
NOTE = Cue("note", Topic.NOTICE, Rank.NOTICE, (Step(0.3, WHITE, None, HIGH_HZ), Step(0.1, OFF)))
"""What a press of a button led to, if that is no event."""
