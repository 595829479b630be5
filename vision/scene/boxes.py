"""Axis-aligned boxes in a picture: which overlap, and which can be processed at the same time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled

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
    groups = np.zeros(len(boxes), np.intp)
    for box in range(len(boxes)):
        other = 0
        while other < box:
            if groups[other] == groups[box] and _touch(boxes, box, other):
                groups[box] += 1
                other = -1
            other += 1
    return groups


@allocation_free
def _touch(boxes: Boxes, one: int, other: int) -> bool:
    """Whether two of the ``boxes`` overlap."""
    across = boxes[one, 0] < boxes[other, 2] and boxes[other, 0] < boxes[one, 2]
    return bool(across and boxes[one, 1] < boxes[other, 3] and boxes[other, 1] < boxes[one, 3])
