"""Tak without walls: flat stones are put on an empty board, stacked, and joined to a road.

Sources: the rules of Tak (Ernest and Rothfuss), without walls and capstones, and with moves of one square only.

A camera tells all legal moves apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from companion.rules import acts
from companion.rules.board import NOBODY, Cell, Layout, Player, Stack
from companion.rules.citing import cite, counted
from companion.rules.game import Move, Outcome, Position, Violation
from companion.rules.lines import lines_of
from companion.rules.notation import refuse_other_keys
from companion.rules.shared import SHARED_RULES, by_id, read_rules
from companion.rules.stacking import StackingGame, check_numbers, check_to_move

TITLE = "Tak without walls"
VARIANTS = ("",)
PLAYERS = (2,)
SIZE, STONES = 4, 15

RULES = read_rules(
    """
TAK-1 Placing
A stone from the reserve goes on an empty square.
! a stone is put on an empty square; {target} is taken.

TAK-2 Moving
The owner of the top stone moves any number of stones from the top one square along a rank or file, onto anything.
! {why}; who owns the top stone of {source} moves stones from there by one square along a rank or file.

TAK-3 Road
Who joins two opposite edges with squares on top of which his stones lie wins; if a move joins both, the mover.

TAK-4 Flats
When the board is full or a player has put his last stone, who owns more tops wins; if equal, it is a draw.
"""
)


def build(variant: str, players: int) -> Tak:
    """Return the game; it has no variants."""
    return Tak(variant, players)


@dataclass(frozen=True)
class Tak(StackingGame):
    """Tak; see :class:`companion.rules.game.Game`."""

    name = "tak"
    layout = Layout(SIZE, SIZE)
    players = ("W", "K")
    pieces = players
    names = MappingProxyType({"W": "Chalk", "K": "Coal"})
    rules = by_id((*SHARED_RULES, *RULES))

    def start(self) -> Position:
        """Return the empty board."""
        return Position(("",) * SIZE**2, "W")

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> Position:
        """Check the numbers of stones, and that the game is not over."""
        refuse_other_keys(keys, ())
        check_numbers(board, "", dict.fromkeys(self.players, STONES))
        check_to_move(to_move, NOBODY if self._end(board, "W") else self.players)
        return Position(board, to_move)

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:  # noqa: ARG002 - part of every game
        """None: what is left in reserve follows from the board."""
        return ()

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """Return every placing, and every part of an own stack to every neighbour."""
        tried = (move for move, _ in self.acts(position, None))
        return tuple(move for move in tried if not self.violations(position, move))

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """Check TAK-1, TAK-2, and G-1, G-2, G-5."""
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.target is None or move.level or move.step:
            return self.unknown_act(move)
        if move.source is None:
            return tuple(self._placing(position, move.piece, self.layout.cells[move.target], move.target))
        return tuple(self._moving(position, move.source, move.target, move.count))

    def _placing(self, position: Position, piece: str, name: str, target: Cell) -> Iterator[Violation]:
        if piece != position.to_move:
            yield self.out_of_turn(position, name, f"the stone put on {name}", piece)
        if position.board[target]:
            yield cite(self.rules["TAK-1"], (name,), target=name)

    def _moving(self, position: Position, source: Cell, target: Cell, count: int) -> Iterator[Violation]:
        stack, start, end = position.board[source], self.layout.cells[source], self.layout.cells[target]
        if not stack:
            yield cite(self.rules["G-2"], (start,), what=f"nothing stands on {start}")
        elif stack[-1] != position.to_move:
            yield self.out_of_turn(position, start, f"the stack on {start}", stack[-1])
        if len(stack) < max(count, 1):
            yield cite(self.rules["TAK-2"], (start,), why=f"{counted(len(stack), 'stone')} stand there", source=start)
        elif target not in self._neighbours[source]:
            yield cite(self.rules["TAK-2"], (start, end), why=f"{end} is no neighbour", source=start)

    @cached_property
    def _neighbours(self) -> tuple[tuple[Cell, ...], ...]:
        return tuple(lines_of(self.layout).neighbours(cell) for cell in range(SIZE**2))

    def play(self, position: Position, move: Move) -> Position:
        """Put the stone or the unit on the target, then apply TAK-3 and TAK-4."""
        assert move.target is not None
        board = list(position.board)
        if move.source is None:
            board[move.target] = move.piece
        else:
            stack = board[move.source]
            board[move.source], board[move.target] = stack[: -move.count], board[move.target] + stack[-move.count :]
        after, following = tuple(board), self.players[position.to_move == self.players[0]]
        return Position(after, NOBODY if self._end(after, position.to_move) else following)

    def outcome(self, position: Position) -> Outcome | None:
        """Return the result by TAK-3 or TAK-4."""
        return self._end(position.board, "W") if position.to_move == NOBODY else None

    def _end(self, board: tuple[Stack, ...], mover: Player) -> Outcome | None:
        roads = [player for player in self.players if self._has_road(board, player)]
        if roads:
            return Outcome(mover if mover in roads else roads[0], "TAK-3")
        if all(board) or STONES in [sum(stack.count(player) for stack in board) for player in self.players]:
            one, other = (sum(stack[-1:] == player for stack in board) for player in self.players)
            return Outcome(None if one == other else self.players[one < other], "TAK-4")
        return None

    def _has_road(self, board: tuple[Stack, ...], player: Player) -> bool:
        own = {cell for cell, stack in enumerate(board) if stack[-1:] == player}
        return any(
            self._joined({cell for cell in own if self.layout.places[cell][axis] == 0}, own, axis) for axis in (0, 1)
        )

    def _joined(self, reached: set[Cell], own: set[Cell], axis: int) -> bool:
        while more := {near for cell in reached for near in self._neighbours[cell]} & own - reached:
            reached |= more
        return any(self.layout.places[cell][axis] == SIZE - 1 for cell in reached)

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """Yield stones of either player from beside the board, and what a hand can do in any game."""
        for player in self.players:
            yield from acts.additions(position.board, player, within)
        yield from super().acts(position, within)
