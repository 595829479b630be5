"""Measures how soon a stalled or frozen camera is noticed, and how soon its pictures are used again."""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import numpy.typing as npt

from vision.capture.frames import Frame
from vision.capture.live import LiveSource

ROUNDS = 10
FPS = 30
OUTAGE_S = 2.0
"""Duration of an outage."""


class FailingCamera:
    """A camera driver that gives noise at FPS frames per second, and fails for OUTAGE_S from ``fails_s`` on.

    While it fails it repeats its last picture (``frozen``) or blocks.
    """

    name = "camera 0"

    def __init__(self, *, frozen: bool) -> None:
        self._frozen = frozen
        self._rng = np.random.default_rng(0)
        self._last = self._noise()
        self.fails_s = time.monotonic() + 1.0

    def open(self) -> tuple[str, ...]:
        """Open the camera, which always succeeds."""
        return ()

    def grab(self) -> npt.NDArray[np.uint8]:
        """The next picture, (720, 1280, 3) uint8."""
        time.sleep(1 / FPS)
        now = time.monotonic()
        if self.fails_s <= now < self.fails_s + OUTAGE_S:
            if self._frozen:
                return self._last
            time.sleep(self.fails_s + OUTAGE_S - now)
        self._last = self._noise()
        return self._last

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _noise(self) -> npt.NDArray[np.uint8]:
        return self._rng.integers(90, 110, (720, 1280, 3), np.uint8)


def main() -> int:
    """Print seconds from the failure to the first outage, and from the first good picture to the first frame."""
    for frozen in (False, True):
        noticed, used_again = zip(*(measure_outage(frozen=frozen) for _ in range(ROUNDS)), strict=True)
        failure = "frozen" if frozen else "silent"
        for name, values in (("noticed after", noticed), ("used again after", used_again)):
            print(f"{failure}: {name} {min(values):.2f} / {statistics.median(values):.2f} / {max(values):.2f} s")
    return 0


def measure_outage(*, frozen: bool) -> tuple[float, float]:
    """Seconds from a failure to its detection, and from its end to the first frame.

    Raises RuntimeError if the source ends.
    """
    device = FailingCamera(frozen=frozen)
    source = LiveSource([device])
    noticed: float | None = None
    try:
        for item in source.frames():
            now = time.monotonic()
            if not isinstance(item, Frame):
                noticed = noticed or now - device.fails_s
            elif noticed is not None:
                return noticed, now - device.fails_s - OUTAGE_S
    finally:
        source.close()
    raise RuntimeError("the source has ended")


if __name__ == "__main__":
    sys.exit(main())
