"""`companion check`: whether a move is legal."""

from __future__ import annotations

from dataclasses import dataclass

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import MANY, add_rules_command
from companion.commands.output.answers import Json, answer_lines, print_answer, violation_row
from companion.commands.output.codes import DONE, NO
from companion.errors import BadText
from companion.games import read_position
from companion.rules import notation
from companion.rules.game import Violation


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion check`."""

    position: str
    move: str | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `check`."""
    check = add_rules_command(subparsers, "check", Options, run, "whether a move is legal, or the rules that it breaks")
    check.add_argument("position", metavar="POSITION", help="or - for lines of position, tab, move on standard input")
    check.add_argument("move", metavar="MOVE", nargs="?")


def run(options: Options) -> int:
    """Print whether one or many moves are legal, or the rules that they break."""
    if options.position == MANY:
        return answer_lines(_answer_line)
    if options.move is None:
        raise BadText("which move? write companion check POSITION MOVE, or - to read lines of position, tab, move")
    broken = _broken(options.position, options.move)
    lines = [f"{violation.rule}: {violation.text}" for violation in broken] or ["legal"]
    print_answer(_answer(broken), lines, is_json=options.json)
    return NO if broken else DONE


def _answer_line(line: str) -> Json:
    position, tab, move = line.partition("\t")
    if not tab:
        raise BadText("a line to check is a position, a tab and a move")
    return {"position": position, "move": move} | _answer(_broken(position, move))


def _broken(position_text: str, move_text: str) -> tuple[Violation, ...]:
    game, position = read_position(position_text)
    return game.violations(position, notation.parse_move(game, position, move_text))


def _answer(broken: tuple[Violation, ...]) -> Json:
    return {"legal": not broken, "violations": [violation_row(violation) for violation in broken]}
