"""Illegal acts as events of the referee."""

from __future__ import annotations

from companion.events import Illegal
from companion.rules.board import Table
from companion.rules.game import Game, Position
from companion.rules.notation import parse_move
from companion.tracker.sights import format_sights, table_sights


def illegal(
    game: Game, position: Position, attempt: str | None, levels: tuple[int, ...] | None = None, **stacks: str
) -> Illegal:
    """Return the event for ``attempt`` in ``position``, or for a table on which some cells hold other ``stacks``."""
    before = game.table(position)
    if attempt is None:
        board = tuple(stacks.get(name, stack) for name, stack in zip(game.layout.cells, before.stacks, strict=True))
        found, cells = Table(board, levels or before.levels), tuple(stacks)
    else:
        move = parse_move(game, position, attempt)
        found = next(act.table for act in game.attempts(position) if act.move == move)
        cells = tuple(attempt.partition(":")[0].split("-"))
    return Illegal(
        t=1.0,
        n=2,
        player=position.to_move,
        attempt=attempt,
        rules=("G-2",),
        reason="no.",
        cells=cells,
        seen=format_sights(game.layout, table_sights(game, found)),
        expected=format_sights(game.layout, table_sights(game, before)),
    )
