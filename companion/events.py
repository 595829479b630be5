"""The referee's events.  The same ones go to the match store, the panel, the web page and standard output.

Each is a frozen value; :func:`to_json` gives its fields as JSON, ``event`` first.  The types of the fields are the only
schema: :func:`from_json` accepts nothing that does not fit it, wherever it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from companion import schema
from companion.errors import BadText
from companion.schema import CellName, Count, Letter, Seconds, Text

ViewState = Annotated[
    str, Meta(pattern=r"\A(clear|hand|blocked|no-mat|moved|dark|noise|flicker|shaking|slow|unread|camera-lost)\Z")
]
SensorState = Annotated[str, Meta(pattern=r"\A(ok|lost|fault)\Z")]
ClockState = Annotated[str, Meta(pattern=r"\A(running|stopped|flag)\Z")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """``t``: time of the decisive frame, in seconds since the start.  ``n``: sequence number from 1."""

    event: ClassVar[str]
    t: Seconds
    n: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Event):
    """The match begins in ``position``."""

    event: ClassVar[str] = "start"
    position: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Event):
    """A legal move, complete on the table; ``position`` is the one after it."""

    event: ClassVar[str] = "accepted"
    player: Letter
    move: Text
    position: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Illegal(Event):
    """An act against the rules.  ``seen`` and ``expected`` are board texts of tops and heights."""

    event: ClassVar[str] = "illegal"
    player: Letter
    attempt: Text | None
    rules: tuple[Text, ...]
    reason: Text
    cells: tuple[CellName, ...]
    seen: Text
    expected: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished(Event):
    """A turn half done without a violation, or a position not yet set up; ``todo`` says what is left to do.

    ``stacks`` are what the ``cells`` must hold in the end, bottom to top, if that is known, and ``levels`` those of
    their pillars, if there are any; ``rule`` is the id of the rule that demands it, empty for a set-up.
    """

    event: ClassVar[str] = "unfinished"
    todo: Text
    cells: tuple[CellName, ...]
    stacks: tuple[Text, ...] = ()
    levels: tuple[Count, ...] = ()
    rule: Text = ""

    def __post_init__(self) -> None:
        if any(len(told) not in (0, len(self.cells)) for told in (self.stacks, self.levels)):
            raise BadText("stacks and levels must be as many as cells, or none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Event):
    """The table is back at the last accepted position."""

    event: ClassVar[str] = "restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn(Event):
    """The standing accusation of ``player`` was false: ``cells`` were misread, as the match has shown.

    The moves that lay on the table follow as events of their own.
    """

    event: ClassVar[str] = "withdrawn"
    player: Letter
    cells: tuple[CellName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack(Event):
    """The last ``moves`` were undone on the table (in the order in which they had been played)."""

    event: ClassVar[str] = "taken-back"
    moves: tuple[Text, ...]
    position: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure(Event):
    """Several moves fit what is seen; ``question`` asks people which it was.

    ``cells`` are the squares in which the moves differ, or which look odd.  ``or_one_hand``: each option consists of
    several players' moves, but one player may have made them all, which is not allowed; then none of the options is the
    answer.
    """

    event: ClassVar[str] = "unsure"
    options: tuple[Text, ...]
    question: Text
    cells: tuple[CellName, ...] = ()
    or_one_hand: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Event):
    """An arbiter's ruling: a position set by hand, or a move."""

    event: ClassVar[str] = "corrected"
    by: Text
    position: Text | None = None
    move: Text | None = None

    def __post_init__(self) -> None:
        if self.position is None and self.move is None:
            raise BadText("a ruling names a position or a move")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChanged(Event):
    """``state``: clear, hand, blocked, no-mat, moved, dark, noise, flicker, shaking, slow, unread or camera-lost.

    ``unread`` means that the program is at fault.
    """

    event: ClassVar[str] = "view"
    state: ViewState


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorsChanged(Event):
    """``state``: ok, lost or fault (then ``cells`` names the pillars)."""

    event: ClassVar[str] = "sensors"
    state: SensorState
    cells: tuple[CellName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped(Event):
    """``player`` cannot move and is passed over."""

    event: ClassVar[str] = "skipped"
    player: Letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Event):
    """``position`` is on the table for the ``times``-th time."""

    event: ClassVar[str] = "repeated"
    times: Count
    position: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOver(Event):
    """The end: ``winner`` (None: drawn) and the rule that ended the game."""

    event: ClassVar[str] = "game-over"
    winner: Letter | None
    rule: Text
    position: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChanged(Event):
    """Whose time runs from now on.

    ``state``: running, stopped, or flag if the time of ``player`` has run out.  ``left`` are the seconds left to each
    of ``players``; ``control`` is the time control, such as ``10m+5s``.
    """

    event: ClassVar[str] = "clock"
    state: ClockState
    player: Letter | None
    players: tuple[Letter, ...]
    left: tuple[Seconds, ...]
    control: Text

    def __post_init__(self) -> None:
        if len(self.left) != len(self.players):
            raise BadText("left must be as many as players")


KINDS: dict[str, type[Event]] = {
    kind.event: kind
    for kind in (
        Start,
        Accepted,
        Illegal,
        Unfinished,
        Restored,
        Withdrawn,
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


def withdrawn(events: Iterable[Event]) -> frozenset[int]:
    """The numbers of the false accusations: at each withdrawal, those made since the table was last right."""
    false: set[int] = set()
    standing: set[int] = set()
    for event in events:
        if isinstance(event, Illegal):
            standing.add(event.n)
        elif isinstance(event, Withdrawn):
            false |= standing
            standing.clear()
        elif isinstance(event, (Restored, Accepted, TakenBack, Corrected)):
            standing.clear()
    return frozenset(false)


def to_json(event: Event) -> dict[str, Any]:
    """The event as a JSON object: ``event``, ``t``, ``n``, then its own fields; tuples become lists."""
    row = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(event).items()}
    return {"event": event.event, **row}


def from_json(row: dict[str, Any]) -> Event:
    """The event in a JSON object.  Raises BadText for an unknown kind and for every field that does not fit."""
    name = row.get("event")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise BadText(f"event {ascii(name)[:40]} is not known; known are {', '.join(KINDS)}")
    try:
        return schema.read(kind, {key: value for key, value in row.items() if key != "event"})
    except BadText as error:
        raise BadText(f"event {kind.event!r}: {error}") from error
