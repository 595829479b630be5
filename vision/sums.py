"""Sums down the columns of crops: what lies between two edges of a column is then the difference of two of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.evidence import Backdrop, Evidence
from vision.palette import Materials

Array = npt.NDArray[np.float32]
Total = npt.NDArray[np.floating]
Indices = npt.NDArray[np.intp]

SIDE = Materials.SIDE


@compiled
def sum_columns(evidence: Evidence, backdrop: Backdrop, cells: Indices, kinds: int) -> Array:
    """Sums over the crops of ``cells`` (b,), of the pixels that nothing hides, down to the last row.

    Returns:
        (b, rows + 1, columns, kinds + 2), the first row being 0, row i the sum of the first i rows of ``backdrop``: by
        how much each of the ``kinds`` of material from any side on is likelier than what is behind; then the log
        brightness, and the number of pixels.
    """
    bins, palette, logs, codes = evidence.bins, evidence.palette, evidence.logs, evidence.codes
    base, seen = backdrop.base, backdrop.seen
    _, rows, columns = base.shape
    first_row = bins.shape[1] - rows
    sums = np.zeros((len(cells), rows + 1, columns, kinds + 2), np.float32)
    for k in range(len(cells)):
        cell = cells[k]
        for row in range(rows):
            for column in range(columns):
                for kind in range(kinds + 2):
                    sums[k, row + 1, column, kind] = sums[k, row, column, kind]
                if seen[k, row, column]:
                    shown = bins[cell, first_row + row, column]
                    for kind in range(kinds):
                        sums[k, row + 1, column, kind] += palette[shown, SIDE + kind] - base[k, row, column]
                    blue, green, red = codes[cell, first_row + row, column]
                    brightness = max(logs[cell, 0, blue], logs[cell, 1, green], logs[cell, 2, red])
                    sums[k, row + 1, column, kinds] += brightness
                    sums[k, row + 1, column, kinds + 1] += 1
    return sums
