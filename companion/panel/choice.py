"""From the value of ``--panel`` to a working desk."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

from companion.errors import BadText
from companion.panel.desk import Desk, Teller
from companion.panel.live import LiveDesk
from companion.panel.panel import NoPanel, Panel
from companion.panel.pins import Pins
from companion.panel.terminal import TerminalPanel
from companion.phrases import ENGLISH, Language
from companion.rules.board import Player

KINDS = ("gpio", "terminal", "none")
"""Values of ``--panel``."""


def open_desk(
    kind: str,
    players: tuple[Player, ...],
    stream: TextIO,
    *,
    tongue: Language = ENGLISH,
    names: Mapping[Player, str] = MappingProxyType({}),
    pins: Pins | None = None,
) -> Teller:
    """The desk with the panel of this ``kind``.

    Args:
        kind: one of :data:`KINDS`.
        players: in turn order.
        stream: where the terminal panel writes; in colour on a terminal unless ``$NO_COLOR`` is set.
        tongue: the language of the sentences.
        names: the players' names if they differ from those of the language.
        pins: for ``gpio``; None for the defaults.

    Raises:
        BadText: there is no such kind.
        PanelError: the panel cannot be reached.
    """
    if kind == "none":
        return Desk(NoPanel(), time.monotonic)
    if kind == "terminal":
        has_colour = stream.isatty() and not os.environ.get("NO_COLOR")
        if has_colour and (found := _board_panel(stream)) is not None:
            return Desk(found, time.monotonic, tongue, names)
        return Desk(TerminalPanel(stream, has_colour=has_colour), time.monotonic, tongue, names)
    if kind == "gpio":
        # Only here: gpiozero takes a tenth of a second to import.
        from companion.panel.gpio import GpioPanel, pin_factory  # noqa: PLC0415

        panel = GpioPanel(players, pins or Pins(), pin_factory(os.environ))
        return LiveDesk(Desk(panel, time.monotonic, tongue, names))
    raise BadText(f"there is no panel {kind!r}; write one of {' '.join(KINDS)}")


def _board_panel(stream: TextIO) -> Panel | None:
    """The panel with a board that stays in place; None if the terminal is too small for it."""
    # Only here: rich is needed for terminals alone.
    from companion.panel.board import BoardPanel, suits  # noqa: PLC0415

    return BoardPanel(stream) if suits(stream) else None
