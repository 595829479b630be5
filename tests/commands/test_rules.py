"""The commands ``games start show legal check play perft`` as scripts use them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from companion.cli import main
from companion.games import available_games, available_tags

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
LATE = "domination 4/6/8/8/2,RG,G,4/8/6/4 -"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program in this process: exit code, standard output, standard error."""

    def command(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return command


def answers(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a command's output, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def test_games_lists_every_game_with_its_kit(run: Run) -> None:
    code, out, _ = run("games", "--json")
    assert code == 0
    assert [row["game"] for row in answers(out)] == [info.name for info in available_games()]
    assert all(row["kit"] and row["players"] for row in answers(out))
    assert len(run("games")[1].splitlines()) == len(available_games())


@pytest.mark.parametrize("tag", available_tags())
def test_start_show_legal_and_perft_agree(run: Run, tag: str) -> None:
    code, start, _ = run("start", tag)
    assert code == 0
    start = start.strip()
    assert start.split()[0] == tag
    assert "to move" in run("show", start)[1]
    moves = run("legal", start)[1].split()
    assert moves == sorted(moves)
    assert run("perft", start, "1")[1].strip() == str(len(moves))
    assert run("play", start, moves[0])[0] == 0


def test_start_takes_two_players_written_out(run: Run) -> None:
    assert run("start", "domination/2")[1].strip() == START


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


def test_check_says_legal(run: Run) -> None:
    assert run("check", START, "c7-c6") == (0, "legal\n", "")
    assert answers(run("check", START, "c7-c6", "--json")[1]) == [{"legal": True, "violations": []}]


def test_check_says_which_rules_are_broken(run: Run) -> None:
    code, out, _ = run("check", "domination 4/6/8/8/3,RGR,4/8/6/3,G R", "d4-d8:2")
    assert code == 1
    assert out == "DOM-5: two pieces go at most two squares; d4 to d8 is four.\n"
    _, out, _ = run("check", START, "b2-c3", "--json")
    assert [v["rule"] for v in answers(out)[0]["violations"]] == ["G-1", "DOM-1", "DOM-4", "DOM-5"]
    assert answers(out)[0]["violations"][-1]["cells"] == ["b2", "c3"]


def test_legal_of_many_is_one_object_a_line(run: Run) -> None:
    code, out, _ = run("legal", "-", "--json", stdin=f"{START}\n\n{LATE}\r\n".encode())
    first, second = answers(out)
    assert code == 0
    assert first["position"] == START
    assert len(first["legal"]) == 68
    assert first["outcome"] is None
    assert second == {"position": LATE, "legal": [], "outcome": {"winner": "G", "rule": "DOM-8"}}


def test_check_of_many_is_one_object_a_line(run: Run) -> None:
    code, out, _ = run("check", "-", "--json", stdin=f"{START}\tc7-c6\n{START}\tc7-d5\n".encode())
    assert code == 0
    assert [answer["legal"] for answer in answers(out)] == [True, False]


def test_a_bad_line_among_many_is_an_error_object(run: Run) -> None:
    lines = [START.encode(), b"\xff\xfe\x00\x1b[31m", b"domination " + b"R" * 100_000, LATE.encode()]
    code, out, err = run("legal", "-", stdin=b"\n".join(lines))
    rows = answers(out)
    assert code == 2
    assert err == ""
    assert ["error" in row for row in rows] == [False, True, True, False]
    assert len(out.splitlines()[2]) < 5000


@pytest.mark.parametrize("line", [START, f"{START}\t", f"{START}\tc7-c99", f"{START}\tc7-c6\tc7-c5", "\tc7-c6"])
def test_a_bad_line_to_check_is_an_error_object(run: Run, line: str) -> None:
    code, out, _ = run("check", "-", stdin=line.encode())
    assert code == 2
    assert "error" in answers(out)[0]


def test_play_gives_the_position_after(run: Run) -> None:
    code, out, _ = run("play", START, "c7-c6", "b6-b7")
    assert code == 0
    assert out.startswith("domination 4/RG,1,G,G,R,R/2,GR,")
    assert out.strip().endswith(" R")


def test_play_stops_at_an_illegal_move(run: Run) -> None:
    code, out, _ = run("play", START, "c7-c6", "c6-c5")
    assert code == 1
    assert out.startswith("c6-c5: G-1: ")
    code, out, _ = run("play", START, "c7-c6", "c6-c5", "--json")
    assert answers(out)[0]["move"] == "c6-c5"


def test_perft_divides(run: Run) -> None:
    code, out, _ = run("perft", START, "2", "--divide")
    *counts, total = out.splitlines()
    assert code == 0
    assert total == "4460"
    assert sum(int(line.split(": ")[1]) for line in counts) == 4460
    assert answers(run("perft", START, "0", "--divide", "--json")[1])[0]["count"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ["start", "dominatoin"],
        ["start", "domination:clasic"],
        ["start", "citadel/3"],
        ["show", "domination"],
        ["legal", ""],
        ["legal", "x" * 100_000],
        ["legal", "domination\n4"],
        ["check", START],
        ["check", START, "a1-b1"],
        ["play", START, "c7-c6:1"],
        ["perft", START, "-1"],
        ["perft", START, "many"],
        ["perft", START, "99"],
        ["perft", START, "1.5"],
        ["perft", START],
        ["start"],
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(run: Run, words: list[str]) -> None:
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert len(err) < 600


def test_an_unknown_game_is_told_the_nearest(run: Run) -> None:
    assert "did you mean domination?" in run("start", "dominatoin")[2]


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(started: Callable[..., subprocess.Popen[bytes]]) -> None:
    words = [sys.executable, "-m", "companion.cli", "legal", "-"]
    process = started(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    try:
        process.stdin.write(f"{START}\n".encode() * 200)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.stderr.read() == b""
    assert process.wait() == 0
