"""What is known of a live camera from when its pictures came: the newest one, and whether more can be expected."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.capture.frames import Frame

FROZEN_S = 0.75
"""Without a new picture for so long a camera is taken to be gone, which is said within a second; a picture that old is
judged no more.  The slowest webcams give five a second in dim light."""

SAMPLE_PX = 16
"""Every how many pixels two pictures are compared to tell whether the camera is frozen."""

BLANK_CODES = 8
"""A picture whose codes differ by less may be of a covered lens: even its noise is lost, and it may well repeat."""


class Newest:
    """The newest picture of one camera.  Times are passed along; nothing here waits."""

    def __init__(self, camera: int = 0) -> None:
        self._camera = camera
        self._frame: Frame | None = None
        self._sample: npt.NDArray[np.uint8] | None = None
        self._count = 0
        self._fresh_s = 0.0

    def restart(self, t_s: float) -> None:
        """The camera was opened again at ``t_s``; what it showed before only tells whether it repeats itself."""
        self._frame = None
        self._fresh_s = t_s

    def arrive(self, image: npt.NDArray[np.uint8], t_s: float) -> bool:
        """Take a picture (height, width, 3) uint8 BGR; false for one that the camera has given before.

        Two pictures of a working camera are never the same: the sensor's noise differs.
        """
        sample = image[::SAMPLE_PX, ::SAMPLE_PX].copy()
        before, self._sample = self._sample, sample
        is_blank = int(sample.max()) - int(sample.min()) < BLANK_CODES
        if before is not None and not is_blank and np.array_equal(before, sample):
            return False
        self._frame = Frame(image, self._count, t_s, self._camera)
        self._count += 1
        self._fresh_s = t_s
        return True

    def since(self, seq: int, t_s: float) -> Frame | None:
        """The newest picture where it is newer than number ``seq`` and no older than FROZEN_S at ``t_s``."""
        frame = self._frame
        return frame if frame is not None and frame.seq > seq and t_s - frame.t_s < FROZEN_S else None

    def is_lost(self, t_s: float) -> bool:
        """Whether the camera has given nothing new for too long."""
        return t_s - self._fresh_s >= FROZEN_S
