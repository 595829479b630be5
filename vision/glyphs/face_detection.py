"""Upper faces of round pieces in a picture: where their middles are, seen by what is printed round them."""

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
Ring = npt.NDArray[np.floating]
Flat = npt.NDArray[np.uint8]
Parts = npt.NDArray[np.int64]
Painted = npt.NDArray[np.uint16]

PART_BITS = 4
PARTS = 1 << PART_BITS
"""Places in a picture are taken to so many parts of a pixel: whole numbers are quicker than broken ones."""

Corner = tuple[int, int, int, int]
"""Row and column of a pixel, and how many parts below and right of it a place is."""

_1, _2, _3, _4, _5 = (np.uint64(number) for number in range(1, 6))

_ANGLES = np.arange(GLYPH_ANGLES) * (2 * np.pi / GLYPH_ANGLES)
DIRECTIONS = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
"""(angles, 2) all the way round a face."""

_BORDER = np.array([0.72, 0.80, 0.88, 0.95])
"""Radii, as a share of a face's own, of the circles by which its middle is found: printed rings are round."""

BORDER_PARTS = 24
"""Independent places on these circles: each is three or four millimetres long."""

LEAST_SEEN = 0.4
"""Share of these circles that must be seen: an arc of a circle has its middle almost anywhere."""

_COARSE, _FINE = DIRECTIONS[::8].copy(), DIRECTIONS[::4].copy()

BLUR_PX = 3
"""Pictures are blurred by so much: rings are thin, and dim pictures full of noise."""

LEAST_UNEVEN = 0.0015
"""Variance round a circle, of three channels as shares of their sum, below which it is noise and grain."""

PLACED_MM = float(np.hypot(PLACE_MM, LEAN_MM))
"""Standard deviation of a face's middle from the middle of its cell, each way."""

_COARSE_MM = np.array([(x, y) for x in range(-3, 4) for y in range(-3, 4)]) * 1.0
_FINE_MM = np.array([(x, y) for x in range(-1, 2) for y in range(-1, 2)]) * 0.5
"""Steps by which a middle is tried elsewhere: what lies between them, comparing characters finds."""


class Faces(NamedTuple):
    """Upper faces (k) in a picture.

    Attributes:
        middles_px: (k, 2).
        to_picture: (k, 2, 2) mm in the world → px around the middle.
        radii_mm: (k,).
        ranks: (k,) of the cells that they are on.
    """

    middles_px: Points
    to_picture: Points
    radii_mm: Points
    ranks: Indices

    def of(self, numbers: Indices) -> Faces:
        """Some of them, by their numbers."""
        return Faces(self.middles_px[numbers], self.to_picture[numbers], self.radii_mm[numbers], self.ranks[numbers])

    def moved(self, steps_mm: Points) -> Faces:
        """Each moved by ``steps_mm`` (k, 2) in its plane."""
        return self._replace(middles_px=self.middles_px + np.einsum("kij,kj->ki", self.to_picture, steps_mm))


def upright_faces(
    crops: Crops, outlines: Outlines, configurations: Configurations, rank: npt.NDArray[np.int32]
) -> Faces:
    """The upper faces of all round figures (f) on all cells (n): number n · figures + f, standing straight there."""
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
    """Faces with their middles where what is printed round them is most alike all the way round.

    ``labels``: what is nearest in each pixel.  Returns the faces, and (k,) how much
    likelier these middles are than any other near by, as a log-likelihood ratio.
    """
    left, top, right, bottom = _box(faces)
    near = np.ascontiguousarray(labels[top:bottom, left:right])
    blurred = np.asarray(cv2.blur(image[top:bottom, left:right], (BLUR_PX, BLUR_PX)), np.uint8)
    corner_px = np.array([left, top])
    found = faces._replace(middles_px=faces.middles_px - corner_px)
    observations = usual = np.zeros(len(faces.ranks))
    for steps, directions in ((_COARSE_MM, _COARSE), (_FINE_MM, _FINE)):
        # For coarse steps the nearest pixel will do.
        uneven, shares = _unevenness((blurred, near, steps is _COARSE_MM), found, steps, directions)
        logs = np.log(uneven + LEAST_UNEVEN)
        share = shares.max(axis=1)
        parts: Points = np.where(share > LEAST_SEEN, BORDER_PARTS * share, 0)
        best = (logs * parts[:, None] + (steps**2).sum(axis=1) / PLACED_MM**2).argmin(axis=1)
        if steps is _COARSE_MM:
            usual = np.median(logs, axis=1)
        observations = parts / 2 * (usual - np.take_along_axis(logs, best[:, None], axis=1)[:, 0])
        found = found.moved(steps[best])
    return found._replace(middles_px=found.middles_px + corner_px), observations.astype(np.float32)


