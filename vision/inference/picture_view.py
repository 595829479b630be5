"""The picture in which explanations are compared: its resolution, its noise, and what the bare board shows in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.bare_picture import NO_BARE, BarePicture
from vision.compiled import compiled
from vision.inference.geometry import Geometry
from vision.likelihood.boundaries import STEP_MM
from vision.likelihood.dissimilarity import Dissimilarity, dissimilarity_at, estimate_texture
from vision.likelihood.noise import count_pairs, noise_by_brightness, usual_noise
from vision.scene.materials import Materials
from vision.scene.prisms import FIRST, LINE, PER_CELL, Floats, Prisms, Surfaces, downsample_points

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Picture = npt.NDArray[np.uint8]

LINES_SHARE = 0.3
"""Share of the sampled points on lines between squares that must stand out for lines to be expected on bare ground: a
board full of pieces shows half of them, and on one without lines noise makes a twentieth stand out."""

LINE_DEVIATIONS = 3.0
"""Standard deviations of noise by which a line must stand out from both of its sides."""

WITHIN_PX = 0.1
"""By how much two points that are compared may be nearer to each other than :data:`STEP_MM`; no more, since boundaries
are wider in hazy pictures: at 1.7 mm one of two real photographs was misread, at 2.1 and 2.5 neither."""


SMOOTHED_STEP_MM = 4.0
"""The same in pictures that were smoothed against noise, which widens boundaries.  Of 2, 3, 4 and 6 mm the last two
read 24 such pictures of seven sets and boards best: 55, 51, 48 and 47 nats, 9, 8, 7 and 6 squares wrong."""


class View(NamedTuple):
    """A picture in which explanations are compared.

    Attributes:
        image: (height, width, 3) uint8 BGR, downscaled as the prisms are.
        dissimilarity: of its pixels, given their noise and the table's texture.
        step: distance in pixels of two points that are compared.
        px_per_mm: (n,) scale on each cell.
        ground: (height, width) int16, :attr:`Prisms.ground`, without lines where the board shows none.
        materials: (s,) of each surface, -1 for pieces.
        colours: number of colours of pieces.
        boxes: (n, f, 4) px, left, top, right, bottom of each configuration on each cell.
        far_first: (n,) cells from the farthest to the nearest.
        rank: (n,) position of each cell in that order, from 1.
        bare: what the bare board shows in the picture.
    """

    image: Picture
    dissimilarity: Dissimilarity
    step: int
    px_per_mm: Floats
    ground: Surfaces
    materials: Indices
    colours: int
    boxes: Floats
    far_first: Indices
    rank: Indices
    bare: BarePicture


ViewFactory = Callable[[], View]
"""Returns the view of the observed picture, made only when something is compared."""


def make_view(
    image: Picture,
    geometry: Geometry,
    prisms: Prisms,
    bare: BarePicture = NO_BARE,
    *,
    is_smoothed: bool = False,
) -> View:
    """The view of a picture (height, width, 3) uint8 BGR.

    ``bare``: the board's appearance in it, if it was learned; ``is_smoothed``: whether noise was removed from it.
    """
    shrink = prisms.shrink
    small = image
    if shrink > 1:
        small = np.asarray(
            cv2.resize(image, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA), np.uint8
        )
    px_per_mm = 1 / np.linalg.norm(geometry.crops.to_crop[:, 0], axis=1) / shrink
    step_mm = SMOOTHED_STEP_MM if is_smoothed else STEP_MM
    step = max(1, int(np.ceil(step_mm * float(np.median(px_per_mm)) - WITHIN_PX)))
    pairs = count_pairs(small, step, downsample_points(geometry.mat_px, shrink))
    noise = noise_by_brightness(pairs)
    texture = estimate_texture(small, step, prisms.ground == Materials.TABLE, noise)
    are_shown = len(prisms.lines_px) == 0 or lines_share(small, prisms.lines_px, step, usual_noise(pairs)) > LINES_SHARE
    return View(
        small,
        dissimilarity_at(noise, texture),
        step,
        px_per_mm,
        prisms.ground if are_shown else np.where(prisms.ground == LINE, np.int16(Materials.FLOOR), prisms.ground),
        _materials(geometry),
        len(geometry.configurations.colours),
        downsample_points(geometry.outlines.boxes_px.astype(np.float64), shrink),
        geometry.far_first,
        geometry.rank.astype(np.intp),  # as numbers come from Python: loops are compiled in one form
        bare,
    )


def lines_share(image: Picture, lines_px: Indices, step: int, noise: Array) -> float:
    """Share (0…1) of the points ``lines_px`` (k, 2), row and column, that stand out in an image (height, width, 3).

    A point stands out if it is darker, or lighter, than both points ``step`` pixels beside it, or above and below it.
    ``noise``: see :func:`vision.likelihood.noise.measure_noise`.
    """
    return float(_lines_share(image, lines_px, step, LINE_DEVIATIONS * np.sqrt(noise[0] + 1)))


@compiled
def _lines_share(image: Picture, lines_px: Indices, step: int, least: float) -> float:
    """See :func:`lines_share`; a point stands out by more than ``least`` codes."""
    many, sides = 0, np.empty(4)
    for place in range(len(lines_px)):
        row, column = lines_px[place]
        own = _brightness(image, row, column)
        sides[0], sides[1] = _brightness(image, row, column + step), _brightness(image, row, column - step)
        sides[2], sides[3] = _brightness(image, row + step, column), _brightness(image, row - step, column)
        for way in (0, 2):
            one, other = sides[way] - own, sides[way + 1] - own
            if min(one, other) > least or max(one, other) < -least:
                many += 1
                break
    return many / len(lines_px)


@compiled
def _brightness(image: Picture, row: int, column: int) -> float:
    return (float(image[row, column, 0]) + float(image[row, column, 1]) + float(image[row, column, 2])) / 3


def _materials(geometry: Geometry) -> Indices:
    """(s,) material of every surface, -1 for pieces."""
    kinds = Materials(len(geometry.configurations.colours))
    materials = np.full(FIRST + (len(geometry.rank) + 1) * PER_CELL, -1, np.intp)
    materials[:FIRST] = np.minimum(np.arange(FIRST), Materials.PAPER)
    for column, rank in zip(geometry.pillars, geometry.rank.tolist(), strict=True):
        if column is not None:
            first = FIRST + rank * PER_CELL
            materials[first], materials[first + 1 : first + 5] = (
                kinds.column_top(column.sky_view_factor),
                kinds.column_side,
            )
    return materials


def hides_table(view: View, cell: int, configuration: int) -> bool:
    """Whether the part of a ``configuration`` above the first, lowest one occludes what lies beside the mat.

    False for the first one, and for the empty cell, -1.
    """
    if configuration <= 0:
        return False
    (left, top, right, _), bottom = view.boxes[cell, configuration], view.boxes[cell, 0, 1]
    left, top, right, bottom = np.maximum((left, top, right, bottom), 0).astype(int).tolist()
    return bool((view.ground[top:bottom, left:right] == Materials.TABLE).any())
