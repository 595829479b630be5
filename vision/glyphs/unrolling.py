"""Faces in polar coordinates: what is printed on them, unrolled about their centres, as shares of their own bare wood.

Each step is one pass over all sample points of a face, so that all but fetching pixels is vectorised.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.appearance import GLYPH_ANGLES, GLYPH_RADII
from vision.appearance.piece_colours import WOOD_PERCENTILE
from vision.compiled import compiled
from vision.glyphs.faces import DIRECTIONS, FRACTION_BITS, ONE_PX, Faces, FlatPicture, Picture
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int32]
"""Codes in fixed point."""
Pairs = npt.NDArray[np.uint32]
"""Packed codes of two channels, red in the lower half of the bits and green in the upper one."""

MAX_RADIUS = 0.9
"""Radius up to which a face is unrolled, as a share of its own: beyond it the rim's shading begins.  Chosen by eye."""

RADII = (np.arange(GLYPH_RADII) + 0.5) / GLYPH_RADII * MAX_RADIUS

BRIGHTEST = 1.5
"""Upper bound at which values, as shares of the wood's, are clipped: a lamp's mirror image says nothing of the
character.  Chosen by eye."""

CHANNELS = 7
"""Number of values at each sample point of a face, see :func:`sample`."""

PLACES = GLYPH_RADII * GLYPH_ANGLES
_AROUND = np.ascontiguousarray((RADII[:, None, None] * DIRECTIONS).reshape(-1, 2).T)
"""(2, places) float64, x and y of each sample point as shares of a face's radius, circle by circle."""
_CIRCLE = np.repeat(RADII, GLYPH_ANGLES).astype(np.float32)
"""(places,) radius of each sample point's circle, to which the area that it represents is proportional."""

_HALF = GLYPH_ANGLES // 2
_GREEN_BITS, _LOW = np.uint32(16), np.uint32(0xFFFF)
_ONE_PX, _PIXEL, _FRACTION, _NEAREST = np.uint32(ONE_PX), np.int32(FRACTION_BITS), np.int32(ONE_PX - 1), np.int32(3)
_1, _2, _3, _4, _5 = (np.uint64(number) for number in range(1, 6))
_CODE = ONE_PX**2
"""One code after interpolation down and right, in fixed point."""


@compiled
def sample(image: Picture, labels: LabelBuffer, faces: Faces) -> tuple[Array, Array]:
    """Faces in polar coordinates: darkness relative to wood, with gradients, weighted by visible area.

    Args:
        image: (height, width, 3) uint8, BGR.
        labels: (height, width) uint16.
        faces: (f).

    Returns:
        (2, 7 · radii, f, half the angles) float32, sum and difference of each sample point and the one opposite; each
        times the weight (mm²): red, green, 1, gradient of red and of green along x, of red and of green along y (1/mm).
        And (f, 6) float32 sums, over points and channels, of the weight times: value², x gradient · value, y gradient ·
        value, x gradient², x gradient · y gradient, y gradient².
    """
    count = len(faces.radii_mm)
    opposite = np.empty((2, CHANNELS * GLYPH_RADII, count, _HALF), np.float32)
    integrals = np.empty((count, 6), np.float32)
    codes, sampled = np.empty((3, 2, PLACES), np.int32), np.empty((CHANNELS, PLACES), np.float32)
    for face in range(count):
        unroll(image, labels, faces, face, codes, sampled[2])
        sums = _weigh(codes, faces.to_picture[face], sampled)
        for i in range(len(sums)):
            integrals[face, i] = sums[i].sum()
        _fold(sampled.reshape(-1, GLYPH_ANGLES), opposite, face)
    return opposite, integrals


@compiled
def squares_of(image: Picture, labels: LabelBuffer, faces: Faces) -> Array:
    """(f,) float32 sums of squared darkness, the first sum of :func:`sample`."""
    squares, weight = np.empty(len(faces.radii_mm), np.float32), np.empty(PLACES, np.float32)
    codes, one, most = np.empty((3, 2, PLACES), np.int32), np.float32(1), np.float32(BRIGHTEST)
    for face in range(len(squares)):
        unroll(image, labels, faces, face, codes, weight)
        sums, wood = np.zeros(GLYPH_ANGLES, np.float32), _wood(codes[0], weight)
        for channel in range(2):
            share = one / wood[channel]
            for i in range(GLYPH_RADII):
                for j in range(GLYPH_ANGLES):
                    at = i * GLYPH_ANGLES + j
                    darker = one - min(np.float32(codes[0, channel, at]) * share, most)
                    sums[j] += weight[at] * darker * darker
        squares[face] = sums.sum()
    return squares


