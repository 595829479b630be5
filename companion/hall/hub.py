"""The state of all tables of a hall, stored in the hub's own store.  One thread calls everything; no network here.

A table's message is shown and stored only if it is an event (:mod:`companion.events`) that can follow by the rules
(:mod:`companion.replay`), so that everything in the store can be shown, verified and exported.  A table that sends
anything else is reported and ignored from then on, until its events follow again.
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
from companion.replay import possible_matches
from companion.scene.display_kit import find_kit
from companion.web.feed import ChangeSignal, Feed
from companion.web.move_history import apply_event

ASK_AGAIN_S = 3.0
"""Shortest interval between requests to a table for missing events; one that sends nonsense is not asked for ever."""

SAY_AGAIN_S = 60.0
"""Shortest interval between reports of a table that is ignored."""

MAX_TABLES = 256
"""Largest number of tables shown; anybody may invent names of tables at a broker without passwords."""

MAX_MATCHES = 4
"""Number of matches of one table held in memory; any other one that continues is loaded from the store again."""


@dataclass
class Playing:
    """One match of a table.

    Attributes:
        info: the facts about it when it began.
        feed: the feed for the page.
        number: its number in the store; None before its first event.
        matches: the states that the match can have now, by the rules; empty before its first event.
    """

    info: MatchInfo
    feed: Feed
    number: MatchId | None = None
    matches: tuple[Match, ...] = ()

    def take(self, event: Event, keep: Callable[[MatchId | None, Event], MatchId]) -> None:
        """Add an event: store it with ``keep``, then show it.  Raises CompanionError when it cannot follow."""
        matches = possible_matches(self.matches, event)
        if matches[0].game.tag != self.info.game:
            raise BadText(f"the match is {self.info.game}, not {matches[0].game.tag}")
        apply_event(self.feed.page_state.history, event)
        self.number = keep(self.number, event)
        self.matches = matches
        self.feed(event)


@dataclass(frozen=True, slots=True)
class Seat:
    """One table: whether it is online, its present or last match, and why events are ignored (empty: none are)."""

    name: str
    is_online: bool
    playing: Playing
    fault: str = ""


class Hub:
    """Takes the tables' messages, stores their events, and requests missing ones."""

    def __init__(
        self,
        store: Store,
        want: Callable[[str, bytes], None],
        change_signal: ChangeSignal,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """The hub, with the matches in its store.

        Args:
            store: the hub's own store, to be closed by the caller.
            want: sends a message to a topic.
            change_signal: notified of every change.
            say: called with one line about a table that is ignored or a match that is damaged.
        """
        self._store, self._want, self.change_signal, self._say = store, want, change_signal, say
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
        """The matches that have ended, oldest first; players without a name are named by their colours."""
        return [self._finished[number] for number in sorted(self._finished)]

    def _note_result(self, table: str, info: MatchInfo, number: MatchId, over: GameOver | None) -> None:
        """Record how a match ended, or that it continues after all."""
        if over is None:
            self._finished.pop(number, None)
        else:
            self._finished = {**self._finished, number: finished_of(table, info, over)}

    def take(self, topic: str, data: bytes, now_s: float) -> None:
        """Take one message from a table at ``now_s`` of any clock.

        An invalid message is counted in ``faults``, changes nothing and is reported once for a table that is shown.

        Raises:
            StoreError: the store fails; the event is requested again later.
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
        if seat is None and len(self.seats) >= MAX_TABLES:
            raise BadText(f"more than {MAX_TABLES} tables")
        playing = self._hold(table, info)
        self._seat(Seat(table, is_online=True, playing=playing))
        self._asked.pop(table, None)
        self._ask(table, playing, now_s)

    def _take_event(self, table: str, key: str, event: Event, now_s: float) -> None:
        playing = self._matches.get(table, {}).get(key)
        if playing is None and (table, key) in self._kept:
            playing = self._hold(table, self._kept[table, key][1])
        if playing is None:
            return  # The table will say what it plays, and the events are requested then.
        last_n = playing.feed.page_state.n
        if event.n <= last_n:
            if event.n and playing.feed.page_state.events[event.n - 1] != event:
                raise BadText(f"event {event.n} was told otherwise before; two tables must not go by one name")
            return
        if event.n > last_n + 1:
            self._ask(table, playing, now_s)
            return

        def keep(number: MatchId | None, event: Event) -> MatchId:
            number = self._keep(table, playing.info, number, event)
            if isinstance(event, GameOver | TakenBack | Corrected):
                # Whoever learns of the end requests the results at once.
                events = (*playing.feed.page_state.events, event)
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
        """Request the next events, unless that was done a moment ago: the answer may be on its way."""
        if now_s - self._asked.get(table, -ASK_AGAIN_S) < ASK_AGAIN_S:
            return
        self._asked[table] = now_s
        message = topics.want_message(topics.key_of(playing.info), playing.feed.page_state.n)
        self._want(topics.topic(table, topics.WANT), message)

    def _leave_out(self, table: str, why: str, now_s: float) -> None:
        """Show and report that ``table`` sends invalid events, until it sends valid ones."""
        seat = self.seats.get(table)
        if seat is None:
            return
        if not seat.fault:
            self._seat(replace(seat, fault=why))
        if now_s - self._said.get(table, -SAY_AGAIN_S) >= SAY_AGAIN_S:
            self._said[table] = now_s
            self._say(f"table {table}: left out from event {seat.playing.feed.page_state.n + 1} on: {why}")

    def _seat(self, seat: Seat) -> None:
        self.seats = {**self.seats, seat.name: seat}
        self.change_signal.notify_all()

    def _hold(self, table: str, info: MatchInfo) -> Playing:
        """The match of a table with this ``info``: in memory, in the store, or new."""
        held, key = self._matches.setdefault(table, {}), topics.key_of(info)
        playing = held.pop(key, None) or self._opened(table, key) or self._new(info)
        if len(held) >= MAX_MATCHES:
            held.pop(next(iter(held)))
        held[key] = playing
        return playing

    def _opened(self, table: str, key: str) -> Playing | None:
        """A match from the store; None if there is none or it is damaged, in which case its table sends it again."""
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
        return Playing(info, Feed(info.start, (), info.names, find_kit(info.game, info.kit), self.change_signal))

    def _kept_matches(self) -> Iterator[tuple[MatchId, str, MatchInfo]]:
        """The matches in the store that came from tables, oldest first: number, table, facts about it."""
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
