"""The writing program is killed at random moments: confirmed events are kept, and the store can be opened."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.recorder.proof import find_break
from companion.recorder.store import Store

KILLS = 20

WRITER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from companion.events import Accepted
from companion.recorder.store import MatchInfo, Store

os.write(1, b"opening\\n")
store = Store.open(Path(sys.argv[1]))
match = store.begin(MatchInfo("domination", ("R", "G"), "p", datetime(2026, 1, 1, tzinfo=UTC), "domination"))
for n in range(1, 100_000):
    store.append(match, Accepted(t=float(n), n=n, player="R", move="c3-d3", position="p" * 130), b"x" * (n % 7000))
    os.write(1, b"%d\\n" % n)
"""


Started = Callable[..., subprocess.Popen[bytes]]


def kill_after(started: Started, path: Path, lines: int) -> int:
    """Start a writer, kill it after ``lines`` lines, and return the last event that it confirmed."""
    writer = started([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(lines):
        assert writer.stdout.readline().endswith(b"\n")
    writer.kill()
    rest = [line for line in writer.stdout.read().split(b"\n") if line.isdigit()]
    writer.wait()
    return int(rest[-1]) if rest else max(0, lines - 1)


@pytest.mark.slow
def test_no_event_that_was_called_kept_is_lost_by_a_kill(path: Path, started: Started) -> None:
    chance = random.Random(8)
    for _ in range(KILLS):
        kept = kill_after(started, path, chance.randrange(2, 300))
        with Store.open(path) as store:
            match = store.match_ids()[-1]
            events = store.events(match)
            assert [event.n for event in events] == list(range(1, len(events) + 1))
            # The event being written during the kill may be stored or not.
            assert kept <= len(events) <= kept + 1
            assert find_break(store, match) is None
    with Store.open(path, read_only=True) as store:
        assert len(store.match_ids()) == KILLS


@pytest.mark.slow
def test_a_store_killed_while_it_is_made_can_be_opened(tmp_path: Path, started: Started) -> None:
    for kill in range(5):
        path = tmp_path / f"{kill}.db"
        kept = kill_after(started, path, 1)
        with Store.open(path) as store:
            assert all(find_break(store, match) is None for match in store.match_ids())
            assert sum(len(store.events(match)) for match in store.match_ids()) >= kept
