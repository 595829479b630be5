"""Likelihood of towers of pyramids at the picture's own resolution: each flank is even, and so is the ground round it.

Crops are for colours; a pyramid that another one covers shows by a millimetre and a half of its outline, and one of
nearly the ground's colour by its edges alone.  So the pixels round a tower are looked at more closely: what no flank
covers is ground of its usual colour (or something else, such as shadow or print), and what a tower leaves unexplained
tells how much its fit says (the residual variance is profiled out); and where flanks meet the picture changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import compiled
from vision.likelihood.facets import Facets, make_facets
from vision.likelihood.flank_boundaries import Contrasts, make_contrasts
from vision.likelihood.flank_fitting import PER_MM, SHARE, FlankView, fit
from vision.likelihood.flank_runs import Flanks, make_flanks
from vision.likelihood.observations import FLOOR
from vision.pose.projection import Points, Registration
from vision.scene.configurations import Configurations
from vision.scene.crops import Crops, magnified
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

INDEPENDENT_MM2 = 20.0
"""Area over which errors are correlated: half that of the crops' colours, which are wrong over a whole flank."""

EVEN = 0.01
"""Standard deviation of display values on one flank besides the noise of its pixels."""

OTHER_GROUND = 0.15
"""Largest difference from the ground's usual display value that counts: shadow and print may be any darker.  Of 0.07,
0.08, 0.1, 0.15 and 0.25 this gave fewest faults."""

NEAR_FLOOR = 0.15
"""Pixels whose display values differ by less from bare floor's tell what is usual there."""

MARGIN_MM = 3
"""How far round all that may stand on a cell the ground is looked at."""

LEAST_PX = 30.0
"""Pixels (of a quarter of a square millimetre) from which on a flank's mean is used."""


class CloseUp(NamedTuple):
    """Finer crops of all cells (n) of one pose, and the flanks of pyramids (w) in them.

    Attributes:
        crops: with :data:`PER_MM` rows and columns a millimetre; that is their unit of length.
        facets: the flanks in them.
        sides: (n, w, flanks) intp, which side of its pyramid each flank is; see :data:`.flank_runs.FLANKS`.
    """

    crops: Crops
    facets: Facets
    sides: Indices


class Ground(NamedTuple):
    """The ground round one cell.

    Attributes:
        gain: (3,) float32 display value relative to white paper that one code adds there, b g r.
        floor: (3,) float32 display values of bare floor, b g r.
        board: (rows, columns, 3) float32 display values b g r that the bare board shows in the cell's crop, and
            (rows, columns) their variance, NaN where it is not known; None where its look was not learned.
    """

    gain: Array
    floor: Array
    board: tuple[Array, Array] | None = None


class TowerFits(NamedTuple):
    """The fits of all towers (f) to one cell, each of up to p pyramids, the uppermost first.

    Attributes:
        log_likelihood: (f,) float64, −inf of those that were not tried.
        means: (f, p, sides, 3) float64, mean display values of each flank, b g r.
        is_seen: (f, p, sides) bool, whether enough of it is seen.
    """

    log_likelihood: Floats
    means: Floats
    is_seen: npt.NDArray[np.bool_]


def make_close_up(
    crops: Crops, pose: Registration, camera: Camera, configurations: Configurations, pixels: Sequence[Points]
) -> CloseUp:
    """The close-up of all cells; ``pixels`` as for :func:`vision.likelihood.facets.make_facets`."""
    fine = magnified(crops, PER_MM, camera)
    facets, sides = make_facets(fine, pose, configurations, pixels)
    return CloseUp(fine, facets, sides)


def fit_towers(
    image: npt.NDArray[np.uint8],
    close_up: CloseUp,
    seen: tuple[int, int, LabelBuffer],
    ground: Ground,
    tried: npt.NDArray[np.bool_],
) -> TowerFits:
    """How well towers fit to what a picture (height, width, 3) uint8 BGR shows on a cell.

    Args:
        image: as above.
        close_up: of the pose.
        seen: the cell, its rank, and (height, width) labels of what would be seen if nothing stood on it.
        ground: round that cell.
        tried: (f,) bool, the towers that are fitted.
    """
    view, flanks = _look(image, close_up, seen, ground)
    likely, sums, wireframes = fit(view, flanks, close_up.facets.towers, tried)
    means, enough = _by_side(sums, wireframes, close_up.sides[seen[0]])
    return TowerFits(likely, means, enough)


def fit_boundaries(
    image: npt.NDArray[np.uint8], close_up: CloseUp, seen: tuple[int, int, LabelBuffer], ground: Ground
) -> Floats:
    """(f,) log-likelihood ratio of the boundaries of each tower in its likeliest placement, against bare ground.

    The arguments are those of :func:`fit_towers`.
    """
    view, flanks = _look(image, close_up, seen, ground)
    towers = close_up.facets.towers
    likely, _, _ = fit(view._replace(weight=0.0), flanks, towers, np.ones(len(towers), np.bool_))
    return likely / SHARE


