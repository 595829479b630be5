"""Learn the appearance of a board from photographs of it, empty or with known pieces on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_appearance import TEXEL_MM, WHITEST, BoardAppearance, unknown_board
from calibration.kit import Colour, Kit
from vision.appearance.board_view import to_texels
from vision.appearance.piece_colours import Photograph
from vision.appearance.tone_curve import codes_to_values, gain_at
from vision.pose.projection import Points, back_project, project
from vision.scene.solids import hull, pieces

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

SAMPLE_OFFSETS_MM = (-0.7, 0.0, 0.7)
"""Offsets from a texel's centre at which it is sampled, along each axis: poses repeat within half a millimetre."""

SHADE_MM = 12.0
"""How far round a piece its shadow may darken the board."""

MAX_SEEN = 255

MAP_COLUMNS = 512
"""Number of places looked up per row of a map: OpenCV takes no more than 32,767 rows."""

INNER_SHARE = 0.35
"""Share of the pitch round a square's centre from which its colour is taken, clear of the lines."""


def learn_board(
    before: BoardAppearance | None, photograph: Photograph, kit: Kit, covered: Mask | None = None
) -> BoardAppearance:
    """What was known ``before``, merged with what a photograph shows of the board.

    ``covered`` (rows, columns): texels that something occludes or shades in it.
    """
    known = before or unknown_board(kit.mat.width_mm, kit.mat.height_mm)
    rows, columns = known.seen.shape
    row, column = np.nonzero(np.ones((rows, columns), np.bool_) if covered is None else ~covered)
    if not len(row):
        return known
    x, y = (column - (columns - 1) / 2) * TEXEL_MM, ((rows - 1) / 2 - row) * TEXEL_MM
    middles = np.column_stack([x, y, np.zeros(len(row))])
    gain = gain_at(photograph.light.at(middles))
    total, squares = np.zeros((len(row), 3), np.float32), np.zeros(len(row), np.float32)
    inside = np.ones(len(row), np.bool_)
    last = np.array(photograph.image.shape[1::-1]) - 1
    offsets = [(dx, dy, 0.0) for dx in SAMPLE_OFFSETS_MM for dy in SAMPLE_OFFSETS_MM]
    for offset in offsets:
        pixels = project(middles + offset, photograph.pose, photograph.camera)
        values = np.clip(codes_to_values(codes_at(photograph.image, pixels)[:, ::-1], gain), 0, WHITEST)
        total, squares = total + values, squares + (values**2).mean(axis=1)
        inside &= ((pixels >= 0) & (pixels <= last)).all(axis=1)
    count = np.float32(len(offsets))
    mean, mean_square = np.zeros((rows, columns, 3), np.float32), np.zeros((rows, columns), np.float32)
    shown = np.zeros((rows, columns), np.bool_)
    mean[row, column], mean_square[row, column], shown[row, column] = total / count, squares / count, inside
    return _joined(known, mean, mean_square, shown)


def codes_at(image: npt.NDArray[np.uint8], pixels: Points) -> npt.NDArray[np.uint8]:
    """(n, 3) uint8 BGR of an image, interpolated at places (n, 2) px."""
    lines = max(-(-len(pixels) // MAP_COLUMNS), 1)
    maps = np.zeros((2, lines * MAP_COLUMNS), np.float32)
    maps[:, : len(pixels)] = pixels.T
    x, y = maps.reshape(2, lines, MAP_COLUMNS)
    return np.asarray(cv2.remap(image, x, y, cv2.INTER_LINEAR), np.uint8).reshape(-1, 3)[: len(pixels)]


def _joined(known: BoardAppearance, colour: Array, squares: Array, shown: Mask) -> BoardAppearance:
    """``known`` merged with one photograph: mean display values, mean of their squares, and where it shows any."""
    weight, own = known.seen.astype(np.float32), shown.astype(np.float32)
    both = np.maximum(weight + own, 1)
    mean = (known.colour * weight[..., None] + colour * own[..., None]) / both[..., None]
    before = known.spread**2 + (known.colour**2).mean(axis=2)
    variance = (before * weight + squares * own) / both - (mean**2).mean(axis=2)
    seen = np.minimum(weight + own, MAX_SEEN).astype(np.uint8)
    return BoardAppearance(mean.astype(np.float32), np.sqrt(np.maximum(variance, 0)).astype(np.float32), seen)


def learn_bare(
    before: BoardAppearance, photograph: Photograph, kit: Kit, layout: Mapping[str, str], bare: Collection[str]
) -> BoardAppearance:
    """``before``, with the unknown parts of ``bare`` cells learned; ``before`` itself where none are unknown.

    ``layout``: stacks by cell, which may occlude or shade the board.
    """
    unseen = before.seen == 0
    wanted = np.zeros_like(unseen)
    for cell in bare:
        wanted[cell_texels(kit, cell, unseen.shape)] = True
    wanted &= unseen
    if wanted.any():
        wanted &= ~covered_texels(kit, photograph, layout)
    return learn_board(before, photograph, kit, ~wanted) if wanted.any() else before


def cell_texels(kit: Kit, cell: str, size: tuple[int, ...], share: float = 0.5) -> tuple[slice, slice]:
    """Rows and columns, in a map of a ``size``, within this share of the pitch of a cell's centre."""
    reach = share * np.array(kit.board.pitch_mm)
    corners = np.array(kit.centre_mm(cell)) + np.array([-reach, reach])
    row, column = (np.rint(axis).astype(int).ravel().tolist() for axis in to_texels(corners, size))
    return slice(row[1], row[0] + 1), slice(column[0], column[1] + 1)


def with_measured_colours(kit: Kit, shown: BoardAppearance) -> Kit:
    """``kit`` with the colours of its (chequered) squares set to the medians of those ``shown``; printers differ."""
    seen: dict[Colour, list[Array]] = {kit.ground(cell): [] for cell in kit.cells}
    for cell in kit.cells:
        inner = cell_texels(kit, cell, shown.seen.shape, INNER_SHARE)
        seen[kit.ground(cell)].append(shown.colour[inner][shown.seen[inner] > 0])
    medians = {colour: _median(np.vstack(parts)) or colour for colour, parts in seen.items()}
    colours = (kit.board.cell_colour, kit.board.chequer_colour)
    own, other = (None if colour is None else medians[colour] for colour in colours)
    return replace(kit, board=replace(kit.board, cell_colour=own, chequer_colour=other))


def _median(values: Array) -> Colour | None:
    """The median of display values (n, 3) as an sRGB colour; None if there are none."""
    if not len(values):
        return None
    r, g, b = np.clip(np.rint(np.median(values, axis=0) * 255), 0, 255).astype(int).tolist()
    return r, g, b


def covered_texels(kit: Kit, photograph: Photograph, layout: Mapping[str, str], around_mm: float = SHADE_MM) -> Mask:
    """(rows, columns) texels that stacks by cell occlude in a photograph, or may shade: within ``around_mm``."""
    size = unknown_board(kit.mat.width_mm, kit.mat.height_mm).seen.shape
    covered = np.zeros(size, np.uint8)
    for cell, stack in layout.items():
        corners = np.vstack([solid.points for solid in pieces(kit, cell, stack)])
        hidden = back_project(project(corners, photograph.pose, photograph.camera), photograph.pose, photograph.camera)
        row, column = to_texels(hull(hidden), size)
        cv2.fillConvexPoly(covered, np.rint(np.stack([column, row], axis=-1)).astype(np.int32), 1)
    reach = 2 * int(around_mm / TEXEL_MM) + 1
    return np.asarray(cv2.dilate(covered, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))) > 0)
