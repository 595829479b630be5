"""The controller of a panel: takes events, and shows them as lights, tones and sentences.

How to use it::

    panel = open_panel("terminal", players, sys.stderr) # or "gpio", "none"
    keeper.append(event)                                # first kept,
    panel.warn(keeper.warning)
    panel.tell(event)                                   # then shown
    panel.close()                                       # dark, silent, pins given back

A :class:`PanelController` works in the caller's thread, which must call :meth:`PanelController.tick` if lights blink; a
:class:`companion.panel.threaded.ThreadedPanel` does that in a thread of its own.  ``open_panel`` is in
:mod:`companion.panel.choice`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from companion.events import ClockChanged, Event, ViewChanged
from companion.panel.cue_player import PlaybackState, advance, lights_at, next_change, start_cue
from companion.panel.cues import NOTE, OFF, PAUSED, RESUMED, SAVED, UNSAVED, Colour, Cue, Topic, cue_for
from companion.panel.panel import Announcement, Panel, PanelDisplay
from companion.phrases import ENGLISH, Language, sentence
from companion.rules.board import Player


class Announcer(Protocol):
    """Anything that announces events and notes to people at the table."""

    def tell(self, event: Event) -> None:
        """Show an event."""
        ...

    def warn(self, warning: str | None) -> None:
        """Show the store's standing warning, or that there is none (any more)."""
        ...

    def note(self, text: str) -> None:
        """Show a sentence that is no event: what a press of a button led to."""
        ...

    def pause(self, *, is_paused: bool) -> None:
        """Show that the match is paused, or that it goes on."""
        ...

    def close(self) -> None:
        """Turn everything off."""
        ...


class PanelController:
    """One panel and what it has to show.

    Args:
        panel: the panel; closed with the controller.
        clock: seconds, monotonic; the only source of time.
        lang: the language of the sentences.
        names: the players' names if they differ from those of the language.
    """

    def __init__(
        self,
        panel: Panel,
        clock: Callable[[], float],
        lang: Language = ENGLISH,
        names: Mapping[Player, str] = MappingProxyType({}),
    ) -> None:
        self._panel = panel
        self._clock = clock
        self._lang = lang
        self._names = names
        self._state = PlaybackState()
        self._said: Announcement | None = None
        self._position = ""

    def tell(self, event: Event) -> None:
        """Show the cue and the sentence of ``event``."""
        cue = cue_for(event)
        if hasattr(event, "position"):
            self._position = event.position or ""  # a ruling by a move does not say the position
        if not self._is_routine(event):
            text = sentence(event, self._lang, self._names)
            self._said = Announcement(event.event, text, event.t) if cue is None else _said(cue, text, event.t)
        self._start(cue)

    def warn(self, warning: str | None) -> None:
        """Show the store's standing warning; a sentence comes when it appears or ends, not when its words change."""
        standing = self._state.standing.get(Topic.STORE)
        was_unsaved = standing is not None and standing.cue is UNSAVED
        if was_unsaved == (warning is not None):
            return
        cue = SAVED if warning is None else UNSAVED
        said = _said(cue, warning or self._lang.texts["saved"])
        self._said = replace(said, colour=_colour_of(UNSAVED))
        self._start(cue)

    def note(self, text: str) -> None:
        """Show a sentence that is no event."""
        self._said = _said(NOTE, text)
        self._start(NOTE)

    def pause(self, *, is_paused: bool) -> None:
        """Show that the match is paused, or that it goes on."""
        cue = PAUSED if is_paused else RESUMED
        self._said = _said(cue, self._lang.texts[cue.name])
        self._start(cue)

    def tick(self) -> float | None:
        """Show what is due now.  Returns in how many seconds something may change; None: not by itself."""
        t = self._clock()
        self._state = advance(self._state, t)
        self._panel.show(PanelDisplay(lights_at(self._state, t), self._state.turn, self._said, self._position))
        change = next_change(self._state, t)
        return None if change is None else max(0.0, change - t)

    def close(self) -> None:
        """Close the panel."""
        self._panel.close()

    def _start(self, cue: Cue | None) -> None:
        if cue is not None:
            self._state = start_cue(self._state, cue, self._clock())
        self.tick()

    def _is_routine(self, event: Event) -> bool:
        """Hands come and go, clocks start and stop: only a view after trouble, or a flag, is worth a sentence."""
        if isinstance(event, ClockChanged):
            return event.state != "flag"
        if not isinstance(event, ViewChanged):
            return False
        standing = self._state.standing.get(Topic.VIEW)
        was_trouble = standing is not None and bool(standing.cue.hold)
        return event.state == "hand" or (event.state == "clear" and not was_trouble)


def _said(cue: Cue, text: str, t: float | None = None) -> Announcement:
    return Announcement(cue.name, text, t, _colour_of(cue), cue.topic, cue.rank)


def _colour_of(cue: Cue) -> Colour:
    """The colour by which people recognise the cue: the first that it shows."""
    return next((step.colour for step in (*cue.intro, *cue.hold) if step.colour != OFF), OFF)
