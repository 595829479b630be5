"""How well each height and top explains a cell's pixels: analysis by synthesis, over every way a stack may stand.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour).  The score of a state is the log-likelihood of the pixels that it covers,
against what they would show without it.  Face and foot may be off their places, but not by much.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.crops import COLUMN_MM
from vision.geometry import Geometry

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

INDEPENDENT_MM2 = 60.0
"""Area over which pixels err together (a rim's shadow, a highlight, a colour a little off): one observation each."""

PLACE_MM = 1.0
"""Standard deviation of a stack's foot from the middle of its cell, each way."""

LEAN_MM = 1.0
"""Standard deviation of a stack's face from above its foot, each way."""

ROUNDING_MM = 0.5
"""Face and foot are rounded to whole millimetres apart, so even one disc seems to lean a little."""

SIDEWAYS = np.arange(-2, 3)
"""Shifts tried across the line of sight, in columns."""

ALONG = np.arange(-5, 6)
"""Shifts of the face tried along the line of sight, in rows."""

FOOT = np.arange(-3, 4)
"""Shifts of the foot tried along the line of sight, in rows."""


def askew_prior(levels: int) -> Array:
    """(levels, along, sideways, foot) log prior of a stack of 1…levels discs standing so."""
    along, sideways, foot = np.meshgrid(ALONG, SIDEWAYS * COLUMN_MM, FOOT, indexing="ij")
    place = -0.5 * (foot**2 + sideways**2) / PLACE_MM**2
    lean_mm = np.hypot(np.where(np.arange(levels) > 0, LEAN_MM, 0.0), ROUNDING_MM)[:, None, None, None]
    prior: Array = (place - 0.5 * ((along - foot) / lean_mm) ** 2).astype(np.float32)
    return prior


def accumulate(gain: Array) -> Array:
    """Sums from the top of each crop's column: (b, rows, columns, k) → (b, rows + 1, columns, k), in log-likelihood."""
    sums = np.zeros((gain.shape[0], gain.shape[1] + 1, *gain.shape[2:]), np.float32)
    np.cumsum(gain, axis=1, out=sums[:, 1:])
    sums *= np.float32(COLUMN_MM / INDEPENDENT_MM2)
    return sums


def score_upright(sums: Array, geometry: Geometry, cells: Indices) -> Array:
    """Scores as if every stack stood straight in the middle of its cell.

    Args:
        sums: (b, rows + 1, columns, 1 + tops or more), :func:`accumulate` of side and tops.
        geometry: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.

    Returns:
        (b, levels, tops) log-likelihood ratio against an empty cell, levels 1….
    """
    tops = geometry.tops
    row, column = np.arange(len(cells))[:, None, None], geometry.columns[None, None]
    covers = geometry.covers[cells, 1:, :, None]
    far = sums[row, geometry.far_row[cells, 1:], column]
    near = sums[row, geometry.near_row[cells, 1:], column]
    foot = sums[row, np.maximum(geometry.near_row[cells, :1], geometry.near_row[cells, 1:]), column, 0]
    face = ((near - far)[..., 1 : 1 + tops] * covers).sum(axis=2)
    side = ((foot - near[..., 0]) * covers[..., 0]).sum(axis=2)
    upright: Array = face + side[..., None]
    return upright


def score_askew(
    sums: Array, geometry: Geometry, cells: Indices, levels: Indices, prior: Array
) -> tuple[Array, Indices]:
    """Scores for some heights, each stack standing as it explains the pixels best.

    Args:
        sums: (b, rows + 1, columns, 1 + tops + tops), :func:`accumulate` of any side, each top, each top's side.
        geometry: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        levels: (b, l) heights to try, 1….
        prior: :func:`askew_prior`.

    Returns:
        (b, l, tops) log-likelihood ratio against an empty cell, and (b, l, 2) the shift (u, v) mm of the face.
    """
    best_top = score_upright(sums, geometry, cells).max(axis=1).argmax(axis=1)
    probe = _Probe(sums, geometry, cells, levels)
    along, sideways, foot = _stand(probe, best_top, prior)
    nearby_a = np.clip(along[..., None] + (-1, 0, 1), 0, len(ALONG) - 1)
    nearby_f = np.clip(foot[..., None] + (-1, 0, 1), 0, len(FOOT) - 1)
    faces = probe.faces(ALONG[nearby_a], SIDEWAYS[sideways])  # b, l, 3, tops
    bands = probe.bands(ALONG[nearby_a], SIDEWAYS[sideways], FOOT[nearby_f])  # b, l, 3, 3
    stand = prior[levels[..., None, None] - 1, nearby_a[..., None], sideways[..., None, None], nearby_f[..., None, :]]
    whole = faces + (bands + stand).max(axis=3)[..., None]
    which = whole.max(axis=3).argmax(axis=2)
    v = np.take_along_axis(ALONG[nearby_a], which[..., None], axis=2)[..., 0]
    return whole.max(axis=2), np.stack([SIDEWAYS[sideways] * COLUMN_MM, v], axis=-1)


def _stand(probe: _Probe, best_top: Indices, prior: Array) -> tuple[Indices, Indices, Indices]:
    """Indices (b, l) into ALONG, SIDEWAYS and FOOT of how each height stands best, judged by the likeliest top."""
    face, foot = probe.everywhere(best_top)  # b, l, along, sideways; b, l, foot, sideways
    total = face[..., None] + foot.transpose(0, 1, 3, 2)[:, :, None] + prior[probe.levels - 1]
    best = total.reshape(*total.shape[:2], -1).argmax(axis=2)
    along, rest = np.divmod(best, len(SIDEWAYS) * len(FOOT))
    sideways, foot_index = np.divmod(rest, len(FOOT))
    return along, sideways, foot_index


class _Probe:
    """Sums over faces and bands of stacks that stand askew; b cells, l heights each, k columns."""

    def __init__(self, sums: Array, geometry: Geometry, cells: Indices, levels: Indices) -> None:
        self.sums, self.geometry, self.cells, self.levels = sums, geometry, cells, levels
        self.tops = geometry.tops
        self.rows, self.columns = sums.shape[1] - 1, sums.shape[2]
        self.covers = geometry.covers[cells[:, None], levels].astype(np.float32)  # b, l, k
        self.near = geometry.near_row[cells[:, None], levels]
        self.far = geometry.far_row[cells[:, None], levels]
        self.foot = np.maximum(geometry.near_row[cells, 0][:, None], self.near)
        self.batch = np.arange(len(cells)) * ((self.rows + 1) * self.columns)

    def everywhere(self, best_top: Indices) -> tuple[Array, Array]:
        """Face less the side above its near edge (b, l, along, sideways), and side above the foot (b, l, foot, …)."""
        one = self.sums[np.arange(len(self.cells)), :, :, 1 + best_top].ravel()
        side = self.sums[..., 0].ravel()
        column = self.geometry.columns + SIDEWAYS[:, None]

        def at(edge: npt.NDArray[np.int32], shifts: Indices) -> Indices:
            row = np.clip(edge[:, :, None] + shifts[:, None], 0, self.rows)
            index: Indices = self.batch[:, None, None, None, None] + row[:, :, :, None] * self.columns + column
            return index

        near = at(self.near, ALONG)
        face = one[near] - one[at(self.far, ALONG)] - side[near]
        foot = side[at(self.foot, FOOT)]
        faces: Array = np.einsum("blask,blk->blas", face, self.covers)
        return faces, np.einsum("blfsk,blk->blfs", foot, self.covers)

    def faces(self, along: Indices, sideways: Indices) -> Array:
        """(b, l, a, tops) faces at shifts ``along`` (b, l, a) rows and ``sideways`` (b, l) columns."""
        flat = self.sums.reshape(-1, self.sums.shape[3])[:, 1 : 1 + self.tops]
        column = (self.geometry.columns + sideways[..., None])[:, :, None]

        def at(edge: npt.NDArray[np.int32]) -> Indices:
            row = np.clip(edge[:, :, None] + along[..., None], 0, self.rows)
            index: Indices = self.batch[:, None, None, None] + row * self.columns + column
            return index

        faces: Array = np.einsum("blakt,blk->blat", flat[at(self.near)] - flat[at(self.far)], self.covers)
        return faces

    def bands(self, along: Indices, sideways: Indices, foot: Indices) -> Array:
        """(b, l, a, f) sides as bands of one colour each, between faces at ``along`` and feet at ``foot`` rows."""
        steps = np.arange(int(self.levels.max()) + 1)
        level = np.minimum(steps, self.levels[..., None])  # b, l, step; bands above the top have no thickness
        part = (level / self.levels[..., None])[..., None, None]
        shift = np.rint(along[:, :, None, :, None] * part + foot[:, :, None, None] * (1 - part)).astype(np.intp)
        edge = self.geometry.near_row[self.cells[:, None, None], level]  # b, l, step, k
        row = np.clip(edge[:, :, :, None, None] + shift[..., None], 0, self.rows)
        row = np.maximum.accumulate(row[:, :, ::-1], axis=2)[:, :, ::-1]  # no disc's edge is below a lower disc's
        column = (self.geometry.columns + sideways[..., None])[:, :, None, None, None]
        flat = self.sums.reshape(-1, self.sums.shape[3])[:, 1 + self.tops :]
        index = self.batch[:, None, None, None, None, None] + row * self.columns + column
        sums = np.einsum("blnafkt,blk->blnaft", flat[index], self.covers)
        band = sums[:, :, :-1] - sums[:, :, 1:]
        each = np.logaddexp.reduce(band, axis=5) - np.float32(np.log(self.tops))
        whole: Array = each.sum(axis=2)
        return whole
