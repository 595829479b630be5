"""Illegal changes that no single move describes: two at once, a turn left half done, pieces swapped, added, removed.

Each function returns the changed table, or None where it found nothing to do.  No game is named here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from companion.match import Match
from companion.rules.board import Cell, Stack, Table
from companion.rules.game import Move

IllegalChange = Callable[[Match, random.Random], Table | None]

MAX_LEVELS = 3
"""Largest number of levels by which a pillar is moved at once."""


def two_moves(match: Match, rng: random.Random) -> Table | None:
    """Two legal moves of one player on different squares, in one turn."""
    game, position = match.game, match.position
    before, moves = game.table(position), game.legal_moves(position)
    for first, second in (rng.sample(moves, 2) for _ in range(min(len(moves) // 2, 8))):
        one, other = (game.table(game.play(position, move)) for move in (first, second))
        if not differing(before, one) & differing(before, other):
            return _merged(before, one, other)
    return None


def half_done(match: Match, rng: random.Random) -> Table | None:
    """A move was left at one of its stages, and the next player has moved elsewhere."""
    game, position = match.game, match.position
    begun: dict[str, list[tuple[Move, Table]]] = {}
    for move in game.legal_moves(position):
        for stage in game.stages(position, move):
            begun.setdefault(stage.rule, []).append((move, stage.table))
    if not begun:
        return None
    # A capture may have dozens of stages, the crown of a man one.
    move, left = rng.choice(begun[rng.choice(sorted(begun))])
    following = game.play(position, move)
    done, answers = game.table(following), game.legal_moves(following)
    if not answers:
        return None
    answered = game.table(game.play(following, rng.choice(answers)))
    return None if differing(done, left) & differing(done, answered) else _merged(done, left, answered)


def swapped(match: Match, rng: random.Random) -> Table | None:
    """The top pieces of two stacks have changed places."""
    table = match.game.table(match.position)
    occupied = _occupied(table)
    for one, other in (rng.sample(occupied, 2) for _ in range(8) if len(occupied) > 1):
        a, b = table.stacks[one], table.stacks[other]
        if a[-1] != b[-1]:
            return _with(table, {one: a[:-1] + b[-1], other: b[:-1] + a[-1]})
    return None


def exchanged(match: Match, rng: random.Random) -> Table | None:
    """A top piece has been replaced by another kind."""
    table = match.game.table(match.position)
    cell = rng.choice(_occupied(table))
    others = [piece for piece in match.game.pieces if piece != table.stacks[cell][-1]]
    return _with(table, {cell: table.stacks[cell][:-1] + rng.choice(others)})


def added(match: Match, rng: random.Random) -> Table | None:
    """One more piece on a stack or an empty square."""
    table = match.game.table(match.position)
    cell = rng.randrange(len(table.stacks))
    return _with(table, {cell: table.stacks[cell] + rng.choice(match.game.pieces)})


def removed(match: Match, rng: random.Random) -> Table | None:
    """One or more pieces have gone from the top of a stack."""
    table = match.game.table(match.position)
    cell = rng.choice(_occupied(table))
    return _with(table, {cell: table.stacks[cell][: rng.randrange(len(table.stacks[cell]))]})


def toppled(match: Match, rng: random.Random) -> Table | None:
    """A stack has fallen over: its upper pieces lie on neighbouring squares."""
    game, table = match.game, match.game.table(match.position)
    towers = [cell for cell, stack in enumerate(table.stacks) if len(stack) > 1]
    if not towers:
        return None
    cell = rng.choice(towers)
    around = [near for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (near := game.layout.step(cell, dx, dy)) is not None]
    around.remove(cell)
    stays = rng.randrange(1, len(table.stacks[cell]))
    fallen = {cell: table.stacks[cell][:stays]}
    for piece in table.stacks[cell][stays:]:
        near = rng.choice(around)
        fallen[near] = fallen.get(near, table.stacks[near]) + piece
    return _with(table, fallen)


def jumped(match: Match, rng: random.Random) -> Table | None:
    """A pillar has moved by more than one level."""
    table = match.game.table(match.position)
    return _lifted(table, {rng.randrange(len(table.stacks)): _jump(rng)})


def two_pillars(match: Match, rng: random.Random) -> Table | None:
    """Two pillars have moved by one level."""
    table = match.game.table(match.position)
    return _lifted(table, {cell: rng.choice((-1, 1)) for cell in rng.sample(range(len(table.stacks)), 2)})


ALL: Mapping[str, IllegalChange] = MappingProxyType(
    {
        "two moves": two_moves,
        "half done": half_done,
        "swapped": swapped,
        "exchanged": exchanged,
        "added": added,
        "removed": removed,
        "toppled": toppled,
        "pillar jumped": jumped,
        "two pillars": two_pillars,
    }
)
"""All of them by name."""


def differing(before: Table, after: Table) -> set[Cell]:
    """The cells on which two tables differ, in stack or level."""
    cells = {i for i, (a, b) in enumerate(zip(before.stacks, after.stacks, strict=True)) if a != b}
    if before.levels is not None and after.levels is not None:
        cells |= {i for i, (a, b) in enumerate(zip(before.levels, after.levels, strict=True)) if a != b}
    return cells


def _occupied(table: Table) -> Sequence[Cell]:
    return [cell for cell, stack in enumerate(table.stacks) if stack]


def _with(table: Table, stacks: dict[Cell, Stack]) -> Table:
    return Table(tuple(stacks.get(cell, stack) for cell, stack in enumerate(table.stacks)), table.levels)


def _merged(before: Table, one: Table, other: Table) -> Table:
    """``before`` with the changes of both tables."""
    stacks = tuple(b if b != a else c for a, b, c in zip(before.stacks, one.stacks, other.stacks, strict=True))
    if before.levels is None or one.levels is None or other.levels is None:
        return Table(stacks)
    return Table(
        stacks, tuple(b if b != a else c for a, b, c in zip(before.levels, one.levels, other.levels, strict=True))
    )


def _jump(rng: random.Random) -> int:
    return rng.choice((-1, 1)) * rng.randint(2, MAX_LEVELS)


def _lifted(table: Table, steps: dict[Cell, int]) -> Table | None:
    """The table with pillars moved; None if it has none, or if one would leave the range of the present levels."""
    if table.levels is None:
        return None
    levels = tuple(level + steps.get(cell, 0) for cell, level in enumerate(table.levels))
    inside = min(table.levels) <= min(levels) and max(levels) <= max(table.levels)
    return Table(table.stacks, levels) if inside else None
