"""What a hand can do to a board in one act, whatever the rules say: the raw material of ``attempts``.

Each function yields the act as a move with the stacks that the hand leaves, before anything is removed or captured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from companion.rules.board import Cell, Piece, Stack
from companion.rules.game import Move

Act = tuple[Move, tuple[Stack, ...]]

made = cache(Move)
"""A move from its parts, cached: there are few different ones, and making one anew costs more than finding it."""


def cells_within(board: tuple[Stack, ...], within: frozenset[Cell] | None) -> tuple[Cell, ...]:
    """The cells that an act may change."""
    return tuple(range(len(board))) if within is None else tuple(sorted(within))


def transfers(board: tuple[Stack, ...], within: frozenset[Cell] | None = None) -> Iterator[Act]:
    """The top pieces of any stack, from one piece to the whole stack, onto any other cell."""
    cells = cells_within(board, within)
    for source in cells:
        stack = board[source]
        for count in range(1, len(stack) + 1):
            stays, moves = stack[:-count], stack[-count:]
            for target in cells:
                if target != source:
                    yield Move(source, target, count), replaced(board, {source: stays, target: board[target] + moves})


def whole_stacks(board: tuple[Stack, ...], within: frozenset[Cell] | None = None) -> Iterator[Act]:
    """Stacks of which only the top piece lies on the board: each onto any other cell, or off the board."""
    lying = tuple(stack[-1:] for stack in board)
    for move, stacks in transfers(lying, within):
        assert move.source is not None
        yield replace(move, count=len(board[move.source])), stacks
    yield from removals(lying, within)


def additions(board: tuple[Stack, ...], piece: Piece, within: frozenset[Cell] | None = None) -> Iterator[Act]:
    """``piece`` from beside the board onto any cell."""
    for target in cells_within(board, within):
        yield Move(None, target, piece=piece), replaced(board, {target: board[target] + piece})


def removals(board: tuple[Stack, ...], within: frozenset[Cell] | None = None) -> Iterator[Act]:
    """The top piece of any stack off the board."""
    for source in cells_within(board, within):
        if board[source]:
            yield Move(source, None, 1), replaced(board, {source: board[source][:-1]})


def exchanges(board: tuple[Stack, ...], movable: str, within: frozenset[Cell] | None = None) -> Iterator[Act]:
    """A ``movable`` top piece changing places with any different piece, on top or covered.

    A covered piece may lie on any cell: visibly the exchange changes only the top piece's cell.
    """
    cells = cells_within(board, within)
    for source in cells:
        if board[source][-1:] and board[source][-1] in movable:
            for target, stack in enumerate(board):
                for level in range(1, len(stack) + (target in cells)):
                    move = Move(source, target, level=level)
                    if (after := exchanged(board, move)) != board:
                        yield move, after


def exchanged(board: tuple[Stack, ...], move: Move) -> tuple[Stack, ...]:
    """The stacks when the top of ``move.source`` has changed places with the piece on a level of ``move.target``."""
    assert move.source is not None
    assert move.target is not None
    place = move.level - 1
    piece, top = board[move.target][place], board[move.source][-1]
    changed = list(board)
    changed[move.source] = changed[move.source][:-1] + piece
    changed[move.target] = changed[move.target][:place] + top + changed[move.target][place + 1 :]
    return tuple(changed)


def half_exchanged(board: tuple[Stack, ...], move: Move) -> tuple[tuple[Stack, ...], tuple[Stack, ...]]:
    """On the way to :func:`exchanged`: the top piece lifted; then the other in its place, the top piece not yet put."""
    after = exchanged(board, move)
    assert move.source is not None
    assert move.target is not None
    lifted = replaced(board, {move.source: board[move.source][:-1]})
    stack = after[move.target]
    return lifted, replaced(after, {move.target: stack[: move.level - 1] + stack[move.level :]})


def replaced(board: tuple[Stack, ...], stacks: dict[Cell, Stack]) -> tuple[Stack, ...]:
    """``board`` with ``stacks`` on their cells instead of what was there."""
    changed = list(board)
    for cell, stack in stacks.items():
        changed[cell] = stack
    return tuple(changed)


def top_owners(board: Iterable[Stack]) -> frozenset[Piece]:
    """The pieces that lie on top of some stack."""
    return frozenset(stack[-1] for stack in board if stack)
