"""Reports once that the board does not look as its kit says, and again after it has looked right."""

from __future__ import annotations

from collections.abc import Callable

from companion.app.camera_reader import ReadResult
from companion.events import Event
from vision.capture.frames import Frame

LASTS_S = 3.0
"""A different board looks wrong for longer than this.  An arm that is not yet recognised as one may hide so much of it
that all squares are in doubt: at the start of two recordings of twelve for a tenth of a second."""


class MismatchReporter:
    """A frame observer, called with every frame that was read."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """``say`` is told what is wrong, and what to do."""
        self._say = say
        self._since_s: float | None = None
        self._is_told = False

    def __call__(self, frame: Frame, look: ReadResult, _events: tuple[Event, ...]) -> None:
        """Take one read frame."""
        if look.reading is None:
            return
        if not look.reading.mismatch:
            self._since_s, self._is_told = None, False
            return
        if self._since_s is None:
            self._since_s = frame.t_s
        if frame.t_s - self._since_s >= LASTS_S and not self._is_told:
            self._say(look.reading.mismatch)
            self._is_told = True