@compiled
def shares_of(image: Picture, labels: LabelBuffer, faces: Faces) -> Array:
    """(f, 2, radii, angles) float32 red and green of faces as shares of their wood, 0…:data:`BRIGHTEST`."""
    shares = np.empty((len(faces.radii_mm), 2, PLACES), np.float32)
    codes, weight = np.empty((3, 2, PLACES), np.int32), np.empty(PLACES, np.float32)
    for face in range(len(shares)):
        unroll(image, labels, faces, face, codes, weight)
        wood = _wood(codes[0], weight)
        for channel in range(2):
            for i in range(PLACES):
                shares[face, channel, i] = min(codes[0, channel, i] / wood[channel], np.float32(BRIGHTEST))
    return shares.reshape(-1, 2, GLYPH_RADII, GLYPH_ANGLES)


@compiled
def unroll(image: Picture, labels: LabelBuffer, faces: Faces, face: int, codes: Codes, weight: Array) -> None:
    """Resample one face in polar coordinates.

    Args:
        image: (height, width, 3) uint8, BGR.
        labels: (height, width) uint16.
        faces: of which one is resampled.
        face: its number.
        codes: (3, 2, places) int32, is overwritten: red and green codes · :data:`ONE_PX`², their gradients to the right
            and down · :data:`ONE_PX` (1/px).
        weight: (places,) float32, is overwritten: mm² that each place represents, 0 where it is occluded.
    """
    pixel, down, right = np.empty(PLACES, np.int32), np.empty(PLACES, np.int32), np.empty(PLACES, np.int32)
    pairs = np.empty((4, PLACES), np.uint32)
    radius_mm, width = faces.radii_mm[face], labels.shape[1]
    _locate(labels.shape, faces.centres_px[face], faces.to_picture[face] * radius_mm, pixel, down, right)
    _fetch(image.reshape(-1), width, pixel, pairs)
    _interpolate(pairs, down, right, codes)
    ring_mm2 = np.float32(radius_mm**2 * 2 * np.pi * MAX_RADIUS / PLACES)
    flat, rank, across = labels.reshape(-1), faces.ranks[face], np.int32(width)
    for i in range(PLACES):
        nearest = np.uint64(pixel[i] + (down[i] >> _NEAREST) * across + (right[i] >> _NEAREST))
        weight[i] = ring_mm2 * _CIRCLE[i] if flat[nearest] >> RANK_BITS <= rank else np.float32(0)


@compiled
def _locate(
    size: tuple[int, int], centre_px: Points, to_picture: Points, pixel: Codes, down: Codes, right: Codes
) -> None:
    """Locate the sample points of a face: the ``pixel`` to the upper left, and the fractions ``down`` and ``right``.

    ``size``: (height, width) px of the picture, to which points are clamped.  ``to_picture`` (2, 2), radii of the face
    → px.  The rest, (places,) int32, the fractions in fixed point, is overwritten.
    """
    width = np.int32(size[1])
    x_px, y_px, half = centre_px[0], centre_px[1], 0.5 / ONE_PX
    most_x, most_y = size[1] - 1 - 1.0 / ONE_PX, size[0] - 1 - 1.0 / ONE_PX
    for i in range(PLACES):
        x = x_px + to_picture[0, 0] * _AROUND[0, i] + to_picture[0, 1] * _AROUND[1, i] + half
        y = y_px + to_picture[1, 0] * _AROUND[0, i] + to_picture[1, 1] * _AROUND[1, i] + half
        across = np.int32(min(max(x, 0.0), most_x) * ONE_PX)
        along = np.int32(min(max(y, 0.0), most_y) * ONE_PX)
        pixel[i] = (along >> _PIXEL) * width + (across >> _PIXEL)
        down[i], right[i] = along & _FRACTION, across & _FRACTION


@compiled
def _fetch(codes: FlatPicture, width: int, pixel: Codes, pairs: Pairs) -> None:
    """Put red and green of each ``pixel`` (places,), right of it, below and below right, into ``pairs`` (4, places)."""
    # Unsigned: Numba tests every signed index for being negative.
    below = np.uint64(3 * width)
    for i in range(PLACES):
        up = np.uint64(pixel[i]) * _3
        low = up + below
        pairs[0, i] = np.uint32(codes[up + _2]) | np.uint32(codes[up + _1]) << _GREEN_BITS
        pairs[1, i] = np.uint32(codes[up + _5]) | np.uint32(codes[up + _4]) << _GREEN_BITS
        pairs[2, i] = np.uint32(codes[low + _2]) | np.uint32(codes[low + _1]) << _GREEN_BITS
        pairs[3, i] = np.uint32(codes[low + _5]) | np.uint32(codes[low + _4]) << _GREEN_BITS


