"""`companion verify`: integrity and legality of stored matches."""

import json
from pathlib import Path

import pytest

from companion.cli import main
from companion.events import Accepted, Event
from tests.commands.conftest import AFTER, CALLED_OFF, REOPENED, RULED, WON, keep, tamper


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "matches.db"


def test_the_default_store_is_used_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    keep(tmp_path / "matches.db", WON)
    assert main(["verify", "last"]) == 0
    assert capsys.readouterr().out == "match 1 holds: 3 events, 1 accepted move, all by the rules, chain whole\n"


@pytest.mark.parametrize("events", [WON, REOPENED, RULED, CALLED_OFF, ()])
def test_a_true_match_is_verified(path: Path, capsys: pytest.CaptureFixture[str], events: tuple[Event, ...]) -> None:
    keep(path, WON, events)
    assert main(["verify", "2", "--store", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"match": 2, "events": len(events), "ok": True, "faults": []}


def test_an_untrue_match_is_shown_where_it_breaks(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, (WON[0], Accepted(t=1, n=2, player="R", move="c3-c5", position=AFTER)))
    assert main(["verify", "last", "--store", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("match 1 breaks at event 2: c3-c5 is not legal: DOM-5, ")
    assert out.count("\n") == 1


def test_an_altered_match_is_shown_where_it_breaks(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, WON)
    tamper(path, "UPDATE event SET body = replace(body, 'c3-c4', 'c3-b3') WHERE n = 2")
    assert main(["verify", "1", "--store", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], [fault["n"] for fault in found["faults"]]) == (False, [2, 2])
    assert "its hash does not follow" in found["faults"][0]["why"]
    assert "the position is 'domination " in found["faults"][1]["why"]


def test_all_matches_are_verified_at_once(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, WON, RULED, (WON[0], Accepted(t=1, n=2, player="R", move="c3-c5", position=AFTER)))
    assert main(["verify", "--store", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("match 3 breaks at event 2: c3-c5 is not legal")
    assert lines[1:] == ["3 matches: 2 hold, 1 breaks"]
    assert main(["verify", "all", "--store", str(path), "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["match"], row["ok"]) for row in rows] == [(1, True), (2, True), (3, False)]


GARBAGE = [
    "x",
    "[]",
    '{"event":"accepted"}',
    '{"event":"accepted","t":0,"n":2,"player":5,"move":[],"position":{}}',
    '{"event":"accepted","t":0,"n":2,"player":"R","move":"\\ud800","position":"\\u001b[2J\\n"}',
    '{"event":"accepted","t":1e999,"n":2,"player":"R","move":"c3-c4","position":""}',
]


@pytest.mark.parametrize("body", GARBAGE)
def test_garbage_in_an_event_is_one_line(path: Path, capsys: pytest.CaptureFixture[str], body: str) -> None:
    keep(path, WON)
    tamper(path, f"UPDATE event SET body = '{body}' WHERE n = 2")
    assert main(["verify", "last", "--store", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("match 1 breaks at event 2: ") and line.isprintable() for line in lines)
    assert 1 <= len(lines) <= 2


@pytest.mark.parametrize("name", ["0", "3", "-1", "first", "", "1e0", "²", "9" * 500, "\x1b[2J"])
def test_a_match_that_is_not_there_is_one_line(path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    keep(path, WON, WON)
    arguments = ["verify", "--store", str(path), "--", name]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"companion verify: {path}: holds matches 1 to 2 and no '")
    assert err.count("\n") == 1
    assert err.strip().isprintable()


def test_a_single_match_is_no_plural(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, WON)
    assert main(["verify", "--store", str(path)]) == 0
    assert capsys.readouterr().out == "1 match: 1 holds, 0 break\n"
