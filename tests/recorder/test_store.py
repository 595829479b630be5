"""The store returns events in order, and nothing stored can be changed."""

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.events import Event, Restored
from companion.recorder import schema
from companion.recorder.chain import event_text, first_hash, next_hash
from companion.recorder.proof import find_break
from companion.recorder.store import MatchId, MatchInfo, Recorded, Store

Make = Callable[[int], Event]


def test_events_come_back_in_order_after_reopening(path: Path, info: MatchInfo, event: Make) -> None:
    with Store.open(path) as store:
        match = store.begin(info)
        for n in range(1, 6):
            store.append(match, event(n))
    with Store.open(path, read_only=True) as store:
        assert store.events(match) == tuple(event(n) for n in range(1, 6))
        assert store.info(match) == info


def test_an_appended_event_is_seen_by_another_program_at_once(
    path: Path, store: Store, match: int, event: Make
) -> None:
    store.append(MatchId(match), event(1))
    with Store.open(path, read_only=True) as other:
        assert other.events(MatchId(match)) == (event(1),)


def test_matches_are_kept_apart(store: Store, info: MatchInfo, event: Make) -> None:
    first, second = store.begin(info), store.begin(info)
    store.append(first, event(1))
    store.append(second, event(1))
    store.append(first, event(2))
    assert store.match_ids() == (first, second)
    assert store.events(first) == (event(1), event(2))
    assert store.events(second) == (event(1),)


def test_a_match_without_names_has_none(store: Store) -> None:
    begun = datetime(2026, 11, 21, 20, 0, tzinfo=timezone(timedelta(hours=1)))
    info = MatchInfo("diamond/4", ("R", "G", "B", "Y"), "p", begun, "my kit.toml")
    match = store.begin(info)
    assert store.info(match) == info
    assert store.info(match).started_at.tzinfo is UTC


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="time zone"):
        store.begin(MatchInfo("domination", ("R", "G"), "p", datetime(2026, 1, 1), "k"))  # noqa: DTZ001


def test_repeating_the_last_event_changes_nothing(store: Store, match: MatchId, event: Make) -> None:
    for n in (1, 1, 2, 2):
        store.append(match, event(n))
    assert store.events(match) == (event(1), event(2))


@pytest.mark.parametrize("n", [1, 2, 4, 7, 0, -1])
def test_an_event_out_of_order_is_refused_and_changes_nothing(
    store: Store, match: MatchId, event: Make, n: int
) -> None:
    store.append(match, event(1))
    store.append(match, event(2))
    with pytest.raises(StoreError, match=rf"matches.db: event {n} cannot follow event 2 of match {match}"):
        store.append(match, Restored(t=9.0, n=n))
    store.append(match, event(3))
    assert store.events(match) == (event(1), event(2), event(3))


def test_evidence_is_kept_with_its_event_only(store: Store, match: MatchId, event: Make) -> None:
    store.append(match, event(1))
    store.append(match, event(2), b"\x00picture")
    assert [store.evidence(match, n) for n in (1, 2, 3)] == [None, b"\x00picture", None]


@pytest.mark.parametrize("call", ["info", "events", "append"])
def test_a_match_that_is_not_there_is_named(store: Store, event: Make, call: str) -> None:
    arguments = (event(1),) if call == "append" else ()
    with pytest.raises(StoreError, match=r"matches\.db: holds no match 7"):
        getattr(store, call)(MatchId(7), *arguments)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = '{}' WHERE n = 1",
        "UPDATE event SET n = 9 WHERE n = 2",
        "DELETE FROM event",
        "DELETE FROM event WHERE n = 2",
        "INSERT OR REPLACE INTO event SELECT match, n, kind, '{}', evidence, hash FROM event WHERE n = 1",
        "INSERT INTO event SELECT match, 9, kind, body, evidence, hash FROM event WHERE n = 1",
        "UPDATE match SET kit = 'x'",
        "DELETE FROM match",
        "DELETE FROM grounds",
        "UPDATE grounds SET body = ''",
        "INSERT OR REPLACE INTO grounds SELECT match, n, '' FROM grounds",
        "INSERT OR REPLACE INTO match SELECT id, 'x', players, start, started_at, kit, 0 FROM match",
    ],
)
def test_no_statement_changes_what_is_kept(
    path: Path, store: Store, match: MatchId, event: Make, statement: str
) -> None:
    store.append(match, event(1))
    store.append(match, event(2), None, "grounds")
    intruder = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        intruder.execute(statement)
    intruder.close()
    assert store.events(match) == (event(1), event(2))


