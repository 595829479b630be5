"""How well each figure and colour explains a cell's pixels: analysis by synthesis, over every way a stack may stand.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour); other figures have other parts (:mod:`vision.figures`).  The score of a
state is the log-likelihood of the pixels that it covers, against what they would show without it.  Face and foot may
be off their places, but not by much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.crops import INDEPENDENT_MM2
from vision.figures import LEAN_MM, PLACE_MM
from vision.geometry import Geometry

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

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

IMPOSSIBLE = np.float32(-1e4)
"""Log-likelihood ratio of a piece that the kit does not have."""

DARK = 0.05
"""Added to display values before the logarithm: below it noise rules."""

FOOT_FINELY = np.arange(-4, 4.5, 0.5).astype(np.float32)
"""Shifts of the foot tried where the face is known."""

FINER = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
"""Shifts tried round the best of the first."""


def observations(geometry: Geometry) -> np.float32:
    """Independent observations a crop pixel."""
    return np.float32(geometry.crops.column_mm / INDEPENDENT_MM2)


def log_prior(leans: npt.NDArray[np.bool_], along: Array, sideways: Array, foot: Array) -> Array:
    """Log prior of figures standing so, which lean or cannot: shifts in mm, all broadcast together."""
    lean_mm2 = np.where(leans, LEAN_MM**2, 0.0)
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
    """Scores as if every figure stood straight in the middle of its cell.

    Args:
        sums: (rows + 1, b, columns, 1 + colours), :func:`accumulate` of any side and each colour's face.
        geometry: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        first_row: row of the crops in which ``sums`` begins; figures that reach beyond it cannot be scored.

    Returns:
        (b, figures, colours) log-likelihood ratio against an empty cell; impossible where there is no such piece.
    """
    batch = np.arange(len(cells))[:, None, None]
    edges = geometry.edges[cells] - np.float32(first_row)
    covers = geometry.covers[cells][..., None]
    far = _sums_at(sums, batch, edges[:, :, 0], geometry.columns)
    near = _sums_at(sums, batch, edges[:, :, 1], geometry.columns)
    foot = _sums_at(sums, batch, edges[:, :, -1], geometry.columns)[..., 0]
    face = ((near - far)[..., 1:] * covers).sum(axis=2)
    side = ((foot - near[..., 0]) * covers[..., 0]).sum(axis=2)
    upright: Array = (face + side[..., None]) * observations(geometry)
    return np.where(geometry.figures.allowed, upright, IMPOSSIBLE)


def share_of_smallest(likely: npt.NDArray[np.bool_], geometry: Geometry, cells: Indices) -> Array:
    """(b,) share of the smallest figure's outline on ``cells`` in which ``likely`` (b, rows, columns) is true."""
    sums = accumulate(likely[..., None].astype(np.float32))
    batch, covers = np.arange(len(likely))[:, None], geometry.covers[cells, 0]
    far, foot = geometry.edges[cells, 0, 0], geometry.edges[cells, 0, -1]
    inside = _sums_at(sums, batch, foot, geometry.columns) - _sums_at(sums, batch, far, geometry.columns)
    share: Array = (inside[..., 0] * covers).sum(axis=1) / ((foot - far) * covers).sum(axis=1)
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
        faces: (rows + 1, b, columns, 1 + colours), likelihood of any side and of each colour's face.
        sides: (rows + 1, b, columns, colours), likelihood of each colour's side.
        shade: (rows + 1, b, columns, 2), :func:`accumulate_shade`.
        first_row: row of the crops in which the sums begin.
    """

    faces: Array
    sides: Array
    shade: Array
    first_row: int


@dataclass(frozen=True, eq=False)
class Stand:
    """Where figures (b, l) may stand: shifts of face (b, l, a), foot (b, l, f) in rows, sideways (b, l) in columns."""

    along: Array
    sideways: Indices
    foot: Array


def search_stand(sums: Sums, geometry: Geometry, cells: Indices, figures: Indices, best_colour: Indices) -> Stand:
    """Shifts round those that suit each figure (b, l) best, by the likeliest colour (b,)."""
    probe = _Probe(sums, geometry, cells, figures)
    face, foot = probe.everywhere(best_colour)  # b, l, along, sideways; b, l, foot, sideways
    a, s, f = np.meshgrid(ALONG, (SIDEWAYS * geometry.crops.column_mm).astype(np.float32), FOOT, indexing="ij")
    prior = log_prior(probe.leans[..., None, None, None], a, s, f)
    total = face[..., None] + foot.transpose(0, 1, 3, 2)[:, :, None] + prior
    best = total.reshape(*total.shape[:2], -1).argmax(axis=2)
    along, rest = np.divmod(best, len(SIDEWAYS) * len(FOOT))
    sideways, foot_index = np.divmod(rest, len(FOOT))
    return Stand(ALONG[along][..., None] + FINER, SIDEWAYS[sideways], FOOT[foot_index][..., None] + FINER)


def known_face(shift_mm: Array, geometry: Geometry) -> Stand:
    """Stands of figures whose faces are known to be off by ``shift_mm`` (b, l, 2) in the crop."""
    foot = np.broadcast_to(FOOT_FINELY, (*shift_mm.shape[:2], len(FOOT_FINELY)))
    sideways = np.rint(shift_mm[..., 0] / geometry.crops.column_mm).astype(np.intp)
    return Stand(shift_mm[..., 1, None].astype(np.float32), np.clip(sideways, SIDEWAYS[0], SIDEWAYS[-1]), foot)


def score_askew(
    sums: Sums, rim: Array, geometry: Geometry, cells: Indices, figures: Indices, stand: Stand
) -> tuple[Array, Array, Array]:
    """Scores for some figures, each standing as it explains the pixels best.

    Args:
        sums: of the cells.
        rim: (steps,) shading of a piece's side (:class:`calibration.looks.SetLook`).
        geometry: of the pose.
        cells: (b,) the cells that ``sums`` belongs to.
        figures: (b, l) figures to try.
        stand: where they may stand.

    Returns:
        (b, l, colours) log-likelihood ratio against an empty cell; (b, l, 2) the shift (u, v) mm of the face; and
        (b, l, parts, steps, 2) sums of log brightness and of pixels over each step of each side, the uppermost first.
    """
    probe = _Probe(sums, geometry, cells, figures)
    faces = probe.faces(stand.along, stand.sideways)  # b, l, along, colours
    bands = probe.bands(stand.along, stand.sideways, stand.foot)  # b, l, along, foot, colours
    across_mm = (stand.sideways[..., None, None] * geometry.crops.column_mm).astype(np.float32)
    prior = log_prior(probe.leans[..., None, None], stand.along[..., None], across_mm, stand.foot[..., None, :])
    side = bands + prior[..., None]
    whole = faces + side.max(axis=3)
    which = whole.max(axis=3).argmax(axis=2)  # b, l
    colour = np.take_along_axis(whole, which[..., None, None], axis=2)[:, :, 0].argmax(axis=2)
    v = np.take_along_axis(stand.along, which[..., None], axis=2)[..., 0]
    batch, trial = np.ogrid[: len(cells), : figures.shape[1]]
    foot_index = side[batch, trial, which, :, colour].argmax(axis=2)[..., None]
    foot = np.take_along_axis(stand.foot, foot_index, axis=2)[..., 0]
    steps = probe.shades(len(rim), v, stand.sideways, foot)
    scores = whole.max(axis=2) + _rim_gain(steps, rim, geometry)[..., None]
    scores = np.where(geometry.figures.allowed[figures], scores, IMPOSSIBLE)
    return scores, np.stack([stand.sideways * geometry.crops.column_mm, v], axis=-1), steps


def rim_residuals(steps: Array) -> tuple[Array, Array]:
    """Mean log brightness of each step less that of its side, and pixels: (…, steps) each, from (…, steps, 2)."""
    count = steps[..., 1]
    side = steps.sum(axis=-2)
    mean = side[..., 0] / np.maximum(side[..., 1], 1e-3)
    residual: Array = np.where(count > 0, steps[..., 0] / np.maximum(count, 1e-3) - mean[..., None], 0)
    return residual, count


def _rim_gain(steps: Array, rim: Array, geometry: Geometry) -> Array:
    """(b, l) log-likelihood ratio of sides shaded as ``rim`` says, from below, against evenly shaded ones."""
    residual, count = rim_residuals(steps)
    rim = rim[::-1]
    scale = geometry.crops.column_mm / (2 * SHADE_SPREAD**2 * SHADE_INDEPENDENT_MM2)
    gain: Array = (count * (2 * residual * rim - rim**2)).sum(axis=(2, 3)) * np.float32(scale)
    return gain


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
    """Sums over faces and bands of figures that stand askew; b cells, l figures each, k columns."""

    def __init__(self, sums: Sums, geometry: Geometry, cells: Indices, figures: Indices) -> None:
        self.sums, self.geometry, self.weight = sums, geometry, observations(geometry)
        self.covers = geometry.covers[cells[:, None], figures].astype(np.float32)  # b, l, k
        self.bands_of = geometry.figures.parts[figures] - 1  # b, l: parts under the face
        self.leans = self.bands_of > int(geometry.figures.faced)
        most = int(self.bands_of.max())
        self.edges = geometry.edges[cells[:, None], figures, : most + 2] - np.float32(sums.first_row)  # b, l, e, k
        self.batch = np.arange(len(cells))

    def everywhere(self, best_colour: Indices) -> tuple[Array, Array]:
        """Face less the side above its near edge (b, l, along, sideways), and side above the foot (b, l, foot, …)."""
        sums, column = self.sums.faces, self.geometry.columns + SIDEWAYS[:, None]
        one = sums[:, self.batch, :, 1 + best_colour].transpose(1, 0, 2).ravel()
        side = sums[..., 0].ravel()
        batch = self.batch[:, None, None, None, None]

        def at(edge: npt.NDArray[np.floating], shifts: npt.NDArray[np.floating]) -> Indices:
            # Whole rows will do here: the best stand is looked into more finely afterwards.
            row = np.rint(np.clip(edge[:, :, None] + shifts[:, None], 0, len(sums) - 1)).astype(np.intp)
            index: Indices = (row[:, :, :, None] * sums.shape[1] + batch) * sums.shape[2] + column
            return index

        near = at(self.edges[:, :, 1], ALONG)
        banded = self.covers * (self.bands_of > 0)[..., None]
        face = np.einsum("blask,blk->blas", one[near] - one[at(self.edges[:, :, 0], ALONG)], self.covers)
        face -= np.einsum("blask,blk->blas", side[near], banded)
        foot = np.einsum("blfsk,blk->blfs", side[at(self.edges[:, :, -1], FOOT)], banded)
        return np.asarray(face * self.weight, np.float32), np.asarray(foot * self.weight, np.float32)

    def faces(self, along: Array, sideways: Indices) -> Array:
        """(b, l, a, colours) faces at shifts ``along`` (b, l, a) rows and ``sideways`` (b, l) columns."""
        column = (self.geometry.columns + sideways[..., None])[:, :, None]
        batch = self.batch[:, None, None, None]
        near = _sums_at(self.sums.faces, batch, self.edges[:, :, None, 1] + along[..., None], column)
        near -= _sums_at(self.sums.faces, batch, self.edges[:, :, None, 0] + along[..., None], column)
        faces: Array = np.einsum("blakt,blk->blat", near[..., 1:], self.covers) * self.weight
        return faces

    def bands(self, along: Array, sideways: Indices, foot: Array) -> Array:
        """(b, l, a, f, colours) sides of one colour each, between faces at ``along`` and feet at ``foot`` rows.

        The first one's is the colour of the face, where the uppermost piece has a face; the others' are unknown.
        """
        step = np.minimum(np.arange(self.edges.shape[2] - 1), self.bands_of[..., None])
        part = (1 - step / np.maximum(self.bands_of, 1)[..., None])[..., None, None]  # 1 at the face, 0 at the foot
        shift = along[:, :, None, :, None] * part + foot[:, :, None, None] * (1 - part)
        row = self.edges[:, :, 1:, None, None] + shift[..., None]
        column = (self.geometry.columns + sideways[..., None])[:, :, None, None, None]
        batch = self.batch[:, None, None, None, None, None]
        sums = _sums_at(self.sums.sides, batch, np.asarray(row, np.float32), column)
        sums = np.einsum("blnafkt,blk->blnaft", sums, self.covers) * self.weight
        band = sums[:, :, 1:] - sums[:, :, :-1]
        own = int(self.geometry.figures.faced)
        rest = band[:, :, own:]
        best = rest.max(axis=5)
        unknown = best + np.log(np.exp(rest - best[..., None]).mean(axis=5))
        whole: Array = band[:, :, :own].sum(axis=2) + unknown.sum(axis=2)[..., None]
        return whole

    def shades(self, steps: int, along: Array, sideways: Indices, foot: Array) -> Array:
        """(b, l, parts, steps, 2) sums over each step of each side from above, for the stands (b, l) given."""
        most = int(self.bands_of.max())
        place = np.minimum(np.arange(most * steps + 1) / steps, self.bands_of[..., None])  # b, l, edge, in sides
        above = np.minimum(place.astype(np.intp), np.maximum(self.bands_of[..., None] - 1, 0))
        rows = np.take_along_axis(self.edges, 1 + above[..., None], axis=2)
        rise = np.take_along_axis(self.edges, np.minimum(2 + above, most + 1)[..., None], axis=2) - rows
        part = (1 - place / np.maximum(self.bands_of, 1)[..., None])[..., None]
        shift = along[..., None, None] * part + foot[..., None, None] * (1 - part)
        row = np.asarray(rows + rise * (place - above)[..., None] + shift, np.float32)  # b, l, edge, k
        column = (self.geometry.columns + sideways[..., None])[:, :, None]
        batch = self.batch[:, None, None, None]
        sums = np.einsum("blekc,blk->blec", _sums_at(self.sums.shade, batch, row, column), self.covers)
        step = sums[:, :, 1:] - sums[:, :, :-1]
        shades: Array = step.reshape(*step.shape[:2], most, steps, 2)
        return shades
