"""`companion start`: prints the start position of a game."""

from __future__ import annotations

from dataclasses import dataclass

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import add_rules_command
from companion.commands.output.answers import print_answer
from companion.commands.output.codes import DONE
from companion.games import load_game
from companion.rules import notation


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion start`."""

    game: str
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `start`."""
    start = add_rules_command(subparsers, "start", Options, run, "the start position of a game")
    start.add_argument("game", metavar="GAME[:variant][/n]")


def run(options: Options) -> int:
    """Print the start position."""
    game = load_game(options.game)
    text = notation.format_position(game, game.start())
    print_answer({"position": text}, [text], is_json=options.json)
    return DONE
