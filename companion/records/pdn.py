"""Writes a match of draughts in PDN, the exchange format of draughts players; ``pdn_reading`` reads it.

Only what PDN can express is written: people, date, start, moves, clock times and result.  Squares are numbered as the
federation of each variant does, or have letters.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from companion.errors import CompanionError
from companion.events import Accepted, ClockChanged, GameOver
from companion.games import load_game, read_position
from companion.games.draughts import Draughts, captures_of
from companion.match import Match
from companion.records.record import MatchRecord
from companion.referee.clock import parse_time_control
from companion.rules.board import Layout, Stack
from companion.rules.game import Game, Move, Position
from companion.rules.notation import parse_board

WIDTH = 79
OPEN = "*"
BOTTOM_RIGHT, TOP_LEFT, LETTERS = "N1", "N2", "A0"
"""Place of the first square, as in PDN's GameType, seen with rank 1 below; or squares have letters."""

POINTS = ("2-0", "1-1", "0-2")
HALVES = ("1-0", "1/2-1/2", "0-1")
"""Results: White has won, a draw, Black has won."""


@dataclass(frozen=True, slots=True)
class GameType:
    """A variant in PDN: its number, the naming of its squares, and the notation of its results."""

    number: int
    squares: str
    results: tuple[str, str, str]


TYPES: Mapping[str, GameType] = MappingProxyType(
    {
        "draughts": GameType(21, BOTTOM_RIGHT, HALVES),
        "draughts:international": GameType(20, TOP_LEFT, POINTS),
        "draughts:russian": GameType(25, LETTERS, POINTS),
        "draughts:brazilian": GameType(26, LETTERS, POINTS),
    }
)


@cache
def square_names(layout: Layout, style: str) -> Mapping[str, str]:
    """PDN's name of every dark square, by our name, in PDN's order."""
    dark = [(x, y) for x, y in layout.places if (x + y) % 2 == 0]
    if style == BOTTOM_RIGHT:
        dark.sort(key=lambda place: (place[1], -place[0]))
    else:
        dark.sort(key=lambda place: (-place[1], place[0]))
    names = [layout.cells[layout.at[place]] for place in dark]
    return {name: name if style == LETTERS else str(n) for n, name in enumerate(names, start=1)}


