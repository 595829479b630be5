"""`companion show`."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from tests.commands.conftest import LATE, START, Run, answers


def test_show_draws_the_board(run: Run) -> None:
    assert run("show", START)[1].splitlines()[1:3] == [" 7   R R G G R R", " 6 . G G R R G G ."]
    (answer,) = answers(run("show", START, "--json")[1])
    assert answer["board"].splitlines()[-1] == "to move: Red"


def test_show_names_the_winner(run: Run) -> None:
    assert "won by: Green (DOM-8)" in run("show", LATE)[1]


def test_show_writes_a_picture(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "start.svg"
    assert run("show", START, "--svg", str(picture))[0] == 0
    root = ET.fromstring(picture.read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")
    assert root[0].text == START


def test_show_says_where_it_cannot_write(run: Run, tmp_path: Path) -> None:
    code, _, err = run("show", START, "--svg", str(tmp_path / "none" / "start.svg"))
    assert code == 2
    assert "start.svg" in err
    assert len(err.splitlines()) == 1
