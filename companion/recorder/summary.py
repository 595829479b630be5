"""One line about each match in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from companion.errors import StoreError
from companion.events import Accepted, Corrected, Event, GameOver, TakenBack
from companion.recorder.store import MatchId, MatchInfo, Store

DECIDING = (TakenBack.event, Corrected.event, GameOver.event)
"""The events that a summary must read; moves are only counted."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One match.

    Attributes:
        match: its number.
        info: what was known when it began; None if that cannot be read.
        moves: accepted by the referee or by a ruling, less those taken back.
        result: how it ended; None while it is open.
        damage: why not all of this could be read; empty if it could.
    """

    match: MatchId
    info: MatchInfo | None
    moves: int = 0
    result: GameOver | None = None
    damage: str = ""


def summaries(store: Store) -> Iterator[Summary]:
    """All matches, the oldest first.  Damage in one does not hide the others."""
    accepted = store.counts(Accepted.event)
    for match in store.match_ids():
        yield _summary(store, match, accepted.get(match, 0))


def _summary(store: Store, match: MatchId, accepted: int) -> Summary:
    info = None
    try:
        info = store.info(match)
        events = [store.read(match, record) for record in store.records(match, DECIDING)]
    except StoreError as error:
        return Summary(match, info, damage=str(error))
    return Summary(match, info, accepted + sum(_moves(event) for event in events), standing_result(events))


def _moves(event: Event) -> int:
    """By how many moves an event other than ``accepted`` lengthens the match."""
    match event:
        case TakenBack(moves=moves):
            return -len(moves)
        case Corrected(move=str()):
            return 1
        case _:
            return 0


def standing_result(events: Iterable[Event]) -> GameOver | None:
    """The result that stands: a later take-back or correction reopens the match."""
    *_, last = (None, *(event for event in events if event.event in DECIDING))
    return last if isinstance(last, GameOver) else None
