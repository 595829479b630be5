"""The newest picture of a camera, and one that was certainly taken after a request."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition, Thread

from companion.errors import CompanionError
from vision.capture.frames import Frame, FrameSource, Outage, SourceLost

FRESH_S = 2.0
"""Time within which a picture taken after a request must come, or the camera has stalled."""

QUEUE_S = 0.25
"""A driver that was not read for long first returns its buffered, old pictures.  This long after the first picture they
are gone, and so is the one that was being transferred; the slowest webcams give five a second."""


class SetupError(CompanionError):
    """A step that cannot be done yet; the message says what to do."""


class LatestFrame:
    """Reads a source's pictures in a separate thread, and keeps the newest."""

    def __init__(
        self, source: FrameSource, patience_s: float = FRESH_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``source`` is closed with it; ``clock`` gives seconds from any origin, at the rate of the source's clock.

        ``observer`` is called with every picture, in the reading thread, which waits for it.
        """
        self.last: Frame | None = None
        self.observer: Callable[[Frame], object] | None = None
        self._source, self._patience_s, self._clock = source, patience_s, clock
        # Arrival and capture time of the newest picture by our clock; the smallest offset from the source's clock.
        self._came_s = self._taken_s = float("-inf")
        self._behind_s = float("inf")
        self._trouble = "no picture yet"
        self._arrived = Condition()
        self._thread = Thread(target=self._fetch, name="set-up", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Release the camera."""
        self._source.close()
        self._thread.join(timeout=5)

    def frame(self) -> Frame:
        """The newest picture.  Raises SetupError if there is none."""
        frame = self.last
        if frame is None or self._trouble:
            raise SetupError(self._trouble)
        return frame

    def fresh(self) -> Frame:
        """A picture taken after this call, for which people have posed.  Raises SetupError if none comes."""
        asked_s, first_s = self._clock(), float("inf")

        def is_fresh() -> bool:
            nonlocal first_s
            if self._came_s <= asked_s:
                return False
            first_s = min(first_s, self._came_s)
            return self._came_s - first_s >= QUEUE_S and self._taken_s >= asked_s

        with self._arrived:
            if not self._arrived.wait_for(is_fresh, self._patience_s) or self.last is None:
                why = self._trouble or "check the camera's cable"
                raise SetupError(f"no new picture for {self._patience_s:g} s: {why}")
            return self.last

    def _fetch(self) -> None:
        try:
            for shot in self._source.frames():
                if isinstance(shot, Outage):
                    self._trouble = shot.why
                else:
                    with self._arrived:
                        self._came_s = self._clock()
                        self._behind_s = min(self._behind_s, self._came_s - shot.t_s)
                        self.last, self._taken_s, self._trouble = shot, shot.t_s + self._behind_s, ""
                        self._arrived.notify_all()
                    if self.observer is not None:
                        self.observer(shot)
        except SourceLost as error:
            self._trouble = str(error)
