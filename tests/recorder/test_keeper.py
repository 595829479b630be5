"""A match goes on while its disk fails, with a warning, and is written in full once there is space again."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.events import Event
from companion.recorder.keeper import RETRY_S, Keeper
from companion.recorder.store import MatchId, Store

Make = Callable[[int], Event]


@pytest.fixture
def keeper(store: Store, match: MatchId) -> Iterator[Keeper]:
    keeper = Keeper(store, match)
    yield keeper
    keeper.store.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the store against other writers."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def test_a_good_disk_gives_no_warning(keeper: Keeper, event: Make) -> None:
    keeper.append(event(1), b"picture")
    assert (keeper.warning, keeper.waiting) == (None, ())
    assert keeper.store.events(keeper.match) == (event(1),)
    assert keeper.store.evidence(keeper.match, 1) == b"picture"


def test_a_failing_disk_is_said_at_once_and_the_events_wait(path: Path, keeper: Keeper, event: Make) -> None:
    keeper.append(event(1))
    with locked(path):
        keeper.append(event(2), b"picture")
        assert keeper.warning is not None
        assert keeper.warning.startswith(f"NOT SAVED: 1 event only in memory ({path}: another program is writing in it")
        keeper.append(event(3))
        assert keeper.warning.startswith("NOT SAVED: 2 events only in memory")
        assert keeper.waiting == (event(2), event(3))
    keeper.retry(event(3).t + RETRY_S)
    assert (keeper.warning, keeper.waiting) == (None, ())
    assert keeper.store.events(keeper.match) == (event(1), event(2), event(3))
    assert keeper.store.evidence(keeper.match, 2) == b"picture"


def test_the_next_event_brings_the_waiting_ones_along(path: Path, keeper: Keeper, event: Make) -> None:
    with locked(path):
        keeper.append(event(1))
    keeper.append(event(2))
    assert keeper.warning is None
    assert keeper.store.events(keeper.match) == (event(1), event(2))


def test_a_failing_disk_is_not_tried_at_every_turn(path: Path, keeper: Keeper, event: Make) -> None:
    with locked(path):
        keeper.append(event(1))
    keeper.retry(event(1).t + 0.9 * RETRY_S)
    assert keeper.waiting == (event(1),)
    keeper.retry(event(1).t + RETRY_S)
    assert keeper.waiting == ()


def test_a_disk_that_was_pulled_out_is_not_replaced_by_an_empty_store(path: Path, keeper: Keeper, event: Make) -> None:
    with locked(path):
        keeper.append(event(1))
    aside = path.with_name("aside.db")
    path.rename(aside)
    keeper.retry(event(1).t + RETRY_S)
    assert (
        keeper.warning
        == f"NOT SAVED: 1 event only in memory ({path}: is gone (No such file or directory); put its disk back)"
    )
    assert not path.exists()
    aside.rename(path)
    keeper.retry(event(1).t + 2 * RETRY_S)
    assert keeper.warning is None
    assert keeper.store.events(keeper.match) == (event(1),)


def test_an_event_whose_picture_finds_no_room_is_written_without_it(
    path: Path, keeper: Keeper, event: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Store.append

    def append(
        store: Store, match: MatchId, event: Event, evidence: bytes | None = None, grounds: str | None = None
    ) -> None:
        if evidence is not None and len(evidence) > 100:
            raise StoreError(f"{path}: the disk is full")
        whole(store, match, event, evidence, grounds)

    monkeypatch.setattr(Store, "append", append)
    for n, evidence in (1, None), (2, bytes(1000)), (3, b"small"), (4, bytes(1000)), (5, None):
        keeper.append(event(n), evidence, f"grounds {n}")
    assert keeper.waiting == ()
    assert keeper.store.events(keeper.match) == tuple(event(n) for n in range(1, 6))
    assert [keeper.store.evidence(keeper.match, n) for n in (2, 3, 4)] == [None, b"small", None]
    assert [record.grounds for record in keeper.store.records(keeper.match)] == [f"grounds {n}" for n in range(1, 6)]


def test_closing_tries_once_more(path: Path, keeper: Keeper, event: Make) -> None:
    with locked(path):
        keeper.append(event(1))
    keeper.close()
    with Store.open(path, read_only=True) as reader:
        assert reader.events(keeper.match) == (event(1),)


def test_closing_with_events_unwritten_fails_and_keeps_them(path: Path, keeper: Keeper, event: Make) -> None:
    with locked(path):
        keeper.append(event(1))
        with pytest.raises(StoreError, match=rf"NOT SAVED: 1 event of match {keeper.match} \({path}"):
            keeper.close()
    assert keeper.waiting == (event(1),)
