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
class Contact:
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


def heard(contact: Contact, *, level: bool, t_s: float) -> Contact:
    """The contact with its pin at ``level`` from ``t_s`` on; call :func:`settled` for the same time first."""
    return contact if level is contact.level else replace(contact, level=level, since_s=t_s)


def settled(contact: Contact, button: Button, t_s: float) -> tuple[Contact, tuple[Press, ...]]:
    """The contact at ``t_s``, and the presses that have become certain since the last call."""
    presses: list[Press] = []
    if contact.level is not contact.is_down and t_s >= contact.since_s + STEADY_S:
        if contact.level:
            presses.append(Press(button))
            contact = replace(contact, is_down=True, held_s=contact.since_s + HELD_S)
        else:
            was_held = contact.held_s is not None and contact.held_s <= contact.since_s
            presses += [Press(button, is_held=True)] * was_held
            contact = replace(contact, is_down=False, held_s=None)
    if contact.level and contact.held_s is not None and t_s >= contact.held_s:
        presses.append(Press(button, is_held=True))
        contact = replace(contact, held_s=None)
    return contact, tuple(presses)


def next_due(contact: Contact) -> float | None:
    """When :func:`settled` must be called again even if the pin does not change; None: never."""
    if contact.level is not contact.is_down:
        return contact.since_s + STEADY_S
    return contact.held_s
