"""`companion play`: prints the position after some moves."""

from __future__ import annotations

from dataclasses import dataclass

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import add_rules_command
from companion.commands.output.answers import Json, print_answer, violation_row
from companion.commands.output.codes import DONE, NO
from companion.games import read_position
from companion.rules import notation


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion play`."""

    position: str
    moves: tuple[str, ...]
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `play`."""
    play = add_rules_command(subparsers, "play", Options, run, "the position after some moves")
    play.add_argument("position", metavar="POSITION")
    play.add_argument("moves", metavar="MOVE", nargs="*")


def run(options: Options) -> int:
    """Print the position after the moves, or why the first illegal one is illegal."""
    game, position = read_position(options.position)
    for text in options.moves:
        move = notation.parse_move(game, position, text)
        if broken := game.violations(position, move):
            answer: Json = {"legal": False, "move": text, "violations": [violation_row(each) for each in broken]}
            print_answer(answer, [f"{text}: {each.rule}: {each.text}" for each in broken], is_json=options.json)
            return NO
        position = game.play(position, move)
    after = notation.format_position(game, position)
    print_answer({"position": after}, [after], is_json=options.json)
    return DONE
