"""Rules at the command line: ``games start show legal check play perft``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from calibration.kit import available_kits
from companion.errors import BadText, CompanionError
from companion.games import GameInfo, available_games, load_game, read_position
from companion.rules import drawing, notation
from companion.rules.game import Game, Position, Violation
from companion.rules.pages import picture_name, rules_page
from companion.rules.perft import divide, perft

DONE, NO, CANNOT = 0, 1, 2
MANY = "-"
DEEPEST = 20
Json = dict[str, Any]


def add_parsers(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add the commands of this module."""
    games = _add(subparsers, "games", run_games, "the games, their variants and numbers of players, their kit")
    games.add_argument("--pages", type=Path, metavar="DIR", help="write each game's rules with pictures to DIR")
    start = _add(subparsers, "start", run_start, "the start position of a game")
    start.add_argument("game", metavar="GAME[:variant][/n]")
    show = _add(subparsers, "show", run_show, "the board of a position, drawn with characters or as a picture")
    show.add_argument("position", metavar="POSITION")
    show.add_argument("--svg", type=Path, metavar="FILE", help="write a picture of the board to FILE")
    legal = _add(subparsers, "legal", run_legal, "the legal moves, one a line, sorted as text")
    legal.add_argument("position", metavar="POSITION", help="or - for one a line on standard input")
    check = _add(subparsers, "check", run_check, "whether a move is legal, or the rules that it breaks")
    check.add_argument("position", metavar="POSITION", help="or - for lines of position, tab, move on standard input")
    check.add_argument("move", metavar="MOVE", nargs="?")
    play = _add(subparsers, "play", run_play, "the position after some moves")
    play.add_argument("position", metavar="POSITION")
    play.add_argument("moves", metavar="MOVE", nargs="*")
    count = _add(subparsers, "perft", run_perft, "how many sequences of legal moves there are")
    count.add_argument("position", metavar="POSITION")
    count.add_argument("depth", metavar="DEPTH", type=_depth)
    count.add_argument("--divide", action="store_true", help="count for each first move too")


def _add(
    subparsers: argparse._SubParsersAction[Any], name: str, run: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = subparsers.add_parser(name, help=summary, description=f"Print {summary}.")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.set_defaults(run=run)
    return parser


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= DEEPEST):
        raise argparse.ArgumentTypeError(f"{notation.quoted(text)} is not a depth from 0 to {DEEPEST}")
    return int(text)


def run_games(arguments: argparse.Namespace) -> int:
    """Print every game."""
    for info in available_games():
        variants = [f"{info.name}:{variant}" for variant in info.variants if variant]
        kit = info.name if info.name in available_kits() else None
        row = {"game": info.name, "title": info.title, "variants": variants, "players": info.players, "kit": kit}
        parts = [info.title, f"{_either(info.players)} players", f"kit {kit}" if kit else "no kit"]
        parts += [f"variants: {', '.join(variants)}"] if variants else []
        _print(arguments, row, [f"{info.name:<12} {'; '.join(parts)}"])
        if arguments.pages is not None:
            _write_page(info, arguments.pages)
    return DONE


def _either(numbers: tuple[int, ...]) -> str:
    """``2``, ``2 or 4``, ``2, 3 or 4``."""
    return " or ".join(filter(None, (", ".join(map(str, numbers[:-1])), str(numbers[-1]))))


def _write_page(info: GameInfo, folder: Path) -> None:
    games = [load_game(tag) for tag in info.tags]
    (folder / f"{info.name}.md").write_text(rules_page(info.title, info.about, games), encoding="utf-8")
    for game in games:
        (folder / picture_name(game)).write_text(drawing.draw_svg(game, game.start()), encoding="utf-8")


def run_start(arguments: argparse.Namespace) -> int:
    """Print the start position."""
    game = load_game(arguments.game)
    text = notation.format_position(game, game.start())
    _print(arguments, {"position": text}, [text])
    return DONE


def run_show(arguments: argparse.Namespace) -> int:
    """Print the board with characters; with --svg write a picture too."""
    game, position = read_position(arguments.position)
    picture = drawing.draw_text(game, position)
    if arguments.svg is not None:
        arguments.svg.write_text(drawing.draw_svg(game, position), encoding="utf-8")
    _print(arguments, {"position": arguments.position, "board": picture}, picture.splitlines())
    return DONE


