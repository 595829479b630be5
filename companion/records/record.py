"""A match as read from a store or written to one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from companion.errors import CompanionError
from companion.events import Event, GameOver, Start
from companion.match import Match
from companion.recorder.accounts import grounds_of, grounds_text
from companion.recorder.store import MatchId, MatchInfo, Store
from companion.recorder.summary import standing_result
from companion.referee.grounds import Grounds
from companion.replay import stages
from companion.rules.board import Player


@dataclass(frozen=True)
class MatchRecord:
    """Everything recorded about a match.

    Attributes:
        info: the facts known when it began.
        events: all events, numbered from 1.
        grounds: the grounds of events, by event number; only some have any.
    """

    info: MatchInfo
    events: tuple[Event, ...]
    grounds: Mapping[int, Grounds] = field(default_factory=lambda: MappingProxyType({}))

    def stages(self) -> Iterator[tuple[Event, Match]]:
        """Each event with the match after it.  Raises InvalidRecord if the rules contradict the record."""
        return stages(self.events)

    @property
    def names(self) -> Mapping[Player, str]:
        """The people's names by letter, as far as they are known."""
        seats = zip(self.info.players, self.info.names, strict=False)
        return {letter: name for letter, name in seats if name}

    def called(self, player: Player) -> str:
        """A player's name, or else the letter."""
        return self.names.get(player, player)

    @property
    def start(self) -> str:
        """Text of the position in which the match began."""
        first = self.events[0]
        return first.position if isinstance(first, Start) else self.info.start

    @property
    def result(self) -> GameOver | None:
        """The result of the match; None while it is unfinished."""
        return standing_result(self.events)


def load_record(store: Store, match: MatchId) -> MatchRecord:
    """Read a match from the store.

    Raises:
        StoreError: no such match, or it is damaged.
        CompanionError: it has no events yet.
    """
    info, events, grounds = store.info(match), [], {}
    for record in store.records(match):
        events.append(store.read(match, record))
        if record.grounds is not None:
            grounds[record.n] = grounds_of(record.grounds)
    if not events:
        raise CompanionError(f"match {match} has not begun: nothing was said in it")
    return MatchRecord(info, tuple(events), MappingProxyType(grounds))


def save_record(store: Store, record: MatchRecord) -> MatchId:
    """Write a match to the store as a new one, and return its number.  Raises StoreError."""
    match = store.begin(record.info)
    for event in record.events:
        grounds = record.grounds.get(event.n)
        store.append(match, event, None, None if grounds is None else grounds_text(grounds))
    return match
