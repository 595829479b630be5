"""Axis-aligned boxes in a picture: which overlap, and which can be processed at the same time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Boxes = npt.NDArray[np.float32]
"""(n, 4) left, top, right, bottom px."""


@compiled
def overlaps(box: Boxes, boxes: Boxes) -> npt.NDArray[np.bool_]:
    """(n,) bool, which of n boxes overlap another one (4,)."""
    touch = np.empty(len(boxes), np.bool_)
    for i in range(len(boxes)):
        across = boxes[i, 0] < box[2] and box[0] < boxes[i, 2]
        touch[i] = across and boxes[i, 1] < box[3] and box[1] < boxes[i, 3]
    return touch


@compiled
def group_boxes(boxes: Boxes) -> npt.NDArray[np.intp]:
    """(n,) group numbers from 0, such that no two boxes of a group overlap (greedy colouring of the overlap graph)."""
    low, high = boxes[:, :2], boxes[:, 2:]
    groups = np.zeros(len(boxes), np.intp)
    for box in range(len(boxes)):
        other = 0
        while other < box:
            is_apart = (low[box] >= high[other]).any() or (low[other] >= high[box]).any()
            if groups[other] == groups[box] and not is_apart:
                groups[box] += 1
                other = -1
            other += 1
    return groups
