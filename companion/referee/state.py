"""All that the referee remembers between two pictures, and the facts that an action is about."""

from __future__ import annotations

from dataclasses import dataclass

from companion.match import Match
from companion.referee.orders import Order
from companion.referee.patience import Suspicion
from companion.referee.refutation import Rival
from companion.referee.states import Mode
from companion.rules.board import Player, Sight
from companion.rules.game import Move, Outcome
from companion.tracker.hypotheses import Prediction
from companion.tracker.interpret import Judgement
from companion.tracker.scoring import Context

Options = tuple[tuple[Move, ...], ...]
Sights = tuple[Sight, ...]

NOTHING_STANDS = Context()
"""The table shows the last accepted position, or at least nothing else has been announced."""


@dataclass(frozen=True, slots=True)
class State:
    """All that the referee remembers.

    Attributes:
        mode: what it waits for.
        match: all that has been accepted.
        context: the half-done turn or wrong table that has been announced, relative to the accepted position.
        said: the last sentence about what is left to do, announced at ``said_s``; empty if there is none.
        options: the moves that people have been asked about.
        suspicion: what has been seen but not yet announced.
        ruling: an outcome given by the arbiter.
        overruled: tables that a ruling has annulled, until the table has shown what counts.
        confirming: whether a move counts only once the player has said that he is done; constant throughout a match.
        accused: the player whom a standing accusation concerns.
    """

    mode: Mode
    match: Match
    context: Context = NOTHING_STANDS
    said: str = ""
    said_s: float = float("-inf")
    options: Options = ()
    suspicion: Suspicion | None = None
    ruling: Outcome | None = None
    overruled: frozenset[Sights] = frozenset()
    confirming: bool = False
    accused: Player | None = None

    @property
    def outcome(self) -> Outcome | None:
        """The end of the match, if it has ended."""
        return self.ruling or self.match.outcome


@dataclass(frozen=True, slots=True)
class Fact:
    """What an action is about: a judged table with its prediction, what refutes an accusation, or an order."""

    prediction: Prediction | None = None
    judgement: Judgement | None = None
    options: Options = ()
    order: Order | None = None
    by: str = ""
    refuted_by: Rival | None = None

    @property
    def seen(self) -> tuple[Prediction, Judgement]:
        """The judged table.  Only actions that a table triggers may use it."""
        assert self.prediction is not None
        assert self.judgement is not None
        return self.prediction, self.judgement
