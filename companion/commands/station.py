"""The options that say what people at the table see, hear and press."""

from __future__ import annotations

import argparse
import os
import sys
from types import MappingProxyType

from companion.app.presses import Presses
from companion.app.station import Station, Wishes, open_buttons, open_station
from companion.app.table import Table
from companion.errors import CompanionError
from companion.panel.choice import KINDS
from companion.panel.pins import Pins
from companion.phrases import LANGUAGES, language
from companion.rules.game import Game
from companion.voice.library import default_folder


def add_station(parser: argparse.ArgumentParser) -> None:
    """Add `--panel`, `--language` and `--voice`."""
    parser.add_argument("--panel", choices=KINDS, help="lights and sound (default: terminal, with --json none)")
    parser.add_argument("--language", choices=LANGUAGES, help="of what is said to the players (default: en)")
    parser.add_argument(
        "--voice", action=argparse.BooleanOptionalAction, default=None, help="speak, where there is sound (default: no)"
    )


def open_for(arguments: argparse.Namespace, game: Game) -> tuple[Station, Wishes]:
    """The station that is wanted, and what is wanted of it.  Raises CompanionError."""
    given = vars(arguments)
    for letter in (given.get("names") or {}).keys() - set(game.players):
        players = ", ".join(game.players)
        raise CompanionError(f"names: there is no player {letter!r} in {game.tag}; the players are {players}")
    wishes = Wishes(
        panel=arguments.panel or ("none" if arguments.json else "terminal"),
        tongue=language(arguments.language or "en"),
        names=MappingProxyType(given.get("names") or {}),
        pins=given.get("pins") or Pins(),
        voice=default_folder(os.environ) if arguments.voice else None,
    )
    return open_station(wishes, game.players, sys.stderr if arguments.json else sys.stdout), wishes


def listen(station: Station, wishes: Wishes, table: Table) -> None:
    """Let the buttons give orders to the table.  Raises PanelError."""
    station.listen(open_buttons(wishes, Presses(table.inbox, station.note, wishes.tongue)))
