"""What the referee says.  The same events go to the match store, the panel, the web page and standard output.

Each is a frozen value; :func:`to_json` gives its fields as JSON, ``event`` first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from companion.errors import BadText
from companion.rules.board import Player


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """``t``: seconds since the start, of the decisive frame.  ``n``: running number from 1."""

    event: ClassVar[str]
    t: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Event):
    """The match begins in ``position``."""

    event: ClassVar[str] = "start"
    position: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Event):
    """A legal move, complete on the table; ``position`` is the one after it."""

    event: ClassVar[str] = "accepted"
    player: Player
    move: str
    position: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Illegal(Event):
    """An act against the rules.  ``seen`` and ``expected`` are board texts of tops and heights."""

    event: ClassVar[str] = "illegal"
    player: Player
    attempt: str | None
    rules: tuple[str, ...]
    reason: str
    cells: tuple[str, ...]
    seen: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished(Event):
    """A turn begun well, or a position not yet set up; ``todo`` says what is left to do.

    ``stacks`` are what the ``cells`` must hold in the end, bottom to top, where that is known, and ``levels`` those of
    their pillars, where there are any; ``rule`` is the id of the rule that demands it, empty for a set-up.
    """

    event: ClassVar[str] = "unfinished"
    todo: str
    cells: tuple[str, ...]
    stacks: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Event):
    """The table is back at the last accepted position."""

    event: ClassVar[str] = "restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack(Event):
    """The last ``moves`` were undone on the table (in the order in which they had been played)."""

    event: ClassVar[str] = "taken-back"
    moves: tuple[str, ...]
    position: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure(Event):
    """Several moves fit what is seen; ``question`` asks people which it was.

    ``cells`` are the squares in which the moves differ, or which look odd.
    """

    event: ClassVar[str] = "unsure"
    options: tuple[str, ...]
    question: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Event):
    """An arbiter's ruling: a position set by hand, or a move."""

    event: ClassVar[str] = "corrected"
    by: str
    position: str | None = None
    move: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChanged(Event):
    """``state``: clear, hand, blocked, no-mat, moved, dark or camera-lost."""

    event: ClassVar[str] = "view"
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorsChanged(Event):
    """``state``: ok, lost or fault (then ``cells`` names the pillars)."""

    event: ClassVar[str] = "sensors"
    state: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped(Event):
    """``player`` cannot move and is passed over."""

    event: ClassVar[str] = "skipped"
    player: Player


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Event):
    """``position`` is on the table for the ``times``-th time."""

    event: ClassVar[str] = "repeated"
    times: int
    position: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOver(Event):
    """The end: ``winner`` (None: drawn) and the rule that ended the game."""

    event: ClassVar[str] = "game-over"
    winner: Player | None
    rule: str
    position: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChanged(Event):
    """Whose time runs from now on.

    ``state``: running, stopped, or flag when the time of ``player`` has run out.  ``left`` are the seconds left to each
    of ``players``; ``control`` is what they were given, such as ``10m+5s``.
    """

    event: ClassVar[str] = "clock"
    state: str
    player: Player | None
    players: tuple[Player, ...]
    left: tuple[float, ...]
    control: str


KINDS: dict[str, type[Event]] = {
    kind.event: kind
    for kind in (
        Start,
        Accepted,
        Illegal,
        Unfinished,
        Restored,
        TakenBack,
        Unsure,
        Corrected,
        ViewChanged,
        SensorsChanged,
        Skipped,
        Repeated,
        GameOver,
        ClockChanged,
    )
}


def to_json(event: Event) -> dict[str, Any]:
    """The event as a JSON object: ``event``, ``t``, ``n``, then its own fields; tuples become lists."""
    row = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(event).items()}
    return {"event": event.event, **row}


def from_json(row: dict[str, Any]) -> Event:
    """The event of a JSON object.  Raises BadText for an unknown kind, a missing or an unknown field."""
    kind = KINDS.get(row.get("event", ""))
    if kind is None:
        raise BadText(f"event {row.get('event')!r} is not known; known are {', '.join(KINDS)}")
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key != "event"
    }
    known = {field.name for field in fields(kind)}
    if unknown := sorted(given.keys() - known):
        raise BadText(f"event {kind.event!r} has no field {unknown[0]!r}")
    try:
        return kind(**given)
    except TypeError as error:
        raise BadText(f"event {kind.event!r}: {error}") from error
