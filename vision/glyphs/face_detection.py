"""Detection of the upper faces of round pieces: their middles, by the rotational symmetry of what is printed on them.

A face is a circle in a known plane; round its true middle, colour varies least along concentric circles.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.looks import GLYPH_ANGLES
from vision.compiled import compiled
from vision.pose.projection import Points
from vision.scene.configurations import LEAN_MM, PLACE_MM, Configurations
from vision.scene.crops import Crops
from vision.scene.label_buffer import RANK_BITS, LabelBuffer
from vision.scene.outlines import Outlines

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Picture = npt.NDArray[np.uint8]
Radii = npt.NDArray[np.floating]
FlatPicture = npt.NDArray[np.uint8]
FlatLabels = npt.NDArray[np.uint16]
FixedPoint = npt.NDArray[np.int64]
"""Coordinates in fixed point, 1/16 px."""

FRACTION_BITS = 4
ONE_PX = 1 << FRACTION_BITS
"""A pixel in fixed point: 1/16 px is finer than the blur, and integer arithmetic is faster here than floating point."""


class Subpixel(NamedTuple):
    """A place in a picture, between four pixels.

    Attributes:
        row: of the pixel up left.
        column: of the pixel up left.
        down: distance below it in fixed point, 0…15.
        right: distance right of it in fixed point, 0…15.
    """

    row: int
    column: int
    down: int
    right: int


_1, _2, _3, _4, _5 = (np.uint64(number) for number in range(1, 6))

_ANGLES = np.arange(GLYPH_ANGLES) * (2 * np.pi / GLYPH_ANGLES)
DIRECTIONS = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
"""(angles, 2) float64 unit vectors, once round a face."""

_BORDER = np.array([0.72, 0.80, 0.88, 0.95])
"""Radii, as a share of a face's own, of the circles by which its middle is found: printed rings are round.  Chosen by
eye."""

BORDER_PARTS = 24
"""Independent observations on these circles: each is three or four millimetres long.  Chosen by eye."""

LEAST_VISIBLE = 0.4
"""Share of these circles that must be visible: a short arc leaves its middle undetermined.  Chosen by eye."""

_COARSE, _FINE = DIRECTIONS[::8].copy(), DIRECTIONS[::4].copy()

BLUR_PX = 3
"""Width of the box blur before faces are searched: rings are thin, and dim pictures noisy.  Chosen by eye."""

LEAST_UNEVEN = 0.0015
"""Variance along a circle, of three channels as shares of their sum, that is noise and the grain of wood.  Chosen
by eye."""

PLACED_MM = float(np.hypot(PLACE_MM, LEAN_MM))
"""Standard deviation of a face's middle from the middle of its cell, each way."""

_COARSE_MM = np.array([(x, y) for x in range(-3, 4) for y in range(-3, 4)]) * 1.0
_FINE_MM = np.array([(x, y) for x in range(-1, 2) for y in range(-1, 2)]) * 0.5
"""(s, 2) grids of displacements of a middle, coarse and then fine round the best; comparing characters refines them.
Chosen by eye."""


class Faces(NamedTuple):
    """Upper faces (k) in a picture.

    Attributes:
        middles_px: (k, 2) float64, x and y.
        to_picture: (k, 2, 2) float64, mm in the plane of the face → px, around the middle.
        radii_mm: (k,) float64.
        ranks: (k,) intp, ranks of their cells from the farthest to the nearest, from 1.
    """

    middles_px: Points
    to_picture: Points
    radii_mm: Points
    ranks: Indices

    def of(self, numbers: Indices) -> Faces:
        """Those with these ``numbers`` (l,)."""
        return Faces(self.middles_px[numbers], self.to_picture[numbers], self.radii_mm[numbers], self.ranks[numbers])

    def moved(self, steps_mm: Points) -> Faces:
        """Each displaced by ``steps_mm`` (k, 2) in its plane."""
        return self._replace(middles_px=self.middles_px + np.einsum("kij,kj->ki", self.to_picture, steps_mm))


def upright_faces(
    crops: Crops, outlines: Outlines, configurations: Configurations, rank: npt.NDArray[np.int32]
) -> Faces:
    """The upper faces of all round configurations on all cells, undisplaced: all of one cell, then of the next one."""
    count = len(configurations.all)
    middles, to_crop = np.empty((len(rank), count, 2)), np.empty((len(rank), count, 2, 2))
    for number, (configuration, corners) in enumerate(zip(configurations.all, outlines.corners_mm, strict=True)):
        rings, around = corners[:, : outlines.first[number]], configuration.parts[0].corners_mm[:, :2]
        middles[:, number] = rings.mean(axis=1)
        # Least squares; the corners of a regular polygon are as wide one way as the other.
        apart = rings - middles[:, number, None]
        to_crop[:, number] = apart.transpose(0, 2, 1) @ around / ((around**2).sum() / 2)
    to_picture = crops.to_picture[:, None]
    middles_px = (to_picture @ middles[..., None])[..., 0] + crops.origin_px[:, None]
    radii = np.tile([configuration.size.width_mm / 2 for configuration in configurations.all], len(rank))
    ranks = np.repeat(rank, count).astype(np.intp)
    return Faces(middles_px.reshape(-1, 2), (to_picture @ to_crop).reshape(-1, 2, 2), radii, ranks)


