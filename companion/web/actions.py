"""Makes arbiter's orders of request bodies, which are JSON objects; every field is checked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from companion.errors import BadText
from companion.games import read_position
from companion.referee.orders import (
    AcceptMove,
    Answer,
    Done,
    EndMatch,
    Order,
    OrderRefused,
    Pause,
    RejectVerdict,
    Resume,
    SetPosition,
    TakeBackMoves,
)
from companion.rules.notation import parse_move, quoted

if TYPE_CHECKING:
    from companion.referee.referee import Referee

DeferredOrder: TypeAlias = "Callable[[Referee], Order | None]"
"""An order that depends on the state of the match at the time when it is carried out."""

Body = dict[str, Any]

LONGEST_NAME = 40


class BadBody(BadText):
    """A request whose body cannot be turned into an order."""


def order_of(action: str, body: Body) -> Order | DeferredOrder:
    """The order for ``action`` with the fields of ``body``, which no longer include ``by``.

    Raises:
        BadBody: a field is missing, unknown or of the wrong kind.
        KeyError: there is no such action.
    """
    known, build = ACTIONS[action]
    if unknown := sorted(body.keys() - known):
        allowed = f"write only {', '.join(known)}" if known else "it takes no fields"
        raise BadBody(f"{action}: unknown field {quoted(unknown[0])}; {allowed}")
    return build(body)


def signer(body: Body) -> str:
    """The name of who gives the order; removes ``by`` from ``body``."""
    name = body.pop("by", "arbiter")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadBody(f"by: give a name of 1 to {LONGEST_NAME} characters")
    return name


def _answer(body: Body) -> DeferredOrder:
    option = body.get("option", ...)
    if option is not None and (not isinstance(option, str | int) or isinstance(option, bool)):
        raise BadBody("answer: option is missing; give one of the moves asked about, its number from 0, or null")

    def answer(referee: Referee) -> Order:
        options = referee.snapshot.options
        if not isinstance(option, str):
            return Answer(option)
        if option not in options:
            raise OrderRefused(f"{quoted(option)} is not asked about (any more)")
        return Answer(options.index(option))

    return answer


def _accept(body: Body) -> DeferredOrder:
    text = _text(body, "accept", "move")

    def accept(referee: Referee) -> Order:
        return AcceptMove(parse_move(referee.match.game, referee.match.position, text))

    return accept


def _set_position(body: Body) -> DeferredOrder:
    game, position = read_position(_text(body, "set-position", "position"))

    def set_position(referee: Referee) -> Order:
        if game.tag != referee.match.game.tag:
            raise OrderRefused(f"this is a position of {game.tag}, not of {referee.match.game.tag}")
        return SetPosition(position)

    return set_position


def _take_back(body: Body) -> Order:
    moves = body.get("moves", 1)
    if not isinstance(moves, int) or isinstance(moves, bool) or moves < 1:
        raise BadBody("take-back: moves must be a number, 1 or more")
    return TakeBackMoves(moves)


def _end(body: Body) -> DeferredOrder:
    winner, rule = body.get("winner"), body.get("rule", "arbiter")
    if not isinstance(rule, str) or not 0 < len(rule) <= LONGEST_NAME or not rule.isprintable():
        raise BadBody(f"end: rule must be a text of 1 to {LONGEST_NAME} characters")
    if winner is not None and not isinstance(winner, str):
        raise BadBody("end: winner must be a player's letter, or null for a draw")

    def end(referee: Referee) -> Order:
        game = referee.match.game
        if winner is not None and winner not in game.players:
            raise OrderRefused(f"{quoted(winner)} does not play; write {' or '.join(game.players)}, or null for a draw")
        if rule in game.rules:
            raise OrderRefused(f"the game has not ended by {rule}; cite another reason, such as 'arbiter'")
        return EndMatch(winner, rule)

    return end


def _text(body: Body, action: str, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise BadBody(f"{action}: {key} is missing; give its text")
    return value


ACTIONS: Mapping[str, tuple[tuple[str, ...], Callable[[Body], Order | DeferredOrder]]] = {
    "answer": (("option",), _answer),
    "accept": (("move",), _accept),
    "reject": ((), lambda _: RejectVerdict()),
    "take-back": (("moves",), _take_back),
    "set-position": (("position",), _set_position),
    "pause": ((), lambda _: Pause()),
    "resume": ((), lambda _: Resume()),
    "end": (("winner", "rule"), _end),
    "done": ((), lambda _: Done()),
}
"""Action -> the fields that it takes, and the function that makes an order of them."""