def test_every_commit_is_forced_to_the_disk(store: Store) -> None:
    def setting(name: str) -> object:
        return store._connection.execute(f"PRAGMA {name}").fetchone()[0]

    assert (setting("journal_mode"), setting("synchronous")) == ("wal", 2)


@pytest.mark.parametrize("is_reader", [False, True])
def test_an_older_store_is_brought_up_to_date_with_all_that_is_in_it(
    path: Path, info: MatchInfo, event: Make, monkeypatch: pytest.MonkeyPatch, is_reader: bool
) -> None:
    with Store.open(path) as store:
        match = store.begin(info)
        store.append(match, event(1))
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE club (name TEXT)",)))
    with Store.open(path, read_only=is_reader) as store:
        assert store.events(match) == (event(1),)
        assert schema.version_of(store._connection) == len(schema.MIGRATIONS)
    with Store.open(path) as store:
        store._connection.execute("INSERT INTO club VALUES ('Ada')")
        assert store.events(match) == (event(1),)


def test_a_store_of_the_first_version_is_read_and_goes_on(path: Path, info: MatchInfo, event: Make) -> None:
    row = (info.game, '[["R", "Ada"], ["G", "Émile"]]', info.start, info.started_at.isoformat(), info.kit)
    text = event_text(event(1))
    old = sqlite3.connect(path, isolation_level=None)
    for statement in schema.VERSION_1:
        old.execute(statement)
    old.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    old.execute("PRAGMA user_version = 1")
    old.execute("INSERT INTO match VALUES (1, ?, ?, ?, ?, ?)", row)
    old.execute("INSERT INTO event VALUES (1, 1, 'start', ?, NULL, ?)", (text, next_hash(first_hash(row), text, None)))
    old.close()
    match = MatchId(1)
    with Store.open(path) as store:
        assert store.info(match) == info
        store.append(match, event(2), b"picture", "grounds")
        assert store.events(match) == (event(1), event(2))
        assert find_break(store, match) is None


def test_whether_moves_are_confirmed_is_kept(path: Path, info: MatchInfo) -> None:
    with Store.open(path) as store:
        numbers = store.begin(info), store.begin(info, confirms=True)
    with Store.open(path) as store:
        assert [store.confirms(number) for number in numbers] == [False, True]


def test_where_a_match_was_recorded_is_remembered(store: Store, match: MatchId, info: MatchInfo) -> None:
    other = store.begin(info)
    later, first = Recorded(Path("/films/b"), 80.5), Recorded(Path("/films/a"), 0.0)
    store.add_recording(match, later)
    store.add_recording(match, first)
    assert store.recordings(match) == (first, later)
    assert store.recordings(other) == ()


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    path: Path, info: MatchInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path) as store:
        match = store.begin(info)
    statements = ("CREATE TABLE club (name TEXT)", "CREATE TABLE club (name TEXT)")
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, statements))
        with pytest.raises(StoreError, match="table club already exists"):
            Store.open(path)
    with Store.open(path) as store:
        assert store.info(match) == info
        assert not store._connection.execute("SELECT * FROM sqlite_master WHERE name = 'club'").fetchall()


def test_a_store_of_a_newer_version_is_left_alone(path: Path, info: MatchInfo) -> None:
    with Store.open(path) as store:
        store.begin(info)
        store._connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"matches\.db: was written by a newer version .* update the program"):
            Store.open(path, read_only=read_only)
    assert path.read_bytes() == before


def test_reading_leaves_no_side_files_behind(path: Path, info: MatchInfo) -> None:
    with Store.open(path) as store:
        store.begin(info)
    with Store.open(path, read_only=True) as store:
        assert len(store.match_ids()) == 1
    assert [file.name for file in path.parent.iterdir()] == ["matches.db"]


def test_a_reader_cannot_write(path: Path, store: Store, info: MatchInfo) -> None:
    with Store.open(path, read_only=True) as reader, pytest.raises(StoreError, match=r"matches\.db: cannot be written"):
        reader.begin(info)


def test_a_new_store_is_its_owners_alone(path: Path, info: MatchInfo) -> None:
    with Store.open(path) as store:
        store.begin(info)
        files = [path, *path.parent.glob(f"{path.name}-*")]
        assert len(files) > 1
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_what_never_ends_is_no_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        for read_only in (False, True):
            with pytest.raises(StoreError, match="is no regular file"):
                Store.open(path, read_only=read_only)
