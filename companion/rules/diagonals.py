"""Men and kings on diagonals, as in draughts: steps, and captures by jumping; a king is a stack of two men.

A jumped piece stays on its cell, and in the way, until the capture is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from companion.rules.board import DIAGONAL, Cell, Layout, Player, Stack
from companion.rules.lines import Line, lines_of

Board = tuple[Stack, ...]

UPWARD = tuple(i for i, (_, dy) in enumerate(DIAGONAL) if dy > 0)
DOWNWARD = tuple(i for i, (_, dy) in enumerate(DIAGONAL) if dy < 0)
"""Directions, as indices of a cell's diagonals, towards the higher and the lower ranks."""

STOP, FLY, PASS = "stop", "fly", "pass"
"""What a capturing man does when he reaches the last rank: stop, jump on as a king, or jump on as a man."""

FEW = 4
"""Up to this many jumped pieces may be cleared in any order; more are cleared one after the other, from either end."""


class Capture(NamedTuple):
    """A capture, or the beginning of one: where the piece lands and what it jumps, both in order."""

    landings: tuple[Cell, ...]
    jumped: tuple[Cell, ...]
    is_king: bool


@dataclass(frozen=True)
class Diagonals:
    """How men and kings move on a board.

    Attributes:
        layout: the board.
        players: the one who moves up the board first.
        is_flying: whether kings go any distance.
        is_backward: whether men jump backward too.
        on_last_rank: STOP, FLY or PASS.
    """

    layout: Layout
    players: tuple[Player, Player]
    is_flying: bool
    is_backward: bool
    on_last_rank: str

    @cached_property
    def lines(self) -> tuple[tuple[Line, ...], ...]:
        """The diagonals of each cell, in the order of DIAGONAL."""
        return lines_of(self.layout).diagonal

    @cached_property
    def last_rank(self) -> Mapping[Player, frozenset[Cell]]:
        """The cells on which a player's man is crowned."""
        ends = dict(zip(self.players, (self.layout.ranks - 1, 0), strict=True))
        places = self.layout.places
        return {player: frozenset(c for c, (_, y) in enumerate(places) if y == end) for player, end in ends.items()}

    @cached_property
    def _goes(self) -> Mapping[Stack, tuple[int, ...]]:
        """For each stack, the directions in which it moves without capturing."""
        up, down = self.players
        return {up: UPWARD, down: DOWNWARD, 2 * up: UPWARD + DOWNWARD, 2 * down: UPWARD + DOWNWARD}

    @cached_property
    def _jumps(self) -> Mapping[Stack, tuple[int, ...]]:
        """For each stack, the directions in which it jumps."""
        return dict.fromkeys(self._goes, UPWARD + DOWNWARD) if self.is_backward else self._goes

    @cached_property
    def _near(self) -> Mapping[Stack, tuple[tuple[Cell, ...], ...]]:
        """For each stack and cell, the adjacent squares that it can move to."""
        return {
            stack: tuple(tuple(lines[d][0] for d in directions if lines[d]) for lines in self.lines)
            for stack, directions in self._goes.items()
        }

    @cached_property
    def _pairs(self) -> Mapping[Stack, tuple[tuple[tuple[Cell, Cell], ...], ...]]:
        """For each stack and cell, the neighbours that it could jump, each with the square behind."""
        return {
            stack: tuple(tuple(lines[d][:2] for d in directions if len(lines[d]) > 1) for lines in self.lines)  # type: ignore[misc]
            for stack, directions in self._jumps.items()
        }

    def other(self, player: Player) -> Player:
        """The opponent."""
        return self.players[player == self.players[0]]

    def steps(self, board: Board, cell: Cell) -> Iterator[Cell]:
        """Where the piece on ``cell`` may go without capturing."""
        stack = board[cell]
        if len(stack) == 1 or not self.is_flying:
            for target in self._near[stack][cell]:
                if not board[target]:
                    yield target
            return
        for line in self.lines[cell]:
            for target in line:
                if board[target]:
                    break
                yield target

    def can_jump(self, board: Board, cell: Cell) -> bool:
        """Whether the piece on ``cell`` can capture."""
        stack = board[cell]
        foe = self.players[stack[-1] == self.players[0]]
        for near, far in self._pairs[stack][cell]:
            if board[near] and board[near][-1] == foe and not board[far]:
                return True
        if len(stack) == 1 or not self.is_flying:
            return False
        return any(behind for _, behind in self._next_jumps(board, cell, cell, (), stack))

    def can_move(self, board: Board, player: Player) -> bool:
        """Whether ``player`` has a step or a capture."""
        own = [cell for cell, stack in enumerate(board) if stack and stack[-1] == player]
        if any(not board[target] for cell in own for target in self._near[board[cell]][cell]):
            return True
        return any(self.can_jump(board, cell) for cell in own)

    def ways(self, board: Board, cell: Cell) -> Iterator[Capture]:
        """The captures of the piece on ``cell``, each as long as it can go on."""
        return self._further(board, cell, Capture((), (), is_king=len(board[cell]) > 1))

    def _further(self, board: Board, source: Cell, begun: Capture) -> Iterator[Capture]:
        """The captures that continue ``begun``; none if it cannot go on."""
        player, at = board[source][-1], begun.landings[-1] if begun.landings else source
        if self.on_last_rank == STOP and begun.is_king and len(board[source]) == 1:
            return
        for victim, behind in self._next_jumps(board, source, at, begun.jumped, player * (1 + begun.is_king)):
            ends, further = [], list[Capture]()
            for cell in behind:
                is_king = begun.is_king or (self.on_last_rank != PASS and cell in self.last_rank[player])
                here = Capture((*begun.landings, cell), (*begun.jumped, victim), is_king)
                ends.append(here)
                further += self._further(board, source, here)
            yield from further or ends

    def _next_jumps(
        self, board: Board, source: Cell, at: Cell, jumped: tuple[Cell, ...], stack: Stack
    ) -> Iterator[tuple[Cell, list[Cell]]]:
        """What ``stack``, which came from ``source`` and is now at ``at``, can jump, and where it can land."""
        is_far = len(stack) > 1 and self.is_flying
        for direction in self._jumps[stack]:
            line = self.lines[at][direction]
            first = next((i for i, cell in enumerate(line) if board[cell] and cell != source), len(line))
            if first >= len(line) - 1 or (first and not is_far):
                continue
            victim, behind = line[first], list[Cell]()
            if victim in jumped or board[victim][-1] == stack[-1]:
                continue
            for cell in line[first + 1 :] if is_far else line[first + 1 : first + 2]:
                if board[cell] and cell != source:
                    break
                behind.append(cell)
            if behind:
                yield victim, behind


def capture_prefixes(way: Capture) -> Iterator[Capture]:
    """The proper beginnings of a capture of several pieces, the shortest first."""
    for n in range(1, len(way.jumped)):
        yield Capture(way.landings[:n], way.jumped[:n], way.is_king)


def uncleared_pieces(jumped: tuple[Cell, ...]) -> Iterator[tuple[Cell, ...]]:
    """What may still lie there while jumped pieces are cleared: all of them first, then fewer, at least one."""
    n = len(jumped)
    if n <= FEW:
        for size in range(n, 0, -1):
            yield from combinations(jumped, size)
    else:
        yield from (jumped[start:] for start in range(n))
        yield from (jumped[:end] for end in range(1, n))
