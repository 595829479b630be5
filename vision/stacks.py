"""How well each height and top explains a cell's pixels: analysis by synthesis, over every way a stack may stand.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour).  The score of a state is the log-likelihood of the pixels that it covers,
against what they would show without it.  Face and foot may be off their places, but not by much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.crops import COLUMN_MM
from vision.geometry import Geometry

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

INDEPENDENT_MM2 = 40.0
"""Area over which pixels err together (a rim's shadow, a highlight, a colour a little off): one observation each."""

EVIDENCE = np.float32(COLUMN_MM / INDEPENDENT_MM2)
"""Independent observations a crop pixel."""

PLACE_MM = 1.0
"""Standard deviation of a stack's foot from the middle of its cell, each way."""

LEAN_MM = 0.8
"""Standard deviation of a stack's face from above its foot, each way."""

ROUNDING_MM = 0.3
"""Face and foot are tried in half millimetres apart, so even one disc seems to lean a little."""

SIDEWAYS = np.arange(-2, 3)
"""Shifts tried across the line of sight, in columns."""

ALONG = np.arange(-5, 6).astype(np.float32)
"""Shifts of the face tried first along the line of sight, in rows."""

FOOT = np.arange(-3, 4).astype(np.float32)
"""Shifts of the foot tried first along the line of sight, in rows."""

SHADE_SPREAD = 0.15
"""Standard deviation of the log brightness of a side's pixels besides the rim's shading: texture, noise."""

SHADE_INDEPENDENT_MM2 = 20.0
"""Area over which texture and noise are one observation; they reach less far than errors of colour and outline."""

DARK = 0.05
"""Added to display values before the logarithm: below it noise rules."""

FINER = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
"""Shifts tried round the best of the first."""


def log_prior(levels: Indices, along: Array, sideways: Array, foot: Array) -> Array:
    """Log prior of stacks of so many discs standing so: shifts in mm, all broadcast together."""
    lean_mm2 = np.where(levels > 1, LEAN_MM**2, 0.0)
    # Across the line of sight one shift stands for foot and face, so it is as wide as both together.
    across = sideways**2 / (PLACE_MM**2 + lean_mm2)
    prior = -0.5 * (foot**2 / PLACE_MM**2 + across + (along - foot) ** 2 / (lean_mm2 + ROUNDING_MM**2))
    return np.asarray(prior, np.float32)


def accumulate(gain: Array) -> Array:
    """Sums from the top of each crop's column: (b, rows, columns, k) → (rows + 1, b, columns, k).

    Rows come first, so that each is one run of memory and the next is one addition of two runs.
    """
    cells, rows, columns, kinds = gain.shape
    sums = np.empty((rows + 1, cells, columns, kinds), np.float32)
    sums[0] = 0
    for row in range(rows):
        np.add(sums[row], gain[:, row], out=sums[row + 1])
    return sums


def score_upright(sums: Array, geometry: Geometry, cells: Indices, first_row: int = 0) -> Array:
    """Scores as if every stack stood straight in the middle of its cell.

    Args:
        sums: (rows + 1, b, columns, 1 + tops), :func:`accumulate` of any side and each top.
        geometry: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        first_row: row of the crops in which ``sums`` begins; heights that reach beyond it cannot be scored.

    Returns:
        (b, levels, tops) log-likelihood ratio against an empty cell, levels 1….
    """
    batch = np.arange(len(cells))[:, None, None]
    covers = geometry.covers[cells, 1:, :, None]
    far = _sums_at(sums, batch, geometry.far_row[cells, 1:] - first_row, geometry.columns)
    near = _sums_at(sums, batch, geometry.near_row[cells, 1:] - first_row, geometry.columns)
    foot_row = np.maximum(geometry.near_row[cells, :1], geometry.near_row[cells, 1:]) - first_row
    foot = _sums_at(sums, batch, foot_row, geometry.columns)[..., 0]
    face = ((near - far)[..., 1:] * covers).sum(axis=2)
    side = ((foot - near[..., 0]) * covers[..., 0]).sum(axis=2)
    upright: Array = (face + side[..., None]) * EVIDENCE
    return upright


def share_of_single(likely: npt.NDArray[np.bool_], geometry: Geometry) -> Array:
    """(n,) share of a single piece's outline, standing straight, in which ``likely`` (n, rows, columns) is true."""
    sums = accumulate(likely[..., None].astype(np.float32))
    batch, covers = np.arange(len(likely))[:, None], geometry.covers[:, 1]
    foot = np.maximum(geometry.near_row[:, 0], geometry.near_row[:, 1])
    inside = _sums_at(sums, batch, foot, geometry.columns) - _sums_at(
        sums, batch, geometry.far_row[:, 1], geometry.columns
    )
    area = ((foot - geometry.far_row[:, 1]) * covers).sum(axis=1)
    share: Array = (inside[..., 0] * covers).sum(axis=1) / area
    return share


def accumulate_shade(values: Array, seen: npt.NDArray[np.bool_]) -> Array:
    """Sums down each crop's column of log brightness and of pixels, where seen: (rows + 1, b, columns, 2).

    Args:
        values: (b, rows, columns, 3) display values, r g b.
        seen: (b, rows, columns) what nothing hides.
    """
    largest = np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2])
    brightness = np.log(largest + np.float32(DARK))
    return accumulate(np.stack([brightness * seen, seen], axis=3).astype(np.float32))


