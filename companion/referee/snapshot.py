"""How things stand at a table, in words, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass

from companion.referee.clock import Clock
from companion.referee.state import State
from companion.rules.board import Player
from companion.rules.game import Outcome
from companion.rules.notation import format_position
from companion.tracker.interpret import format_moves
from companion.tracker.sights import names_of


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole state in words, for the page: ``options`` when people are asked, ``todo`` and ``wrong`` squares."""

    mode: str
    view: str
    position: str
    to_move: Player
    todo: str
    wrong: tuple[str, ...]
    options: tuple[str, ...]
    outcome: Outcome | None
    clock: Clock | None = None


def snapshot_of(state: State, view: str, timer: Clock | None) -> Snapshot:
    """Of all that the referee remembers, what has been said of the view last, and the clock."""
    match = state.match
    return Snapshot(
        mode=state.mode.value,
        view=view,
        position=format_position(match.game, match.position),
        to_move=match.position.to_move,
        todo=state.said or (match.due.todo if match.due else ""),
        wrong=names_of(match.game.layout, state.context.standing or ()),
        options=tuple(format_moves(match, moves) for moves in state.options),
        outcome=state.outcome,
        clock=timer,
    )
