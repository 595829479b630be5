"""Measures how soon a camera that stalls or freezes is noticed, and how soon its pictures are used again."""

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
GONE_S = 2.0


class Failing:
    """Noise at 30 frames a second; from ``fails_s`` on nothing new for two seconds, in one of two ways."""

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
        """The next picture."""
        time.sleep(1 / FPS)
        now = time.monotonic()
        if self.fails_s <= now < self.fails_s + GONE_S:
            if self._frozen:
                return self._last
            time.sleep(self.fails_s + GONE_S - now)
        self._last = self._noise()
        return self._last

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _noise(self) -> npt.NDArray[np.uint8]:
        return self._rng.integers(90, 110, (720, 1280, 3), np.uint8)


def main() -> int:
    """Print seconds from the failure to the first outage, and from the first good picture to the first frame."""
    for frozen in (False, True):
        noticed, back = zip(*(once(frozen=frozen) for _ in range(ROUNDS)), strict=True)
        what = "frozen" if frozen else "silent"
        for name, values in (("noticed after", noticed), ("used again after", back)):
            print(f"{what}: {name} {min(values):.2f} / {statistics.median(values):.2f} / {max(values):.2f} s")
    return 0


def once(*, frozen: bool) -> tuple[float, float]:
    """One failure."""
    device = Failing(frozen=frozen)
    source = LiveSource([device])
    noticed: float | None = None
    try:
        for shot in source.frames():
            now = time.monotonic()
            if not isinstance(shot, Frame):
                noticed = noticed or now - device.fails_s
            elif noticed is not None:
                return noticed, now - device.fails_s - GONE_S
    finally:
        source.close()
    raise RuntimeError("the source has ended")


if __name__ == "__main__":
    sys.exit(main())
