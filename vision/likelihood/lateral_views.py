"""Column integrals of a cell's close-up, to which the lateral faces of pyramids are fitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.tone_curve import BLACK_CODES, OFFSET
from vision.compiled import compiled
from vision.likelihood.lateral_boundaries import Contrasts
from vision.likelihood.lateral_runs import SUMS, LateralFaces
from vision.likelihood.noise import counted_pair_variance, order_statistic
from vision.likelihood.observations import FLOOR
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

INDEPENDENT_MM2 = 20.0
"""Area over which errors are correlated: half that of the crops' colours, which are wrong over a whole face."""

FACE_DEVIATION = 0.01
"""Standard deviation of display values on one face besides the noise of its pixels."""

MAX_GROUND_DIFFERENCE = 0.15
"""Bound at which differences from the ground's usual display value are truncated: shadow and print may be any darker.
Of 0.07, 0.08, 0.1, 0.15 and 0.25 this gave fewest faults."""

NEAR_FLOOR = 0.15
"""Difference of display values from bare floor's below which pixels are used to estimate what is usual there."""

MARGIN_MM = 3
"""Margin of ground used round all that may stand on a cell."""

MIN_MM2 = 7.5
"""Area above which a surface's display values are used."""

CODES = 256


class LateralView(NamedTuple):
    """Observations of one cell's close-up.

    Attributes:
        integrals: (columns, rows + 1, SUMS) float64 column integrals over the pixels that are used; how well they fit
            bare ground is the squared difference from it.
        pixels: their number.
        ground: sum of the squared differences of all of them.
        noise: variance of a pixel, which averages out over many, mean of the channels.
        variance: of an even surface besides, with what is left of the noise over :data:`INDEPENDENT_MM2`.
        weight: number of independent observations.
        contrasts: between pixels that are used.
        per_mm: rows and columns per millimetre.
    """

    integrals: Floats
    pixels: float
    ground: float
    noise: float
    variance: float
    weight: float
    contrasts: Contrasts
    per_mm: int


@compiled
def labels_round(
    labels: LabelBuffer, rank: int, flat_px: npt.NDArray[np.int32], outside: Mask, faces: LateralFaces, per_mm: int
) -> tuple[LabelBuffer, Mask]:
    """The labels in a crop (rows, columns), and which pixels are used: the visible ones within a margin of any pyramid.

    Args:
        labels: (height · width,) what would be visible if nothing stood on the cell.
        rank: of the cell.
        flat_px: (rows, columns) of the crop.
        outside: (rows, columns) of the crop.
        faces: that may be there.
        per_mm: rows and columns per millimetre.
    """
    (rows, columns), reach = flat_px.shape, MARGIN_MM * per_mm
    highest, lowest = np.full(columns, np.inf), np.full(columns, -np.inf)
    for wireframe in range(len(faces.far)):
        for face in range(faces.spans[wireframe, 2], faces.far.shape[1]):
            for column in range(faces.spans[wireframe, 0], faces.spans[wireframe, 1]):
                highest[column] = min(highest[column], float(faces.far[wireframe, face, column]))
                lowest[column] = max(lowest[column], float(faces.near[wireframe, face, column]))
    first, last = np.empty(columns), np.empty(columns)
    for column in range(columns):
        first[column], last[column] = np.inf, -np.inf
        for beside in range(max(column - reach, 0), min(column + reach + 1, columns)):
            first[column] = min(first[column], highest[beside] - reach)
            last[column] = max(last[column], lowest[beside] + reach)
    shown, is_seen = np.empty((rows, columns), np.uint16), np.zeros((rows, columns), np.bool_)
    for row in range(rows):
        for column in range(columns):
            label = labels[flat_px[row, column]]
            shown[row, column] = label
            if first[column] <= row <= last[column] and not outside[row, column]:
                is_seen[row, column] = label >> RANK_BITS <= rank
    return shown, is_seen


