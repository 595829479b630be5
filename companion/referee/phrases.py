"""The referee's own sentences; those about rules come from the game."""

from __future__ import annotations

from collections.abc import Sequence

from companion.rules.board import Layout, Table
from companion.rules.citing import listed
from companion.tracker.sights import Changes, Place, name_of

MAX_CELLS = 6
"""Number of squares that a sentence names at most, to be understood; the rest are counted."""

UNMOVED = "nothing has been moved; make a move, then say that you are done"


def set_up_sentence(layout: Layout, expected: Table, changes: Changes) -> str:
    """A sentence saying what squares must hold, e.g. ``set up: c3 must hold GR and d4 must be empty``."""
    parts = [_must_hold(layout, expected, place) for place, _ in changes[:MAX_CELLS]]
    more = len(changes) - len(parts)
    return "set up: " + listed([*parts, f"{more} more squares are wrong"] if more else parts)


def _must_hold(layout: Layout, expected: Table, place: Place) -> str:
    cell, n = name_of(layout, place), len(expected.stacks)
    if expected.levels is not None and place >= n:
        return f"{cell} must stand at level {expected.levels[place - n]}"
    stack = expected.stacks[place]
    return f"{cell} must hold {stack}" if stack else f"{cell} must be empty"


def question(options: Sequence[str], odd: Sequence[tuple[str, str]], *, or_one_hand: bool = False) -> str:
    """What people are asked: which move it was, whether the nearly fitting one was played, or about what looks ``odd``.

    ``or_one_hand``: whether one player may have made all the moves, which is not allowed.
    """
    if or_one_hand:
        asked = f"Was {' or '.join(options)} played, each move by its own player?"
        return f"{asked} If one did it all, answer no and put it back."
    if len(options) > 1:
        return f"Which was played: {', '.join(options[:-1])} or {options[-1]}?"
    doubts = [f"{cell} looks {sight}" if sight == "empty" else f"{cell} looks like {sight}" for cell, sight in odd]
    asked = f"Was {options[0]} played?" if options else "Has anything been changed that should not be?"
    return asked + (f" {listed(doubts)}." if doubts else "")
