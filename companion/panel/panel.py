"""What a panel is.

Its forms: :mod:`companion.panel.gpio`, :mod:`companion.panel.terminal`, :mod:`companion.panel.board`,
:class:`NoPanel`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from companion.errors import CompanionError
from companion.panel.cue_player import Lights
from companion.panel.cues import OFF, Colour, Rank, Topic
from companion.rules.board import Player


class PanelError(CompanionError, OSError):
    """The panel cannot be reached."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """One sentence for people.

    Attributes:
        name: of the cue that belongs to it.
        text: the sentence.
        t: the event's time, seconds since the start; None if it is no event.
        colour: the status light's colour for it.
        topic: what it is about; a later sentence on the same topic makes it obsolete.
        rank: how much it matters.
    """

    name: str
    text: str
    t: float | None = None
    colour: Colour = OFF
    topic: Topic = Topic.NOTICE
    rank: Rank = Rank.CALM


@dataclass(frozen=True, slots=True)
class PanelDisplay:
    """What a panel shows: lights and tone, whose turn it is, the last sentence, and the last position as text.

    ``position`` is empty if it is not known.
    """

    lights: Lights
    turn: tuple[Player, ...] = ()
    said: Announcement | None = None
    position: str = ""


class Panel(Protocol):
    """One form of panel."""

    def show(self, shown: PanelDisplay) -> None:
        """Show this at once, until the next call.  Raises PanelError if the panel is gone."""
        ...

    def close(self) -> None:
        """Turn off lights and tone and release everything; a second call does nothing."""
        ...


class NoPanel:
    """A panel that shows nothing."""

    def show(self, shown: PanelDisplay) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