def run_legal(arguments: argparse.Namespace) -> int:
    """Print the legal moves of one position or of many."""
    if arguments.position == MANY:
        return _answer_lines(_legal)
    answer = _legal(arguments.position)
    _print(arguments, answer, answer["legal"])
    return DONE


def _legal(text: str) -> Json:
    game, position = read_position(text)
    moves = sorted(notation.format_move(game, position, move) for move in game.legal_moves(position))
    outcome = game.outcome(position)
    end = None if outcome is None else {"winner": outcome.winner, "rule": outcome.rule}
    return {"position": text, "legal": moves, "outcome": end}


def run_check(arguments: argparse.Namespace) -> int:
    """Print whether a move is legal, or what it breaks; of one move or of many."""
    if arguments.position == MANY:
        return _answer_lines(_check_line)
    if arguments.move is None:
        raise BadText("which move? write companion check POSITION MOVE, or - to read lines of position, tab, move")
    answer = _check(arguments.position, arguments.move)
    lines = [f"{v['rule']}: {v['text']}" for v in answer["violations"]] or ["legal"]
    _print(arguments, answer, lines)
    return DONE if answer["legal"] else NO


def _check_line(line: str) -> Json:
    position, tab, move = line.partition("\t")
    if not tab:
        raise BadText("a line to check is a position, a tab and a move")
    return {"position": position, "move": move} | _check(position, move)


def _check(position_text: str, move_text: str) -> Json:
    game, position = read_position(position_text)
    broken = game.violations(position, notation.parse_move(game, position, move_text))
    return {"legal": not broken, "violations": [_violation(violation) for violation in broken]}


def _violation(violation: Violation) -> Json:
    return {"rule": violation.rule, "text": violation.text, "cells": list(violation.cells)}


def run_play(arguments: argparse.Namespace) -> int:
    """Print the position after the moves; at the first illegal one say why instead."""
    game, position = read_position(arguments.position)
    for text in arguments.moves:
        move = notation.parse_move(game, position, text)
        if broken := game.violations(position, move):
            answer = {"legal": False, "move": text, "violations": [_violation(violation) for violation in broken]}
            _print(arguments, answer, [f"{text}: {v.rule}: {v.text}" for v in broken])
            return NO
        position = game.play(position, move)
    after = notation.format_position(game, position)
    _print(arguments, {"position": after}, [after])
    return DONE


def run_perft(arguments: argparse.Namespace) -> int:
    """Print the count, with --divide that of each first move before it."""
    game, position = read_position(arguments.position)
    answer: Json = {"position": arguments.position, "depth": arguments.depth}
    lines: list[str] = []
    if arguments.divide and arguments.depth:
        counts = _divided(game, position, arguments.depth)
        lines = [f"{move}: {n}" for move, n in counts.items()]
        answer["divide"], answer["count"] = counts, sum(counts.values())
    else:
        answer["count"] = perft(game, position, arguments.depth)
    _print(arguments, answer, [*lines, str(answer["count"])])
    return DONE


def _divided(game: Game, position: Position, depth: int) -> dict[str, int]:
    counts = divide(game, position, depth)
    return dict(sorted((notation.format_move(game, position, move), n) for move, n in counts.items()))


def _print(arguments: argparse.Namespace, answer: Json, lines: list[str]) -> None:
    print(json.dumps(answer) if arguments.json else "\n".join(lines))


def _answer_lines(answer: Callable[[str], Json]) -> int:
    """Answer each line of standard input with one JSON object; a line that cannot be read with its error."""
    code = DONE
    for line in _input_lines():
        try:
            answered = answer(line)
        except CompanionError as error:
            answered, code = {"position": line.partition("\t")[0][: notation.LONGEST_TEXT], "error": str(error)}, CANNOT
        print(json.dumps(answered))
    return code


def _input_lines() -> Iterator[str]:
    """The lines of standard input, whatever bytes they hold; empty ones are left out."""
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8", errors="replace").strip("\r\n")
        if line.strip():
            yield line
