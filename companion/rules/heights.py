"""Chess moves among stacks, where height decides what blocks: a square at least as high as the mover's own stack.

Each function yields the targets of a piece on top of a stack of ``height``; ``enemies`` are the piece letters that it
cover at any height.
"""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.board import Cell, Stack
from companion.rules.lines import Line


def slide(board: tuple[Stack, ...], lines: tuple[Line, ...], height: int, enemies: str) -> Iterator[Cell]:
    """Targets of rook and bishop."""
    for line in lines:
        for cell in line:
            stack = board[cell]
            if len(stack) < height:
                yield cell
            else:
                if stack[-1] in enemies:
                    yield cell
                break


def shoot(board: tuple[Stack, ...], lines: tuple[Line, ...], height: int, enemies: str) -> Iterator[Cell]:
    """Targets of a cannon."""
    for line in lines:
        is_beyond = False
        for cell in line:
            stack = board[cell]
            is_enemy = bool(stack) and stack[-1] in enemies
            if is_enemy if is_beyond else len(stack) < height and not is_enemy:
                yield cell
            if len(stack) >= height:
                if is_beyond:
                    break
                is_beyond = True


def leap(
    board: tuple[Stack, ...], leaps: tuple[tuple[Cell, Cell, Cell], ...], height: int, enemies: str
) -> Iterator[Cell]:
    """Targets of a knight."""
    for cell, neighbour, _ in leaps:
        if len(board[neighbour]) < height and is_open(board[cell], height, enemies):
            yield cell


def step(board: tuple[Stack, ...], lines: tuple[Line, ...], height: int, enemies: str) -> Iterator[Cell]:
    """Targets of king and pawn: the nearest square of each line."""
    for line in lines:
        if line and is_open(board[line[0]], height, enemies):
            yield line[0]


def is_open(stack: Stack, height: int, enemies: str) -> bool:
    """Whether a piece may land there: an enemy is on top, or the stack is lower than ``height``."""
    return len(stack) < height or stack[-1] in enemies