@compiled
def ground_residuals(
    codes: Picture, gain: Array, labels: LabelBuffer, is_seen: Mask, floor: Array, per_mm: int
) -> Floats:
    """(rows, columns) squared difference of each pixel from what is usual on its ground, −1 where none is used.

    Args:
        codes: (rows, columns, 3) b g r.
        gain: (3,) display value of one code.
        labels: (rows, columns) of the grounds; see :func:`labels_round`.
        is_seen: (rows, columns).
        floor: (3,) display values of bare floor.
        per_mm: rows and columns per millimetre.
    """
    (rows, columns), (grounds, known) = labels.shape, _grounds(labels, is_seen)
    shades = _display_values(gain)
    usual = _usual(_histograms(codes, shades, grounds, known, floor), shades, floor, MIN_MM2 * per_mm**2)
    squares = np.full((rows, columns), -1.0)
    for row in range(rows):
        for column in range(columns):
            ground = grounds[row, column]
            if ground >= 0:
                total = np.float32(0)
                for channel in range(3):
                    off = shades[channel, codes[row, column, channel]] - usual[ground, channel]
                    total += off * off
                squares[row, column] = min(float(total / np.float32(3)), MAX_GROUND_DIFFERENCE**2)
    return squares


@compiled
def _grounds(labels: LabelBuffer, is_seen: Mask) -> tuple[npt.NDArray[np.int32], LabelBuffer]:
    """(rows, columns) int32 number of each pixel's label, −1 where none is used; and (g,) those labels."""
    rows, columns = labels.shape
    grounds, known = np.full((rows, columns), -1, np.int32), np.empty(labels.size, np.uint16)
    ground, count = 0, 0
    for row in range(rows):
        for column in range(columns):
            if not is_seen[row, column]:
                continue
            label = labels[row, column]
            if count == 0 or known[ground] != label:  # mostly it is that of the previous pixel
                ground = 0
                while ground < count and known[ground] != label:
                    ground += 1
                if ground == count:
                    known[count] = label
                    count += 1
            grounds[row, column] = ground
    return grounds, known[:count]


@compiled
def _display_values(gain: Array) -> Array:
    """(3, CODES) display values of all codes; ``gain``: (3,) of one code."""
    shades = np.empty((3, CODES), np.float32)
    for channel in range(3):
        for code in range(CODES):
            shades[channel, code] = (np.float32(code) + BLACK_CODES) * gain[channel] - OFFSET
    return shades


@compiled
def _histograms(
    codes: Picture, shades: Array, grounds: npt.NDArray[np.int32], known: LabelBuffer, floor: Array
) -> npt.NDArray[np.int32]:
    """(g, 3, CODES) histogram of the codes on each ground; on bare floor, only of pixels that may show it."""
    counts, is_near = np.zeros((len(known), 3, CODES), np.int32), np.empty((3, CODES), np.bool_)
    for channel in range(3):
        for code in range(CODES):
            is_near[channel, code] = float(abs(shades[channel, code] - floor[channel])) < NEAR_FLOOR
    rows, columns = grounds.shape
    for row in range(rows):
        for column in range(columns):
            ground = grounds[row, column]
            if ground < 0:
                continue
            blue, green, red = codes[row, column]
            is_floor = known[ground] & MATERIAL_MASK == FLOOR
            if not is_floor or (is_near[0, blue] and is_near[1, green] and is_near[2, red]):
                counts[ground, 0, blue] += 1
                counts[ground, 1, green] += 1
                counts[ground, 2, red] += 1
    return counts


