"""Removes a hard shadow across the board: the edge of the sun's light, or the shadow of somebody beside a lamp.

Beyond its edge everything gets the same share of the light.  What is known of the bare board tells where that is: its
blocks lie on two levels of log light (:mod:`.two_levels`), and either side is all of one level, but for what stands
there.  Light of the shaded side is divided by that share, after which the picture seems lit by one lamp, as in the
removal of shadows by Finlayson, Hordley, Lu and Drew (On the removal of shadows from images, 2006), where colours that
do not change with light take the place of a known board.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.appearance import Reflectance, linear
from calibration.camera import Camera
from calibration.kit import Kit
from calibration.srgb import GAMMA, display, linear_light
from vision.appearance.board_blocks import BLOCK_MM, BoardBlocks, block_points, project_blocks
from vision.appearance.board_light import MIN_SHOWN, sample_blocks
from vision.appearance.light_references import are_printed, on_squares
from vision.appearance.shade_map import LEVEL_LOG, Levels, shade_map
from vision.appearance.tone_curve import OFFSET
from vision.appearance.two_levels import TwoLevels, fit_two_levels
from vision.compiled import compiled
from vision.last_value_cache import LastValueCache
from vision.pose.projection import Points, Registration, back_project

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

MIN_KNOWN = 0.35
"""How well blocks of a learned board must be known to be used, see :attr:`.board_blocks.BoardBlocks.known`."""

MIN_LIGHT = 0.02
"""Least light that a block shows of its own, relative to white paper: below, noise dominates in the shade."""

BESIDE_MM = 4.0
"""Distance from the lines of a printed mat at which a block is all paper or all floor."""

REFERENCES = 250
"""Number of blocks from which light of two levels is fitted; more only cost time."""

HUE_LOG = 0.15
"""Largest difference of one channel from the mean of all in the log light that a bare block shows."""

MAX_HUE_STEP = 0.5
"""Largest difference of the depth of a shadow in one channel from the mean of all: the sky is bluer than the sun."""

WINDOW = 11
"""Blocks in the window in which neighbours are compared: wider than a piece."""

MIN_SHARE = 0.1
"""Least share of the bare blocks that lie on either level."""

CHANGED_SHARE = 0.06
"""Share of the references that may have become darker or brighter by :data:`.shade_map.LEVEL_LOG` since there was no
shadow, without one now: half as many as one leaves or covers at least (:data:`.two_levels.MIN_SHARE`)."""

MIN_PURITY = 0.8
"""Least mean share of a block's neighbours that are on its own level.  Dark pieces lie between bare squares."""

MIN_ON_SQUARES, MIN_BESIDE = 0.03, 0.06
"""Least share of the blocks on squares, and of those beside them, that are shaded: pieces lie on squares, and what
lies beside them on neither."""

SAME_LOG = 0.12
"""Largest difference between the depths of the shadow on squares and beside them: something dark that lies on both has
one colour, and so different depths on different ground."""

MIRRORED_LIGHT, OWN_DISTANCE = 0.1, 0.9
"""What a board mirrors of a room, as a share of white paper's light, is at most this: lacquer mirrors a twenty-fifth.
It adds much to dark ground and little to the rest, which then seems shaded; or lacks where it was learned with it.  So
where the levels divide a board into dark and bright ground, by this Kolmogorov-Smirnov distance, light added to the
dark one must not explain them.  Of 144 pictures with a shadow that leaves a fifth of the light three had such a
distance, and took 0.2 to 0.9 of paper's light; two of 144 without a shadow took 0.03 and 0.09."""

GRID_PX = 8
"""Distance of the pixels for which the map is looked up; between them it is interpolated."""

_LIGHT = linear_light(np.arange(256) / 255)


class _Ground(NamedTuple):
    """The bare board in k blocks, in row-major order.

    Attributes:
        points_mm: (rows, columns, 4, 3) sample points.
        terms: (k, 3) float64: 1, and x and y of their centres in halves of the mat.
        logs: (3, k) float32, log light r g b that each shows in even light.
        is_known: (k,) whether that is known, and bright enough.
        is_square: (k,) whether each is on a square, or on its line.
    """

    points_mm: Points
    terms: Points
    logs: Array
    is_known: Mask
    is_square: Mask


