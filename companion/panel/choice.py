"""Opens the panel that the value of ``--panel`` names."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

from companion.errors import BadText
from companion.panel.controller import Announcer, PanelController
from companion.panel.panel import NoPanel, Panel
from companion.panel.pins import Pins
from companion.panel.terminal import TerminalPanel
from companion.panel.threaded import ThreadedPanel
from companion.phrases import ENGLISH, Language
from companion.rules.board import Player

KINDS = ("gpio", "terminal", "none")
"""Values of ``--panel``."""


def open_panel(
    kind: str,
    players: tuple[Player, ...],
    stream: TextIO,
    *,
    lang: Language = ENGLISH,
    names: Mapping[Player, str] = MappingProxyType({}),
    pins: Pins | None = None,
) -> Announcer:
    """The controller of the panel of this ``kind``.

    Args:
        kind: one of :data:`KINDS`.
        players: in turn order.
        stream: where the terminal panel writes; in colour on a terminal unless ``$NO_COLOR`` is set.
        lang: the language of the sentences.
        names: the players' names if they differ from those of the language.
        pins: for ``gpio``; None for the defaults.

    Raises:
        BadText: there is no such kind.
        PanelError: the panel cannot be reached.
    """
    if kind == "none":
        return PanelController(NoPanel(), time.monotonic)
    if kind == "terminal":
        has_colour = stream.isatty() and not os.environ.get("NO_COLOR")
        if has_colour and (found := _board_panel(stream)) is not None:
            return PanelController(found, time.monotonic, lang, names)
        return PanelController(TerminalPanel(stream, has_colour=has_colour), time.monotonic, lang, names)
    if kind == "gpio":
        # Only here: gpiozero takes a tenth of a second to import.
        from companion.panel.gpio import GpioPanel, pin_factory  # noqa: PLC0415

        panel = GpioPanel(players, pins or Pins(), pin_factory(os.environ))
        return ThreadedPanel(PanelController(panel, time.monotonic, lang, names))
    raise BadText(f"there is no panel {kind!r}; write one of {' '.join(KINDS)}")


def _board_panel(stream: TextIO) -> Panel | None:
    """The panel with a board that stays in place; None if the terminal is too small for it."""
    # Only here: rich is needed for terminals alone.
    from companion.panel.board import BoardPanel, suits  # noqa: PLC0415

    return BoardPanel(stream) if suits(stream) else None
