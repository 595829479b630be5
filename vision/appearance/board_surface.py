"""Likelihood of every crop pixel if it shows the bare board, whose look was learned (:mod:`calibration.board_look`).

A texel of display value e shows ``t * e``: t for how brightly it is lit, near 1 unless something shades it.  Its three
channels differ from that by noise, by grain and by the tint of the light.  With normal differences the likelihood is
that of t, along e, times that of what is left across it.  Or a lamp is mirrored there: then white is added.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_look import TEXEL_MM, BoardLook
from calibration.camera import Camera
from vision.appearance.colour_model import BINS, FLOOR_SHADING, GAMMA, SENSOR_NOISE, STRAY, TOP_VALUE
from vision.appearance.illumination import Illumination
from vision.compiled import compiled
from vision.pose.projection import Points, Registration, back_project
from vision.scene.crops import Crops

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]
Number = np.float32
Compared = tuple[Number, Number, Number, Number, Number, Number, Number, Number]

MIRRORED = 0.007
"""Standard deviation of what a board mirrors besides its sheen, as a share of what white paper shows."""

DARKEST = 0.15
"""Display value below which what is mirrored changes it no more than here: the curve is straight there."""

DARKEST_SHADE = 0.04
"""Least share of the light that reaches a board beside a piece that shades it."""

GLARING, GLARE = 0.05, 0.03
"""Share of a board that mirrors a lamp besides its sheen, and the mean of how much, as a square of display values."""

BRIGHTNESSES, BRIGHTEST = 256, 2.0
"""Number of values of t for which its likelihood is tabulated, and the last of them."""

PRECISIONS, MOST_PRECISE = 24, 64.0
"""Number of precisions (roots, in geometric steps from 1 to the last) with which a pixel may tell t."""

REACH_MM = 15.0
"""Half the distance over which the slopes of light and sheen are taken."""

_BIN_LOG = 3 * float(np.log(TOP_VALUE / BINS))
_PRECISION_STEP = float(np.log(MOST_PRECISE) / (PRECISIONS - 1))


class BoardView(NamedTuple):
    """The bare board in the crops of all cells (n), from one pose.

    Attributes:
        aside_mm: (n, rows, columns, 2) float32, place of each pixel on the board from the middle of its cell.
        values: (n, rows, columns, 3) float32, display values b g r relative to white paper.
        scale: (n, rows, columns, 3) float32, one over the standard deviation of each; 0 where they are not known.
    """

    aside_mm: Array
    values: Array
    scale: Array


class LocalLight(NamedTuple):
    """The light on the board round the middles of some cells (b); b g r.

    Attributes:
        gain: (b, 3) float32, display value relative to white paper of one code.
        slope: (b, 2, 3) float32, by what share of it display values grow a mm to x and to y.
        sheen: (b, 3) float32, white that is mirrored there, as a square of display values; and how it grows likewise.
    """

    gain: Array
    slope: Array
    sheen: Array


def view_board(
    board: BoardLook, crops: Crops, pose: Registration, camera: Camera, cells: Indices | slice = slice(None)
) -> BoardView:
    """What ``board`` shows in the crops of ``cells``."""
    places = back_project(np.moveaxis(crops.map_px[:, cells], 0, -1), pose, camera)
    row, column = texels(places, board.seen.shape)
    colour, spread = (
        cv2.remap(layer, column, row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        for layer in (board.colour, board.spread)
    )
    whole = cv2.erode((board.seen > 0).astype(np.uint8), np.ones((3, 3), np.uint8))
    known = cv2.remap(whole, column, row, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    shape = places.shape[:-1]
    values = np.ascontiguousarray(np.asarray(colour, np.float32).reshape(*shape, 3)[..., ::-1])
    variance = variance_of(values, np.asarray(spread, np.float32).reshape(shape))
    scale = (np.asarray(known).reshape(*shape, 1) / np.sqrt(variance)).astype(np.float32)
    return BoardView((places - crops.centres_mm[cells, None, None, :2]).astype(np.float32), values, scale)


def variance_of(values: Array, spread: Array) -> Array:
    """(…, 3) that of display values (…, 3) which a bare board shows: noise, grain (``spread``, (…)), mirrors, tint."""
    mirrored = MIRRORED / GAMMA * np.maximum(values, DARKEST) ** (1 - GAMMA)
    tint = FLOOR_SHADING.tint / GAMMA * values
    variance: Array = SENSOR_NOISE**2 + spread[..., None] ** 2 + mirrored**2 + tint**2
    return variance


def texels(places_mm: Points, size: tuple[int, ...]) -> tuple[Array, Array]:
    """Rows and columns (n, k) float32 in a map of a ``size``, for ``cv2.remap``, of places (n, …, 2) mm."""
    flat = places_mm.reshape(len(places_mm), -1, 2)
    column = flat[..., 0] / TEXEL_MM + (size[1] - 1) / 2
    row = (size[0] - 1) / 2 - flat[..., 1] / TEXEL_MM
    return row.astype(np.float32), column.astype(np.float32)


def light_round(light: Illumination, gain: Array, centres_mm: Points) -> LocalLight:
    """The light on the board round places (b, 3); ``gain`` as in :class:`LocalLight`."""
    sides = REACH_MM * np.array([[1, 0, 0], [0, 1, 0]])
    grown = [np.log(light.at(centres_mm + side) / light.at(centres_mm - side)) for side in sides]
    slope = np.stack(grown, axis=1)[..., ::-1] / (2 * REACH_MM * GAMMA)
    sheen = np.zeros((len(centres_mm), 3), np.float32)
    if light.sheen is not None:
        sheen[:, 0] = sheen_at(light.sheen, light.half_mm, centres_mm)
        for axis, side in enumerate(sides):
            ahead, back = (sheen_at(light.sheen, light.half_mm, centres_mm + sign * side) for sign in (1, -1))
            sheen[:, 1 + axis] = (ahead - back) / (2 * REACH_MM)
    return LocalLight(gain, np.ascontiguousarray(slope, np.float32), sheen)


def _shown(view: BoardView, centre_mm: Points, light: Illumination) -> tuple[Array, Array]:
    """See :meth:`CellViews.shown`; of a ``view`` of one cell, whose middle is at ``centre_mm`` (3,)."""
    return _show(view, light_round(light, np.ones((1, 3), np.float32), centre_mm[None]))


@compiled
def _show(view: BoardView, light: LocalLight) -> tuple[Array, Array]:
    """See :meth:`CellViews.shown`; of a ``view`` of one cell, in the ``light`` round it."""
    asides, values, scales = view
    shown, variance = np.full(values.shape, np.nan, np.float32), np.zeros(values.shape[:2], np.float32)
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            scale = scales[row, column]
            if scale[0] > 0:
                x, y = asides[row, column]
                _expect(values[row, column], (0, x, y), light, shown[row, column])
                total = np.float32(0)
                for channel in range(3):
                    deviation = np.float32(1) / scale[channel]
                    total += deviation * deviation
                variance[row, column] = total / np.float32(3)
    return shown, variance


class CellViews:
    """The bare board in the crops of single cells; each is kept while board and crops are the same."""

    def __init__(self) -> None:
        """Of nothing yet."""
        self._kept: tuple[BoardLook, Crops, dict[int, BoardView]] | None = None

    def shown(
        self, board: BoardLook, crops: Crops, view: tuple[Registration, Camera], light: Illumination, cell: int
    ) -> tuple[Array, Array]:
        """What ``board`` shows in the crop of one cell, from a ``view`` of these ``crops``, in a ``light``.

        Returns:
            (rows, columns, 3) float32 display values b g r relative to white paper, NaN where they are not known; and
            (rows, columns) float32, the mean variance of the three.
        """
        if self._kept is None or self._kept[0] is not board or self._kept[1] is not crops:
            self._kept = board, crops, {}
        views = self._kept[2]
        if cell not in views:
            views[cell] = BoardView(*(layer[0] for layer in view_board(board, crops, *view, np.array([cell]))))
        return _shown(views[cell], crops.centres_mm[cell], light)


def sheen_at(sheen: Array, half_mm: tuple[float, float], places_mm: Points) -> Array:
    """(k,) what is mirrored at places (k, 3) mm, bilinear; ``sheen`` as in :class:`Illumination`."""
    rows, columns = sheen.shape
    x = (places_mm[:, 0] / half_mm[0] + 1) * columns / 2 - 0.5
    y = (1 - places_mm[:, 1] / half_mm[1]) * rows / 2 - 0.5
    maps = x.astype(np.float32)[:, None], y.astype(np.float32)[:, None]
    found = np.asarray(cv2.remap(sheen, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    white: Array = found.ravel()
    return white


def _brightness_logs() -> Array:
    """(PRECISIONS, BRIGHTNESSES) float32 log density of t, if it is seen with each precision."""
    shading, t = FLOOR_SHADING, np.linspace(0, BRIGHTEST, BRIGHTNESSES)
    shaded = np.linspace(DARKEST_SHADE, shading.shade[1], BRIGHTNESSES) ** (1 / GAMMA)
    table = np.empty((PRECISIONS, BRIGHTNESSES))
    for number, precision in enumerate(np.geomspace(1, MOST_PRECISE, PRECISIONS)):
        lit = np.hypot(shading.spread / GAMMA, 1 / precision)
        dark = np.exp(-0.5 * ((t[:, None] - shaded) * precision) ** 2).mean(axis=1) * precision
        table[number] = shading.lit * np.exp(-0.5 * ((t - 1) / lit) ** 2) / lit + (1 - shading.lit) * dark
    logs: Array = np.log(np.maximum(table, STRAY / BINS**3) / np.sqrt(2 * np.pi)).astype(np.float32)
    return logs


_BRIGHTNESS = _brightness_logs()


@compiled
def board_log_likelihood(
    view: BoardView, cells: Indices, codes: Picture, light: LocalLight, found: tuple[Array, Array]
) -> None:
    """Compare the pixels of crops with the bare board, where its look is known.

    Args:
        view: of all cells.
        cells: (b,) the cells that the others belong to.
        codes: (b, rows, columns, 3) uint8, BGR.
        light: on the board round these cells.
        found: is changed where the look is known: (b, rows, columns) log-likelihood of each pixel if it shows the
            board; (b, rows, columns, 3) display values b g r relative to white paper that the board would show.
    """
    logs, expected = found
    for k in range(len(cells)):
        scales, values, asides = view.scale[cells[k]], view.values[cells[k]], view.aside_mm[cells[k]]
        for row in range(logs.shape[1]):
            for column in range(logs.shape[2]):
                scale = scales[row, column]
                if scale[0] > 0:
                    x, y = asides[row, column]
                    _expect(values[row, column], (k, x, y), light, expected[k, row, column])
                    seen = _compare(codes[k, row, column], expected[k, row, column], scale, light.gain[k])
                    logs[k, row, column] = _log_of(seen)


@compiled
def _expect(values: Array, place: tuple[int, float, float], light: LocalLight, expected: Array) -> None:
    """Put into ``expected`` (3,) the display values that a texel of ``values`` (3,) shows, lit as at a ``place``."""
    k, x, y = place
    sheen = light.sheen[k, 0] + light.sheen[k, 1] * x + light.sheen[k, 2] * y
    for channel in range(3):
        grown = np.float32(1) + light.slope[k, 0, channel] * x + light.slope[k, 1, channel] * y
        expected[channel] = np.sqrt(max(values[channel] * values[channel] + sheen, np.float32(0))) * grown


@compiled
def _compare(code: Picture, expected: Array, scale: Array, gain: Array) -> Compared:
    """What a pixel shows against what is expected there.

    Returns, of its three channels in standard deviations: the sums of the products, of the squares of what is shown and
    of what is expected, and the product of all ``scale``; then of the squares of display values that are shown more
    than expected the sum and the sum of squares, the product of the slopes of those squares, and the largest of their
    standard deviations.
    """
    both, square, precise, volume = np.float32(0), np.float32(0), np.float32(0), np.float32(1)
    white, apart, slopes, noise = np.float32(0), np.float32(0), np.float32(1), np.float32(0)
    for channel in range(3):
        own, shown = expected[channel], code[channel] * gain[channel]
        more = shown * shown - own * own
        white, apart, slopes = white + more, apart + more * more, slopes * np.float32(2) * shown
        noise = max(noise, np.float32(2) * shown / scale[channel])
        own, shown = own * scale[channel], shown * scale[channel]
        both, square, precise = both + own * shown, square + shown * shown, precise + own * own
        volume *= scale[channel]
    return both, square, precise, volume, white, apart, slopes, noise


@compiled
def _log_of(compared: Compared) -> float:
    """The log-likelihood of a pixel that was compared so (:func:`_compare`): the likeliest way to look so counts."""
    both, square, precise, volume, white, apart, slopes, noise = compared
    half, one = np.float32(0.5), np.float32(1)
    precise = max(precise, one)
    t = both / precise
    place = min(int(np.log(precise) * np.float32(0.5 / _PRECISION_STEP) + half), PRECISIONS - 1)
    step = min(int(t * np.float32((BRIGHTNESSES - 1) / BRIGHTEST) + half), BRIGHTNESSES - 1)
    across = max(square - both * t, np.float32(0))
    fits = np.float32(_BIN_LOG - np.log(2 * np.pi)) + np.log(volume / np.sqrt(precise)) + _BRIGHTNESS[place, step]
    best = max(fits - half * across, np.float32(np.log(STRAY / BINS**3)))
    white /= np.float32(3)
    if white > 0:
        squared = noise * noise
        fits = np.float32(_BIN_LOG - np.log(2 * np.pi * np.sqrt(3) * GLARE) + np.log(GLARING)) - white / np.float32(
            GLARE
        )
        fits += np.log(slopes / squared) - half * (apart - np.float32(3) * white * white) / squared
        best = max(best, fits)
    return float(best)
