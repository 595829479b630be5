"""The match store: one SQLite file for many matches, to which events are only ever appended.

How to use it (one thread; each further thread opens its own)::

    store = Store.open(path)                        # makes the file; its folder must exist
    match = store.begin(MatchInfo("domination", ("R", "G"), start_text, datetime.now(UTC), "domination"))
    store.append(match, event)                      # returns once the event is on the disk; show it only then
    store.close()

While a referee writes, others read: ``Store.open(path, read_only=True).events(match)``.  A match that must go on even
if the disk fails is written through :class:`companion.recorder.keeper.Keeper`.

Every method raises StoreError, in one line that names the file and the remedy, if the file fails; what was appended
before is kept.  WAL with ``synchronous=FULL``: a committed event survives the death of the program and, as far as the
disk keeps its word, a power cut.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NewType, Self

from companion.errors import BadText, StoreError
from companion.events import Event
from companion.recorder.chain import event_text, first_hash, next_hash, recording_hash
from companion.recorder.faults import store_errors
from companion.recorder.opening import connect_reader, connect_writer
from companion.recorder.reading import event_of
from companion.recorder.stills import Stills
from companion.schema import Letter, Name, Text, checked, read

MatchId = NewType("MatchId", int)

FIRST_YEAR, LAST_YEAR = 1970, 2199


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """What is known when a match begins.

    Attributes:
        game: the game's tag.
        players: their letters in turn order.
        start: text of the start position.
        started_at: the time, with a time zone.
        kit: name or path of the kit.
        names: the people's names, in the order of ``players``; empty if they were not given.

    Raises BadText for a time without a zone or out of our age, and for other than no name or one a player.
    """

    game: Text
    players: tuple[Letter, ...]
    start: Text
    started_at: datetime
    kit: Text
    names: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        _refuse_other_age(self.started_at)
        if len(self.names) not in (0, len(self.players)):
            raise BadText(f"names: there are {len(self.names)} of {len(self.players)} players")


@dataclass(frozen=True, slots=True)
class Record:
    """One stored event as it is in the file.

    ``text`` is its JSON, ``evidence`` the digest of its picture, ``grounds`` the text of the account kept with it.
    """

    n: int
    kind: str
    text: str
    evidence: bytes | None
    hash: bytes
    grounds: str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Where pictures of a match are: a recording's folder, whose time 0 is ``from_s`` of the match."""

    folder: Path
    from_s: float


