"""All tables of a hall: what each plays, kept in the hub's own store.  One thread calls everything; no network here.

What a table says is shown and kept only if it is an event (:mod:`companion.events`) that can follow by the rules
(:mod:`companion.replay`), so that whatever the store holds can be shown, verified and exported.  A table that says
something else is named and left out from there on, until what it says follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from companion.errors import BadText, CompanionError, StoreError
from companion.events import Corrected, Event, GameOver, TakenBack
from companion.games import read_position
from companion.hall import topics
from companion.hall.results import AT, finished_of, seated
from companion.hall.rounds import Finished
from companion.match import Match
from companion.recorder.store import MatchId, MatchInfo, Store
from companion.recorder.summary import standing_result, summaries
from companion.replay import following
from companion.scene.outfit import kit_of
from companion.web.feed import Bell, Feed
from companion.web.story import told

ASK_AGAIN_S = 3.0
"""A table is asked no more often than this for what is missing: one that sends nonsense must not be asked for ever."""

SAY_AGAIN_S = 60.0
"""A table that is left out is named no more often than this."""

MOST_TABLES = 256
"""So many tables are shown; anybody may invent names of tables at a broker without passwords."""

MOST_MATCHES = 4
"""Matches of one table that are held ready; another one that goes on is taken from the store again."""


@dataclass
class Playing:
    """One match of a table.

    Attributes:
        info: what was known when it began.
        feed: what the page shows.
        number: its number in the store; None before its first event.
        matches: what the match can be now, by the rules; empty before its first event.
    """

    info: MatchInfo
    feed: Feed
    number: MatchId | None = None
    matches: tuple[Match, ...] = ()

    def take(self, event: Event, keep: Callable[[MatchId | None, Event], MatchId]) -> None:
        """Let an event follow, kept by ``keep``, then shown.  Raises CompanionError when it cannot follow."""
        matches = following(self.matches, event)
        if matches[0].game.tag != self.info.game:
            raise BadText(f"the match is {self.info.game}, not {matches[0].game.tag}")
        told(self.feed.standing.story, event)
        self.number = keep(self.number, event)
        self.matches = matches
        self.feed(event)


@dataclass(frozen=True, slots=True)
class Seat:
    """One table: whether it is there, what it plays or has played last, and why more is not shown (empty: all is)."""

    name: str
    is_online: bool
    playing: Playing
    fault: str = ""


class Hub:
    """Takes messages, keeps what they say, and says what it wants of the tables."""

    def __init__(
        self,
        store: Store,
        want: Callable[[str, bytes], None],
        bell: Bell,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """The hub over what its store has kept.

        Args:
            store: the hub's own; it is the caller's to close.
            want: sends a message to a topic.
            bell: rung at every piece of news.
            say: told, in one line, of a table that is left out and of a match that is damaged.
        """
        self._store, self._want, self.bell, self._say = store, want, bell, say
        self._asked: dict[str, float] = {}
        self._said: dict[str, float] = {}
        self._matches: dict[str, dict[str, Playing]] = {}
        self._finished: dict[MatchId, Finished] = {}
        self.seats: dict[str, Seat] = {}
        self.faults = 0
        self._kept = {(table, topics.key_of(info)): (number, info) for number, table, info in self._kept_matches()}
        ended = {summary.match: summary.result for summary in summaries(store)}
        for (table, _), (number, info) in self._kept.items():
            self._note_result(table, info, number, ended.get(number))
        for table, (number, info) in {table: kept for (table, _), kept in self._kept.items()}.items():
            playing = self._hold(table, info)
            fault = "" if playing.number == number else f"match {number} is damaged"
            self._seat(Seat(table, is_online=False, playing=playing, fault=fault))

    def finished(self) -> list[Finished]:
        """The matches that have ended, the first first; players without a name are called by their colours."""
        return [self._finished[number] for number in sorted(self._finished)]

    def _note_result(self, table: str, info: MatchInfo, number: MatchId, over: GameOver | None) -> None:
        """Remember how a match has ended, or that it goes on after all."""
        if over is None:
            self._finished.pop(number, None)
        else:
            self._finished = {**self._finished, number: finished_of(table, info, over)}

    def take(self, topic: str, data: bytes, now_s: float) -> None:
        """One message of a table at ``now_s`` of any clock.

        What is no proper message is counted in ``faults``, changes nothing and is told once of a table that is shown.

        Raises:
            StoreError: the store fails; the event is asked for again later.
        """
        table = ""
        try:
            table, kind = topics.read_topic(topic)
            if kind == topics.ONLINE:
                self._take_online(table, topics.read_online(data), now_s)
            elif kind == topics.EVENT:
                self._take_event(table, *topics.read_event(data), now_s)
        except StoreError:
            raise
        except CompanionError as error:
            self.faults += 1
            self._leave_out(table, " ".join(str(error).split()), now_s)

    def _take_online(self, table: str, info: MatchInfo | None, now_s: float) -> None:
        seat = self.seats.get(table)
        if info is None:
            if seat is not None:
                self._seat(replace(seat, is_online=False))
            return
        if seat is None and len(self.seats) >= MOST_TABLES:
            raise BadText(f"more than {MOST_TABLES} tables")
        playing = self._hold(table, info)
        self._seat(Seat(table, is_online=True, playing=playing))
        self._asked.pop(table, None)
        self._ask(table, playing, now_s)

    def _take_event(self, table: str, key: str, event: Event, now_s: float) -> None:
        playing = self._matches.get(table, {}).get(key)
        if playing is None and (table, key) in self._kept:
            playing = self._hold(table, self._kept[table, key][1])
        if playing is None:
            return  # The table will say what it plays, and is asked for it then.
        last_n = playing.feed.standing.n
        if event.n <= last_n:
            if event.n and playing.feed.standing.events[event.n - 1] != event:
                raise BadText(f"event {event.n} was told otherwise before; two tables must not go by one name")
            return
        if event.n > last_n + 1:
            self._ask(table, playing, now_s)
            return

        def keep(number: MatchId | None, event: Event) -> MatchId:
            number = self._keep(table, playing.info, number, event)
            if isinstance(event, GameOver | TakenBack | Corrected):
                # Who is told of the end asks for the results at once.
                events = (*playing.feed.standing.events, event)
                self._note_result(table, playing.info, number, standing_result(events))
            return number

        playing.take(event, keep)
        self._seat(Seat(table, is_online=True, playing=playing))

    def _keep(self, table: str, info: MatchInfo, number: MatchId | None, event: Event) -> MatchId:
        if number is None:
            number = self._store.begin(replace(info, kit=f"{info.kit}{AT}{table}"))
            self._kept[table, topics.key_of(info)] = number, info
        self._store.append(number, event)
        return number

    def _ask(self, table: str, playing: Playing, now_s: float) -> None:
        """Ask for what comes next, unless that was done a moment ago: the answer may be on its way."""
        if now_s - self._asked.get(table, -ASK_AGAIN_S) < ASK_AGAIN_S:
            return
        self._asked[table] = now_s
        message = topics.want_message(topics.key_of(playing.info), playing.feed.standing.n)
        self._want(topics.topic(table, topics.WANT), message)

    def _leave_out(self, table: str, why: str, now_s: float) -> None:
        """Show and say that ``table`` says what cannot be, until it says something that can."""
        seat = self.seats.get(table)
        if seat is None:
            return
        if not seat.fault:
            self._seat(replace(seat, fault=why))
        if now_s - self._said.get(table, -SAY_AGAIN_S) >= SAY_AGAIN_S:
            self._said[table] = now_s
            self._say(f"table {table}: left out from event {seat.playing.feed.standing.n + 1} on: {why}")

    def _seat(self, seat: Seat) -> None:
        self.seats = {**self.seats, seat.name: seat}
        self.bell.ring()

    def _hold(self, table: str, info: MatchInfo) -> Playing:
        """The match of a table that began as ``info`` says: held already, kept in the store, or new."""
        held, key = self._matches.setdefault(table, {}), topics.key_of(info)
        playing = held.pop(key, None) or self._opened(table, key) or self._new(info)
        if len(held) >= MOST_MATCHES:
            held.pop(next(iter(held)))
        held[key] = playing
        return playing

    def _opened(self, table: str, key: str) -> Playing | None:
        """A match as the store keeps it; None: it keeps none, or a damaged one, which is told anew by its table."""
        number, info = self._kept.get((table, key), (None, None))
        if number is None or info is None:
            return None
        playing = self._new(info)
        playing.number = number
        try:
            for event in self._store.events(number):
                playing.take(event, lambda _number, _event: number)
        except CompanionError as error:
            del self._kept[table, key]
            self._say(f"table {table}: match {number} is damaged: {error}")
            return None
        return playing

    def _new(self, info: MatchInfo) -> Playing:
        return Playing(info, Feed(info.start, (), info.names, kit_of(info.game, info.kit), self.bell))

    def _kept_matches(self) -> Iterator[tuple[MatchId, str, MatchInfo]]:
        """The matches in the store that tables have told, the oldest first: number, table, what is known of it."""
        for number in self._store.match_ids():
            try:
                info = self._store.info(number)
                read_position(info.start)
            except CompanionError as error:
                self._say(f"match {number} is damaged: {error}")
                continue
            kit, table = seated(info)
            if table:
                yield number, table, replace(info, kit=kit)