def format_pdn(record: MatchRecord) -> str:
    """The match as one game of PDN; moves that were taken back are left out.

    Raises:
        CompanionError: it is a match of another game.
        InvalidRecord: the rules contradict the record.
    """
    if record.info.game not in TYPES:
        raise CompanionError(f"PDN is for draughts, not for {record.info.game}; give a file .txt or .json")
    *_, (_, match) = record.stages()
    ruled = len(match.plies) - match.undoable
    start = match.plies[ruled - 1].position if ruled else match.start
    result = _result(record.result, TYPES[record.info.game])
    head = [f'[{name} "{_escaped(value)}"]' for name, value in _headers(record, start, result)]
    words = [*_movetext(match, ruled, _clocks(record, match)), result]
    text = textwrap.wrap(" ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*head, "", *text, ""])


def _headers(record: MatchRecord, start: Position, result: str) -> Iterator[tuple[str, str]]:
    game = load_game(record.info.game)
    kind, size = TYPES[record.info.game], game.layout.files
    yield "Event", "?"
    yield "Date", f"{record.info.started_at:%Y.%m.%d}"
    yield "White", record.names.get("W", "?")
    yield "Black", record.names.get("B", "?")
    yield "Result", result
    yield "GameType", f"{kind.number},{game.players[0]},{size},{size},{kind.squares},0"
    clock = next((event for event in record.events if isinstance(event, ClockChanged)), None)
    if clock is not None and clock.control:
        control = parse_time_control(clock.control)
        yield "TimeControl", f"{control.base_s}+{control.increment_s}"
    if start != game.start():
        yield "SetUp", "1"
        yield "FEN", format_fen(game, start)


def _escaped(text: str) -> str:
    return text.replace('"', "'").replace("\n", " ")


def _result(over: GameOver | None, kind: GameType) -> str:
    if over is None:
        return OPEN
    return kind.results[{"W": 0, None: 1, "B": 2}[over.winner]]


def format_fen(game: Game, position: Position) -> str:
    """The position in PDN's notation: ``W:WK3,21:B1,2``; when the game is over, the loser is to move."""
    names = square_names(game.layout, TYPES[game.tag].squares)
    stacks = {names[game.layout.cells[cell]]: stack for cell, stack in enumerate(position.board) if stack}
    sides = (f"{side}{','.join(_placed(stacks, names, side))}" for side in ("W", "B"))
    outcome = game.outcome(position)
    mover = position.to_move if outcome is None else "WB"[outcome.winner == "W"]
    return ":".join((mover, *sides))


def _placed(stacks: Mapping[str, Stack], names: Mapping[str, str], side: str) -> Iterator[str]:
    for square in names.values():
        stack = stacks.get(square, "")
        if stack[-1:] == side:
            yield ("K" if len(stack) > 1 else "") + square


def _movetext(match: Match, first: int, clocks: Mapping[int, str]) -> Iterator[str]:
    """Moves with their numbers: one number for each pair of moves, of which the first player's is first."""
    game = match.game
    position = match.plies[first - 1].position if first else match.start
    is_first = position.to_move == game.players[0]
    number = 1
    for i, ply in enumerate(match.plies[first:], start=first):
        assert ply.move is not None, "what follows the last ruling are moves"
        if is_first or i == first:
            yield f"{number}{'.' if is_first else '...'}"
        yield format_move(game, position, ply.move)
        if i in clocks:
            yield clocks[i]
        number += not is_first
        position, is_first = ply.position, not is_first


def format_move(game: Game, position: Position, move: Move) -> str:
    """The move with every square on which the piece lands: ``11-15``, ``1x10x17``, ``c3xe5``."""
    names = square_names(game.layout, TYPES[game.tag].squares)
    cells = landings(game, position, move)
    return ("x" if move.taken else "-").join(names[game.layout.cells[cell]] for cell in cells)


def landings(game: Game, position: Position, move: Move) -> tuple[int, ...]:
    """The cells from the piece's source to its target, with all between two jumps; of several ways the first."""
    assert isinstance(game, Draughts)
    assert move.source is not None
    assert move.target is not None
    captures = captures_of(game, position.board, position.to_move)
    way = next((way.landings for capture, way in captures if capture == move), (move.target,))
    return (move.source, *way)


def _clocks(record: MatchRecord, match: Match) -> Mapping[int, str]:
    """The clock times after a ply as text, by the ply's index in the match."""
    found: dict[int, str] = {}
    for event, after in record.stages():
        if isinstance(event, ClockChanged) and len(after.plies) <= len(match.plies) and after.plies:
            times = zip(event.players, event.left, strict=True)
            found[len(after.plies) - 1] = (
                "{[%clock " + " ".join(f"{p.lower()}{_time(left)}" for p, left in times) + "]}"
            )
        elif isinstance(event, Accepted):
            found.pop(len(after.plies) - 1, None)
    return found


def _time(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def parse_fen(tag: str, text: str) -> Position:
    """The position of a FEN; the game is over if the side to move cannot.  Raises CompanionError if it is invalid."""
    game = load_game(tag)
    mover, *sides = text.strip().rstrip(".").split(":")
    stacks: dict[str, Stack] = {}
    for side in sides:
        for square in filter(None, side[1:].split(",")):
            for name in _squares(game.layout, TYPES[tag].squares, square.removeprefix("K")):
                stacks[name] = side[:1] * (1 + square.startswith("K"))
    board = "/".join(
        ",".join(stacks.get(game.layout.cells[game.layout.at[x, y]], "1") for x in range(game.layout.files))
        for y in reversed(range(game.layout.ranks))
    )
    board = _with_runs(board)
    assert isinstance(game, Draughts)
    is_over = mover in game.players and not game.diagonals.can_move(parse_board(game, board), mover)
    return read_position(f"{tag} {board} {f'- won={game.diagonals.other(mover)}' if is_over else mover}")[1]


def _squares(layout: Layout, style: str, text: str) -> list[str]:
    """The squares named in a part of a FEN: one, or all from one number to another."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last or first).isdigit()):
        return [square_name(layout, style, first)]
    return [square_name(layout, style, str(n)) for n in range(int(first), min(int(last or first), 50) + 1)]


def square_name(layout: Layout, style: str, text: str) -> str:
    """Our name of the square named ``text`` in PDN, by number or letters.  Raises CompanionError."""
    numbered = square_names(layout, TOP_LEFT if style == LETTERS else style)
    for ours, name in numbered.items():
        if text in (ours, name) or text.lstrip("0") == name:
            return ours
    raise CompanionError(f"{ascii(text)[:20]} is no dark square of this board")


def _with_runs(board: str) -> str:
    """A board's text in which each run of empty squares is one number."""
    ranks = []
    for rank in board.split("/"):
        words: list[str] = []
        for word in rank.split(","):
            if word == "1" and words and words[-1].isdigit():
                words[-1] = str(int(words[-1]) + 1)
            else:
                words.append(word)
        ranks.append(",".join(words))
    return "/".join(ranks)
