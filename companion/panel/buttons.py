"""From the levels of a button's pin to presses, debounced: pure logic, times in seconds passed in.

Contacts bounce when they close and when they open: a level counts once it has lasted :data:`STEADY_S`.  A press is
reported when the button has gone down, and once more, as held, when it has stayed down for :data:`HELD_S`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

STEADY_S = 0.02
"""Debounce time: longer than contacts of push buttons bounce (mostly under 10 ms), shorter than anybody presses."""

HELD_S = 1.5
"""Whoever holds a button for this long means it."""


class Button(Enum):
    """The buttons of the panel."""

    DONE = "done"
    UNDO = "undo"
    ARBITER = "arbiter"


@dataclass(frozen=True, slots=True)
class Press:
    """Somebody pressed a button.

    Attributes:
        button: which.
        is_held: it has now been down for :data:`HELD_S`; it was reported before, when it went down.
        number: the answer that is meant, from 1, where the panel has a key for it; else 0.
    """

    button: Button
    is_held: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class ButtonState:
    """The state of one button.

    Attributes:
        is_down: whether it counts as pressed.
        level: the last level of the pin (True: closed), and ``since_s``, since when.
        held_s: when it will count as held; None while it is up, and once that has been reported.
    """

    is_down: bool = False
    level: bool = False
    since_s: float = 0.0
    held_s: float | None = None


def with_sample(state: ButtonState, *, level: bool, t_s: float) -> ButtonState:
    """The state after the pin's ``level`` was sampled at ``t_s``; call :func:`debounced` for the same time first."""
    return state if level is state.level else replace(state, level=level, since_s=t_s)


def debounced(state: ButtonState, button: Button, t_s: float) -> tuple[ButtonState, tuple[Press, ...]]:
    """The debounced state at ``t_s``, and the presses that have become certain since the last call."""
    presses: list[Press] = []
    if state.level is not state.is_down and t_s >= state.since_s + STEADY_S:
        if state.level:
            presses.append(Press(button))
            state = replace(state, is_down=True, held_s=state.since_s + HELD_S)
        else:
            was_held = state.held_s is not None and state.held_s <= state.since_s
            presses += [Press(button, is_held=True)] * was_held
            state = replace(state, is_down=False, held_s=None)
    if state.level and state.held_s is not None and t_s >= state.held_s:
        presses.append(Press(button, is_held=True))
        state = replace(state, held_s=None)
    return state, tuple(presses)


def next_due(state: ButtonState) -> float | None:
    """When :func:`debounced` must be called again even if the pin does not change; None: never."""
    if state.level is not state.is_down:
        return state.since_s + STEADY_S
    return state.held_s
