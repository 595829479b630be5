"""What people tell the referee: by a button, on the web page, or as arbiters."""

from __future__ import annotations

from dataclasses import dataclass

from companion.errors import CompanionError
from companion.rules.board import Player
from companion.rules.game import Move, Position


class OrderRefused(CompanionError):
    """The order does not fit the state of the match; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: the number of an option, from 0, or None for none of them."""

    option: int | None


@dataclass(frozen=True, slots=True)
class Done:
    """The player whose turn it is says that it is complete, as with a chess clock.

    If a question about a single move is open, it means yes.
    """


@dataclass(frozen=True, slots=True)
class AcceptMove:
    """The arbiter rules that this legal move has been played."""

    move: Move


@dataclass(frozen=True, slots=True)
class TakeBackMoves:
    """The arbiter rules that the last ``n`` moves do not count."""

    n: int = 1


@dataclass(frozen=True, slots=True)
class RejectVerdict:
    """The arbiter rules that the table does show the position.

    The squares that seemed to say otherwise are not trusted until they have looked right once.
    """


@dataclass(frozen=True, slots=True)
class SetPosition:
    """The arbiter sets the position."""

    position: Position


@dataclass(frozen=True, slots=True)
class Pause:
    """Nobody looks until :class:`Resume`."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The match goes on as soon as the table shows its position."""


@dataclass(frozen=True, slots=True)
class EndMatch:
    """The arbiter ends the match; ``winner`` None: drawn.  ``rule`` is what he cites, e.g. ``"arbiter"``."""

    winner: Player | None
    rule: str = "arbiter"


Order = Answer | Done | AcceptMove | TakeBackMoves | RejectVerdict | SetPosition | Pause | Resume | EndMatch