@compiled
def _usual(counts: npt.NDArray[np.int32], shades: Array, floor: Array, min_px: float) -> Array:
    """(g, 3) medians of the display values of ``counts`` (g, 3, CODES); bare ``floor`` where there are too few."""
    usual = np.empty((len(counts), 3), np.float32)
    for ground in range(len(counts)):
        for channel in range(3):
            histogram, seen = counts[ground, channel], counts[ground, channel].sum()
            if seen > min_px:
                low, high = order_statistic(histogram, (seen - 1) // 2), order_statistic(histogram, seen // 2)
                usual[ground, channel] = (shades[channel, low] + shades[channel, high]) / np.float32(2)
            else:
                usual[ground, channel] = floor[channel]
    return usual


@compiled
def correct_by_board(
    squares: Floats, codes: Picture, gain: Array, labels: LabelBuffer, board: tuple[Array, Array]
) -> None:
    """Replace ``squares`` of :func:`ground_residuals` on bare floor by squared differences from a learned ``board``.

    Less its variance.  ``board``: as in :class:`vision.likelihood.lateral_faces.CellGround`.
    """
    (rows, columns), (expected, variance), shades = labels.shape, board, _display_values(gain)
    for row in range(rows):
        for column in range(columns):
            if squares[row, column] < 0 or labels[row, column] & MATERIAL_MASK != FLOOR:
                continue
            total = np.float32(0)
            for channel in range(3):
                off = shades[channel, codes[row, column, channel]] - expected[channel, row, column]
                total += off * off
            more = total / np.float32(3) - variance[row, column]
            if np.isnan(more):
                squares[row, column] = -1.0
            else:
                squares[row, column] = min(max(more, np.float32(0)), np.float32(MAX_GROUND_DIFFERENCE**2))


@compiled
def to_codes(expected: Array, gain: Array) -> tuple[Picture, Mask]:
    """(rows, columns, 3) uint8 b g r of ``expected`` (3, rows, columns) display values, and where they are known.

    ``gain``: (3,) display value of one code.
    """
    _, rows, columns = expected.shape
    codes, known = np.zeros((rows, columns, 3), np.uint8), np.zeros((rows, columns), np.bool_)
    for row in range(rows):
        for column in range(columns):
            is_known = True
            for channel in range(3):
                value = expected[channel, row, column]
                if np.isfinite(value):
                    code = (value + np.float32(OFFSET)) / gain[channel] - np.float32(BLACK_CODES)
                    codes[row, column, channel] = np.uint8(min(max(code, np.float32(0)), np.float32(CODES - 1)))
                else:
                    is_known = False
            known[row, column] = is_known
    return codes, known


def observe(codes: Picture, gain: Array, squares: Floats, contrasts: Contrasts, per_mm: int) -> LateralView:
    """The view of a close-up, ``codes`` (rows, columns, 3) b g r; ``squares`` from :func:`ground_residuals`."""
    integrals, count, ground, noise = integrate(codes, gain, squares)
    pixels, independent_px = max(float(count), 1.0), INDEPENDENT_MM2 * per_mm**2
    variance = FACE_DEVIATION**2 + noise / independent_px
    return LateralView(integrals, pixels, ground, noise, variance, pixels / independent_px, contrasts, per_mm)


@compiled
def integrate(codes: Picture, gain: Array, squares: Floats) -> tuple[Floats, int, float, float]:
    """``integrals`` of :class:`LateralView`; how many pixels are used; the sum of their ``squares``; their noise.

    The noise is the variance of a pixel's display values, mean of the channels, from differences to the left neighbour.
    """
    (rows, columns), shades, count, ground = squares.shape, _display_values(gain), 0, 0.0
    integrals = np.zeros((columns, rows + 1, SUMS))
    for column in range(columns):
        for row in range(rows):
            above, sums, square = integrals[column, row], integrals[column, row + 1], squares[row, column]
            if square < 0:
                sums[:] = above
                continue
            # Unrolled, this takes half as long as loops.
            blue, green, red = codes[row, column]
            one, two, three = shades[0, blue], shades[1, green], shades[2, red]
            sums[0] = above[0] + 1
            sums[1] = above[1] + one
            sums[2] = above[2] + two
            sums[3] = above[3] + three
            sums[4] = above[4] + (one * one + two * two + three * three)
            sums[5] = above[5] + square
            from_middle = row - rows // 2
            sums[6] = above[6] + from_middle
            sums[7] = above[7] + from_middle * from_middle
            sums[8] = above[8] + from_middle * (one + two + three)
            count, ground = count + 1, ground + square
    return integrals, count, ground, _pixel_variance(codes, gain, squares)


@compiled
def _pixel_variance(codes: Picture, gain: Array, squares: Floats) -> float:
    """``noise`` of :func:`integrate`."""
    (rows, columns), counts, noise = squares.shape, np.zeros((3, CODES), np.int32), 0.0
    for row in range(rows):
        for column in range(1, columns):
            if squares[row, column] >= 0 and squares[row, column - 1] >= 0:
                for channel in range(3):
                    one, left = np.int64(codes[row, column, channel]), np.int64(codes[row, column - 1, channel])
                    counts[channel, abs(one - left)] += 1
    for channel in range(3):
        noise += counted_pair_variance(counts[channel]) * float(gain[channel]) ** 2 / 3
    return noise
