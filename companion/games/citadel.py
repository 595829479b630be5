"""Citadel, the blocks game: blocks slide, fall and climb on a terraced board towards the opponent's inner home.

Sources: the rules text of seed 000, which names no board; the board, its terrain and the name are rulings of the
rulebook (game ``citadel``), and so is the smaller board ``citadel:six``.

A camera tells all legal moves apart: how many blocks moved is the drop in height where they stood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from companion.rules.board import NOBODY, ORTHOGONAL, Cell, Layout, Player, Stack
from companion.rules.citing import cite, counted
from companion.rules.game import Move, Outcome, Position, Violation
from companion.rules.notation import refuse_other_keys
from companion.rules.shared import SHARED_RULES, by_id, next_player, read_rules
from companion.rules.stacking import StackingGame, check_numbers, check_to_move

TITLE = "Citadel, the blocks game"
VARIANTS = ("", "six")
PLAYERS = (2,)
BLOCKS_EACH = 8

RULES = read_rules(
    """
CIT-1 Control
The owner of a stack's top block controls the stack, and only he may move any of it. A lone block is a stack of one.
! {who} controls {source}; only the owner of the top block may move any of a stack.

CIT-2 Taking
A move takes the top k blocks of one square, 1 ≤ k ≤ n (k = n the whole stack, k < n splits it), keeping their order.
! {source} has {held}, so {taken} cannot be taken from its top.

CIT-3 One square
The target is an orthogonal neighbour on the board; never diagonal, never farther than one square.
! blocks go one square along a rank or file; {source} and {target} are not such neighbours.

CIT-4 Level or down
With b = the level of the lowest moved block and s = the level at which a further block would come to rest on the
target: the move is legal when s = b (a plain move, or a slide onto blocks of any colour) or s < b (the unit falls to
level s, onto bare board or onto blocks of any colour).
! {source} to {target} goes up from level {low} to level {high}; blocks stay level or fall.

