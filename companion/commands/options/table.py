"""All options of one table, as `companion referee` takes them on the command line and from ``table.toml``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from companion.commands.options.game import add_kings, add_kit, add_start
from companion.commands.options.match import OutputOptions, PlayOptions, add_output, add_play
from companion.commands.options.parser import OptionGroup
from companion.commands.options.serial import add_serial
from companion.commands.options.source import SourceOptions, add_sources


@dataclass(frozen=True, slots=True)
class TableOptions(OptionGroup):
    """All options of one table.

    Attributes:
        game: the game's tag.
        kit: name or file of the kit; None: the game's own.
        kings: how kings lie on the board, stacked or unmarked.
        start: the position that the match begins with; None: the game's start.
        source: where the pictures come from.
        serial: the pillar controller.
        play: how the match is played.
        output: where its events go.
    """

    game: str
    kit: str | None
    kings: str
    start: str | None
    source: SourceOptions
    serial: str | None
    play: PlayOptions
    output: OutputOptions


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add all options of a table."""
    parser.add_argument("game", metavar="GAME[:variant][/n]", help="the game, or the file table.toml that names it")
    add_kit(parser)
    add_kings(parser)
    add_start(parser)
    add_sources(parser)
    add_serial(parser)
    add_play(parser)
    add_output(parser)
