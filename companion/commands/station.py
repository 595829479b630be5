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
from companion.voice.library import clips_folder


def add_station(parser: argparse.ArgumentParser) -> None:
    """Add `--panel`, `--language` and `--voice`."""
    parser.add_argument("--panel", choices=KINDS, help="lights and sound (default: terminal, with --json none)")
    parser.add_argument("--language", choices=LANGUAGES, help="of what is said to the players (default: en)")
    parser.add_argument(
        "--voice", action=argparse.BooleanOptionalAction, default=None, help="speak, where there is sound (default: no)"
    )


def wishes_of(arguments: argparse.Namespace, game: Game | None) -> Wishes:
    """What is wanted of the station.  Raises CompanionError for a name of somebody who does not play ``game``."""
    given = vars(arguments)
    names = given.get("names") or {}
    strangers = names.keys() - set(game.players) if game else ()
    if game and strangers:
        players = ", ".join(game.players)
        raise CompanionError(f"names: there is no player {min(strangers)!r} in {game.tag}; the players are {players}")
    return Wishes(
        panel=arguments.panel or ("none" if arguments.json else "terminal"),
        tongue=language(arguments.language or "en", game),
        names=MappingProxyType(names),
        pins=given.get("pins") or Pins(),
        voice=clips_folder(arguments.match, os.environ) if arguments.voice else None,
    )


def open_for(arguments: argparse.Namespace, game: Game) -> tuple[Station, Wishes]:
    """The station that is wanted, and what is wanted of it.  Raises CompanionError."""
    wishes = wishes_of(arguments, game)
    return open_station(wishes, game.players, sys.stderr if arguments.json else sys.stdout), wishes


def listen(station: Station, wishes: Wishes, table: Table) -> None:
    """Let the station follow the table, and its buttons give orders to it.  Raises PanelError."""
    table.followers.append(station)
    station.listen(open_buttons(wishes, Presses(table.inbox, station.note, wishes.tongue)))
