"""`companion perft`: counts the sequences of legal moves."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import add_rules_command
from companion.commands.output.answers import Json, print_answer
from companion.commands.output.codes import DONE
from companion.games import read_position
from companion.rules import notation
from companion.rules.game import Game, Position
from companion.rules.perft import divide, perft

DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion perft`."""

    position: str
    depth: int
    divide: bool
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `perft`."""
    count = add_rules_command(subparsers, "perft", Options, run, "how many sequences of legal moves there are")
    count.add_argument("position", metavar="POSITION")
    count.add_argument("depth", metavar="DEPTH", type=_depth)
    count.add_argument("--divide", action="store_true", help="count for each first move too")


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= DEEPEST):
        raise argparse.ArgumentTypeError(f"{notation.quoted(text)} is not a depth from 0 to {DEEPEST}")
    return int(text)


def run(options: Options) -> int:
    """Print the count, with --divide preceded by that for each first move."""
    game, position = read_position(options.position)
    answer: Json = {"position": options.position, "depth": options.depth}
    lines: list[str] = []
    if options.divide and options.depth:
        counts = _divided(game, position, options.depth)
        lines = [f"{move}: {n}" for move, n in counts.items()]
        answer["divide"], answer["count"] = counts, sum(counts.values())
    else:
        answer["count"] = perft(game, position, options.depth)
    print_answer(answer, [*lines, str(answer["count"])], is_json=options.json)
    return DONE


def _divided(game: Game, position: Position, depth: int) -> dict[str, int]:
    counts = divide(game, position, depth)
    return dict(sorted((notation.format_move(game, position, move), n) for move, n in counts.items()))
