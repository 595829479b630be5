"""The options for what people at the table see, hear and press."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from companion.app.presses import Presses
from companion.app.station import Station, StationConfig, open_buttons, open_station
from companion.app.table import Table
from companion.commands.options.parser import OptionGroup
from companion.errors import CompanionError
from companion.panel.choice import KINDS
from companion.panel.pins import Pins
from companion.phrases import LANGUAGES, language
from companion.rules.board import Player
from companion.rules.game import Game
from companion.voice.library import clips_folder


@dataclass(frozen=True, slots=True)
class StationOptions(OptionGroup):
    """What is wanted at the table, None where not given; names and pins can be given in ``table.toml`` only."""

    panel: str | None
    language: str | None
    voice: bool | None
    names: Mapping[Player, str]
    pins: Pins


def add_station(parser: argparse.ArgumentParser) -> None:
    """Add `--panel`, `--language` and `--voice`."""
    parser.add_argument("--panel", choices=KINDS, help="lights and sound (default: terminal, with --json none)")
    parser.add_argument("--language", choices=LANGUAGES, help="of what is said to the players (default: en)")
    parser.add_argument(
        "--voice", action=argparse.BooleanOptionalAction, default=None, help="speak, where there is sound (default: no)"
    )
    parser.set_defaults(names=MappingProxyType({}), pins=Pins())


def make_station_config(
    options: StationOptions, game: Game | None, store: Path | None, *, is_json: bool
) -> StationConfig:
    """What is wanted of the station, from the options.

    ``store`` is the match store, beside which the voice's clips are kept; with ``is_json`` standard output is read by a
    program.  Raises CompanionError for a name of somebody who does not play ``game``.
    """
    strangers = options.names.keys() - set(game.players) if game else ()
    if game and strangers:
        players = ", ".join(game.players)
        raise CompanionError(f"names: there is no player {min(strangers)!r} in {game.tag}; the players are {players}")
    return StationConfig(
        panel=options.panel or ("none" if is_json else "terminal"),
        lang=language(options.language or "en", game),
        names=options.names,
        pins=options.pins,
        voice=clips_folder(store, os.environ) if options.voice else None,
    )


def open_for(
    options: StationOptions, game: Game, store: Path | None, *, is_json: bool
) -> tuple[Station, StationConfig]:
    """Open the station; return it with its configuration (:func:`make_station_config`).  Raises CompanionError."""
    station_config = make_station_config(options, game, store, is_json=is_json)
    return open_station(station_config, game.players, sys.stderr if is_json else sys.stdout), station_config


def listen(station: Station, station_config: StationConfig, table: Table) -> Presses:
    """Connect the station and its buttons to the table; return the handler of presses.  Raises PanelError."""
    table.state_observers.append(station)
    presses = Presses(table.inbox, station.note, station_config.lang)
    station.listen(open_buttons(station_config, presses))
    return presses
