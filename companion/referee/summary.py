"""The referee's state, summed up for people; kept apart from its result, which a page without a camera loads, too."""

from __future__ import annotations

from companion.match import format_moves
from companion.referee.clock import Clock
from companion.referee.snapshot import Snapshot
from companion.referee.state import State
from companion.rules.notation import format_position
from companion.tracker.sights import names_of


def snapshot_of(state: State, view: str, timer: Clock | None) -> Snapshot:
    """The snapshot of the referee's state, the last announced ``view``, and the clock."""
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
