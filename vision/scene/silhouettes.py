"""Silhouettes of the hypothesis on each cell: the pixels that its configuration and the uppermost part of it cover.

Configurations are assumed convex, so that in each row of the picture a silhouette is one run of pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.pose.projection import Points

WHOLE, UPPERMOST = 0, 1
"""Indices of a configuration's silhouettes: of the whole, and of its uppermost part."""


class Silhouettes(NamedTuple):
    """Two silhouettes for each cell (n) of a picture (height, width): :data:`WHOLE` and :data:`UPPERMOST`.

    Attributes:
        rows: (n, 2, 2) int32, the first row and the one after the last; both 0 where nothing is visible.
        columns: (n, 2) int32, the first column and the one after the last of the whole silhouette.
        runs: (n, 2, height, 2) int32, in each of these rows the first column and the one after the last.
        centres_px: (n, 2) float64, the centre of the uppermost part.
    """

    rows: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    runs: npt.NDArray[np.int32]
    centres_px: Points

    def select(self, cells: npt.NDArray[np.intp]) -> Silhouettes:
        """A copy of the silhouettes on some cells (b,)."""
        return Silhouettes(self.rows[cells], self.columns[cells], self.runs[cells], self.centres_px[cells])

    def put(self, cells: npt.NDArray[np.intp], kept: Silhouettes) -> None:
        """Restore what :meth:`select` returned for these cells (b,)."""
        self.rows[cells], self.columns[cells], self.runs[cells], self.centres_px[cells] = kept


class CropPose(NamedTuple):
    """Transformation of a configuration's corners from the crop of its cell to the picture.

    Attributes:
        to_picture: (2, 2) float64, crop mm → picture px.
        origin_px: (2,) float64, the crop's origin.
        shift_mm: (2,) float32, displacement of the uppermost part.
    """

    to_picture: Points
    origin_px: Points
    shift_mm: npt.NDArray[np.floating]


def no_silhouettes(cells: int, height_px: int) -> Silhouettes:
    """The silhouettes of an empty board."""
    return Silhouettes(
        np.zeros((cells, 2, 2), np.int32),
        np.zeros((cells, 2), np.int32),
        np.zeros((cells, 2, height_px, 2), np.int32),
        np.zeros((cells, 2)),
    )


@compiled
def trace_silhouettes(
    silhouettes: Silhouettes,
    cell: int,
    corners_mm: Points,
    uppermost: int,
    pose: CropPose,
    width_px: int,
) -> None:
    """Trace the silhouettes of a configuration on ``cell``.

    Args:
        silhouettes: modified in place.
        cell: its index.
        corners_mm: (p, 2) crop coordinates of the configuration's corners, those of its uppermost part first.
        uppermost: number of corners of that part.
        pose: of the configuration.
        width_px: of the picture.
    """
    to_picture, origin_px, shift_mm = pose
    corners_px = np.empty(corners_mm.shape)
    for corner in range(len(corners_mm)):
        leans = int(corner < uppermost)
        u, v = corners_mm[corner, 0] + leans * shift_mm[0], corners_mm[corner, 1] + leans * shift_mm[1]
        for axis in range(2):
            corners_px[corner, axis] = to_picture[axis, 0] * u + to_picture[axis, 1] * v + origin_px[axis]
    rows, runs = silhouettes.rows[cell], silhouettes.runs[cell]
    _trace(corners_px, width_px, rows[WHOLE], runs[WHOLE])
    silhouettes.columns[cell, 0] = min(max(int(np.rint(corners_px[:, 0].min())), 0), width_px)
    silhouettes.columns[cell, 1] = min(max(int(np.rint(corners_px[:, 0].max())) + 1, 0), width_px)
    _trace(corners_px[:uppermost], width_px, rows[UPPERMOST], runs[UPPERMOST])
    for axis in range(2):
        silhouettes.centres_px[cell, axis] = corners_px[:uppermost, axis].mean()


@compiled
def covers_points(silhouettes: Silhouettes, cell: int, places_px: Points) -> npt.NDArray[np.bool_]:
    """(k,) bool, whether the silhouette on ``cell`` covers points (k, 2) px of the picture."""
    first, end = silhouettes.rows[cell, WHOLE]
    covered = np.zeros(len(places_px), np.bool_)
    for i in range(len(places_px)):
        row, column = int(np.rint(places_px[i, 1])), int(np.rint(places_px[i, 0]))
        if first <= row < end:
            begin, stop = silhouettes.runs[cell, WHOLE, row]
            covered[i] = begin <= column < stop
    return covered


@compiled
def _trace(corners_px: Points, width_px: int, rows: npt.NDArray[np.int32], runs: npt.NDArray[np.int32]) -> None:
    """Put all pixels that the hull of ``corners_px`` (p, 2) touches into ``rows`` (2,) and ``runs`` (height, 2)."""
    order = np.argsort(corners_px[:, 1])
    first = max(int(np.rint(corners_px[order[0], 1])), 0)
    end = min(int(np.rint(corners_px[order[-1], 1])) + 1, len(runs))
    rows[0], rows[1] = 0, 0
    if end <= first:
        return
    rows[0], rows[1] = first, end
    runs[first:end, 0], runs[first:end, 1] = width_px, 0
    chain = np.empty(len(order), np.intp)
    # Its left and its right chain (Andrew, Another efficient algorithm for convex hulls in two dimensions, 1979).
    for turn in (-1.0, 1.0):
        length = 0
        for corner in order:
            while length > 1 and turn * _cross(corners_px, chain[length - 2], chain[length - 1], corner) <= 0:
                length -= 1
            chain[length] = corner
            length += 1
        for number in range(1, length):
            _widen(corners_px[chain[number - 1]], corners_px[chain[number]], first, end, runs)
    for row in range(first, end):
        runs[row, 0], runs[row, 1] = max(runs[row, 0], 0), min(runs[row, 1], width_px)


@allocation_free
def _cross(corners: Points, a: int, b: int, c: int) -> float:
    """Twice the signed area of the triangle a b c."""
    along = (corners[b, 0] - corners[a, 0]) * (corners[c, 1] - corners[a, 1])
    return float(along - (corners[b, 1] - corners[a, 1]) * (corners[c, 0] - corners[a, 0]))


@allocation_free
def _widen(upper: Points, lower: Points, first: int, end: int, runs: npt.NDArray[np.int32]) -> None:
    """Extend ``runs`` in rows ``first`` to ``end`` to all pixels that the line from ``upper`` to ``lower`` touches."""
    down = max(lower[1] - upper[1], 1e-9)
    for row in range(max(int(np.rint(upper[1])), first), min(int(np.rint(lower[1])) + 1, end)):
        begins = min(max((row - 0.5 - upper[1]) / down, 0.0), 1.0)
        ends = min(max((row + 0.5 - upper[1]) / down, 0.0), 1.0)
        x, x_end = upper[0] + begins * (lower[0] - upper[0]), upper[0] + ends * (lower[0] - upper[0])
        runs[row, 0] = min(runs[row, 0], int(np.rint(min(x, x_end))))
        runs[row, 1] = max(runs[row, 1], int(np.rint(max(x, x_end))) + 1)
