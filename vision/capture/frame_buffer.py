"""The newest picture of a live camera, and whether more can be expected, judged by when they came."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.capture.frames import Frame

FROZEN_S = 0.75
"""Time without a new picture after which a camera is taken to be gone, which is said within a second; a picture that
old is no longer judged.  The slowest webcams give five a second in dim light."""

SAMPLE_PX = 16
"""Spacing of the pixels in which two pictures are compared to tell whether the camera is frozen."""

BLANK_CODES = 8
"""A picture whose codes differ by less may be from a covered lens: even its noise is lost, and it may well repeat."""


class FrameBuffer:
    """The newest picture of one camera.  Times are passed in; nothing here waits."""

    def __init__(self, camera: int = 0) -> None:
        self._camera = camera
        self._frame: Frame | None = None
        self._sample: npt.NDArray[np.uint8] | None = None
        self._count = 0
        self._fresh_s = 0.0

    def reopened(self, t_s: float) -> None:
        """Note that the camera was opened again at ``t_s``; earlier pictures only tell whether it repeats itself."""
        self._frame = None
        self._fresh_s = t_s

    def put(self, image: npt.NDArray[np.uint8], t_s: float) -> bool:
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

    def newer_than(self, seq: int, t_s: float) -> Frame | None:
        """The newest picture if it is newer than number ``seq`` and younger than FROZEN_S at ``t_s``."""
        frame = self._frame
        return frame if frame is not None and frame.seq > seq and t_s - frame.t_s < FROZEN_S else None

    def is_lost(self, t_s: float) -> bool:
        """Whether the camera has given nothing new for too long."""
        return t_s - self._fresh_s >= FROZEN_S
