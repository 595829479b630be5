"""`companion legal`: lists the legal moves of a position."""

from __future__ import annotations

from dataclasses import dataclass

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import MANY, add_rules_command
from companion.commands.output.answers import Json, answer_lines, print_answer
from companion.commands.output.codes import DONE
from companion.games import read_position
from companion.rules import notation


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion legal`."""

    position: str
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `legal`."""
    legal = add_rules_command(subparsers, "legal", Options, run, "the legal moves, one a line, sorted as text")
    legal.add_argument("position", metavar="POSITION", help="or - for one a line on standard input")


def run(options: Options) -> int:
    """Print the legal moves of one or many positions."""
    if options.position == MANY:
        return answer_lines(lambda text: _answer(text)[0])
    answer, moves = _answer(options.position)
    print_answer(answer, moves, is_json=options.json)
    return DONE


def _answer(text: str) -> tuple[Json, list[str]]:
    """The answer as a JSON object, and the moves."""
    game, position = read_position(text)
    moves = sorted(notation.format_move(game, position, move) for move in game.legal_moves(position))
    outcome = game.outcome(position)
    end = None if outcome is None else {"winner": outcome.winner, "rule": outcome.rule}
    return {"position": text, "legal": moves, "outcome": end}, moves
