"""`companion matches` and `companion verify`, through the command line itself."""

import json
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.cli import main
from companion.events import Accepted, Corrected, Event, GameOver, Start, TakenBack
from companion.recorder.store import MatchInfo, Store

BEFORE = "domination 4/6/8/8/2,G,5/2,R,5/6/4 R"
AFTER = "domination 4/6/8/8/2,GR,5/8/6/4 -"
WON: tuple[Event, ...] = (
    Start(t=0.0, n=1, position=BEFORE),
    Accepted(t=2.5, n=2, player="R", move="c3-c4", position=AFTER),
    GameOver(t=2.5, n=3, winner="R", rule="DOM-8", position=AFTER),
)
REOPENED: tuple[Event, ...] = (*WON, TakenBack(t=9.0, n=4, moves=("c3-c4",), position=BEFORE))
RULED: tuple[Event, ...] = (
    WON[0],
    Corrected(t=1.0, n=2, by="Ada", move="c3-c4"),
    GameOver(t=1.0, n=3, winner="R", rule="DOM-8", position=AFTER),
)
CALLED_OFF: tuple[Event, ...] = (WON[0], GameOver(t=1.0, n=2, winner=None, rule="arbiter", position=BEFORE))


def keep(path: Path, *matches: tuple[Event, ...], names: tuple[str, ...] = ()) -> None:
    with Store.open(path) as store:
        for events in matches:
            begun = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
            match = store.begin(MatchInfo("domination", ("R", "G"), BEFORE, begun, "domination", names))
            for event in events:
                store.append(match, event)


def tamper(path: Path, statement: str) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        other.execute(f"DROP TRIGGER {name}")
    assert other.execute(statement).rowcount > 0
    other.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "matches.db"


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()


def test_matches_are_listed_for_people(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, WON, REOPENED, RULED, CALLED_OFF, ())
    keep(path, WON, names=("Ada", "Émile"))
    assert main(["matches", "--store", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "   1  domination           RG                   2026-11-21 20:30      1 move  R won (DOM-8)",
        "   2  domination           RG                   2026-11-21 20:30     0 moves  open",
        "   3  domination           RG                   2026-11-21 20:30      1 move  R won (DOM-8)",
        "   4  domination           RG                   2026-11-21 20:30     0 moves  drawn (arbiter)",
        "   5  domination           RG                   2026-11-21 20:30     0 moves  open",
        "   6  domination           Ada, Émile           2026-11-21 20:30      1 move  R won (DOM-8)",
    ]


def test_matches_are_listed_for_programs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, WON)
    keep(path, (), names=("Ada", "Émile"))
    assert main(["matches", "--store", str(path), "--json"]) == 0
    common = {"game": "domination", "players": ["R", "G"], "date": "2026-11-21T19:30:00+00:00"}
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"match": 1, **common, "names": [], "moves": 1, "result": {"winner": "R", "rule": "DOM-8"}},
        {"match": 2, **common, "names": ["Ada", "Émile"], "moves": 0, "result": None},
    ]


def test_the_default_store_is_used_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    keep(tmp_path / "matches.db", WON)
    assert main(["verify", "last"]) == 0
    assert capsys.readouterr().out == "match 1 holds: 3 events, 1 accepted moves, all by the rules, chain whole\n"


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
    assert lines[1:] == ["3 matches: 2 hold, 1 break"]
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


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = 'x' WHERE n = 3",
        "UPDATE match SET started_at = 'yesterday'",
        "UPDATE match SET started_at = '2026-01-01'",
        "UPDATE match SET started_at = '0001-01-01T00:00:00+00:00'",
        "UPDATE match SET players = '{\"a\": 1}'",
        "UPDATE match SET players = '['",
        "UPDATE match SET players = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_damaged_match_does_not_hide_the_others(
    path: Path, capsys: pytest.CaptureFixture[str], statement: str
) -> None:
    keep(path, WON, WON)
    tamper(path, f"{statement} {'AND match' if 'WHERE' in statement else 'WHERE id'} = 1")
    assert main(["matches", "--store", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "   1  damaged",
        "   2  domination           RG                   2026-11-21 20:30      1 move  R won (DOM-8)",
    ]
    assert err.startswith(f"companion matches: {path}: ")
    assert err.endswith("; `companion verify MATCH` says more\n")
    assert err.count("\n") == 1
    assert main(["verify", "1", "--store", str(path)]) == 1


def test_a_damaged_match_is_named_to_programs_too(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, WON)
    tamper(path, "UPDATE event SET body = 'x' WHERE n = 3")
    assert main(["matches", "--store", str(path), "--json"]) == 2
    row = json.loads(capsys.readouterr().out)
    assert row["damage"].startswith(f"{path}: event 3 of match 1 is damaged (not JSON: ")


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


def test_a_store_without_matches_is_listed_empty_and_has_no_last(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(path)
    assert main(["matches", "--store", str(path)]) == 0
    assert main(["verify", "last", "--store", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"companion verify: {path}: holds no match yet; `companion matches` lists them\n"


@pytest.mark.parametrize("command", [["matches"], ["verify", "last"]])
@pytest.mark.parametrize("store", ["/etc/passwd", "/etc", "/none/matches.db", "none.db", "x" * 300])
def test_what_is_no_store_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], store: str
) -> None:
    path = tmp_path / store
    assert main([*command, "--store", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"companion {command[0]}: {path}: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_truncated_store_is_one_line(path: Path, capsys: pytest.CaptureFixture[str], share: float) -> None:
    keep(path, *[WON] * 100)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    for command in (["matches"], ["verify", "last"]):
        assert main([*command, "--store", str(path)]) == 2
        err = capsys.readouterr().err
        assert "damaged" in err
        assert err.count("\n") == 1
