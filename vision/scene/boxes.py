"""Axis-aligned boxes in a picture: which overlap, and which can be dealt with at the same time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Boxes = tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]
"""Least and largest x and y, (n, 2) each, px."""


@compiled
def touching(box_px: npt.NDArray[np.floating], boxes: Boxes) -> npt.NDArray[np.bool_]:
    """(n,) bool, which of n boxes overlap another, (4,) left, top, right, bottom px."""
    low, high = boxes
    touch = np.empty(len(low), np.bool_)
    for i in range(len(low)):
        across = low[i, 0] < box_px[2] and box_px[0] < high[i, 0]
        touch[i] = across and low[i, 1] < box_px[3] and box_px[1] < high[i, 1]
    return touch


@compiled
def grouped(boxes: Boxes) -> npt.NDArray[np.intp]:
    """(n,) group numbers from 0, such that no two boxes of a group overlap (greedy colouring of the overlap graph)."""
    low, high = boxes
    groups = np.zeros(len(low), np.intp)
    for box in range(len(low)):
        other = 0
        while other < box:
            is_apart = (low[box] >= high[other]).any() or (low[other] >= high[box]).any()
            if groups[other] == groups[box] and not is_apart:
                groups[box] += 1
                other = -1
            other += 1
    return groups
