"""Everything that people at the table see, hear and press, as one object that the table notifies and closes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TextIO

from companion.events import Event
from companion.panel.buttons import Press
from companion.panel.choice import open_panel
from companion.panel.controller import Announcer, PanelController
from companion.panel.keys import TerminalKeys, is_ours
from companion.panel.pins import Pins
from companion.phrases import ENGLISH, Language
from companion.referee.snapshot import Snapshot
from companion.referee.states import Mode
from companion.rules.board import Player
from companion.voice.library import Library
from companion.voice.panel import VoicePanel
from vision.capture.frames import Frame


class Closable(Protocol):
    """Something that can be closed."""

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class StationConfig:
    """What is wanted at the table.

    Attributes:
        panel: one of :data:`companion.panel.choice.KINDS`.
        lang: the language of the sentences.
        names: the players' names if they differ from those of the language.
        pins: of the panel ``gpio``.
        voice: the folder of the voice's clips; None: nothing is spoken.
    """

    panel: str
    lang: Language = ENGLISH
    names: Mapping[Player, str] = field(default_factory=lambda: MappingProxyType({}))
    pins: Pins = field(default_factory=Pins)
    voice: Path | None = None


class Station:
    """Forwards events to several announcers, and pauses as a state observer; closes them and the buttons."""

    def __init__(self, announcers: tuple[Announcer, ...]) -> None:
        self._announcers = announcers
        self._buttons: Closable | None = None
        self._is_paused = False

    def join(self, announcer: Announcer) -> None:
        """Forward everything to this announcer too, from now on."""
        self._announcers = (*self._announcers, announcer)

    def listen(self, buttons: Closable | None) -> None:
        """Set the buttons, which are closed before everything else."""
        self._buttons = buttons

    def tell(self, event: Event) -> None:
        """Show an event."""
        for announcer in self._announcers:
            announcer.tell(event)

    def warn(self, warning: str | None) -> None:
        """Show the store's standing warning, or that there is none (any more)."""
        for announcer in self._announcers:
            announcer.warn(warning)

    def note(self, text: str) -> None:
        """Show a sentence that is no event."""
        for announcer in self._announcers:
            announcer.note(text)

    def pause(self, *, is_paused: bool) -> None:
        """Show that the match is paused, or that it goes on."""
        for announcer in self._announcers:
            announcer.pause(is_paused=is_paused)

    def see(self, frame: Frame) -> None:
        """Do nothing: people at the table see it themselves."""

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:  # noqa: ARG002 - an observer's
        """Show a pause, which is no event, whoever wanted it."""
        is_paused = snapshot.mode == Mode.PAUSED.value
        if is_paused is not self._is_paused:
            self._is_paused = is_paused
            self.pause(is_paused=is_paused)

    def close(self) -> None:
        """Close everything; a second call does nothing."""
        if self._buttons is not None:
            self._buttons.close()
        for announcer in self._announcers:
            announcer.close()


def open_station(station_config: StationConfig, players: tuple[Player, ...], stream: TextIO) -> Station:
    """The station with the panel and the voice.

    Raises:
        BadText: there is no such panel.
        PanelError: it cannot be reached.
    """
    announcer = open_panel(
        station_config.panel,
        players,
        stream,
        lang=station_config.lang,
        names=station_config.names,
        pins=station_config.pins,
    )
    if station_config.voice is None:
        return Station((announcer,))
    voice = VoicePanel(Library(station_config.voice, station_config.lang.voice), station_config.lang)
    return Station((announcer, PanelController(voice, time.monotonic, station_config.lang, station_config.names)))


def open_buttons(station_config: StationConfig, press: Callable[[Press], None]) -> Closable | None:
    """The buttons of the panel ``gpio``, or the keys of the terminal in whose foreground the program runs, if any.

    Raises:
        PanelError: the pins cannot be used.
    """
    if station_config.panel == "gpio":
        from companion.panel.gpio import GpioButtons, pin_factory  # noqa: PLC0415

        return GpioButtons(station_config.pins, pin_factory(os.environ), press)
    if station_config.panel == "terminal" and is_ours(sys.stdin):
        return TerminalKeys(sys.stdin, press)
    return None