@dataclass(frozen=True, eq=False)
class Sums:
    """Everything about some cells (b), summed down the columns of their crops by :func:`accumulate`.

    Attributes:
        faces: (rows + 1, b, columns, 1 + tops), likelihood of any side and of each top.
        sides: (rows + 1, b, columns, tops), likelihood of each piece's side.
        shade: (rows + 1, b, columns, 2), :func:`accumulate_shade`.
        first_row: row of the crops in which the sums begin.
    """

    faces: Array
    sides: Array
    shade: Array
    first_row: int


def score_askew(
    sums: Sums, rim: Array, geometry: Geometry, cells: Indices, levels: Indices, best_top: Indices
) -> tuple[Array, Array, Array]:
    """Scores for some heights, each stack standing as it explains the pixels best.

    Args:
        sums: of the cells.
        rim: (steps,) shading of a piece's side (:class:`calibration.looks.SetLook`).
        geometry: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        levels: (b, l) heights to try, 1….
        best_top: (b,) the likeliest top, by which the stand is searched.

    Returns:
        (b, l, tops) log-likelihood ratio against an empty cell; (b, l, 2) the shift (u, v) mm of the face; and
        (b, l, levels, steps, 2) sums of log brightness and of pixels over each step of each side.
    """
    probe = _Probe(sums, geometry, cells, levels)
    along, sideways, foot = _stand(probe, best_top)
    finer_along, finer_foot = along[..., None] + FINER, foot[..., None] + FINER
    faces = probe.faces(finer_along, sideways)  # b, l, along, tops
    bands = probe.bands(finer_along, sideways, finer_foot)  # b, l, along, foot
    across_mm = (sideways[..., None, None] * COLUMN_MM).astype(np.float32)
    stand = log_prior(levels[..., None, None], finer_along[..., None], across_mm, finer_foot[..., None, :])
    side = bands + stand
    whole = faces + side.max(axis=3)[..., None]
    which = whole.max(axis=3).argmax(axis=2)[..., None]
    v = np.take_along_axis(finer_along, which, axis=2)[..., 0]
    foot_index = np.take_along_axis(side.argmax(axis=3), which, axis=2)
    steps = probe.shades(len(rim), v, sideways, np.take_along_axis(finer_foot, foot_index, axis=2)[..., 0])
    return whole.max(axis=2) + _rim_gain(steps, rim)[..., None], np.stack([sideways * COLUMN_MM, v], axis=-1), steps