class _Placed(NamedTuple):
    """Blocks as a camera sees them.

    Attributes:
        map_px: see :class:`.board_blocks.PlacedBlocks`.
        is_used: (k,) whether each is known, and in the picture.
        references: numbers of the blocks from which light is fitted…
        reference_px: …and their ``map_px``.
    """

    map_px: tuple[Array, Array]
    is_used: Mask
    references: npt.NDArray[np.intp]
    reference_px: tuple[Array, Array]


class HardShadow:
    """Removes hard shadows from the pictures of one board."""

    def __init__(
        self, kit: Kit, floor: Reflectance | None, blocks: BoardBlocks | None = None, levels: tuple[int, ...] = ()
    ) -> None:
        """Pictures are left as they are where pillars cover the board, and where its colours are not known.

        Args:
            kit: of the board.
            floor: of its squares, where they have one colour.
            blocks: of the board, where its appearance was learned.
            levels: of its terrain.
        """
        self._ground = None if kit.pillars is not None else _ground(kit, floor, blocks, levels)
        self._half_mm = kit.mat.width_mm / 2, kit.mat.height_mm / 2
        self._placed, self._grid = LastValueCache[_Placed](), LastValueCache[tuple[Array, Array]]()
        self._even: tuple[_Placed, Array] | None = None  # the last picture found without one: (3, k) log light there

    def remove(self, image: Picture, pose: Registration, camera: Camera) -> Picture:
        """A picture (height, width, 3) uint8 BGR without the hard shadow across it; itself where there is none."""
        ground = self._ground
        if ground is None:
            return image
        placed = self._placed.get((pose, camera), partial(_place, ground, pose, camera))
        if len(placed.references) < REFERENCES / 4:
            return image
        logs, in_range = _log_light(image, placed.reference_px, ground.logs[:, placed.references])
        if self._even is not None and self._even[0] is placed and not _has_changed(self._even[1], logs):
            return image
        told = placed.references[in_range]
        fits = fit_two_levels(ground.terms[told], logs.T[in_range].astype(np.float64))
        levels = _likeliest(image, ground, placed, fits) if fits else None
        shade = None if levels is None else shade_map(levels, ground.is_square.reshape(ground.points_mm.shape[:2]))
        self._even = (placed, logs) if shade is None else None
        if shade is None:
            return image
        share, depth = shade
        grid = self._grid.get((pose, camera), partial(_grid, self._half_mm, pose, camera))
        small = cv2.remap(share, *grid, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        scale = np.array([[GRID_PX, 0, 0], [0, GRID_PX, 0]], np.float64)
        full = cv2.warpAffine(small, scale, image.shape[1::-1], flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return relight(image, np.asarray(full, np.uint8), _codes_by_shade(depth))


def _ground(kit: Kit, floor: Reflectance | None, blocks: BoardBlocks | None, levels: tuple[int, ...]) -> _Ground | None:
    """The bare board, as it was learned or is printed; None where neither is known."""
    half_mm = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    if blocks is not None:
        points, own, is_known = blocks.points_mm, blocks.own, blocks.known > MIN_KNOWN
    elif kit.mat.colour is not None and floor is not None:
        points = block_points(int(2 * half_mm[1] / BLOCK_MM), int(2 * half_mm[0] / BLOCK_MM), half_mm)
        paper, squares = (np.array(colour, np.float32)[:, None] for colour in (linear(kit.mat.colour), floor))
        is_floor, is_paper = on_squares(kit, _axes(points), -BESIDE_MM), ~on_squares(kit, _axes(points), BESIDE_MM)
        printed = are_printed(kit, _middles(points))
        own, is_known = np.where(is_floor, squares, paper), is_floor | (is_paper & ~printed)
    else:
        return None
    halves = _middles(points) / half_mm
    raised = [cell for cell, level in zip(kit.cells, levels, strict=False) if level]
    is_known &= (own.max(axis=0) > MIN_LIGHT) & ~on_squares(kit, _axes(points), cells=raised)
    return _Ground(
        points,
        np.column_stack([np.ones(len(halves)), halves]),
        (GAMMA * np.log(display(np.maximum(own, 0.0)) + OFFSET)).astype(np.float32),
        is_known,
        on_squares(kit, _axes(points), BESIDE_MM),
    )


def _middles(points_mm: Points) -> Points:
    """(k, 2) x and y of the centres of blocks, mm; ``points_mm``: see :class:`_Ground`."""
    middles: Points = points_mm.mean(axis=2)[..., :2].reshape(-1, 2)
    return middles


def _axes(points_mm: Points) -> tuple[Points, Points]:
    """Coordinates x of the columns and y of the rows of blocks, mm; ``points_mm``: see :class:`_Ground`."""
    return points_mm[0].mean(axis=1)[:, 0], points_mm[:, 0].mean(axis=1)[:, 1]


def _place(ground: _Ground, pose: Registration, camera: Camera) -> _Placed:
    """The blocks of a board as a camera sees them."""
    map_px, inside = project_blocks(ground.points_mm, pose, camera)
    is_used = ground.is_known & inside
    numbers = np.flatnonzero(is_used)
    references = numbers[:: 1 + len(numbers) // REFERENCES]
    across, down = (axis.reshape(-1, 4)[references] for axis in map_px)
    return _Placed(map_px, is_used, references, (across, down))


def _grid(half_mm: tuple[float, float], pose: Registration, camera: Camera) -> tuple[Array, Array]:
    """X and y, (rows, columns) float32 each, of every :data:`GRID_PX`-th pixel in the map of blocks."""
    y, x = np.mgrid[: camera.height_px : GRID_PX, : camera.width_px : GRID_PX].astype(np.float64)
    flat_mm = back_project(np.stack([x, y], axis=-1), pose, camera)
    columns, rows = (flat_mm[..., 0] + half_mm[0]) / BLOCK_MM - 0.5, (half_mm[1] - flat_mm[..., 1]) / BLOCK_MM - 0.5
    return columns.astype(np.float32), rows.astype(np.float32)


def _log_light(image: Picture, map_px: tuple[Array, Array], own: Array) -> tuple[Array, Mask]:
    """(3, k) float32 log light on blocks whose own is ``own`` (3, k), and (k,) whether they are in range."""
    shown, in_range = sample_blocks(image, map_px)
    return np.float32(GAMMA) * np.log(np.maximum(shown, np.float32(MIN_SHOWN)) + OFFSET) - own, in_range


def _has_changed(before: Array, now: Array) -> bool:
    """Whether the log light, (3, k), of so many references has changed that there may be a shadow ``now``."""
    return bool((np.abs((before - now).mean(axis=0)) > LEVEL_LOG).mean() > CHANGED_SHARE)


def _likeliest(image: Picture, ground: _Ground, placed: _Placed, fits: list[TwoLevels]) -> Levels | None:
    """The blocks on the two levels of the fit that divides them best, if that is a hard shadow; else None."""
    logs, in_range = _log_light(image, placed.map_px, ground.logs)
    most, best = 0.0, None
    for fit in (fit for fit in fits if np.abs(fit.steps - fit.steps.mean()).max() < MAX_HUE_STEP):
        levels = _on_levels(logs, ground.terms, placed.is_used & in_range, fit)
        worth = _purity(levels, ground) * (levels.is_lit | levels.is_shaded).sum()
        if worth > most:
            most, best = worth, levels
    return best


def _on_levels(logs: Array, terms: Points, is_used: Mask, fit: TwoLevels) -> Levels:
    """Blocks with log light (3, k), of which some are used (k,), on the two levels of a ``fit``."""
    above, step = logs - (terms @ fit.plane).T.astype(np.float32), float(fit.steps.mean())
    share = -above.mean(axis=0) / np.float32(step)
    off = above + np.clip(share, 0, 1) * fit.steps[:, None].astype(np.float32)
    is_bare = is_used & (np.abs(off - off.mean(axis=0)).max(axis=0) < HUE_LOG)
    is_lit, is_shaded = (is_bare & (np.abs(share - level) * step < LEVEL_LOG) for level in (0.0, 1.0))
    return Levels(above, share, is_lit, is_shaded & ~is_lit, is_bare, step)


def _purity(levels: Levels, ground: _Ground) -> float:
    """How well the two levels are divided in space, 0…1; 0 where they are no lit and shaded part of a board."""
    lit, shaded, is_square = levels.is_lit, levels.is_shaded, ground.is_square
    least = MIN_SHARE * levels.is_bare.sum()
    beside, inside = shaded & ~is_square, shaded & is_square
    if (
        min(lit.sum(), shaded.sum()) < least
        or beside.sum() < MIN_BESIDE * ((lit | shaded) & ~is_square).sum()
        or inside.sum() < MIN_ON_SQUARES * ((lit | shaded) & is_square).sum()
        or not (beside.any() and inside.any())
        or abs(float(np.median(levels.share[beside]) - np.median(levels.share[inside]))) * levels.step > SAME_LOG
    ):
        return 0.0
    if _is_mirrored(levels, ground):
        return 0.0
    shape = ground.points_mm.shape[:2]
    near_lit, near_shaded = _counts(lit.reshape(shape)).ravel(), _counts(shaded.reshape(shape)).ravel()
    share = near_shaded / np.maximum(near_lit + near_shaded, 1)
    purity = min(float(share[shaded].mean()), 1 - float(share[lit].mean()))
    return purity if purity > MIN_PURITY else 0.0


def _is_mirrored(levels: Levels, ground: _Ground) -> bool:
    """Whether light that the board mirrors explains the levels, see :data:`MIRRORED_LIGHT`."""
    own = ground.logs.mean(axis=0)
    lit, shaded = np.sort(own[levels.is_lit]), np.sort(own[levels.is_shaded])
    values = np.concatenate([lit, shaded])
    below_lit, below_shaded = (np.searchsorted(part, values, side="right") / len(part) for part in (lit, shaded))
    added = float(np.exp(min(np.median(lit), np.median(shaded))) * np.expm1(levels.step))
    return bool(np.abs(below_lit - below_shaded).max() > OWN_DISTANCE and added < MIRRORED_LIGHT)


def _counts(blocks: Mask) -> Array:
    """(rows, columns) float32 sums over the window (:data:`WINDOW`) round each of some ``blocks`` (rows, columns)."""
    summed = cv2.boxFilter(
        blocks.astype(np.float32), -1, (WINDOW, WINDOW), normalize=False, borderType=cv2.BORDER_CONSTANT
    )
    return np.asarray(summed, np.float32)


def _codes_by_shade(depth: Array) -> Picture:
    """(256, 3, 256) uint8, the code b g r that each code becomes without the shade, by how far it is shaded.

    ``depth`` (3,): of the whole shade in log light, r g b.
    """
    gain = np.exp(depth[::-1] * np.arange(256)[:, None] / 255)
    return np.rint(255 * display(np.minimum(gain[..., None] * _LIGHT, 1.0))).astype(np.uint8)


@compiled
def relight(image: Picture, share: Picture, codes: Picture) -> Picture:
    """A picture (height, width, 3) uint8 BGR in even light.

    Args:
        image: in which some of the light is missing.
        share: (height, width) uint8, how much of it, from none to 255.
        codes: (256, 3, 256) uint8, the code b g r that each code becomes, by that.
    """
    relit = np.empty_like(image)
    for row in range(len(image)):
        for column in range(image.shape[1]):
            shaded = share[row, column]
            for channel in range(3):
                relit[row, column, channel] = codes[shaded, channel, image[row, column, channel]]
    return relit
