"""Says once that the board looks otherwise than its kit says, and again after it has looked right."""

from __future__ import annotations

from collections.abc import Callable

from companion.app.eyes import Look
from companion.events import Event
from vision.capture.frames import Frame


class MismatchTeller:
    """Looks on at every frame that is read."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """``say`` is told what is wrong, and what to do."""
        self._say = say
        self._told = False

    def __call__(self, _frame: Frame, look: Look, _events: tuple[Event, ...]) -> None:
        """Take one read frame."""
        if look.reading is None:
            return
        if look.reading.otherwise and not self._told:
            self._say(look.reading.otherwise)
        self._told = bool(look.reading.otherwise)
