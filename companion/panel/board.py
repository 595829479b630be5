"""The panel on a terminal for people: lines scroll by, and the board stays below them, in colour."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from companion.errors import CompanionError
from companion.games import read_position
from companion.panel.panel import Announcement, PanelDisplay
from companion.panel.terminal import format_line
from companion.rules.drawing import draw_text
from companion.rules.game import Game
from companion.scene.display_kit import complete_kit, player_colours

MIN_ROWS = 24
"""Least number of rows: on a smaller terminal the board would leave no room for the lines."""

RANK_COLUMNS = 3
"""Columns that the rank's number takes in a line of the board."""

LIGHT_INK, DARK_INK = "#ffffff", "#1c1a17"


class BoardPanel:
    """Writes each sentence once, and draws the last position in place."""

    def __init__(self, stream: TextIO) -> None:
        """``stream`` is a terminal; it is never closed."""
        self._console = Console(file=stream, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="visible")
        self._live.start()
        self._written: Announcement | None = None
        self._position = ""

    def show(self, shown: PanelDisplay) -> None:
        """Write the sentence above the board, unless it is already there."""
        if shown.said is not None and shown.said is not self._written:
            self._written = shown.said
            self._console.print(Text.from_ansi(format_line(shown.said, shown.turn, has_colour=True)))
        if shown.position != self._position:
            self._position = shown.position
            self._live.update(board(shown.position), refresh=True)

    def close(self) -> None:
        """Leave the board on the screen; a second call does nothing."""
        self._live.stop()


def suits(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal with room for a board."""
    return stream.isatty() and Console(file=stream).size.height >= MIN_ROWS


def board(text: str) -> Text:
    """The board of a position's text, every piece in its player's colour; empty if there is no position."""
    try:
        game, position = read_position(text)
    except CompanionError:
        return Text("")
    styles = _styles(game)
    drawn = Text("\n")
    for i, line in enumerate(draw_text(game, position).splitlines()):
        drawn.append(line[:RANK_COLUMNS], "dim")
        for letter in line[RANK_COLUMNS:]:
            drawn.append(letter, styles.get(letter, "") if i < game.layout.ranks else "dim")
        drawn.append("\n")
    return drawn


def _styles(game: Game) -> dict[str, str]:
    """The style in which each piece is written."""
    colours = player_colours(game, complete_kit(game, None))
    styles = {}
    for piece in game.pieces:
        owner = game.owner(piece)
        if owner is None:
            styles[piece] = "bold reverse"
        else:
            red, green, blue = bytes.fromhex(colours[owner][1:])
            ink = DARK_INK if 2 * red + 5 * green + blue > 8 * 128 else LIGHT_INK
            styles[piece] = f"bold {ink} on {colours[owner]}"
    return styles
