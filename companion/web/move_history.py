"""The moves of a match that stand, computed from the referee's events alone, without side effects."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from companion.errors import CompanionError
from companion.events import Accepted, Corrected, Event, Start, TakenBack
from companion.games import read_position
from companion.rules.board import Player
from companion.rules.notation import format_position, parse_move

CELL = re.compile(r"[a-z][1-9][0-9]?")
"""Matches a square's name in the text of a move."""


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move that stands, or a position set by hand (then ``move`` is empty).

    Attributes:
        n: number of its event.
        t: its time, in seconds since the start.
        player: who moved; empty if the position was set.
        move: its text.
        by: who ruled it; empty for what the referee accepted itself.
        position: text of the position after it.
    """

    n: int
    t: float
    player: Player
    move: str
    by: str
    position: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The squares that the move names."""
        return tuple(CELL.findall(self.move))


@dataclass(frozen=True, slots=True)
class MoveHistory:
    """The position in which the match began (event ``start_n``), and every turn that stands."""

    start: str
    start_n: int = 1
    turns: tuple[PlayedMove, ...] = ()

    @property
    def position(self) -> str:
        """The position that the table should show."""
        return self.turns[-1].position if self.turns else self.start

    def at(self, n: int) -> PlayedMove | None:
        """The turn of event ``n``; the start is an empty turn; None if no such turn stands."""
        if n == self.start_n:
            return PlayedMove(n, 0.0, "", "", "", self.start)
        return next((turn for turn in self.turns if turn.n == n), None)


def apply_event(history: MoveHistory, event: Event) -> MoveHistory:
    """``history`` after one more event.  Raises CompanionError for a ruling that is no move of the game."""
    match event:
        case Start():
            return MoveHistory(event.position, event.n)
        case Accepted():
            return _with(history, PlayedMove(event.n, event.t, event.player, event.move, "", event.position))
        case TakenBack():
            return replace(history, turns=history.turns[: max(0, len(history.turns) - len(event.moves))])
        case Corrected(move=str(text)):
            return _with(history, _ruled(history, event, text))
        case Corrected(position=str(text)):
            return _set(history, event, text)
        case _:
            return history


def _with(history: MoveHistory, turn: PlayedMove) -> MoveHistory:
    return replace(history, turns=(*history.turns, turn))


def _ruled(history: MoveHistory, event: Corrected, text: str) -> PlayedMove:
    game, position = read_position(history.position)
    move = parse_move(game, position, text)
    if game.violations(position, move):
        raise CompanionError(f"event {event.n}: {text} is no move here")
    after = format_position(game, game.play(position, move))
    return PlayedMove(event.n, event.t, position.to_move, text, event.by, after)


def _set(history: MoveHistory, event: Corrected, position: str) -> MoveHistory:
    """Set a position; an earlier one counts as taking back moves, as few as possible."""
    if position == history.position:
        return history
    earlier = [history.start, *(turn.position for turn in history.turns)]
    if position in earlier:
        last = len(earlier) - 1 - earlier[::-1].index(position)
        return replace(history, turns=history.turns[:last])
    return _with(history, PlayedMove(event.n, event.t, "", "", event.by, position))
