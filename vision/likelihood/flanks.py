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
from vision.likelihood.facets import (
    FLANKS,
    Facets,
    Flanks,
    displacement,
    make_facets,
    pyramids_of,
    sum_flanks,
)
from vision.likelihood.flank_boundaries import Contrasts, boundary_log_ratio, make_contrasts
from vision.likelihood.memo import Memo, find, make_memo, put
from vision.likelihood.observations import FLOOR
from vision.pose.projection import Points, Registration
from vision.scene.configurations import Configurations
from vision.scene.crops import Crops, magnified
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

PER_MM = 2
"""Rows and columns a millimetre: as many pixels as the collection's cameras have."""

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

FIRST_MM = 1.0
"""A tower is first tried so far to all sides of its cell's middle."""

REFINED = 3
"""First placements from which the search goes on."""

ROUNDS = 12
"""Most rounds of the search."""

STEPS = np.array(
    [
        *[(0, across, along) for across in (-1, 0, 1) for along in (-1, 0, 1) if across or along],
        *[(0, -2, 0), (0, 2, 0), (0, 0, -2), (0, 0, 2), (-1, 0, 0), (1, 0, 0)],
    ],
    np.float64,
)
"""Steps of each pyramid with all above it: index of its rotation; half millimetres right and down in the crop."""

SHARE = 0.5
"""Share that flanks and their boundaries count for: they are the same pixels."""

LEAST_PX = 30.0
"""Pixels (of a quarter of a square millimetre) from which on a flank's mean is used."""