def rim_residuals(steps: Array) -> tuple[Array, Array]:
    """Mean log brightness of each step less that of its side, and pixels: (…, steps) each, from (…, steps, 2)."""
    count = steps[..., 1]
    side = steps.sum(axis=-2)
    mean = side[..., 0] / np.maximum(side[..., 1], 1e-3)
    residual: Array = np.where(count > 0, steps[..., 0] / np.maximum(count, 1e-3) - mean[..., None], 0)
    return residual, count


def _rim_gain(steps: Array, rim: Array) -> Array:
    """(b, l) log-likelihood ratio of sides shaded as ``rim`` says against evenly shaded ones."""
    residual, count = rim_residuals(steps)
    scale = COLUMN_MM / (2 * SHADE_SPREAD**2 * SHADE_INDEPENDENT_MM2)
    gain: Array = (count * (2 * residual * rim - rim**2)).sum(axis=(2, 3)) * np.float32(scale)
    return gain


def _stand(probe: _Probe, best_top: Indices) -> tuple[Array, Indices, Array]:
    """Shifts (b, l) along, sideways (columns) and of the foot that suit each height best, by the likeliest top."""
    face, foot = probe.everywhere(best_top)  # b, l, along, sideways; b, l, foot, sideways
    a, s, f = np.meshgrid(ALONG, (SIDEWAYS * COLUMN_MM).astype(np.float32), FOOT, indexing="ij")
    prior = log_prior(probe.levels[..., None, None, None], a, s, f)
    total = face[..., None] + foot.transpose(0, 1, 3, 2)[:, :, None] + prior
    best = total.reshape(*total.shape[:2], -1).argmax(axis=2)
    along, rest = np.divmod(best, len(SIDEWAYS) * len(FOOT))
    sideways, foot_index = np.divmod(rest, len(FOOT))
    return ALONG[along], SIDEWAYS[sideways], FOOT[foot_index]


def _sums_at(sums: Array, batch: Indices, row: Array, column: Indices) -> Array:
    """Cumulative sums (…, k) at fractional rows: a pixel cut by an edge counts with the part that is covered."""
    row = np.clip(row, 0, len(sums) - 1.001)
    above = row.astype(np.intp)
    part = (row - above).astype(np.float32)[..., None]
    _, cells, columns, kinds = sums.shape
    first = (above * cells + batch) * columns + column
    flat = sums.reshape(-1, kinds)
    upper = flat.take(first, axis=0)
    at = flat.take(first + cells * columns, axis=0)
    at -= upper
    at *= part
    at += upper
    return np.asarray(at, np.float32)


