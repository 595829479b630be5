"""The panel on a terminal: one line a sentence, also readable in a log.

``0:12.4  * accepted      R  Green played c3-d3. Red to move.``: time, status light, what it shows, whose turn, words.
"""

from __future__ import annotations

from typing import TextIO

from companion.panel.cues import OFF, Colour
from companion.panel.panel import Announcement, PanelDisplay

NAME_WIDTH = 13
"""Columns for the longest name of a cue, ``sensors fault``."""


class TerminalPanel:
    """Writes each sentence once, when it comes.

    Args:
        stream: where to write; never closed.
        has_colour: whether the status light is written in colour.
    """

    def __init__(self, stream: TextIO, *, has_colour: bool = False) -> None:
        self._stream = stream
        self._has_colour = has_colour
        self._written: Announcement | None = None

    def show(self, shown: PanelDisplay) -> None:
        """Write the sentence, unless it is already there."""
        # Compared by identity: the same words said again are a new line.
        if shown.said is None or shown.said is self._written:
            return
        self._written = shown.said
        line = format_line(shown.said, shown.turn, has_colour=self._has_colour)
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(line.encode(encoding, "replace").decode(encoding) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: what is written stays."""


def format_line(said: Announcement, turn: tuple[str, ...], *, has_colour: bool) -> str:
    """The line of a sentence, without its line break."""
    light = _dot(said.colour) if has_colour else "*"
    return f"{format_time(said.t):>8}  {light} {said.name:<{NAME_WIDTH}} {''.join(turn) or '-'}  {said.text}"


def format_time(t: float | None) -> str:
    """Seconds as ``minutes:seconds.tenths``; empty for None.  Truncated, not rounded: 59.99 is 0:59.9."""
    if t is None:
        return ""
    tenths = int(t * 10)
    return f"{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"


def _dot(colour: Colour) -> str:
    """A dot in ``colour`` by the terminal's 24-bit escape sequence; hollow if the light is off."""
    if colour == OFF:
        return "o"
    red, green, blue = (round(255 * part) for part in colour)
    return f"\x1b[38;2;{red};{green};{blue}m●\x1b[0m"
