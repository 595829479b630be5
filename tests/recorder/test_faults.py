"""Failures of a store's file: each gives one line with the file and the remedy, and nothing is lost."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.events import Event
from companion.recorder.store import MatchId, MatchInfo, Store

Make = Callable[[int], Event]
BOTH = pytest.mark.parametrize("read_only", [False, True], ids=["write", "read"])


def message_of(path: Path, *, read_only: bool) -> str:
    """Return the one-line error when a store is opened."""
    with pytest.raises(StoreError) as caught:
        Store.open(path, read_only=read_only)
    message = str(caught.value)
    assert "\n" not in message
    return message


def fill(store: Store, match: MatchId, event: Make) -> tuple[int, str]:
    """Append until the disk is full; return the number of the last stored event, and the error."""
    for n in range(1, 10_000):
        try:
            store.append(match, event(n))
        except StoreError as error:
            return n - 1, str(error)
    pytest.fail("the disk was never full")


@BOTH
def test_a_folder_is_no_store(tmp_path: Path, read_only: bool) -> None:
    assert message_of(tmp_path, read_only=read_only) == f"{tmp_path}: is a folder; give the match store's FILE"


@BOTH
def test_a_missing_folder_is_named(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "none" / "matches.db"
    expected = f"{path}: there is no folder {path.parent}; make it, or give another FILE"
    assert message_of(path, read_only=read_only) == expected


def test_a_missing_file_is_not_made_by_reading(path: Path) -> None:
    assert message_of(path, read_only=True).startswith(f"{path}: there is no such match store;")
    assert not path.exists()


@BOTH
@pytest.mark.parametrize("content", [b"x", b"a diary\n" * 500, b"SQLite format 3\x00", bytes(4096)])
def test_another_kind_of_file_is_left_as_it_is(path: Path, content: bytes, read_only: bool) -> None:
    path.write_bytes(content)
    assert message_of(path, read_only=read_only) == f"{path}: is not a match store; give another FILE"
    assert path.read_bytes() == content


@BOTH
def test_another_programs_database_is_left_as_it_is(path: Path, read_only: bool) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmark (url TEXT)")
    other.close()
    content = path.read_bytes()
    message = message_of(path, read_only=read_only)
    assert message == f"{path}: is another program's SQLite file; give another FILE"
    assert path.read_bytes() == content


@BOTH
@pytest.mark.parametrize("name", ["x" * 300 + ".db", "matches.db/matches.db"])
def test_an_impossible_path_is_one_line(path: Path, name: str, read_only: bool) -> None:
    path.touch()
    unfit = path.parent / name
    assert message_of(unfit, read_only=read_only).startswith(f"{unfit}: ")


def test_an_empty_file_becomes_a_store_but_holds_none(path: Path) -> None:
    path.touch()
    assert message_of(path, read_only=True) == f"{path}: holds no match yet"
    Store.open(path).close()
    Store.open(path, read_only=True).close()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_store_is_called_damaged(path: Path, info: MatchInfo, event: Make, share: float) -> None:
    with Store.open(path) as store:
        match = store.begin(info)
        for n in range(1, 100):
            store.append(match, event(n))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert "is damaged; put it aside" in message_of(path, read_only=False)
    with pytest.raises(StoreError, match="is damaged; put it aside"), Store.open(path, read_only=True) as store:
        store.events(match)


def test_a_locked_store_says_so_and_takes_the_event_afterwards(
    path: Path, store: Store, match: MatchId, event: Make
) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"matches\.db: another program is writing in it"):
        store.append(match, event(1))
    other.execute("ROLLBACK")
    other.close()
    store.append(match, event(1))
    assert store.events(match) == (event(1),)


def test_a_store_at_its_largest_size_loses_nothing(path: Path, store: Store, match: MatchId, event: Make) -> None:
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    kept, error = fill(store, match, event)
    assert error == f"{path}: the disk is full; free some space on it"
    assert kept > 1
    assert store.events(match) == tuple(event(n) for n in range(1, kept + 1))
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.append(match, event(kept + 1))
    assert len(store.events(match)) == kept + 1


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 400 kB; skip the test if that is not permitted."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("this machine lets nobody mount a disk")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@needs_root
def test_a_really_full_disk_loses_nothing(small_disk: Path, info: MatchInfo, event: Make) -> None:
    path = small_disk / "matches.db"
    with Store.open(path) as store:
        match = store.begin(info)
        kept, error = fill(store, match, event)
        assert error == f"{path}: the disk is full; free some space on it"
        assert kept > 10
    with Store.open(path, read_only=True) as store:
        assert store.events(match) == tuple(event(n) for n in range(1, kept + 1))


@needs_root
def test_no_store_can_be_made_on_a_full_disk(small_disk: Path) -> None:
    (small_disk / "film.mp4").write_bytes(bytes(396 * 1024))
    message = message_of(small_disk / "matches.db", read_only=False)
    assert message == f"{small_disk / 'matches.db'}: the disk is full; free some space on it"


@needs_root
def test_a_store_on_a_read_only_disk_is_read_but_not_written(small_disk: Path, info: MatchInfo, event: Make) -> None:
    path = small_disk / "matches.db"
    with Store.open(path) as store:
        match = store.begin(info)
        store.append(match, event(1))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with Store.open(path, read_only=True) as store:
        assert store.events(match) == (event(1),)
    assert "cannot be written; make the disk, the folder and the file writable" in message_of(path, read_only=False)


SHORT_OF_SPACE = """
import json, resource, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from companion.errors import StoreError
from companion.events import Restored
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.open(Path(sys.argv[1]))
keeper = Keeper(store, store.begin(MatchInfo("g", ("R",), "p", datetime(2026, 1, 1, tzinfo=UTC), "k")))
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
n = 0
while keeper.warning is None:
    n += 1
    keeper.append(Restored(t=n / 100, n=n))
first, warning = n, keeper.warning
for n in range(first + 1, first + 300):
    keeper.append(Restored(t=n / 100, n=n))
waiting = len(keeper.waiting)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
keeper.retry(n / 100 + 5)
print(json.dumps([first, warning, waiting, keeper.warning, n]))
keeper.close()
"""


def test_events_that_the_system_refuses_to_write_wait_and_are_written_in_order(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_SPACE, path], check=True, capture_output=True, text=True, timeout=300
    )
    first, warning, waiting, later, last = json.loads(done.stdout)
    assert first > 10
    assert warning.startswith(f"NOT SAVED: 1 event only in memory ({path}: ")
    # Each new attempt first frees some space, so some events are written meanwhile.
    assert 0 < waiting <= last - first + 1
    assert later is None
    with Store.open(path, read_only=True) as store:
        assert [event.n for event in store.events(MatchId(1))] == list(range(1, last + 1))


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_whose_tables_are_garbage_is_damaged(path: Path, info: MatchInfo, *, read_only: bool) -> None:
    with Store.open(path) as store:
        store.begin(info)
    data = path.read_bytes()
    at = data.index(b"CREATE TABLE match")
    path.write_bytes(data[:at] + b"CREATE \xc8\xb7\x90\xff match" + data[at + 18 :])
    with pytest.raises(StoreError, match="is damaged"), Store.open(path, read_only=read_only) as store:
        store.match_ids()
