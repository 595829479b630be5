"""Let the learned appearance of a board follow slow changes: dust, stains, wear.

Sudden changes are not followed, nor are objects: only squares that are surely bare are looked at, only differences
that noise and grain do not explain count, and no texel changes by more than :data:`STEP` at a time.  What is darker by
the same factor in all channels is shade, which moves on: it is divided out, and only its tint is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.board_appearance import TEXEL_MM, WHITEST, BoardAppearance
from calibration.kit import Kit
from calibration.srgb import GAMMA
from vision.appearance.board_learning import cell_texels, codes_at, covered_texels
from vision.appearance.board_surface import DARKEST_SHADE, specular_at
from vision.appearance.board_view import DARKEST, variance_of
from vision.appearance.piece_colours import Photograph
from vision.appearance.tone_curve import add_light, codes_to_values, gain_at
from vision.pose.projection import project

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

STEP = 0.03
"""Largest change of a texel's display value at a time: a stain by which a square can be told from bare board is thus
learned over a dozen accepted moves, an object that is put down is not.  Chosen by eye."""

CHANGED_DEVIATIONS = 2.0
"""Standard deviations from what the bare board shows beyond which a texel has changed."""

MAX_BRIGHTENING = 1.1
"""Largest factor by which light may raise a texel's display value: with half of a simulated board in shade, the light
measured beside it was off by this much, and without this bound that error was learned."""

CHANGED_SHARE = 0.1
"""Share of changed texels above which a square is followed."""

MAX_CELLS = 8
"""Largest number of squares followed at a time, those that have changed most: each takes a millisecond."""

STRIDE = 4
"""Spacing, in texels, of the sample that tells whether a square has changed."""

BESIDE_MM = 4.0
"""Margin round a piece in which nothing is followed: it is put down, and located, a millimetre or two off centre."""


def update_changed_texels(
    known: BoardAppearance, photograph: Photograph, kit: Kit, layout: Mapping[str, str], bare: Collection[str]
) -> BoardAppearance:
    """``known``, moved one step towards what a photograph shows of the ``bare`` cells.

    ``known`` itself where nothing has changed.  ``layout``: stacks by cell, which may occlude the board.
    """
    shares = _changed_shares(known, photograph, kit, bare)
    cells = [cell for cell in sorted(shares, key=lambda cell: (-shares[cell], cell)) if shares[cell] > CHANGED_SHARE]
    if not cells:
        return known
    colour = known.colour.copy()
    free = (known.seen > 0) & ~covered_texels(kit, photograph, layout, BESIDE_MM)
    for cell in cells[:MAX_CELLS]:
        part = cell_texels(kit, cell, free.shape)
        step, changed = _steps(known, photograph, part)
        colour[part] = known.colour[part] + step * (changed & free[part])[..., None]
    return replace(known, colour=colour)


def _changed_shares(
    known: BoardAppearance, photograph: Photograph, kit: Kit, cells: Collection[str]
) -> dict[str, float]:
    """Share of each cell's texels that have changed, estimated from a sample of them."""
    sample = slice(None, None, STRIDE), slice(None, None, STRIDE)
    seen = known.seen[sample] > 0
    changed = _steps(known, photograph, sample)[1] & seen
    shares = {}
    for cell in cells:
        part = cell_texels(kit, cell, known.seen.shape)
        within = tuple(slice(-(-along.start // STRIDE), -(-along.stop // STRIDE)) for along in part)
        shares[cell] = float(changed[within].sum() / max(seen[within].sum(), 1))
    return shares


def _steps(known: BoardAppearance, photograph: Photograph, part: tuple[slice, slice]) -> tuple[Array, Mask]:
    """(rows, columns, 3) steps of the display values of part of the map, and (rows, columns) where they changed."""
    own = known.colour[part]
    shown, inside = _sample_texels(photograph, known.seen.shape, part)
    share = (shown * own).sum(axis=2) / np.maximum((own**2).sum(axis=2), DARKEST**2)
    lit = np.clip(share, DARKEST_SHADE ** (1 / GAMMA), MAX_BRIGHTENING)[..., None]
    more = shown / lit - own
    changed = inside & ((more * lit) ** 2 > CHANGED_DEVIATIONS**2 * variance_of(own, known.spread[part])).any(axis=2)
    return np.clip(more, -STEP, STEP), changed


def _sample_texels(photograph: Photograph, size: tuple[int, ...], part: tuple[slice, slice]) -> tuple[Array, Mask]:
    """(rows, columns, 3) display values r g b of part of the map in even light, and whether the picture shows them.

    Specular reflection of lamps is removed, as it is not part of the board's appearance.
    """
    rows, columns = (np.arange(count)[along] for count, along in zip(size, part, strict=False))
    x, y = np.meshgrid((columns - (size[1] - 1) / 2) * TEXEL_MM, ((size[0] - 1) / 2 - rows) * TEXEL_MM)
    places = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    pixels = project(places, photograph.pose, photograph.camera)
    last = np.array(photograph.image.shape[1::-1]) - 1
    inside: Mask = np.asarray(((pixels >= 0) & (pixels <= last)).all(axis=1).reshape(x.shape))
    values = codes_to_values(codes_at(photograph.image, pixels)[:, ::-1], gain_at(photograph.light.at(places)))
    light = photograph.light
    if light.specular is not None:
        values = add_light(values, -specular_at(light.specular, light.half_mm, places))
    return np.clip(values, 0, WHITEST).astype(np.float32).reshape(*x.shape, 3), inside