def _box(faces: Faces) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a part of the picture in which faces lie, wherever near by their middles are."""
    reach_px = 2 * float((faces.radii_mm * np.abs(faces.to_picture).max(axis=(1, 2))).max())
    low, high = faces.middles_px.min(axis=0) - reach_px, faces.middles_px.max(axis=0) + reach_px
    left, top, right, bottom = np.maximum([*low, *high], 0).astype(int)
    return left, top, right, bottom


def offsets_mm(faces: Faces, others: Faces) -> Points:
    """(k, l, 2) mm from the middle of each of l ``faces`` to that of each of k ``others``, in the plane of the face."""
    apart = others.middles_px[:, None] - faces.middles_px
    return np.asarray(np.einsum("lij,klj->kli", np.linalg.inv(faces.to_picture), apart), np.float64)


@compiled
def circles(to_picture: Points, radius_mm: float, radii: Ring, directions: Points) -> Points:
    """(radii, angles, 2) px from a face's middle to places on circles, ``radii`` as shares of its own."""
    around = np.empty((len(radii), len(directions), 2), np.float64)
    for i in range(len(radii)):
        for j in range(len(directions)):
            x_mm, y_mm = radius_mm * radii[i] * directions[j, 0], radius_mm * radii[i] * directions[j, 1]
            around[i, j, 0] = to_picture[0, 0] * x_mm + to_picture[0, 1] * y_mm
            around[i, j, 1] = to_picture[1, 0] * x_mm + to_picture[1, 1] * y_mm
    return around


@compiled
def middles(middle_px: Points, to_picture: Points, steps_mm: Points) -> Points:
    """(s, 2) px, a face's middle moved by each of ``steps_mm`` (s, 2)."""
    at = np.empty(steps_mm.shape, np.float64)
    for k in range(len(steps_mm)):
        at[k, 0] = middle_px[0] + to_picture[0, 0] * steps_mm[k, 0] + to_picture[0, 1] * steps_mm[k, 1]
        at[k, 1] = middle_px[1] + to_picture[1, 0] * steps_mm[k, 0] + to_picture[1, 1] * steps_mm[k, 1]
    return at


@compiled
def parts(places_px: Points) -> Parts:
    """Places (…, 2) px in whole parts of a pixel."""
    whole = np.empty(places_px.shape, np.int64)
    given, out = places_px.reshape(-1), whole.reshape(-1)
    for i in range(len(given)):
        out[i] = int(np.floor(given[i] * PARTS + 0.5))
    return whole


@compiled
def corner(size: tuple[int, int], x: int, y: int) -> Corner:
    """The pixel up left of a place, in parts of a pixel, in a picture of ``size`` (height, width).

    Or of the nearest place to it inside.
    """
    height, width = size
    across, down = min(max(x, 0), (width - 1) * PARTS - 1), min(max(y, 0), (height - 1) * PARTS - 1)
    return down >> PART_BITS, across >> PART_BITS, down & (PARTS - 1), across & (PARTS - 1)


