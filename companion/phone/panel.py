"""Phones as a kind of panel: the state that all of them show for one match."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from companion.errors import CompanionError
from companion.languages.language import Language
from companion.panel.cue_player import Lights
from companion.panel.cues import AMBER, BLUE, GREEN, MAGENTA, OFF, RED, WHITE, Colour
from companion.panel.panel import Announcement, PanelDisplay
from companion.voice.library import Library
from companion.voice.wording import clips

COLOURS: Mapping[Colour, str] = MappingProxyType(
    {
        OFF: "off",
        RED: "red",
        AMBER: "amber",
        GREEN: "green",
        BLUE: "blue",
        MAGENTA: "magenta",
        WHITE: "white",
    }
)
"""The page's names for the status light's colours; it shows each in a shade on which white letters are legible."""

KEPT = 8
"""Number of last sentences kept for a phone that was away for a moment; it speaks only fresh ones."""


class PhonePanel:
    """What the phones that are panels of a match show.  They fetch it (:meth:`row`); nothing waits for them.

    :meth:`show` and :meth:`close` may be called in any one thread, the others in the server's.

    Attributes:
        id: distinguishes this match's sentences from those of others.
    """

    def __init__(self, lang: Language, code: str, library: Library | None, ring: Callable[[], None]) -> None:
        """Show nothing yet.

        Args:
            lang: the language of the sentences.
            code: its two letters.
            library: the sound files of the voice; None: there are none.
            ring: called when something else is to be shown; from any thread.
        """
        self.id = secrets.token_hex(4)
        self._lang, self._code, self._library, self._ring = lang, code, library, ring
        self._shown = PanelDisplay(Lights())
        self._last: Announcement | None = None
        self._said: tuple[dict[str, Any], ...] = ()

    def show(self, shown: PanelDisplay) -> None:
        """Show ``shown`` from now on."""
        # Compared by identity: the same words said again are a new sentence.
        if shown.said is not None and shown.said is not self._last:
            self._last = shown.said
            n = self._said[-1]["n"] + 1 if self._said else 1
            self._said = (*self._said, self._said_row(n, shown.said))[-KEPT:]
        self._shown = shown
        self._ring()

    def close(self) -> None:
        """Switch off."""
        self._shown = PanelDisplay(Lights())
        self._ring()

    def row(self, after: int = 0) -> dict[str, Any]:
        """What is shown now, and the sentences after number ``after`` that are still kept."""
        lights, said = self._shown.lights, self._said
        return {
            "panel": self.id,
            "n": said[-1]["n"] if said else 0,
            "language": self._code,
            "light": COLOURS[lights.colour],
            "lit": list(lights.players),
            "turn": list(self._shown.turn),
            "tone": lights.tone_hz,
            "said": [each for each in said if each["n"] > after],
        }

    def clip(self, name: str) -> bytes | None:
        """A sound file that one of the kept sentences names; None if there is no such file."""
        wanted = {clip for said in self._said for clip in said["clips"] or ()}
        if self._library is None or name not in wanted:
            return None
        try:
            return (self._library.folder / name).read_bytes()
        except OSError:
            return None

    def _said_row(self, n: int, said: Announcement) -> dict[str, Any]:
        return {
            "n": n,
            "t": said.t,
            "name": said.name,
            "text": said.text,
            "topic": said.topic.value,
            "rank": int(said.rank),
            "clips": self._files(said.text),
        }

    def _files(self, text: str) -> list[str] | None:
        """The names of the sound files for ``text``, in order; None if one has not been made."""
        if self._library is None:
            return None
        try:
            files = [self._library.file(clip) for clip in clips(text, self._lang)]
            return [file.name for file in files] if all(file.exists() for file in files) else None
        except (OSError, CompanionError):
            return None