def centred(image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer) -> tuple[Faces, Array]:
    """Faces with their middles where colour varies least along concentric circles.

    Args:
        image: (height, width, 3) uint8, BGR.
        faces: (k) where they are expected.
        labels: (height, width) uint16.

    Returns:
        The faces; and (k,) float32 log-likelihood ratio of these middles against the median of the others in reach.
    """
    left, top, right, bottom = _box(faces)
    cropped = np.ascontiguousarray(labels[top:bottom, left:right])
    blurred = np.asarray(cv2.blur(image[top:bottom, left:right], (BLUR_PX, BLUR_PX)), np.uint8)
    corner_px = np.array([left, top])
    found = faces._replace(middles_px=faces.middles_px - corner_px)
    log_ratio = usual = np.zeros(len(faces.ranks))
    for steps, directions in ((_COARSE_MM, _COARSE), (_FINE_MM, _FINE)):
        # For coarse steps the nearest pixel suffices.
        is_coarse = steps is _COARSE_MM
        uneven, shares = _unevenness(blurred, cropped, found, steps, directions, is_coarse)
        logs = np.log(uneven + LEAST_UNEVEN)
        share = shares.max(axis=1)
        independent: Points = np.where(share > LEAST_VISIBLE, BORDER_PARTS * share, 0)
        best = (logs * independent[:, None] + (steps**2).sum(axis=1) / PLACED_MM**2).argmin(axis=1)
        if is_coarse:
            usual = np.median(logs, axis=1)
        log_ratio = independent / 2 * (usual - np.take_along_axis(logs, best[:, None], axis=1)[:, 0])
        found = found.moved(steps[best])
    return found._replace(middles_px=found.middles_px + corner_px), log_ratio.astype(np.float32)


def _box(faces: Faces) -> tuple[int, int, int, int]:
    """Left, top, right and bottom (px) of a part of the picture that holds the faces, displaced by any step."""
    reach_px = 2 * float((faces.radii_mm * np.abs(faces.to_picture).max(axis=(1, 2))).max())
    low, high = faces.middles_px.min(axis=0) - reach_px, faces.middles_px.max(axis=0) + reach_px
    left, top, right, bottom = np.maximum([*low, *high], 0).astype(int)
    return left, top, right, bottom


def offsets_mm(faces: Faces, others: Faces) -> Points:
    """(k, l, 2) float64 mm from the middle of each of l ``faces`` to each of k ``others``', in the face's plane."""
    apart = others.middles_px[:, None] - faces.middles_px
    return np.asarray(np.einsum("lij,klj->kli", np.linalg.inv(faces.to_picture), apart), np.float64)


@compiled
def circles(to_picture: Points, radius_mm: float, radii: Radii, directions: Points) -> Points:
    """(radii, angles, 2) float64 px from a face's middle to places on circles of ``radii``, as shares of its own.

    ``to_picture`` (2, 2) as in :class:`Faces`; ``directions`` (angles, 2) unit vectors.
    """
    around = np.empty((len(radii), len(directions), 2), np.float64)
    for i in range(len(radii)):
        for j in range(len(directions)):
            x_mm, y_mm = radius_mm * radii[i] * directions[j, 0], radius_mm * radii[i] * directions[j, 1]
            around[i, j, 0] = to_picture[0, 0] * x_mm + to_picture[0, 1] * y_mm
            around[i, j, 1] = to_picture[1, 0] * x_mm + to_picture[1, 1] * y_mm
    return around


@compiled
def middles(middle_px: Points, to_picture: Points, steps_mm: Points) -> Points:
    """(s, 2) float64 px, a face's middle displaced by each of ``steps_mm`` (s, 2)."""
    at = np.empty(steps_mm.shape, np.float64)
    for k in range(len(steps_mm)):
        at[k, 0] = middle_px[0] + to_picture[0, 0] * steps_mm[k, 0] + to_picture[0, 1] * steps_mm[k, 1]
        at[k, 1] = middle_px[1] + to_picture[1, 0] * steps_mm[k, 0] + to_picture[1, 1] * steps_mm[k, 1]
    return at


@compiled
def to_fixed_point(places_px: Points) -> FixedPoint:
    """Places (…, 2) px, rounded to int64 fixed point, 1/16 px."""
    fixed = np.empty(places_px.shape, np.int64)
    given, out = places_px.reshape(-1), fixed.reshape(-1)
    for i in range(len(given)):
        out[i] = int(np.floor(given[i] * ONE_PX + 0.5))
    return fixed