@compiled
def nearest(width: int, place: Corner) -> np.uint64:
    """Number of the pixel nearest to a place in a flattened picture of this ``width``."""
    row, column, down, right = place
    # Numba looks whether a signed index is negative; these are not.
    return np.uint64((row + (down >> PART_BITS - 1)) * width + column + (right >> PART_BITS - 1))


@compiled
def is_seen(rendered: Painted, width: int, place: Corner, rank: int) -> bool:
    """Whether nothing nearer than ``rank`` hides a place in the picture; ``rendered`` is a canvas, flattened."""
    return bool(rendered[nearest(width, place)] >> RANK_BITS <= rank)


@compiled
def sample(codes: Flat, width: int, place: Corner) -> tuple[int, int, int]:
    """Bilinear codes b g r, times :data:`PARTS`², of a picture (height, width, 3), flattened."""
    row, column, down, right = place
    both = down * right
    lower, other, own = PARTS * down - both, PARTS * right - both, PARTS * (PARTS - down - right) + both
    up = np.uint64((row * width + column) * 3)
    low = np.uint64(up + np.uint64(3 * width))
    return (
        own * codes[up] + other * codes[up + _3] + lower * codes[low] + both * codes[low + _3],
        own * codes[up + _1] + other * codes[up + _4] + lower * codes[low + _1] + both * codes[low + _4],
        own * codes[up + _2] + other * codes[up + _5] + lower * codes[low + _2] + both * codes[low + _5],
    )


@compiled
def sample_nearest(codes: Flat, width: int, place: Corner) -> tuple[int, int, int]:
    """As :func:`sample`, of the nearest pixel."""
    at = nearest(width, place) * _3
    blue, green, red = int(codes[at]), int(codes[at + _1]), int(codes[at + _2])
    return blue * PARTS**2, green * PARTS**2, red * PARTS**2


@compiled
def _unevenness(
    shown: tuple[Picture, LabelBuffer, bool], faces: Faces, steps_mm: Points, directions: Points
) -> tuple[Array, Array]:
    """(k, s) variance of colour round circles on faces moved by ``steps_mm`` (s, 2), and the share that is seen.

    The most uneven circle is left out: a lamp is mirrored in the bevel before others.  ``shown``: the picture, what is
    nearest in it, and whether only whole pixels are looked at.
    """
    picture, labels, is_coarse = shown
    count, total_places = len(faces.radii_mm), len(_BORDER) * len(directions)
    codes, rendered, width = picture.reshape(-1), labels.reshape(-1), labels.shape[1]
    uneven, shares = np.zeros((count, len(steps_mm)), np.float32), np.zeros((count, len(steps_mm)), np.float32)
    for face in range(count):
        around = parts(circles(faces.to_picture[face], faces.radii_mm[face], _BORDER, directions))
        at, rank = parts(middles(faces.middles_px[face], faces.to_picture[face], steps_mm)), faces.ranks[face]
        for k in range(len(steps_mm)):
            apart, total, seen, most, of_most = 0.0, 0, 0, 0.0, 0
            for i in range(len(_BORDER)):
                here, blues, greens, reds, squares = 0, 0, 0, 0, 0
                for j in range(len(directions)):
                    place = corner(labels.shape, at[k, 0] + around[i, j, 0], at[k, 1] + around[i, j, 1])
                    if is_seen(rendered, width, place, rank):
                        if is_coarse:
                            blue, green, red = sample_nearest(codes, width, place)
                        else:
                            blue, green, red = sample(codes, width, place)
                        blues, greens, reds = blues + blue, greens + green, reds + red
                        squares += blue * blue + green * green + red * red
                        here += 1
                of_circle = squares - (blues * blues + greens * greens + reds * reds) / max(here, 1)
                apart += of_circle
                if of_circle > most:
                    most, of_most = of_circle, here
                total += blues + greens + reds
                seen += here
            uneven[face, k] = (apart - most) / max(seen - of_most, 1) / max(total / max(seen, 1), 1.0) ** 2
            shares[face, k] = seen / total_places
    return uneven, shares
