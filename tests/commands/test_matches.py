"""`companion matches`: lists stored matches, and reports damaged ones."""

import json
import time
from pathlib import Path

import pytest

from companion.cli import main
from tests.commands.conftest import CALLED_OFF, REOPENED, RULED, WON, keep, tamper


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "matches.db"


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the time zone to Berlin."""
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


@pytest.mark.parametrize("command", ["matches", "stats", "verify"])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_who_has_not_played_yet_gets_an_empty_list(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "new"))
    assert main([command, *words]) == 0
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("no match has been kept yet")
    assert not (tmp_path / "new").exists()