class CloseUp(NamedTuple):
    """Finer crops of all cells (n) of one pose, and the flanks of pyramids (w) in them.

    Attributes:
        crops: with :data:`PER_MM` rows and columns a millimetre; that is their unit of length.
        facets: the flanks in them.
        sides: (n, w, flanks) intp, which side of its pyramid each flank is; see :data:`.facets.FLANKS`.
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


class _View(NamedTuple):
    """What one cell's close-up shows.

    Attributes:
        integrals: (columns, rows + 1, 6) float64 column integrals over the pixels that are looked at: their number,
            three display values, the sum of their squares, squared difference from the ground's.
        pixels: their number.
        ground: sum of the squared differences of all of them.
        variance: of a pixel on an even surface.
        weight: independent observations.
        contrasts: between pixels that are looked at.
    """

    integrals: Floats
    pixels: float
    ground: float
    variance: float
    weight: float
    contrasts: Contrasts


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
    likely, sums, wireframes = _fit(view, flanks, close_up.facets.towers, tried)
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
    likely, _, _ = _fit(view._replace(weight=0.0), flanks, towers, np.ones(len(towers), np.bool_))
    return likely / SHARE


def _look(
    image: npt.NDArray[np.uint8], close_up: CloseUp, seen: tuple[int, int, LabelBuffer], ground: Ground
) -> tuple[_View, Flanks]:
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
    return _observe(values, squares, contrasts), Flanks(far, near)


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


def _observe(values: Array, squares: Floats, contrasts: Contrasts) -> _View:
    """The view of a close-up of display ``values`` (rows, columns, 3); ``squares`` of :func:`_off_ground`."""
    counted = squares >= 0
    apart = np.abs(np.diff(values.mean(axis=2), axis=1))[counted[:, 1:] & counted[:, :-1]]
    pixels = max(float(counted.sum()), 1.0)
    # The median of the difference of two normal values is 0.954 of their standard deviation.
    noise = float(np.median(apart)) / 0.954 if len(apart) else 0.0
    weight = pixels / PER_MM**2 / INDEPENDENT_MM2
    integrals = _integrals(values, squares)
    return _View(integrals, pixels, float(squares[counted].sum()), EVEN**2 + noise**2, weight, contrasts)


@compiled
def _integrals(values: Array, squares: Floats) -> Floats:
    """``integrals`` of :class:`_View`."""
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


@compiled
def _fit(view: _View, flanks: Flanks, towers: Indices, tried: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Indices]:
    """(f,) log-likelihood of each tower in its likeliest placement, and what it is made of there.

    That is (f, p, flanks, 6) sums over its flanks and (f, p) intp, its pyramids.
    """
    most = towers.shape[2]
    likely, sums = np.full(len(towers), -np.inf), np.zeros((len(towers), most, len(FLANKS), 6))
    wireframes = np.full((len(towers), most), -1, np.intp)
    for number in range(len(towers)):
        if not tried[number]:
            continue
        tower = pyramids_of(towers[number])
        count = tower.shape[1]
        parts, at = np.zeros((count, len(FLANKS), 6)), np.zeros((count, 3))
        begins, memo = _first_placements(view, flanks, tower, parts), make_memo(3 * count)
        for k in range(len(begins)):
            at[:] = begins[k]
            _climb(view, flanks, tower, at, parts, memo)
            total = _log_likelihood(view, flanks, tower, at, parts, 1)
            if total > likely[number]:
                likely[number] = total
                sums[number, :count] = parts
                for pyramid in range(count):
                    wireframes[number, pyramid] = tower[int(at[pyramid, 0]), pyramid]
    return likely, sums, wireframes


@compiled
def _first_placements(view: _View, flanks: Flanks, tower: Indices, parts: Floats) -> Floats:
    """(:data:`REFINED`, 3) the likeliest rotations and shifts of a tower whose pyramids share them."""
    reach = FIRST_MM * PER_MM
    begins, totals, at = np.zeros((len(tower) * 9, 3)), np.zeros(len(tower) * 9), np.zeros((tower.shape[1], 3))
    for k in range(len(begins)):
        begins[k] = np.array([k // 9, (k // 3 % 3 - 1) * reach, (k % 3 - 1) * reach])
        at[:] = begins[k]
        totals[k] = _log_likelihood(view, flanks, tower, at, parts, 2)
    return begins[np.argsort(-totals)[:REFINED]]


@compiled
def _climb(view: _View, flanks: Flanks, tower: Indices, at: Floats, parts: Floats, memo: Memo) -> None:
    """Put the likeliest placement of a tower near ``at`` (p, 3) there; every other column tells it well enough.

    ``memo``: log-likelihoods of the tower's placements that are known.
    """
    best, trial = _log_likelihood(view, flanks, tower, at, parts, 2), at.copy()
    for _ in range(ROUNDS):
        before = best
        for lowest in range(len(at) - 1, -1, -1):
            for step in STEPS:
                trial[:] = at
                trial[: lowest + 1] += step
                if trial[:, 0].min() >= 0 and trial[:, 0].max() < len(tower):
                    slot = find(memo, trial)
                    if not memo.is_used[slot]:
                        put(memo, slot, trial, _log_likelihood(view, flanks, tower, trial, parts, 2))
                    total = memo.values[slot]
                    if total > best:
                        best = total
                        at[:] = trial
        if best == before:
            break


@compiled
def _log_likelihood(view: _View, flanks: Flanks, tower: Indices, at: Floats, parts: Floats, step: int) -> float:
    """Log-posterior of a tower in a placement, up to a constant a cell.

    Args:
        view: of the cell.
        flanks: of the cell.
        tower: (t, p) intp its pyramids in each rotation, the uppermost first.
        at: (p, 3) placement of each: index of its rotation, columns right, rows down.
        parts: (p, flanks, 6) sums over each flank, is overwritten.
        step: every how many columns are evaluated.
    """
    flat = parts.reshape(-1, 6)
    sum_flanks(view.integrals, flanks, tower, at, flat, step)
    unexplained = view.ground
    for part in flat:
        if part[0] > 0:
            uneven = part[4] - (part[1] ** 2 + part[2] ** 2 + part[3] ** 2) / part[0]
            unexplained += step * (max(uneven, 0.0) / 3 - part[5])
    variance = max(unexplained, 0.0) / view.pixels + view.variance
    likely = boundary_log_ratio(view.contrasts, flanks, tower, at, step) - 0.5 * view.weight * np.log(variance)
    return float(SHARE * likely - 0.5 * displacement(at) / PER_MM**2)


def _by_side(sums: Floats, wireframes: Indices, sides: Indices) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """``means`` and ``is_seen`` of :class:`TowerFits` from ``sums`` (f, p, flanks, 6) over flanks of ``wireframes``.

    ``sides``: (w, flanks), see :class:`CloseUp`.
    """
    order = np.argsort(sides[wireframes], axis=2)
    ordered = np.take_along_axis(sums, order[..., None], axis=2)
    return ordered[..., 1:4] / np.maximum(ordered[..., :1], 1), ordered[..., 0] > LEAST_PX
