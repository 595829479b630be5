"""Lines that several threads say."""

import sys

import pytest

from companion.commands.output.lines import notify


class Wire:
    """A standard error that keeps what each write brought."""

    def __init__(self) -> None:
        self.writes = list[str]()

    def write(self, text: str) -> None:
        self.writes.append(text)

    def flush(self) -> None:
        pass


def test_a_line_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a line in two writes another thread's line can begin in the middle, and whoever reads waits for ever."""
    wire = Wire()
    monkeypatch.setattr(sys, "stderr", wire)
    notify("hall: http://127.0.0.1:8000/")
    assert wire.writes == ["hall: http://127.0.0.1:8000/\n"]
