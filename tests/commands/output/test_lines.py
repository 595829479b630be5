"""Lines written by several threads."""

import sys

import pytest

from companion.commands.output.lines import notify


class Wire:
    """A standard error that records each write."""

    def __init__(self) -> None:
        self.writes = list[str]()

    def write(self, text: str) -> None:
        self.writes.append(text)

    def flush(self) -> None:
        pass


def test_a_line_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line takes a single write, so that another thread's line cannot begin within it.

    A program that reads lines would otherwise wait forever.
    """
    wire = Wire()
    monkeypatch.setattr(sys, "stderr", wire)
    notify("hall: http://127.0.0.1:8000/")
    assert wire.writes == ["hall: http://127.0.0.1:8000/\n"]
