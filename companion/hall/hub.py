"""All tables of a hall: what each plays, kept in the hub's own store.  One thread calls everything; no network here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from companion.errors import CompanionError, StoreError
from companion.events import Event
from companion.hall import topics
from companion.recorder.store import MatchId, MatchInfo, Store
from companion.web.feed import Bell, Feed
from companion.web.story import told

ASK_AGAIN_S = 3.0
"""A table is asked no more often than this for what is missing: one that sends nonsense must not be asked for ever."""

AT = " at "
"""Between the kit and the table in what the store keeps of a match."""


@dataclass(frozen=True, slots=True)
class Playing:
    """One match of a table: its number in the store, and the page's feed."""

    info: MatchInfo
    number: MatchId
    feed: Feed


@dataclass(frozen=True, slots=True)
class Seat:
    """One table: whether it is there, and what it plays or has played last."""

    name: str
    is_online: bool
    playing: Playing


class Hub:
    """Takes messages, keeps what they say, and says what it wants of the tables."""

    def __init__(self, store: Store, want: Callable[[str, bytes], None], bell: Bell) -> None:
        """The hub over what its store has kept.

        Args:
            store: the hub's own; it is the caller's to close.
            want: sends a message to a topic.
            bell: rung at every piece of news.
        """
        self._store, self._want, self.bell = store, want, bell
        self._asked: dict[str, float] = {}
        self._matches: dict[tuple[str, str], Playing] = {}
        self.seats: dict[str, Seat] = {}
        self.faults = 0
        for playing, table in self._kept():
            self._matches[table, topics.key_of(playing.info)] = playing
            self.seats[table] = Seat(table, is_online=False, playing=playing)

    def take(self, topic: str, data: bytes, now_s: float) -> None:
        """One message of a table at ``now_s`` of any clock.

        What is no proper message is counted in ``faults`` and changes nothing.

        Raises:
            StoreError: the store fails; the event is asked for again later.
        """
        try:
            table, kind = topics.read_topic(topic)
            if kind == topics.ONLINE:
                self._take_online(table, topics.read_online(data), now_s)
            elif kind == topics.EVENT:
                self._take_event(table, *topics.read_event(data), now_s)
        except StoreError:
            raise
        except CompanionError:
            self.faults += 1

    def _take_online(self, table: str, info: MatchInfo | None, now_s: float) -> None:
        seat = self.seats.get(table)
        if info is None:
            if seat is not None:
                self._seat(replace(seat, is_online=False))
            return
        key = topics.key_of(info)
        playing = self._matches.get((table, key))
        if playing is None:
            number = self._store.begin(replace(info, kit=f"{info.kit}{AT}{table}"))
            playing = self._matches[table, key] = self._play(info, number, ())
        self._seat(Seat(table, is_online=True, playing=playing))
        self._asked.pop(table, None)
        self._ask(table, playing, now_s)

    def _take_event(self, table: str, key: str, event: Event, now_s: float) -> None:
        playing = self._matches.get((table, key))
        if playing is None:
            return  # The table will say what it plays, and is asked for it then.
        last_n = playing.feed.standing.n
        if event.n <= last_n:
            return
        if event.n > last_n + 1:
            self._ask(table, playing, now_s)
            return
        told(playing.feed.standing.story, event)
        self._store.append(playing.number, event)
        playing.feed(event)

    def _ask(self, table: str, playing: Playing, now_s: float) -> None:
        """Ask for what comes next, unless that was done a moment ago: the answer may be on its way."""
        if now_s - self._asked.get(table, -ASK_AGAIN_S) < ASK_AGAIN_S:
            return
        self._asked[table] = now_s
        message = topics.want_message(topics.key_of(playing.info), playing.feed.standing.n)
        self._want(topics.topic(table, topics.WANT), message)

    def _seat(self, seat: Seat) -> None:
        self.seats = {**self.seats, seat.name: seat}
        self.bell.ring()

    def _play(self, info: MatchInfo, number: MatchId, past: tuple[Event, ...]) -> Playing:
        return Playing(info, number, Feed(info.start, past, info.names, self.bell))

    def _kept(self) -> Iterator[tuple[Playing, str]]:
        """The matches in the store that tables have told, the oldest first."""
        for number in self._store.match_ids():
            info = self._store.info(number)
            kit, at, table = info.kit.rpartition(AT)
            if at and topics.TABLE.fullmatch(table):
                yield self._play(replace(info, kit=kit), number, self._store.events(number)), table
