"""What people's orders do to the match, and which of them do not fit it."""

from __future__ import annotations

from collections.abc import Mapping

from companion.referee import orders
from companion.referee.orders import Order, OrderRefused
from companion.referee.state import State
from companion.referee.states import Mode, Trigger

_ORDERED: Mapping[type[object], Trigger] = {
    orders.Answer: Trigger.ANSWERED,
    orders.Done: Trigger.DONE,
    orders.AcceptMove: Trigger.RULED,
    orders.TakeBackMoves: Trigger.RULED,
    orders.SetPosition: Trigger.RULED,
    orders.RejectVerdict: Trigger.RULED,
    orders.Pause: Trigger.PAUSE,
    orders.Resume: Trigger.RESUME,
    orders.EndMatch: Trigger.CALLED_OFF,
}


def trigger_of(order: Order) -> Trigger:
    """The trigger of an order."""
    is_dismissal = isinstance(order, orders.Answer) and order.option is None
    return Trigger.DISMISSED if is_dismissal else _ORDERED[type(order)]


def refuse_misfits(state: State, order: Order) -> None:
    """Raise OrderRefused for an order whose content does not fit the match."""
    match order:
        case orders.Answer(int(option)) if state.mode is Mode.ASKING and not 0 <= option < len(state.options):
            raise OrderRefused(f"there is no option {option}; there are {len(state.options)}, from 0")
        case orders.Done() if state.mode is Mode.ASKING and len(state.options) != 1:
            raise OrderRefused("answer the question first")
        case orders.AcceptMove(move) if state.match.game.violations(state.match.position, move):
            raise OrderRefused("this move is not legal here; set the position instead")
        case orders.RejectVerdict() if not state.context.standing:
            raise OrderRefused("the referee says nothing against this table; take back or set the position instead")
        case orders.TakeBackMoves(n) if not 0 < n <= state.match.undoable:
            raise OrderRefused(f"cannot take back {n} move{'s' * (n != 1)}: {state.match.undoable} can be undone")
        case _:
            pass