@compiled
def _interpolate(pairs: Pairs, down: Codes, right: Codes, codes: Codes) -> None:
    """Fill in ``codes`` of :func:`unroll` by bilinear interpolation of ``pairs`` from :func:`_fetch`."""
    for i in range(PLACES):
        low, far = np.uint32(down[i]), np.uint32(right[i])
        high, near = _ONE_PX - low, _ONE_PX - far
        # Two channels at once: a code times ONE_PX² has 16 bits.
        left, beyond = high * pairs[0, i] + low * pairs[2, i], high * pairs[1, i] + low * pairs[3, i]
        upper, lower = near * pairs[0, i] + far * pairs[1, i], near * pairs[2, i] + far * pairs[3, i]
        both = high * upper + low * lower
        codes[0, 0, i], codes[0, 1, i] = np.int32(both & _LOW), np.int32(both >> _GREEN_BITS)
        codes[1, 0, i] = np.int32(beyond & _LOW) - np.int32(left & _LOW)
        codes[1, 1, i] = np.int32(beyond >> _GREEN_BITS) - np.int32(left >> _GREEN_BITS)
        codes[2, 0, i] = np.int32(lower & _LOW) - np.int32(upper & _LOW)
        codes[2, 1, i] = np.int32(lower >> _GREEN_BITS) - np.int32(upper >> _GREEN_BITS)


@compiled
def _wood(codes: Codes, weight: Array) -> tuple[np.float32, np.float32]:
    """Codes · :data:`ONE_PX`² of bare wood, red and green, estimated from those (2, places) of a face that are visible.

    To a quarter of a code; 1 code at least.  ``weight`` (places,): 0 where they are occluded.
    """
    counts, quarter = np.zeros((2, 4 * 256), np.int32), np.int32(6)
    for i in range(PLACES):
        visible = np.int32(weight[i] > 0)
        counts[0, np.uint64(codes[0, i] >> quarter)] += visible
        counts[1, np.uint64(codes[1, i] >> quarter)] += visible
    return _quantile(counts[0]), _quantile(counts[1])


@compiled
def _quantile(counts: Codes) -> np.float32:
    """Code · :data:`ONE_PX`² of bare wood, a percentile of a histogram in quarters of a code."""
    left, number = counts.sum() * (1 - WOOD_PERCENTILE / 100), len(counts) - 1
    while number > 0 and left >= counts[number]:
        left -= counts[number]
        number -= 1
    return np.float32(max((number + 0.5) / 4, 1.0) * _CODE)


@compiled
def _weigh(codes: Codes, to_picture: Points, sampled: Array) -> Array:
    """Fill in ``sampled`` (7, places) of one face, see :func:`sample`, all but the weight.

    Returns (6, angles) partial sums.  ``codes`` from :func:`unroll`; ``to_picture`` (2, 2), mm → px.
    """
    sums, zero, one = np.zeros((6, GLYPH_ANGLES), np.float32), np.float32(0), np.float32(1)
    woods = _wood(codes[0], sampled[2])
    for channel in range(2):
        wood = woods[channel]
        # Clipped values have no gradient.
        brightest, share = np.int32(np.ceil(BRIGHTEST * wood)), one / wood
        slope = np.float64(-ONE_PX / wood)
        x_across, y_across = np.float32(to_picture[0, 0] * slope), np.float32(to_picture[0, 1] * slope)
        x_down, y_down = np.float32(to_picture[1, 0] * slope), np.float32(to_picture[1, 1] * slope)
        for i in range(GLYPH_RADII):
            for j in range(GLYPH_ANGLES):
                at = i * GLYPH_ANGLES + j
                is_clipped, weight = codes[0, channel, at] >= brightest, sampled[2, at]
                across, down = np.float32(codes[1, channel, at]), np.float32(codes[2, channel, at])
                darker = np.float32(1 - BRIGHTEST) if is_clipped else one - np.float32(codes[0, channel, at]) * share
                x = zero if is_clipped else across * x_across + down * x_down
                y = zero if is_clipped else across * y_across + down * y_down
                sampled[channel, at] = weight * darker
                sampled[3 + channel, at], sampled[5 + channel, at] = weight * x, weight * y
                sums[0, j] += weight * darker * darker
                sums[1, j] += weight * x * darker
                sums[2, j] += weight * y * darker
                sums[3, j] += weight * x * x
                sums[4, j] += weight * x * y
                sums[5, j] += weight * y * y
    return sums


@compiled
def _fold(sampled: Array, opposite: Array, face: int) -> None:
    """Put sums and differences of opposite points of a face, ``sampled`` (k, angles), in ``opposite`` (2, k, f, …)."""
    for i in range(len(sampled)):
        for j in range(_HALF):
            opposite[0, i, face, j] = sampled[i, j] + sampled[i, j + _HALF]
            opposite[1, i, face, j] = sampled[i, j] - sampled[i, j + _HALF]
