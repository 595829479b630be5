"""Progress of long work: shown on a terminal, and nowhere else."""

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import suppress
from threading import Event
from typing import TextIO

import pytest
from rich.status import Status

from companion.cli import main
from companion.commands.output import progress
from companion.commands.output.progress import progress_status, track_progress
from companion.recorder.store import Store
from companion.records.record import save_record
from tests.records.conftest import played

PATIENCE_S = 60.0


class Terminal:
    """A terminal, and what is written to it."""

    def __init__(self, master: int, stream: TextIO) -> None:
        self._stream, self._master = stream, master

    def is_stderr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make it the standard error; only in the test itself, because pytest resets it between fixture and test."""
        monkeypatch.setattr(sys, "stderr", self._stream)

    def said(self) -> str:
        """Close the terminal and return all that was written; only then is nothing still buffered."""
        self._stream.close()
        said = b""
        with suppress(OSError):  # a closed terminal raises this after its last byte
            while piece := os.read(self._master, 65536):
                said += piece
        return said.decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Return a pseudo-terminal."""
    master, slave = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        yield Terminal(master, stream)
    os.close(master)


def test_elsewhere_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_status("compiling"):
        assert list(track_progress(iter("abc"), 3, "drawing")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_a_bar_goes_to_its_end_and_away(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.is_stderr(monkeypatch)
    assert list(track_progress(iter("abc"), 3, "drawing")) == ["a", "b", "c"]
    said = terminal.said()
    assert "drawing" in said
    assert "100%" in said
    assert said.endswith("\x1b[2K")


def test_what_takes_long_is_said_and_what_does_not_is_not(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.is_stderr(monkeypatch)
    is_said, start = Event(), Status.start

    def started(status: Status) -> None:
        start(status)
        is_said.set()

    monkeypatch.setattr(Status, "start", started)
    monkeypatch.setattr(progress, "SHORT_S", PATIENCE_S)
    with progress_status("compiling"):
        pass
    monkeypatch.setattr(progress, "SHORT_S", 0.0)
    with progress_status("drawing"):
        assert is_said.wait(PATIENCE_S)
    said = terminal.said()
    assert "drawing" in said
    assert "compiling" not in said


@pytest.mark.parametrize("words", [["verify"], ["export", "1", "-o", "FILE"]])
def test_what_is_printed_stays_whole_beside_it(tmp_path, capsys, terminal, monkeypatch, words) -> None:
    with Store.open(tmp_path / "m.db") as store:
        save_record(store, played("ziggurat", plies=3))
    words = [str(tmp_path / "m.mp4") if word == "FILE" else word for word in words]
    terminal.is_stderr(monkeypatch)
    assert main([*words, "--store", str(tmp_path / "m.db")]) == 0
    assert capsys.readouterr().out in ("1 match: 1 holds, 0 break\n", "")
    assert "100%" in terminal.said()
