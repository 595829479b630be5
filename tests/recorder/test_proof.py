"""The hash chain: intact for appended events, and broken at the right event by every manipulation."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.events import Event
from companion.recorder.chain import first_hash, next_hash
from companion.recorder.proof import Break, find_break
from companion.recorder.store import MatchId, Recorded, Store

Make = Callable[[int], Event]
ALTERED = "it, its grounds, the match's row or an event before it was altered: its hash does not follow"


@pytest.fixture
def kept(store: Store, match: MatchId, event: Make) -> MatchId:
    """Return a match of nine events, the fifth with evidence, the fifth and seventh with grounds."""
    for n in range(1, 10):
        store.append(match, event(n), b"picture" if n == 5 else None, f"grounds {n}" if n in (5, 7) else None)
    return match


def tamper(path: Path, *statements: str) -> None:
    """Modify the file by SQL after dropping its triggers."""
    other = sqlite3.connect(path, isolation_level=None)
    names = other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for (name,) in names:
        other.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert other.execute(statement).rowcount > 0
    other.close()


def test_what_was_appended_holds(store: Store, kept: MatchId) -> None:
    assert find_break(store, kept) is None


def test_a_match_without_events_holds(store: Store, match: MatchId) -> None:
    assert find_break(store, match) is None


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE event SET body = replace(body, 'c3-d3', 'c3-d4') WHERE n = 4", Break(4, ALTERED)),
        ("UPDATE event SET hash = x'00' WHERE n = 4", Break(4, ALTERED)),
        ("UPDATE event SET evidence = x'00' WHERE n = 4", Break(4, ALTERED)),
        ("UPDATE event SET evidence = NULL WHERE n = 5", Break(5, ALTERED)),
        ("UPDATE event SET kind = 'illegal' WHERE n = 4", Break(4, "it does not say what its row says")),
        ("UPDATE evidence SET content = x'00' WHERE n = 5", Break(5, "its evidence was altered")),
        ("UPDATE grounds SET body = 'other' WHERE n = 7", Break(7, ALTERED)),
        ("DELETE FROM grounds WHERE n = 5", Break(5, ALTERED)),
        ("INSERT INTO grounds VALUES (1, 4, 'invented')", Break(4, ALTERED)),
        ("UPDATE match SET kit = 'other'", Break(1, ALTERED)),
        ("UPDATE match SET started_at = '2020-01-01T00:00:00+00:00'", Break(1, ALTERED)),
        ("DELETE FROM event WHERE n = 1", Break(2, "event 1 is missing")),
        ("DELETE FROM event WHERE n = 4", Break(5, "event 4 is missing")),
        ("UPDATE event SET body = CAST(x'ff00fe' AS TEXT) WHERE n = 4", Break(4, ALTERED)),
    ],
)
def test_a_change_breaks_the_chain_at_its_event(
    path: Path, store: Store, kept: MatchId, statement: str, expected: Break
) -> None:
    tamper(path, statement)
    assert find_break(store, kept) == expected


@pytest.mark.parametrize("change", ["folder = '/films/b'", "from_s = 9.0", "from_s = 9e999", "hash = x'00'"])
def test_an_altered_row_of_a_recording_is_found(path: Path, store: Store, kept: MatchId, change: str) -> None:
    store.add_recording(kept, Recorded(Path("/films/a"), 1.5))
    assert find_break(store, kept) is None
    tamper(path, f"UPDATE recording SET {change}")
    broken = find_break(store, kept)
    assert broken is not None
    assert broken.n == 0
    assert "its recording in /films/" in broken.why


def test_a_recording_of_an_older_store_is_taken_as_it_is(path: Path, store: Store, kept: MatchId) -> None:
    store.add_recording(kept, Recorded(Path("/films/a"), 1.5))
    tamper(path, "UPDATE recording SET hash = NULL")
    assert find_break(store, kept) is None


def test_two_events_exchanged_break_the_chain(path: Path, store: Store, kept: MatchId) -> None:
    swap = "UPDATE event SET n = CASE n WHEN 3 THEN -4 WHEN 4 THEN -3 END WHERE n IN (3, 4)"
    tamper(path, swap, "UPDATE event SET n = -n WHERE n < 0")
    assert find_break(store, kept) == Break(3, ALTERED)


def test_evidence_dropped_for_space_leaves_the_chain_whole(path: Path, store: Store, kept: MatchId) -> None:
    tamper(path, "DELETE FROM evidence")
    assert store.evidence(kept, 5) is None
    assert find_break(store, kept) is None


def test_damage_in_one_match_leaves_the_others_whole(path: Path, store: Store, kept: MatchId, event: Make) -> None:
    other = store.begin(store.info(kept))
    store.append(other, event(1))
    tamper(path, f"UPDATE event SET body = '' WHERE match = {kept} AND n = 1")
    assert find_break(store, kept) == Break(1, ALTERED)
    assert find_break(store, other) is None


def test_the_hash_is_the_one_that_is_documented() -> None:
    # Computed once with sha256sum: a change of the chain would break every stored match.
    before = first_hash(("domination", "[]", "p", "2026-11-21T19:30:00+00:00", "domination"))
    assert before.hex() == "2e584d5f6ee1470537754eb0e2e69fe4cd99470027fde252904dbee947ddc430"
    assert next_hash(before, "{}", None).hex() == "5c270a320554949d3b5a3c50aa75c8683a8dc340599e40d58e403691ab1c7b64"
    assert next_hash(before, "{}", bytes(31) + b"\x01") != next_hash(before, "{}", None)
