"""The calm frames so far as one picture: noise averages out, and nothing has moved meanwhile."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]

MOST_FRAMES = 8
"""Noise falls with the root of their number: further ones would take a third off at most, and a slow change in."""


class Exposure:
    """The mean of up to MOST_FRAMES pictures of one calm."""

    def __init__(self) -> None:
        self._sum: npt.NDArray[np.uint16] | None = None
        self._count = 0

    def clear(self) -> None:
        """Something has moved."""
        self._count = 0

    def add(self, image: Picture) -> None:
        """Take one picture (height, width, 3) uint8 more, of the same size as all others."""
        if self._count == MOST_FRAMES:
            return
        if self._count == 0 or self._sum is None:
            self._sum = image.astype(np.uint16)
        else:
            cv2.add(image, self._sum, self._sum, dtype=cv2.CV_16U)
        self._count += 1

    def picture(self) -> Picture:
        """(height, width, 3) uint8, the mean.  There must be one."""
        assert self._sum is not None, "picture() follows add()"
        mean: Picture = cv2.convertScaleAbs(self._sum, alpha=1 / self._count).astype(np.uint8, copy=False)
        return mean
