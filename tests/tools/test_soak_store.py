"""A short version of the kill campaign: nothing shown is lost, and the match goes on."""

import sqlite3
from pathlib import Path

import pytest

from tools.soak_store import Tally, campaign, check_store, play_and_kill


@pytest.mark.slow
def test_nothing_that_was_shown_is_lost_by_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.soak_store.MAX_LINES", 20)
    tally = campaign(tmp_path / "m.db", kills=3, seed=5)
    assert (tally.kills, tally.lost, tally.unreadable) == (3, 0, 0)
    assert tally.shown >= 3
    assert tally.resumed >= 1


@pytest.mark.slow
def test_a_loss_would_be_noticed(tmp_path: Path) -> None:
    path, tally = tmp_path / "m.db", Tally()
    lines = play_and_kill(path, "domination", 1, 6, 0.0)
    check_store(path, lines, tally)
    assert (tally.lost, tally.shown) == (0, len(lines) - 1)
    other = sqlite3.connect(path, isolation_level=None)
    for table in ("evidence", "grounds", "event"):
        other.execute(f"DROP TRIGGER IF EXISTS {table}_is_kept")
        other.execute(f"DROP TRIGGER IF EXISTS {table}_are_kept")
        # A later event may have been committed, but not shown before the kill.
        other.execute(f"DELETE FROM {table} WHERE n >= ?", (lines[-1]["n"],))
    other.close()
    check_store(path, lines, tally)
    assert tally.lost == 1
    assert lines[-1]["n"] == len(lines) - 1