@compiled
def subpixel(size: tuple[int, int], x: int, y: int) -> Subpixel:
    """A place in fixed point, clamped to a picture of ``size`` (height, width) px."""
    height, width = size
    across, down = min(max(x, 0), (width - 1) * ONE_PX - 1), min(max(y, 0), (height - 1) * ONE_PX - 1)
    return Subpixel(down >> FRACTION_BITS, across >> FRACTION_BITS, down & (ONE_PX - 1), across & (ONE_PX - 1))


@compiled
def nearest(width: int, place: Subpixel) -> np.uint64:
    """Index of the pixel nearest to a place in a flattened picture of this ``width``."""
    row, column, down, right = place
    # Unsigned: Numba tests every signed index for being negative.
    return np.uint64((row + (down >> FRACTION_BITS - 1)) * width + column + (right >> FRACTION_BITS - 1))


@compiled
def is_visible(labels: FlatLabels, width: int, place: Subpixel, rank: int) -> bool:
    """Whether nothing nearer than ``rank`` occludes a place; ``labels`` is a flattened label buffer."""
    return bool(labels[nearest(width, place)] >> RANK_BITS <= rank)


@compiled
def sample(codes: FlatPicture, width: int, place: Subpixel) -> tuple[int, int, int]:
    """Bilinear codes b g r, times :data:`ONE_PX`², of a picture (height, width, 3) uint8, flattened."""
    row, column, down, right = place
    both = down * right
    lower, other, own = ONE_PX * down - both, ONE_PX * right - both, ONE_PX * (ONE_PX - down - right) + both
    up = np.uint64((row * width + column) * 3)
    low = np.uint64(up + np.uint64(3 * width))
    return (
        own * codes[up] + other * codes[up + _3] + lower * codes[low] + both * codes[low + _3],
        own * codes[up + _1] + other * codes[up + _4] + lower * codes[low + _1] + both * codes[low + _4],
        own * codes[up + _2] + other * codes[up + _5] + lower * codes[low + _2] + both * codes[low + _5],
    )


@compiled
def sample_nearest(codes: FlatPicture, width: int, place: Subpixel) -> tuple[int, int, int]:
    """As :func:`sample`, of the nearest pixel."""
    at = nearest(width, place) * _3
    blue, green, red = int(codes[at]), int(codes[at + _1]), int(codes[at + _2])
    return blue * ONE_PX**2, green * ONE_PX**2, red * ONE_PX**2


@compiled
def _unevenness(
    picture: Picture,
    labels: LabelBuffer,
    faces: Faces,
    steps_mm: Points,
    directions: Points,
    is_coarse: bool,  # noqa: FBT001
) -> tuple[Array, Array]:
    """Variance of colour along circles on faces displaced by each of some steps, as a share of brightness squared.

    The circle of the largest variance is left out: a lamp is mirrored in the bevel before it is elsewhere.

    Args:
        picture: (height, width, 3) uint8, BGR.
        labels: (height, width) uint16.
        faces: (k).
        steps_mm: (s, 2) float64.
        directions: (angles, 2) float64, places on a circle.
        is_coarse: whether the nearest pixels are sampled, not interpolated ones.

    Returns:
        (k, s) float32 variance, and (k, s) float32 0…1 the share of the places that is visible.
    """
    count, total_places = len(faces.radii_mm), len(_BORDER) * len(directions)
    codes, flat_labels, width = picture.reshape(-1), labels.reshape(-1), labels.shape[1]
    uneven, shares = np.zeros((count, len(steps_mm)), np.float32), np.zeros((count, len(steps_mm)), np.float32)
    for face in range(count):
        around = to_fixed_point(circles(faces.to_picture[face], faces.radii_mm[face], _BORDER, directions))
        at, rank = to_fixed_point(middles(faces.middles_px[face], faces.to_picture[face], steps_mm)), faces.ranks[face]
        for k in range(len(steps_mm)):
            spread, total, visible, most, of_most = 0.0, 0, 0, 0.0, 0
            for i in range(len(_BORDER)):
                here, blues, greens, reds, squares = 0, 0, 0, 0, 0
                for j in range(len(directions)):
                    place = subpixel(labels.shape, at[k, 0] + around[i, j, 0], at[k, 1] + around[i, j, 1])
                    if is_visible(flat_labels, width, place, rank):
                        if is_coarse:
                            blue, green, red = sample_nearest(codes, width, place)
                        else:
                            blue, green, red = sample(codes, width, place)
                        blues, greens, reds = blues + blue, greens + green, reds + red
                        squares += blue * blue + green * green + red * red
                        here += 1
                of_circle = squares - (blues * blues + greens * greens + reds * reds) / max(here, 1)
                spread += of_circle
                if of_circle > most:
                    most, of_most = of_circle, here
                total += blues + greens + reds
                visible += here
            uneven[face, k] = (spread - most) / max(visible - of_most, 1) / max(total / max(visible, 1), 1.0) ** 2
            shares[face, k] = visible / total_places
    return uneven, shares
