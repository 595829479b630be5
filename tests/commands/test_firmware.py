"""`companion firmware` as a process with a pseudo-terminal, and queries to the controller behind it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.cli import main

WAIT_S = 300
PLAYED_S = 3.0
"""Time (s) in the file at which a pillar has risen; long enough for a slow machine to read the earlier height."""


@pytest.fixture
def running(tmp_path: Path, started: Callable[..., subprocess.Popen[str]]) -> Iterator[Callable[..., Path]]:
    """Return a function that starts the command and returns the port's path once it exists."""
    processes: list[subprocess.Popen[str]] = []
    path = tmp_path / "pillars"

    def start(*words: str) -> Path:
        command = [sys.executable, "-m", "companion.cli", "firmware", *words, "--link", str(path)]
        processes.append(started(command, stdout=subprocess.PIPE, text=True))
        assert processes[-1].stdout is not None
        assert processes[-1].stdout.readline().startswith("firmware 1.")
        return path

    yield start
    for process in processes:
        process.terminate()
        assert process.wait() == 0
    assert not path.is_symlink()


def asked(path: Path, *words: str) -> int:
    """Query the controller; return the exit code."""
    return main(["firmware", "--serial", str(path), *words])


def test_levels_are_served_until_it_is_ended(running, capsys) -> None:
    path = running("--levels", "3,1,1,1,1/" * 4 + "3,1,1,1,6")
    assert asked(path) == 0
    out = capsys.readouterr().out
    assert "protocol 1.0" in out
    assert "not calibrated" in out
    rows = [line.split(" mm") for line in out.splitlines()[1:6]]
    heights = [float(row[0]) for row in rows]
    assert heights == pytest.approx([42.0] * 5, abs=1.5)
    # The last rank of the text is the first rank of the board, which is printed at the bottom.
    assert float(rows[-1][-2]) == pytest.approx(72.0, abs=1.5)


def test_a_file_is_played_from_the_hosts_first_word_on(running, tmp_path, capsys) -> None:
    cells = [f"{file}{rank}" for rank in range(1, 6) for file in "abcde"]
    csv = tmp_path / "sensors.csv"
    rows = [f"{t},{mm}" + ",42.0" * 24 for t, mm in ((0.0, 12.0), (PLAYED_S, 72.0))]
    csv.write_text("\n".join(["t_s," + ",".join(cells), *rows]))
    path = running("--csv", str(csv))
    time.sleep(PLAYED_S)  # the file waits for the host
    assert asked(path) == 0
    told = capsys.readouterr().out.splitlines()[5]
    assert told.strip().startswith("12.") or told.strip().startswith("11.")
    until = time.monotonic() + WAIT_S
    while not told.strip().startswith(("71.", "72.")):
        assert time.monotonic() < until
        assert asked(path) == 0
        told = capsys.readouterr().out.splitlines()[5]


def test_faults_are_seen(running, capsys) -> None:
    path = running("--levels", "3", "--fault", "open:c3@0", "short:a1@0", "--fault", "jam:b1@0")
    assert asked(path) == 1
    out = capsys.readouterr().out
    assert "c3: open" in out
    assert "a1: short" in out
    assert "b1" not in out


def test_calibration_says_what_is_wrong(running, capsys) -> None:
    path = running("--levels", "3")
    assert asked(path, "--calibrate", "lowest") == 0
    assert asked(path, "--calibrate", "highest") == 1
    assert "first to the lowest level, then to the highest" in capsys.readouterr().err


WRONG = {
    "no link": (["--levels", "3"], "--link is missing"),
    "too few levels": (["--levels", "3,4"], "expected 25 levels from 0 to 6, found 2 of them"),
    "no level": (["--levels", "7"], "found '7'"),
    "no file": (["--csv", "no.csv"], "no.csv: cannot be read"),
    "no fault": (["--levels", "3", "--fault", "melt@1"], "names: open, short"),
    "no kit with pillars": (["--levels", "3", "--kit", "domination"], "the kit domination has no pillars"),
    "no port": (["--serial", "/dev/no-pillars"], "is the pillar controller plugged in"),
    "not for a simulated one": (["--levels", "3", "--calibrate", "lowest"], "give it with --serial"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_one_line(case: str, tmp_path, capsys) -> None:
    words, says = WRONG[case]
    needs_link = "--serial" not in words and case != "no link"
    assert main(["firmware", *words, *(["--link", str(tmp_path / "p")] if needs_link else [])]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_a_port_without_a_controller_is_told(tmp_path, capsys) -> None:
    mine, theirs = os.openpty()
    assert asked(Path(os.ttyname(theirs))) == 2
    assert "no pillar controller answers there" in capsys.readouterr().err
    os.close(mine)
    os.close(theirs)