CIT-5 Climbing
One level up, s = b+1, is legal only for a lone block (n = 1) that climbs bare board or a block of its own colour (the
target's top block is its own).
! one level up is for a lone block onto bare board or its own colour; {why}.

CIT-6 No other way up
A stack, and a block split off a stack, never goes up. Nothing goes up by more than one level. A lone block cannot
climb a block of the other colour.
! {why}, so it cannot go up from {source} to {target}.

CIT-7 After the move
The unit lies on top of the target; what stays behind is controlled by the owner of its new top.

CIT-8 End
A player holds a goal square when both the bottom and the top block on it are his (what lies between does not matter).
Who holds all four wins at once; checked after every move, for the mover first.
"""
)


@dataclass(frozen=True)
class Ground:
    """One board: its layout with the terrain, each player's start squares, and the squares that he must hold."""

    layout: Layout
    homes: Mapping[Player, tuple[Cell, ...]]
    goals: Mapping[Player, tuple[Cell, ...]]


def ground(terrain: tuple[str, ...], homes: Mapping[Player, str], goals: Mapping[Player, str]) -> Ground:
    """The board with ``terrain`` levels from the highest rank down; squares are named."""
    levels = tuple(int(level) for rank in reversed(terrain) for level in rank)
    layout = Layout(len(terrain[0]), len(terrain), terrain=levels)
    return Ground(
        layout,
        {player: tuple(layout.index[name] for name in names.split()) for player, names in homes.items()},
        {player: tuple(layout.index[name] for name in names.split()) for player, names in goals.items()},
    )


GROUNDS: Mapping[str, Ground] = MappingProxyType(
    {
        "": ground(
            ("00122100", "00122100", "00000000", "00000000", "00000000", "00000000", "00122100", "00122100"),
            {"R": "c1 d1 e1 f1 c2 d2 e2 f2", "B": "c7 d7 e7 f7 c8 d8 e8 f8"},
            {"R": "d7 e7 d8 e8", "B": "d1 e1 d2 e2"},
        ),
        "six": ground(
            ("012210", "012210", "000000", "000000", "012210", "012210"),
            {"R": "b1 c1 d1 e1 b2 c2 d2 e2", "B": "b5 c5 d5 e5 b6 c6 d6 e6"},
            {"R": "c5 d5 c6 d6", "B": "c1 d1 c2 d2"},
        ),
    }
)


def build(variant: str, players: int) -> Citadel:
    """The game on the board of ``variant``."""
    return Citadel(variant, players)


@dataclass(frozen=True)
class Citadel(StackingGame):
    """Citadel; see :class:`companion.rules.game.Game`."""

    name = "citadel"
    players = ("R", "B")
    pieces = players
    names = MappingProxyType({"R": "South", "B": "North"})
    rules = by_id((*SHARED_RULES, *RULES))

    @cached_property
    def ground(self) -> Ground:
        """The board of the variant."""
        return GROUNDS[self.variant]

    @property
    def layout(self) -> Layout:
        """With the terrain."""
        return self.ground.layout

    def start(self) -> Position:
        """One block on each own home square."""
        owner = {cell: player for player, cells in self.ground.homes.items() for cell in cells}
        return Position(tuple(owner.get(cell, "") for cell in range(len(self.layout.cells))), "R")

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> Position:
        """Checks the numbers of blocks, and that the player to move can move."""
        refuse_other_keys(keys, ())
        check_numbers(board, "", dict.fromkeys(self.players, BLOCKS_EACH))
        able = [player for player in self.players if self._can_move(board, player)]
        check_to_move(to_move, NOBODY if self._winner(board) or not able else able)
        return Position(board, to_move)

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:  # noqa: ARG002 - part of every game
        """None: the board says all."""
        return ()

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """Every part of an own stack to every neighbour that is no higher, and lone blocks one level up."""
        moves: list[Move] = []
        for source, target, most in self._ways(position.board, position.to_move):
            moves += self._moves[source, target][:most]
        return tuple(moves)

    @cached_property
    def _neighbours(self) -> tuple[tuple[Cell, ...], ...]:
        steps = (tuple(self.layout.step(cell, dx, dy) for dx, dy in ORTHOGONAL) for cell in self.layout.index.values())
        return tuple(tuple(cell for cell in cells if cell is not None) for cells in steps)

    @cached_property
    def _moves(self) -> dict[tuple[Cell, Cell], tuple[Move, ...]]:
        """By source and neighbour: the moves with one block, two blocks and so on."""
        counts = range(1, 2 * BLOCKS_EACH + 1)
        pairs = ((source, target) for source, targets in enumerate(self._neighbours) for target in targets)
        return {(source, target): tuple(Move(source, target, k) for k in counts) for source, target in pairs}

    def _ways(self, board: tuple[Stack, ...], player: Player) -> Iterator[tuple[Cell, Cell, int]]:
        """Source, target and the most blocks that ``player`` may take there; fewer may always go where more may."""
        terrain = self.layout.terrain
        for source, stack in enumerate(board):
            if stack and stack[-1] == player:
                n = len(stack)
                for target in self._neighbours[source]:
                    below = board[target]
                    # The drop from the top of the source is the number of blocks that arrive level or from above.
                    most = terrain[source] + n - terrain[target] - len(below)
                    if most > 0:
                        yield source, target, min(most, n)
                    elif most == 0 and n == 1 and (not below or below[-1] == player):
                        yield source, target, 1

    def _can_move(self, board: tuple[Stack, ...], player: Player) -> bool:
        return next(self._ways(board, player), None) is not None

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """CIT-1 … CIT-6, and G-1, G-2, G-5."""
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.source is None or move.target is None or move.level:
            return self.unknown_act(move)
        return tuple(self._stack_violations(position, move.source, move.target, move.count))

    def _stack_violations(self, position: Position, source: Cell, target: Cell, count: int) -> Iterator[Violation]:
        stack, start, end = position.board[source], self.layout.cells[source], self.layout.cells[target]
        if not stack:
            yield cite(self.rules["G-2"], (start,), what=f"nothing stands on {start}")
            yield cite(self.rules["CIT-1"], (start,), who="nobody", source=start)
            yield cite(self.rules["CIT-2"], (start,), source=start, held="no blocks", taken="nothing")
            return
        if stack[-1] != position.to_move:
            yield self.out_of_turn(position, start, f"the stack on {start}", stack[-1])
            yield cite(self.rules["CIT-1"], (start,), who=self.names[stack[-1]], source=start)
        if count > len(stack):
            held, taken = counted(len(stack), "block"), counted(count, "block")
            yield cite(self.rules["CIT-2"], (start,), source=start, held=held, taken=taken)
            return
        if target not in self._neighbours[source]:
            yield cite(self.rules["CIT-3"], (start, end), source=start, target=end)
        yield from self._climb_violations(source, target, stack, position.board[target], count)

    def _climb_violations(
        self, source: Cell, target: Cell, stack: Stack, below: Stack, count: int
    ) -> Iterator[Violation]:
        terrain, start, end = self.layout.terrain, self.layout.cells[source], self.layout.cells[target]
        low, high = terrain[source] + len(stack) - count, terrain[target] + len(below)
        can_climb = len(stack) == 1 and (not below or below[-1] == stack)
        if high <= low or (high == low + 1 and can_climb):
            return
        if len(stack) > 1:
            why = f"{start} is a stack of {len(stack)}"
        elif high > low + 1:
            why = f"{end} is {counted(high - low, 'level')} higher than {start}"
        else:
            why = f"{self.names[below[-1]]}'s block is on top of {end}"
        cells = (start, end)
        yield cite(self.rules["CIT-4"], cells, source=start, target=end, low=str(low), high=str(high))
        if high == low + 1:
            yield cite(self.rules["CIT-5"], cells, why=why)
        yield cite(self.rules["CIT-6"], cells, why=why, source=start, target=end)

    def play(self, position: Position, move: Move) -> Position:
        """The unit lies on the target; then CIT-8, and the turn passes on (G-3)."""
        assert move.source is not None
        assert move.target is not None
        board = list(position.board)
        stack = board[move.source]
        board[move.source] = stack[: -move.count]
        board[move.target] += stack[-move.count :]
        after = tuple(board)
        if self._winner(after):
            return Position(after, NOBODY)
        return Position(
            after, next_player(self.players, position.to_move, lambda player: self._can_move(after, player))
        )

    def _winner(self, board: tuple[Stack, ...]) -> Player | None:
        """Who holds all his goal squares; no move can make both sides do so, since their squares are far apart."""
        for player, goals in self.ground.goals.items():
            if all(board[cell] and board[cell][0] == player == board[cell][-1] for cell in goals):
                return player
        return None

    def outcome(self, position: Position) -> Outcome | None:
        """CIT-8, or a draw when nobody can move (G-3)."""
        if position.to_move != NOBODY:
            return None
        winner = self._winner(position.board)
        return Outcome(winner, "CIT-8" if winner else "G-3")
