"""The referee's states and everything that can happen in them: one table, from which the diagram is drawn too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum


class Mode(Enum):
    """What the referee is waiting for."""

    SETTING_UP = "setting up"  # the table must come to show the position
    WATCHING = "watching"  # it does; somebody will move
    UNFINISHED = "unfinished"  # a turn is half done
    RESTORING = "restoring"  # something illegal stands, and must go
    ASKING = "asking"  # people must say which move it was
    OVER = "over"
    PAUSED = "paused"
    THINKING = "thinking"  # only with confirmation: nothing on the table counts before the player says that he is done


class Trigger(Enum):
    """What happens: the meaning of a calm table, an order, or the end of the game."""

    SAME = "same"  # the table shows the last accepted position
    PLAYED = "played"
    BEGUN = "begun"
    BACK = "back"
    WRONG = "wrong"
    ALIKE = "alike"  # several moves look like this, or the picture leaves it open for long
    ANSWERED = "answered"
    DISMISSED = "dismissed"  # none of the moves asked about
    DONE = "done"  # the player says that his turn is complete
    REFUTED = "refuted"  # what has come since shows that a square was misread
    RULED = "ruled"  # the arbiter says what counts
    PAUSE = "pause"
    RESUME = "resume"
    CALLED_OFF = "called off"  # the arbiter ends the match
    ENDED = "ended"  # a move has ended it


class Action(Enum):
    """What the referee does about it (companion.referee.steps has a function for each)."""

    NOTHING = "nothing"
    CONFIRM = "confirm"
    ACCEPT = "accept"
    SAY_TODO = "say what is left to do"
    SAY_SET_UP = "say what is set up wrong"
    TAKE_BACK = "take back"
    ACCUSE = "accuse"
    ACCUSE_AGAIN = "accuse again"
    WITHDRAW = "withdraw"
    GO_ON = "go on"
    ASK = "ask"
    ACCEPT_ANSWER = "accept the answer"
    LOOK = "look at once"
    SAY_UNMOVED = "say that nothing has been moved"
    CORRECT = "correct"
    CALL_OFF = "call off"
    SAY_OVER = "say that it is over"


M, T, A = Mode, Trigger, Action

_ANY_TIME: Mapping[Trigger, tuple[Mode, Action]] = {
    T.SAME: (M.WATCHING, A.CONFIRM),
    T.PLAYED: (M.WATCHING, A.ACCEPT),
    T.BEGUN: (M.UNFINISHED, A.SAY_TODO),
    T.BACK: (M.WATCHING, A.TAKE_BACK),
    T.WRONG: (M.RESTORING, A.ACCUSE),
    T.ALIKE: (M.ASKING, A.ASK),
    T.RULED: (M.SETTING_UP, A.CORRECT),
    T.DONE: (M.WATCHING, A.LOOK),
    T.PAUSE: (M.PAUSED, A.NOTHING),
    T.CALLED_OFF: (M.OVER, A.CALL_OFF),
    T.ENDED: (M.OVER, A.SAY_OVER),
}
"""What happens while the match goes on, unless TABLE says otherwise."""

_GOING_ON = (M.SETTING_UP, M.WATCHING, M.UNFINISHED, M.RESTORING, M.ASKING)
_FROM_THE_TABLE = (T.SAME, T.PLAYED, T.BEGUN, T.BACK, T.WRONG, T.ALIKE)

ACCUSING = (M.RESTORING, M.ASKING, M.UNFINISHED)
"""The modes in which an accusation may stand."""

TIMED = (M.WATCHING, M.THINKING, M.UNFINISHED, M.RESTORING)
"""The modes in which the time of the player to move runs."""

VERIFIED_MODES = (M.SETTING_UP, M.WATCHING, M.UNFINISHED, M.RESTORING, M.ASKING)
"""The modes in which a verdict may be unjust to somebody, or keep a match from beginning: these get a second look."""

TABLE: Mapping[tuple[Mode, Trigger], tuple[Mode, Action]] = {
    **{(mode, trigger): then for mode in _GOING_ON for trigger, then in _ANY_TIME.items()},
    (M.SETTING_UP, T.WRONG): (M.SETTING_UP, A.SAY_SET_UP),
    (M.SETTING_UP, T.DONE): (M.SETTING_UP, A.LOOK),
    (M.UNFINISHED, T.DONE): (M.UNFINISHED, A.LOOK),
    (M.RESTORING, T.WRONG): (M.RESTORING, A.ACCUSE_AGAIN),
    (M.RESTORING, T.DONE): (M.RESTORING, A.LOOK),
    **{(mode, T.REFUTED): (M.WATCHING, A.WITHDRAW) for mode in ACCUSING},
    (M.SETTING_UP, T.REFUTED): (M.WATCHING, A.GO_ON),
    (M.ASKING, T.DONE): (M.WATCHING, A.ACCEPT_ANSWER),
    (M.ASKING, T.ANSWERED): (M.WATCHING, A.ACCEPT_ANSWER),
    (M.ASKING, T.DISMISSED): (M.SETTING_UP, A.CORRECT),
    # After the end people clear the table: only a move taken back still means anything.
    **{(M.OVER, trigger): (M.OVER, A.NOTHING) for trigger in _FROM_THE_TABLE},
    (M.OVER, T.BACK): (M.WATCHING, A.TAKE_BACK),
    (M.OVER, T.RULED): (M.SETTING_UP, A.CORRECT),
    **{(M.PAUSED, trigger): (M.PAUSED, A.NOTHING) for trigger in _FROM_THE_TABLE},
    (M.PAUSED, T.RULED): (M.PAUSED, A.CORRECT),
    (M.PAUSED, T.RESUME): (M.SETTING_UP, A.NOTHING),
    (M.PAUSED, T.CALLED_OFF): (M.OVER, A.CALL_OFF),
}
"""Mode and trigger → next mode and action.  A pair that is missing cannot happen or is refused."""

CONFIRMING: Mapping[tuple[Mode, Trigger], tuple[Mode, Action]] = {
    **{key: (M.THINKING if mode is M.WATCHING else mode, action) for key, (mode, action) in TABLE.items()},
    **{(M.THINKING, trigger): then for trigger, then in _ANY_TIME.items()},
    **{(M.THINKING, trigger): (M.THINKING, A.NOTHING) for trigger in _FROM_THE_TABLE},
    (M.WATCHING, T.SAME): (M.THINKING, A.SAY_UNMOVED),
    (M.WATCHING, T.DONE): (M.WATCHING, A.LOOK),
}
"""TABLE for matches in which a move counts only once the player has said that he is done: the watching mode becomes the
thinking mode, and the table is judged only between the player's word and the verdict."""


def table(*, confirming: bool) -> Mapping[tuple[Mode, Trigger], tuple[Mode, Action]]:
    """The table that the referee follows."""
    return CONFIRMING if confirming else TABLE


def diagram(*, confirming: bool = False) -> str:
    """The table as a Mermaid state diagram; rows that lead to the same mode share an arrow."""
    arrows: dict[tuple[Mode, Mode], list[str]] = {}
    for (mode, trigger), (following, action) in table(confirming=confirming).items():
        label = trigger.value if action is A.NOTHING else f"{trigger.value} / {action.value}"
        arrows.setdefault((mode, following), []).append(label)
    return "\n".join(("stateDiagram-v2", f"    [*] --> {_id(M.SETTING_UP)}", *_lines(arrows))) + "\n"


def _lines(arrows: Mapping[tuple[Mode, Mode], list[str]]) -> Iterator[str]:
    for mode in M:
        if any(mode in pair for pair in arrows):
            yield f'    state "{mode.value}" as {_id(mode)}'
    for (mode, following), labels in arrows.items():
        yield f"    {_id(mode)} --> {_id(following)}: {', '.join(labels)}"


def _id(mode: Mode) -> str:
    return mode.value.replace(" ", "_")
