"""Which crop pixels are in the picture and in front of all terrain, whatever stands on the board."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.scene.label_buffer import RANK_BITS, LabelBuffer


class Visibility(NamedTuple):
    """The visibility of every crop pixel in one pose, whatever stands on the board; n cells.

    Attributes:
        flat_px: (n, rows, columns) int32, see :class:`vision.scene.crops.Crops`.
        visible: (n, rows, columns) bool, in the picture and not occluded by a nearer column.
        rank: (n,) int32 from 1, the farthest cell first.
    """

    flat_px: npt.NDArray[np.int32]
    visible: npt.NDArray[np.bool_]
    rank: npt.NDArray[np.int32]


@compiled
def visible_pixels(
    flat_px: npt.NDArray[np.int32], outside: npt.NDArray[np.bool_], bare: LabelBuffer, rank: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """(n, rows, columns) bool, crop pixels in the picture that no nearer column occludes; ``bare`` is flattened."""
    visible = np.empty(flat_px.shape, np.bool_)
    cells, rows, columns = flat_px.shape
    for cell in range(cells):
        for row in range(rows):
            for column in range(columns):
                is_hidden = bare[flat_px[cell, row, column]] >> RANK_BITS > rank[cell]
                visible[cell, row, column] = not (outside[cell, row, column] or is_hidden)
    return visible
