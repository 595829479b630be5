"""The board on a terminal, redrawn in place."""

from __future__ import annotations

import io
import re

import pytest

from companion.games import available_tags, load_game
from companion.panel.board import BoardPanel, board, suits
from companion.panel.choice import open_panel
from companion.panel.cue_player import Lights
from companion.panel.panel import Announcement, PanelDisplay
from companion.rules.drawing import draw_text
from companion.rules.notation import format_position

GAME = load_game("domination")
START = format_position(GAME, GAME.start())
UP = "\x1b[1A"
"""Escape sequence that moves the cursor up a line, so that the line is overwritten."""


class Terminal(io.StringIO):
    """A terminal in memory."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal of 100 × 40 characters with colours."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


@pytest.mark.parametrize("tag", available_tags())
def test_the_board_is_the_one_that_is_drawn_with_characters(tag: str) -> None:
    game = load_game(tag)
    drawn = board(format_position(game, game.start()))
    assert drawn.plain.strip("\n").splitlines() == draw_text(game, game.start()).splitlines()
    is_coloured = any("on #" in str(span.style) for span in drawn.spans)
    assert is_coloured == any(game.start().board), "pieces are in their players' colours"


def test_a_line_comes_above_the_board_and_the_board_is_written_over(terminal: Terminal) -> None:
    panel = BoardPanel(terminal)
    panel.show(PanelDisplay(Lights(), said=Announcement("start", "The match begins.", 0.0), position=START))
    assert "The match begins." in terminal.getvalue()
    assert UP not in terminal.getvalue()
    panel.show(PanelDisplay(Lights(), said=Announcement("accepted", "Red played.", 1.0), position=START))
    panel.close()
    assert UP in terminal.getvalue()


def test_a_long_sentence_breaks_between_words(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = "Red: b4-a5 is not allowed (DOM-4): a stack goes straight along a rank or file; put it back."
    panel = BoardPanel(terminal)
    panel.show(PanelDisplay(Lights(), said=Announcement("illegal", said, 1.0), position=""))
    panel.close()
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue()).splitlines()]
    assert max(map(len, lines)) <= 40
    assert said in " ".join(filter(None, lines))


def test_a_small_terminal_has_lines_only(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert suits(terminal)
    monkeypatch.setenv("LINES", "12")
    assert not suits(terminal)
    assert not suits(io.StringIO())  # type: ignore[arg-type]


def test_no_board_where_no_colours_are_wanted(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    announcer = open_panel("terminal", ("R", "G"), terminal)
    announcer.close()
    assert terminal.getvalue() == ""
