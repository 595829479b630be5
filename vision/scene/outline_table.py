"""Outlines of all configurations on all cells as flat arrays, the form in which compiled loops take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]


class OutlineTable(NamedTuple):
    """Every figure (f) on every cell (n), as places in these sums; k columns.

    Attributes:
        edges: (n, f, e, k) float32, those of :class:`vision.scene.outlines.Outlines`.
        covers: (n, f, k) bool, whether the figure reaches the column.
        columns: (k,) intp, the crop columns that the outlines are sampled on.
        bands: (f,) intp, parts under the uppermost.
        allowed: (f, colours) bool, whether there is a piece of that size and colour.
        has_faces: whether the uppermost part is a face, whose piece also has a side.
        column_mm: width of a column.
        foreshortening: (n,) rows that a millimetre along the line of sight is high on each cell.
        weight: independent observations a crop pixel.
    """

    edges: Array
    covers: npt.NDArray[np.bool_]
    columns: Indices
    bands: Indices
    allowed: npt.NDArray[np.bool_]
    has_faces: bool
    column_mm: float
    foreshortening: Array
    weight: float