class _Probe:
    """Sums over faces and bands of stacks that stand askew; b cells, l heights each, k columns."""

    def __init__(self, sums: Sums, geometry: Geometry, cells: Indices, levels: Indices) -> None:
        self.sums, self.geometry, self.cells, self.levels = sums, geometry, cells, levels
        first_row = np.float32(sums.first_row)
        self.covers = geometry.covers[cells[:, None], levels].astype(np.float32)  # b, l, k
        self.edges = geometry.near_row[cells] - first_row  # b, every level, k
        self.batch = np.arange(len(cells))
        self.near = self.edges[self.batch[:, None], levels]
        self.far = geometry.far_row[cells[:, None], levels] - first_row
        self.foot = np.maximum(self.edges[:, :1], self.near)

    def everywhere(self, best_top: Indices) -> tuple[Array, Array]:
        """Face less the side above its near edge (b, l, along, sideways), and side above the foot (b, l, foot, …)."""
        sums, column = self.sums.faces, self.geometry.columns + SIDEWAYS[:, None]
        one = sums[:, self.batch, :, 1 + best_top].transpose(1, 0, 2).ravel()
        side = sums[..., 0].ravel()
        batch = self.batch[:, None, None, None, None]

        def at(edge: npt.NDArray[np.floating], shifts: npt.NDArray[np.floating]) -> Indices:
            # Whole rows will do here: the best stand is looked into more finely afterwards.
            row = np.rint(np.clip(edge[:, :, None] + shifts[:, None], 0, len(sums) - 1)).astype(np.intp)
            index: Indices = (row[:, :, :, None] * sums.shape[1] + batch) * sums.shape[2] + column
            return index

        near = at(self.near, ALONG)
        face = one[near] - one[at(self.far, ALONG)] - side[near]
        foot = side[at(self.foot, FOOT)]
        faces: Array = np.einsum("blask,blk->blas", face, self.covers) * EVIDENCE
        feet: Array = np.einsum("blfsk,blk->blfs", foot, self.covers) * EVIDENCE
        return faces, feet

    def faces(self, along: Array, sideways: Indices) -> Array:
        """(b, l, a, tops) faces at shifts ``along`` (b, l, a) rows and ``sideways`` (b, l) columns."""
        column = (self.geometry.columns + sideways[..., None])[:, :, None]
        batch = self.batch[:, None, None, None]
        near = _sums_at(self.sums.faces, batch, self.near[:, :, None] + along[..., None], column)
        near -= _sums_at(self.sums.faces, batch, self.far[:, :, None] + along[..., None], column)
        faces: Array = np.einsum("blakt,blk->blat", near[..., 1:], self.covers) * EVIDENCE
        return faces

    def bands(self, along: Array, sideways: Indices, foot: Array) -> Array:
        """(b, l, a, f) sides as bands of one colour each, between faces at ``along`` and feet at ``foot`` rows."""
        steps = np.arange(int(self.levels.max()) + 1)
        level = np.minimum(steps, self.levels[..., None])  # b, l, step; bands above the top have no thickness
        part = (level / self.levels[..., None])[..., None, None]
        shift = along[:, :, None, :, None] * part + foot[:, :, None, None] * (1 - part)
        edge = self.edges[self.batch[:, None, None], level]  # b, l, step, k
        row = edge[:, :, :, None, None] + shift[..., None]
        column = (self.geometry.columns + sideways[..., None])[:, :, None, None, None]
        batch = self.batch[:, None, None, None, None, None]
        sums = _sums_at(self.sums.sides, batch, np.asarray(row, np.float32), column)
        sums = np.einsum("blnafkt,blk->blnaft", sums, self.covers) * EVIDENCE
        band = sums[:, :, :-1] - sums[:, :, 1:]
        best = band.max(axis=5)
        mean = np.exp(band - best[..., None]).sum(axis=5) / np.float32(self.geometry.tops)
        whole: Array = (best + np.log(mean)).sum(axis=2)
        return whole

    def shades(self, steps: int, along: Array, sideways: Indices, foot: Array) -> Array:
        """(b, l, levels, steps, 2) sums over each step of each side, for the stands (b, l) given."""
        tallest = int(self.levels.max())
        place = np.minimum(np.arange(tallest * steps + 1) / steps, self.levels[..., None])  # b, l, edge, in levels
        below = np.minimum(place.astype(np.intp), self.levels[..., None] - 1)
        rows = self.edges[self.batch[:, None, None], below]
        rise = self.edges[self.batch[:, None, None], below + 1] - rows
        part = (place / self.levels[..., None])[..., None]
        shift = along[..., None, None] * part + foot[..., None, None] * (1 - part)
        row = np.asarray(rows + rise * (place - below)[..., None] + shift, np.float32)  # b, l, edge, k
        column = (self.geometry.columns + sideways[..., None])[:, :, None]
        batch = self.batch[:, None, None, None]
        sums = np.einsum("blekc,blk->blec", _sums_at(self.sums.shade, batch, row, column), self.covers)
        step = sums[:, :, :-1] - sums[:, :, 1:]
        shades: Array = step.reshape(*step.shape[:2], tallest, steps, 2)
        return shades
