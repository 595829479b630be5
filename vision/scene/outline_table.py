"""Outlines of all configurations on all cells as arrays, for use in compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]


class OutlineTable(NamedTuple):
    """Every configuration (f) on every cell (n), as rows of column integrals; k columns.

    Attributes:
        edges: (n, f, e, k) float32, those of :class:`vision.scene.outlines.Outlines`.
        covers: (n, f, k) bool, whether the configuration reaches the column.
        columns: (k,) intp, the crop columns in which the outlines are sampled.
        bands: (f,) intp, number of parts below the uppermost.
        allowed: (f, colours) bool, whether there is a piece of that size and colour.
        has_faces: whether the uppermost part is a face, whose piece also has a side.
        column_mm: width of a column.
        foreshortening: (n,) float32, crop rows per millimetre along the line of sight.
        weight: independent observations per crop pixel.
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
