"""Resuming an interrupted match from the store: what was accepted, the next event's number, the clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from companion.errors import CompanionError
from companion.events import ClockChanged, Event
from companion.languages.english import counted
from companion.match import Match
from companion.recorder.store import MatchId, Store
from companion.recorder.summary import standing_result
from companion.referee.clock import Clock, clock_from_event
from companion.replay import InvalidRecord, stages


@dataclass(frozen=True, slots=True)
class InterruptedMatch:
    """A match as it was left.

    Attributes:
        number: its number in the store.
        match: what had been played.
        events: all events so far.
        names: the people's names in turn order; empty if they were not given.
        confirms: whether a move counts only once its player has said so.
    """

    number: MatchId
    match: Match
    events: tuple[Event, ...]
    names: tuple[str, ...] = ()
    confirms: bool = False

    @property
    def next_n(self) -> int:
        """The number of the next event."""
        return self.events[-1].n + 1

    @property
    def from_s(self) -> float:
        """The match's time at which it resumes: the break does not count."""
        return self.events[-1].t

    @property
    def clock(self) -> Clock | None:
        """The clock as it stood; None if there was none, or if its time control is not in the record.

        Raises BadText for one that cannot be read.
        """
        last = next((event for event in reversed(self.events) if isinstance(event, ClockChanged)), None)
        return None if last is None or not last.control else clock_from_event(last)

    @property
    def notice(self) -> str:
        """One line for people."""
        game, position = self.match.game, self.match.position
        moves = sum(ply.move is not None for ply in self.match.plies)
        return f"Match {self.number} goes on after {counted(moves, 'move')}: {game.names[position.to_move]} to move."


def find_interrupted(store: Store, games: Collection[str]) -> InterruptedMatch | None:
    """The newest match of ``games`` (tags) in the store, if it was left unfinished; None if there is none.

    Raises:
        StoreError: it cannot be read.
        CompanionError: its record breaks the rules, so that nobody knows how it stands.
    """
    number = next((number for number in reversed(store.match_ids()) if store.info(number).game in games), None)
    return None if number is None else load_interrupted(store, number)


def load_interrupted(store: Store, number: MatchId) -> InterruptedMatch | None:
    """The match of that number as it was left; None: it has not begun, or is over.

    Raises what :func:`find_interrupted` raises.
    """
    events = store.events(number)
    if not events or standing_result(events) is not None:
        return None
    return InterruptedMatch(
        number, _after(number, events), events, store.info(number).names, confirms=store.confirms(number)
    )


def _after(number: MatchId, events: Iterable[Event]) -> Match:
    try:
        *_, (_, match) = stages(events)
    except InvalidRecord as error:
        raise CompanionError(
            f"match {number} cannot go on: its record breaks at {error}; begin a new one without --resume"
        ) from error
    return match
