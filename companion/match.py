"""A match: a game, its initial position, and everything played since.

Immutable.  The camera sees only tops and heights; what lies below them, whose turn it is, how often a position has
occurred, all that is known from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from companion.languages.english import counted
from companion.rules.board import NOBODY, Player
from companion.rules.game import Game, Move, Outcome, Position, Stage
from companion.rules.notation import format_move

DRAWING_REPETITIONS = 3
"""G-4, DIA-12: the third occurrence of a position ends the match; how is up to the game."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One ply of a match: the move, or None if an arbiter set the position by hand, and the position after it."""

    move: Move | None
    position: Position


@dataclass(frozen=True)
class Match:
    """``game`` from ``start`` on through ``plies``."""

    game: Game
    start: Position
    plies: tuple[Ply, ...] = ()

    @property
    def position(self) -> Position:
        """The position that the table should show."""
        return self.plies[-1].position if self.plies else self.start

    @property
    def before(self) -> Position:
        """The position before the last ply; the start when there is none."""
        return self.plies[-2].position if len(self.plies) > 1 else self.start

    def positions(self) -> Iterator[Position]:
        """Every position of the match, the start first."""
        yield self.start
        for ply in self.plies:
            yield ply.position

    def play(self, move: Move) -> Match:
        """The match after a legal move (unchecked, as :meth:`Game.play`)."""
        return replace(self, plies=(*self.plies, Ply(move, self.game.play(self.position, move))))

    def set_by_hand(self, position: Position) -> Match:
        """The match after an arbiter's ruling that ``position`` is on the table."""
        return replace(self, plies=(*self.plies, Ply(None, position)))

    @cached_property
    def undoable(self) -> int:
        """How many of the last plies are moves: nothing is taken back across an arbiter's ruling."""
        return next((i for i, ply in enumerate(reversed(self.plies)) if ply.move is None), len(self.plies))

    def take_back(self, n: int) -> Match:
        """The match without its last ``n`` moves.

        Raises:
            ValueError: fewer than ``n`` moves can be undone.
        """
        if not 0 < n <= self.undoable:
            raise ValueError(f"cannot take back {counted(n, 'move')}: {self.undoable} can be undone")
        return replace(self, plies=self.plies[:-n])

    @cached_property
    def repetitions(self) -> int:
        """How often the present position has occurred in this match, this occurrence included."""
        return sum(position == self.position for position in self.positions())

    @cached_property
    def idle(self) -> int:
        """How many of the last plies were moves without progress; an arbiter's ruling resets the count."""
        befores = [self.start, *(ply.position for ply in self.plies)]
        idle = 0
        for ply, before in zip(reversed(self.plies), reversed(befores[:-1]), strict=True):
            if ply.move is None or self.game.progresses(before, ply.move):
                break
            idle += 1
        return idle

    @cached_property
    def skipped(self) -> tuple[Player, ...]:
        """G-3: the players passed over between the last mover and the player to move, in turn order."""
        if not self.plies or self.plies[-1].move is None:
            return ()
        mover, following = self.before.to_move, self.position.to_move
        if NOBODY in (mover, following):
            return ()
        players = self.game.players
        here = players.index(mover) + 1
        passed: list[Player] = []
        for player in players[here:] + players[:here]:
            if player == following:
                break
            passed.append(player)
        return tuple(player for player in passed if self._is_stuck(player))

    @cached_property
    def outcome(self) -> Outcome | None:
        """The end of the match, by the game's own rules, by repetition or by idling; None while it goes on."""
        ended = self.game.outcome(self.position)
        if ended is None and self.repetitions >= DRAWING_REPETITIONS:
            return self.game.repeated(self.before.to_move)
        if ended is None and self.game.most_idle and self.idle >= self.game.most_idle:
            return Outcome(None, self.game.idle_rule)
        return ended

    @cached_property
    def due(self) -> Stage | None:
        """What must be done on squares of the board before the match can go on; None if nothing must."""
        due = None if self.outcome is not None else self.game.due(self.position)
        return due if due is not None and due.cells else None

    def _is_stuck(self, player: Player) -> bool:
        """Whether ``player`` would have no move: a player whose turn has merely not come is not skipped."""
        return not self.game.legal_moves(replace(self.position, to_move=player))


def format_moves(match: Match, moves: tuple[Move, ...]) -> str:
    """Consecutive moves from the match's position on, in notation."""
    texts = []
    for move in moves:
        texts.append(format_move(match.game, match.position, move))
        match = match.play(move)
    return " ".join(texts)