def _look(
    image: npt.NDArray[np.uint8], close_up: CloseUp, seen: tuple[int, int, LabelBuffer], ground: Ground
) -> tuple[FlankView, Flanks]:
    """What a cell shows, and the flanks that may be there; arguments as of :func:`fit_towers`."""
    cell, (crops, facets, sides) = seen[0], close_up
    far, near = facets.far[cell].astype(np.float64), facets.near[cell].astype(np.float64)
    remapped = cv2.remap(
        image, crops.map_px[0, cell], crops.map_px[1, cell], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    codes = np.asarray(remapped, np.uint8)
    values = np.asarray(codes * ground.gain, np.float32)
    labels = seen[2].ravel()[crops.flat_px[cell]]
    is_seen = ~crops.outside[cell] & (labels >> RANK_BITS <= seen[1]) & _surroundings(far, near, len(crops.v_mm))
    squares = _off_ground(values, labels, is_seen, ground)
    contrasts = make_contrasts(codes, squares >= 0, PER_MM, sides[cell])
    return _observe(values, squares, contrasts), make_flanks(far, near)


def _surroundings(far: Floats, near: Floats, rows: int) -> npt.NDArray[np.bool_]:
    """(rows, columns) bool, pixels within a margin of any pyramid, ``far`` to ``near`` (w, flanks, columns)."""
    highest, lowest, reach = far.min(axis=(0, 1)), near.max(axis=(0, 1)), MARGIN_MM * PER_MM
    kernel = np.ones((1, 2 * reach + 1), np.uint8)
    # Infinite where no pyramid reaches.
    highest = cv2.erode(highest[None], kernel, borderType=cv2.BORDER_REPLICATE)[0] - reach
    lowest = cv2.dilate(lowest[None], kernel, borderType=cv2.BORDER_REPLICATE)[0] + reach
    row = np.arange(rows)[:, None]
    return np.asarray((row >= highest) & (row <= lowest))


def _off_ground(values: Array, labels: LabelBuffer, is_seen: npt.NDArray[np.bool_], ground: Ground) -> Floats:
    """(rows, columns) squared difference of each pixel from what is usual on its ground, −1 where none is looked at.

    ``values`` (rows, columns, 3) are display values.  Of a board whose look was learned the variance does not count.
    """
    squares = _off_usual(values, labels, is_seen, ground.floor)
    if ground.board is not None:
        mine = is_seen & (labels & MATERIAL_MASK == FLOOR)
        expected, variance = (layer[mine] for layer in ground.board)
        off = ((values[mine] - expected) ** 2).mean(axis=1) - variance
        squares[mine] = np.where(np.isnan(off), -1.0, np.clip(off, 0, OTHER_GROUND**2))
    return squares


@compiled
def _off_usual(values: Array, labels: LabelBuffer, is_seen: npt.NDArray[np.bool_], floor: Array) -> Floats:
    """As :func:`_off_ground`, of a board whose look was not learned; ``floor`` (3,): of :class:`Ground`."""
    squares, left, (rows, columns) = np.full(labels.shape, -1.0), is_seen.copy(), labels.shape
    for first in range(rows):
        for at in range(columns):
            if not left[first, at]:
                continue
            label = labels[first, at]
            usual = _usual(values[first:], left[first:] & (labels[first:] == label), label, floor)
            for row in range(first, rows):
                for column in range(columns):
                    if left[row, column] and labels[row, column] == label:
                        off = values[row, column] - usual
                        square = np.float32(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]) / np.float32(3)
                        squares[row, column], left[row, column] = min(square, OTHER_GROUND**2), False
    return squares


@compiled
def _usual(values: Array, mine: npt.NDArray[np.bool_], label: int, floor: Array) -> Array:
    """(3,) what is usual where pixels have a label; that of bare ``floor`` where too few tell."""
    shown, count, is_floor = np.empty((3, mine.size), np.float32), 0, label & MATERIAL_MASK == FLOOR
    for row in range(mine.shape[0]):
        for column in range(mine.shape[1]):
            value = values[row, column]
            if mine[row, column] and (not is_floor or np.abs(value - floor).max() < NEAR_FLOOR):
                shown[:, count] = value
                count += 1
    usual = floor.copy()
    for channel in range(3 if count > LEAST_PX else 0):
        usual[channel] = np.median(shown[channel, :count])
    return usual


def _observe(values: Array, squares: Floats, contrasts: Contrasts) -> FlankView:
    """The view of a close-up of display ``values`` (rows, columns, 3); ``squares`` of :func:`_off_ground`."""
    counted = squares >= 0
    apart = np.abs(np.diff(values.mean(axis=2), axis=1))[counted[:, 1:] & counted[:, :-1]]
    pixels = max(float(counted.sum()), 1.0)
    # The median of the difference of two normal values is 0.954 of their standard deviation.
    noise = float(np.median(apart)) / 0.954 if len(apart) else 0.0
    weight = pixels / PER_MM**2 / INDEPENDENT_MM2
    integrals = _integrals(values, squares)
    return FlankView(integrals, pixels, float(squares[counted].sum()), EVEN**2 + noise**2, weight, contrasts)


@compiled
def _integrals(values: Array, squares: Floats) -> Floats:
    """``integrals`` of :class:`.flank_fitting.FlankView`."""
    rows, columns = squares.shape
    integrals = np.zeros((columns, rows + 1, 6))
    for column in range(columns):
        for row in range(rows):
            integrals[column, row + 1] = integrals[column, row]
            if squares[row, column] >= 0:
                one, two, three = values[row, column]
                integrals[column, row + 1, 0] += 1
                integrals[column, row + 1, 1] += one
                integrals[column, row + 1, 2] += two
                integrals[column, row + 1, 3] += three
                integrals[column, row + 1, 4] += one * one + two * two + three * three
                integrals[column, row + 1, 5] += squares[row, column]
    return integrals


def _by_side(sums: Floats, wireframes: Indices, sides: Indices) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """``means`` and ``is_seen`` of :class:`TowerFits` from ``sums`` (f, p, flanks, 6) over flanks of ``wireframes``.

    ``sides``: (w, flanks), see :class:`CloseUp`.
    """
    order = np.argsort(sides[wireframes], axis=2)
    ordered = np.take_along_axis(sums, order[..., None], axis=2)
    return ordered[..., 1:4] / np.maximum(ordered[..., :1], 1), ordered[..., 0] > LEAST_PX