class Store:
    """An open match store.  See the module's text."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._stills = Stills(connection)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open the store ``path``, created if need be unless ``read_only``.

        Raises:
            StoreError: no such folder or file, not a match store, damaged, locked, of a newer version, disk full.
        """
        connection = connect_reader(path) if read_only else connect_writer(path)
        # Damaged text must show as a break of the chain, not as a failure to read the row.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return cls(path, connection)

    def close(self) -> None:
        """Close the file; nothing is lost if this is never called."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, info: MatchInfo, *, confirms: bool = False) -> MatchId:
        """Store a new match and return its number; ``confirms``: a move counts only once its player has said so.

        Raises BadText for a text in ``info`` that cannot be kept.
        """
        row = (*_match_row(checked(info)), confirms)
        with self._transaction():
            sql = "INSERT INTO match (game, players, start, started_at, kit, confirms) VALUES (?, ?, ?, ?, ?, ?)"
            number = self._connection.execute(sql, row).lastrowid
        assert number is not None
        return MatchId(number)

    def append(self, match: MatchId, event: Event, evidence: bytes | None = None, grounds: str | None = None) -> None:
        """Store one event, with a picture as evidence and the text of its grounds; on return all are on the disk.

        Pictures beyond :data:`companion.recorder.stills.BUDGET_BYTES` displace the oldest undisputed ones.  Appending
        the last event once more does nothing, so that a writer unsure of success may simply repeat.

        Raises:
            StoreError: the event does not follow the last one, or the file fails.
        """
        text = event_text(event)
        digest = None if evidence is None else hashlib.sha256(evidence).digest()
        with self._transaction():
            n, last_text, before = self._end_of(match)
            if event.n == n and text == last_text:
                return
            if event.n != n + 1:
                raise StoreError(
                    f"{self.path}: event {event.n} cannot follow event {n} of match {match}; "
                    "is a second referee writing this match? Start a new one"
                )
            row = (match, event.n, event.event, text, digest, next_hash(before, text, digest, grounds))
            self._connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", row)
            if grounds is not None:
                self._connection.execute("INSERT INTO grounds VALUES (?, ?, ?)", (match, event.n, grounds))
            if evidence is not None:
                self._stills.add(match, event.n, evidence)

    def add_recording(self, match: MatchId, recorded: Recorded) -> None:
        """Remember where pictures of ``match`` are."""
        folder, from_s = str(recorded.folder), float(recorded.from_s)
        with self._transaction():
            row = (match, folder, from_s, recording_hash(self.first_hash(match), folder, from_s))
            self._connection.execute("INSERT INTO recording VALUES (?, ?, ?, ?)", row)

    def recordings(self, match: MatchId) -> tuple[Recorded, ...]:
        """Where pictures of ``match`` are, the earliest first."""
        sql = "SELECT folder, from_s FROM recording WHERE match = ? ORDER BY from_s"
        with store_errors(self.path):
            return tuple(Recorded(Path(folder), from_s) for folder, from_s in self._connection.execute(sql, (match,)))

    def altered_recordings(self, match: MatchId) -> tuple[str, ...]:
        """The folders of ``match`` whose rows have been altered; rows of older stores have no hash: not checked."""
        sql, first = "SELECT folder, from_s, hash FROM recording WHERE match = ?", self.first_hash(match)
        with store_errors(self.path):
            rows = self._connection.execute(sql, (match,)).fetchall()
        return tuple(
            folder for folder, from_s, was in rows if was is not None and recording_hash(first, folder, from_s) != was
        )

    def info(self, match: MatchId) -> MatchInfo:
        """What was known when ``match`` began."""
        game, players, start, started_at, kit = self._match_row(match)
        try:
            letters, names = zip(*json.loads(players), strict=True)
            row = {"game": game, "players": letters, "start": start, "started_at": started_at, "kit": kit}
            return read(MatchInfo, row | {"names": names if any(names) else ()})
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(f"{self.path}: the row of match {match} is damaged ({error})") from error

    def confirms(self, match: MatchId) -> bool:
        """Whether in ``match`` a move counts only once its player has said so.  Raises StoreError: no such match."""
        self._match_row(match)
        with store_errors(self.path):
            row = self._connection.execute("SELECT confirms FROM match WHERE id = ?", (match,)).fetchone()
        return bool(row[0])

    def match_ids(self) -> tuple[MatchId, ...]:
        """The numbers of all matches, the oldest first."""
        with store_errors(self.path):
            return tuple(MatchId(row[0]) for row in self._connection.execute("SELECT id FROM match ORDER BY id"))

    def events(self, match: MatchId) -> tuple[Event, ...]:
        """All events of ``match``, as far as they were stored."""
        return tuple(self.read(match, record) for record in self.records(match))

    def read(self, match: MatchId, record: Record) -> Event:
        """The event of a record.  Raises StoreError, naming the record, if its text is none."""
        try:
            return event_of(record.text)
        except BadText as error:
            raise StoreError(f"{self.path}: event {record.n} of match {match} is damaged ({error})") from error

    def records(self, match: MatchId, kinds: tuple[str, ...] = ()) -> Iterator[Record]:
        """The stored rows of ``match`` in order, all or only those of ``kinds``."""
        self._match_row(match)
        sql = (
            "SELECT n, kind, event.body, evidence, hash, grounds.body FROM event "
            "LEFT JOIN grounds USING (match, n) WHERE match = ?"
        )
        if kinds:
            sql += f" AND kind IN ({', '.join('?' * len(kinds))})"
        with store_errors(self.path):
            for row in self._connection.execute(sql + " ORDER BY n", (match, *kinds)):
                yield Record(*row)

    def counts(self, kind: str) -> dict[MatchId, int]:
        """How many events of ``kind`` each match has; matches without one are absent."""
        sql = "SELECT match, count(*) FROM event WHERE kind = ? GROUP BY match"
        with store_errors(self.path):
            return {MatchId(match): count for match, count in self._connection.execute(sql, (kind,))}

    def evidence(self, match: MatchId, n: int) -> bytes | None:
        """The evidence stored with event ``n``; None if there was none or it was dropped for space."""
        sql = "SELECT content FROM evidence WHERE match = ? AND n = ?"
        with store_errors(self.path):
            row = self._connection.execute(sql, (match, n)).fetchone()
        return None if row is None else bytes(row[0])

    def first_hash(self, match: MatchId) -> bytes:
        """The hash that the first event of ``match`` follows."""
        return first_hash(self._match_row(match))

    def _match_row(self, match: MatchId) -> tuple[str, str, str, str, str]:
        sql = "SELECT game, players, start, started_at, kit FROM match WHERE id = ?"
        with store_errors(self.path):
            row = self._connection.execute(sql, (match,)).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: holds no match {match}; `companion matches` lists those that there are")
        game, players, start, started_at, kit = row
        return game, players, start, started_at, kit

    def _end_of(self, match: MatchId) -> tuple[int, str, bytes]:
        """Number, text and hash of the last event; before the first one 0, no text, and the match row's hash."""
        sql = "SELECT n, body, hash FROM event WHERE match = ? ORDER BY n DESC LIMIT 1"
        row = self._connection.execute(sql, (match,)).fetchone()
        return (0, "", self.first_hash(match)) if row is None else (row[0], row[1], bytes(row[2]))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with store_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")


def parse_time(text: str) -> datetime:
    """A time that can be shown in every time zone.  Raises BadText."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise BadText(f"{ascii(text)[:40]} is no time, such as 2026-11-21T19:30:00+01:00") from None
    _refuse_other_age(time)
    return time


def _refuse_other_age(time: datetime) -> None:
    """Raise BadText: a computer without a clock begins in 1970, and none of today's runs for two hundred years."""
    if time.tzinfo is None or not FIRST_YEAR <= time.year <= LAST_YEAR:
        raise BadText(f"{time.isoformat()} is no time with a time zone in our age")


def _match_row(info: MatchInfo) -> tuple[str, str, str, str, str]:
    names = info.names or ("",) * len(info.players)
    seats = json.dumps(list(zip(info.players, names, strict=True)))
    return info.game, seats, info.start, info.started_at.astimezone(UTC).isoformat(), info.kit
