"""A phone whose page sends pictures: the newest one waits here, older ones are discarded."""

from __future__ import annotations

import threading

import cv2
import numpy as np
import numpy.typing as npt

from calibration.picture import picture_size
from vision.capture.frames import SourceLost

JPEG = b"\xff\xd8"
"""The first two bytes of every JPEG picture."""

LARGEST = (1920, 1080)
"""Width and height that a phone is asked for where no lens is known yet, px: larger pictures take
ever longer to send and to read."""

MAX_PX = 1920 * 1440
"""Most pixels of a picture, where no lens is known yet: as wide as LARGEST, whatever the sensor's shape."""

SILENT_S = 1.0
"""A phone that has sent nothing for this long has gone to sleep, or was never there."""


class PhoneCamera:
    """The newest picture that a phone has sent, of the size that is wanted.

    Attributes:
        name: identifies it to people.
        size: width and height of its pictures, px; None: the largest that the phone has, until its first picture.
        taken_s: when the picture that was grabbed last was taken, by this machine's monotonic clock.
    """

    def __init__(self, name: str, size: tuple[int, int] | None = None) -> None:
        self.name, self.size, self.taken_s = name, size, 0.0
        self._waiting: tuple[bytes, float] | None = None
        self._came = threading.Condition()

    def post(self, data: bytes, taken_s: float) -> bool:
        """Accept a JPEG picture taken at ``taken_s``, in place of one that waits; false if its size is not this one.

        May be called in any thread.
        """
        # From its header alone: the pixels of a picture may be many more than its bytes.
        seen = picture_size(data) if data.startswith(JPEG) else None
        if seen is None:
            return False
        with self._came:
            if seen != self.size and not (self.size is None and 0 < seen[0] * seen[1] <= MAX_PX):
                return False
            self.size, self._waiting = seen, (data, taken_s)
            self._came.notify_all()
        return True

    def has_picture(self, wait_s: float) -> bool:
        """Whether a picture waits, or comes within so many seconds."""
        with self._came:
            return self._came.wait_for(lambda: self._waiting is not None, wait_s)

    def open(self) -> tuple[str, ...]:
        """Nothing to open: a phone sends when it likes."""
        return ()

    def grab(self) -> npt.NDArray[np.uint8]:
        """The newest picture, (height, width, 3) uint8 BGR; waits for it.  Raises SourceLost."""
        while True:
            with self._came:
                if not self._came.wait_for(lambda: self._waiting is not None, SILENT_S) or self._waiting is None:
                    raise SourceLost(f"{self.name}: sends no pictures; scan its code, and leave its page open")
                (data, taken_s), self._waiting = self._waiting, None
            image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
            if image is not None and (image.shape[1], image.shape[0]) == self.size:
                # The offset of the two clocks becomes ever better known; time must not go back for it.
                self.taken_s = max(self.taken_s, taken_s)
                return np.asarray(image, np.uint8)

    def close(self) -> None:
        """Discard what waits."""
        with self._came:
            self._waiting = None
