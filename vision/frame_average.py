"""The calm frames so far averaged into one picture: noise is reduced, and nothing has moved meanwhile."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Picture = npt.NDArray[np.uint8]

MAX_FRAMES = 8
"""Noise falls with the square root of their number: further ones would take a third off at most."""

TOGETHER_S = 1.0
"""A frame that comes longer than this after the last one begins a new mean: what changes too slowly to be noticed, such
as daylight, is not to be averaged away."""


class FrameAverage:
    """The mean of the newest pictures of one calm: of twice MAX_FRAMES at most, older ones counting less."""

    def __init__(self) -> None:
        self._sum: npt.NDArray[np.uint16] | None = None
        self._count = 0
        self._newest_s = float("-inf")

    @property
    def is_enough(self) -> bool:
        """Whether further frames would hardly lessen the noise."""
        return self._count >= MAX_FRAMES

    def clear(self) -> None:
        """Something has moved."""
        self._count, self._newest_s = 0, float("-inf")

    def add(self, image: Picture, t_s: float) -> None:
        """Take the picture (height, width, 3) uint8 of ``t_s``, of the same size as all others; each one once."""
        if t_s <= self._newest_s:
            return
        if self._count == 0 or self._sum is None or t_s - self._newest_s > TOGETHER_S:
            self._sum, self._count = image.astype(np.uint16), 1
        else:
            if self._count == 2 * MAX_FRAMES:
                self._sum >>= 1
                self._count = MAX_FRAMES
            _add(self._sum.reshape(-1), np.ascontiguousarray(image).reshape(-1))
            self._count += 1
        self._newest_s = t_s

    def picture(self) -> Picture:
        """(height, width, 3) uint8, the mean.  There must be one."""
        assert self._sum is not None, "picture() follows add()"
        mean: Picture = cv2.convertScaleAbs(self._sum, alpha=1 / self._count).astype(np.uint8, copy=False)
        return mean


@compiled
def _add(total: npt.NDArray[np.uint16], image: Picture) -> None:
    """Add an ``image`` (k,) to a ``total`` (k,): twice as fast as libraries do, for each frame that the gate sees."""
    for i in range(len(total)):
        total[i] += image[i]
