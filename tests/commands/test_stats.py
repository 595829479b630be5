"""`companion stats`: statistics of a club's matches."""

import json
import sqlite3
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from companion.cli import main
from companion.recorder.store import Store
from companion.records.record import save_record
from tests.records.conftest import played


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store with three random matches."""
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        for tag in ("ziggurat", "citadel", "ziggurat"):
            save_record(store, played(tag, plies=20, names=("Ada", "Ben")))
    return path


def stats(path: Path, *words: str) -> int:
    return main(["stats", "--store", str(path), *words])


def test_the_store_is_told_game_by_game(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stats(path, "-o", str(tmp_path / "s.svg")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "citadel: 1 match, 1 open",
        "ziggurat: 2 matches, 2 open",
    ]
    assert any(line.startswith("  illegal acts  Ben 2") for line in lines)
    ET.parse(tmp_path / "s.svg")
    assert stats(path, "--game", "ziggurat", "--json") == 0
    (row,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (row["game"], row["matches"], row["moves"]["n"]) == ("ziggurat", 2, 2)


def test_a_damaged_match_is_left_out_and_named(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("DROP TRIGGER event_is_fixed")
    other.execute("UPDATE event SET body = 'x' WHERE match = 1 AND n = 2")
    other.close()
    assert stats(path) == 0
    out, err = capsys.readouterr()
    assert "ziggurat: 1 match, 1 open" in out
    assert err == "left out, damaged or not begun: 1\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--game", "zigurat"), "there is no game 'zigurat'; did you mean ziggurat?"),
        (("-o", "s.png"), "s.png: this form is not known; end the name with .svg"),
        (("-o", "/none/s.svg"), "/none/s.svg: cannot be written"),
    ],
)
def test_what_cannot_be_told_is_one_line(
    path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    assert stats(path, *words) == 2
    err = capsys.readouterr().err
    assert complaint in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_game_that_nobody_has_played_is_an_empty_list(
    path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert stats(path, "--game", "cheight", *words) == 0
    assert capsys.readouterr() == ("", "")
