"""Likelihood of every crop pixel if it shows the bare board as learned (:mod:`calibration.board_appearance`).

A texel of display value e shows ``t * e``, where the brightness t is near 1 unless something shades it.  Its three
channels deviate from that by noise, by grain and by the tint of the light.  With normal deviations the likelihood is
that of t, along e, times that of the residual across it.  Alternatively a lamp is mirrored there, which adds white.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.srgb import GAMMA
from vision.appearance.board_view import BoardView
from vision.appearance.colour_model import BINS, FLOOR_SHADING, OUTLIER_SHARE, TOP_VALUE
from vision.appearance.illumination import Illumination
from vision.appearance.logarithm import log_in_place
from vision.appearance.saturation import SATURATED, saturated_bins
from vision.appearance.tone_curve import BLACK_CODES, OFFSET, to_display, to_linear
from vision.compiled import compiled
from vision.pose.projection import Points

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]

DARKEST_SHADE = 0.04
"""Least share of the light that reaches the board beside a piece that shades it."""

GLARING, GLARE = 0.05, 0.03
"""Share of a board that mirrors a lamp besides that, and the mean of that glare, as a share of white paper's light."""

BRIGHTNESSES, BRIGHTEST = 256, 2.0
"""Number of values of t for which its likelihood is tabulated, and the largest of them."""

PRECISIONS, MAX_PRECISION = 24, 64.0
"""Number of precisions of t that are tabulated (one over its standard deviation, in geometric steps from 1), and the
largest of them."""

REACH_MM = 15.0
"""Half the baseline of the finite differences that give the slopes of light and specular reflection."""

_BIN_LOG = 3 * float(np.log(TOP_VALUE / BINS))
_PRECISION_STEP = float(np.log(MAX_PRECISION) / (PRECISIONS - 1))


class LocalLight(NamedTuple):
    """The light on the board round the middles of some cells (b); b g r.

    Attributes:
        gain: (b, 3) float32, display value relative to white paper of one code.
        slope: (b, 2, 3) float32, relative growth of display values per mm in x and in y.
        specular: (b, 3) float32, white light that is mirrored there, and its slopes per mm in x and in y.
        saturated_log: (3,) float32, log-likelihood of a saturated channel that is as expected, spread over the bins
            that it may have been in (:mod:`vision.appearance.saturation`).
    """

    gain: Array
    slope: Array
    specular: Array
    saturated_log: Array


def light_around(light: Illumination, gain: Array, centres_mm: Points) -> LocalLight:
    """The light on the board round places (b, 3); ``gain`` as in :class:`LocalLight`."""
    sides = REACH_MM * np.array([[1, 0, 0], [0, 1, 0]])
    grown = [np.log(light.at(centres_mm + side) / light.at(centres_mm - side)) for side in sides]
    slope = np.stack(grown, axis=1)[..., ::-1] / (2 * REACH_MM * GAMMA)
    specular = np.zeros((len(centres_mm), 3), np.float32)
    if light.specular is not None:
        specular[:, 0] = specular_at(light.specular, light.half_mm, centres_mm)
        for axis, side in enumerate(sides):
            ahead, back = (specular_at(light.specular, light.half_mm, centres_mm + sign * side) for sign in (1, -1))
            specular[:, 1 + axis] = (ahead - back) / (2 * REACH_MM)
    saturated_log = -np.log(BINS - np.array(saturated_bins(light)[::-1])).astype(np.float32)
    return LocalLight(gain, np.ascontiguousarray(slope, np.float32), specular, saturated_log)


def specular_at(specular: Array, half_mm: tuple[float, float], places_mm: Points) -> Array:
    """(k,) specular reflection at places (k, 3) mm, bilinear; ``specular``: as in :class:`Illumination`."""
    rows, columns = specular.shape
    x = (places_mm[:, 0] / half_mm[0] + 1) * columns / 2 - 0.5
    y = (1 - places_mm[:, 1] / half_mm[1]) * rows / 2 - 0.5
    maps = x.astype(np.float32)[:, None], y.astype(np.float32)[:, None]
    found = np.asarray(cv2.remap(specular, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    white: Array = found.ravel()
    return white


def _brightness_logs() -> Array:
    """(PRECISIONS, BRIGHTNESSES) float32 log density of a t that is measured with each precision."""
    shading, t = FLOOR_SHADING, np.linspace(0, BRIGHTEST, BRIGHTNESSES)
    shaded = np.linspace(DARKEST_SHADE, shading.shade[1], BRIGHTNESSES) ** (1 / GAMMA)
    table = np.empty((PRECISIONS, BRIGHTNESSES))
    for number, precision in enumerate(np.geomspace(1, MAX_PRECISION, PRECISIONS)):
        lit = np.hypot(shading.spread / GAMMA, 1 / precision)
        dark = np.exp(-0.5 * ((t[:, None] - shaded) * precision) ** 2).mean(axis=1) * precision
        table[number] = shading.lit * np.exp(-0.5 * ((t - 1) / lit) ** 2) / lit + (1 - shading.lit) * dark
    logs: Array = np.log(np.maximum(table, OUTLIER_SHARE / BINS**3) / np.sqrt(2 * np.pi)).astype(np.float32)
    return logs


_BRIGHTNESS = _brightness_logs()


@compiled
def board_log_likelihood(
    view: BoardView, cells: Indices, codes: Picture, light: LocalLight, found: tuple[Array, Array]
) -> None:
    """Compare the pixels of crops with the bare board, where its appearance is known.

    Args:
        view: of all cells.
        cells: (b,) the cells that the other arguments belong to.
        codes: (b, rows, columns, 3) uint8, BGR.
        light: on the board round these cells.
        found: is changed in place: (b, rows, columns) log-likelihood of each pixel if it shows the board, kept where
            the appearance is not known; (b, 3, rows, columns) display values b g r relative to white paper that the
            board would show, 0 where they are not known.
    """
    logs, expected = found
    count = codes.shape[1] * codes.shape[2]
    seen, shown, work = codes.reshape(-1, count, 3), np.empty((3, count), np.float32), np.empty((4, count), np.float32)
    zeros = np.zeros(count, np.float32)
    for k in range(len(cells)):
        cell = cells[k]
        scale, board, own = view.scale[cell].reshape(3, -1), expected[k].reshape(3, -1), logs[k].reshape(-1)
        for channel in range(3):
            _put_display_values(seen[k], channel, light.gain[k, channel], shown[channel])
        predict(view.values[cell].reshape(3, -1), view.aside_mm[cell].reshape(2, -1), light, k, board)
        volume = view.log_volume[cell].reshape(-1)
        if _is_saturated(seen[k]):
            diffuse, shown, amends = _restore_saturated(seen[k], shown, board, scale, light.saturated_log)
            volume = volume + amends
        else:
            diffuse, amends = shown, zeros
        _diffuse(diffuse, board, scale, work)
        best = _by_brightness(volume, work)
        _glare(shown, board, scale, work)
        log_in_place(work[1])
        for i in range(count):
            likely = max(best[i], work[1, i] + work[2, i] + amends[i])
            own[i] = likely if scale[0, i] > 0 else own[i]
        subtract_offset(scale[0], np.float32(0), board)


@compiled
def _is_saturated(codes: Picture) -> bool:
    """Whether any channel of ``codes`` (k, 3) is saturated."""
    flat, most = codes.reshape(-1), np.uint8(0)
    for i in range(len(flat)):
        most = max(most, flat[i])
    return bool(most >= SATURATED)


@compiled
def _restore_saturated(
    codes: Picture, shown: Array, expected: Array, scale: Array, saturated_log: Array
) -> tuple[Array, Array, Array]:
    """The likeliest values that saturated channels of ``codes`` (k, 3) had, if they show a board.

    Args:
        codes: b g r.
        shown: (3, k) display values, each plus :data:`OFFSET`; saturated ones are lower bounds.
        expected: (3, k) those of the board, likewise.
        scale: (3, k), one over the standard deviation of each.
        saturated_log: see :class:`LocalLight`.

    Returns:
        (3, k) such values if the light differs by a factor that the other channels give; (3, k) the same if a
        lamp is mirrored; and (k,) what is to be added to the pixel's log-likelihood, since less is known.
    """
    lit, mirroring, amends = shown.copy(), shown.copy(), np.zeros(len(codes), np.float32)
    of_value = np.float32(np.log(TOP_VALUE / BINS / np.sqrt(2 * np.pi)))
    for i in range(len(codes)):
        if max(codes[i]) < SATURATED or scale[0, i] <= 0:
            continue
        both, own, channels = np.float32(0), np.float32(0), 0
        more, most = np.float32(0), np.float32(0)
        for c in range(3):
            paler = to_linear(shown[c, i] - OFFSET) - to_linear(expected[c, i] - OFFSET)
            most = max(most, paler)
            if codes[i, c] < SATURATED:
                precise = scale[c, i] * scale[c, i] * expected[c, i]
                both, own = both + precise * shown[c, i], own + precise * expected[c, i]
                more, channels = more + paler, channels + 1
        t = both / own if own > 0 else np.float32(1)
        white = more / np.float32(channels) if channels > 0 else most
        for c in range(3):
            if codes[i, c] >= SATURATED:
                mirrored = to_display(to_linear(expected[c, i] - OFFSET) + white) + OFFSET
                lit[c, i], mirroring[c, i] = max(lit[c, i], t * expected[c, i]), max(shown[c, i], mirrored)
                amends[i] += saturated_log[c] - of_value - np.log(scale[c, i])
    return lit, mirroring, amends


# The loops below, over all pixels of a crop, have neither branches nor calls, so that they are vectorised.


@compiled
def _put_display_values(codes: Picture, channel: int, gain: np.float32, shown: Array) -> None:
    """Put into ``shown`` (k,) one channel's display values of ``codes`` (k, 3), each plus :data:`OFFSET`."""
    for i in range(len(shown)):
        shown[i] = (np.float32(codes[i, channel]) + BLACK_CODES) * gain


@compiled
def predict(values: Array, asides: Array, light: LocalLight, k: int, expected: Array) -> None:
    """Put into ``expected`` (3, k) the display values that texels of ``values`` (3, k) show in the light at a cell.

    Each plus :data:`OFFSET`.
    ``asides``: (2, k) mm, x and y from the cell's middle; ``k``: the cell's row in ``light``.
    """
    one, white, white_x, white_y = np.float32(1), light.specular[k, 0], light.specular[k, 1], light.specular[k, 2]
    for channel in range(3):
        slope_x, slope_y = light.slope[k, 0, channel], light.slope[k, 1, channel]
        for i in range(expected.shape[1]):
            x, y, value = asides[0, i], asides[1, i], values[channel, i]
            specular = white + white_x * x + white_y * y
            grown = one + slope_x * x + slope_y * y
            expected[channel, i] = (to_display(to_linear(value) + specular) + OFFSET) * grown


@compiled
def subtract_offset(scale: Array, mark: np.float32, expected: Array) -> None:
    """Subtract :data:`OFFSET` from ``expected`` (3, k); put ``mark`` where ``scale`` (k,) is 0: unknown board."""
    for channel in range(3):
        for i in range(len(scale)):
            expected[channel, i] = expected[channel, i] - OFFSET if scale[i] > 0 else mark


@compiled
def _diffuse(shown: Array, expected: Array, scale: Array, work: Array) -> None:
    """Compare what is ``shown`` (3, k) with what is ``expected`` (3, k), whose deviation is one over ``scale`` (3, k).

    Both are display values plus :data:`OFFSET`, which shading multiplies by some t.
    Into ``work`` (4, k): one over the variance of t; t; half the squared residual across it, in nats.
    """
    half, one, zero = np.float32(0.5), np.float32(1), np.float32(0)
    for i in range(shown.shape[1]):
        own_b, own_g, own_r = expected[0, i] * scale[0, i], expected[1, i] * scale[1, i], expected[2, i] * scale[2, i]
        blue, green, red = shown[0, i] * scale[0, i], shown[1, i] * scale[1, i], shown[2, i] * scale[2, i]
        both = own_b * blue + own_g * green + own_r * red
        precise = max(own_b * own_b + own_g * own_g + own_r * own_r, one)
        t = both / precise
        work[0, i], work[1, i] = precise, t
        work[2, i] = half * max(blue * blue + green * green + red * red - both * t, zero)


@compiled
def _by_brightness(log_volume: Array, work: Array) -> Array:
    """(k,) log-likelihoods of pixels from what :func:`_diffuse` puts into ``work``, which is overwritten."""
    half, table, best = np.float32(0.5), _BRIGHTNESS.reshape(-1), np.empty(len(log_volume), np.float32)
    constant, least = np.float32(_BIN_LOG - np.log(2 * np.pi)), np.float32(np.log(OUTLIER_SHARE / BINS**3))
    log_in_place(work[0])
    for i in range(len(best)):
        precise, t = work[0, i], work[1, i]
        place = min(int(precise * np.float32(0.5 / _PRECISION_STEP) + half), PRECISIONS - 1)
        step = min(int(t * np.float32((BRIGHTNESSES - 1) / BRIGHTEST) + half), BRIGHTNESSES - 1)
        fits = constant + log_volume[i] - half * precise + table[place * BRIGHTNESSES + step]
        best[i] = max(fits - work[2, i], least)
    return best


@compiled
def _glare(shown: Array, expected: Array, scale: Array, work: Array) -> None:
    """Compare what is ``shown`` (3, k) with what is ``expected`` (3, k) if the board mirrors a lamp there.

    Both are display values plus :data:`OFFSET`.
    Into ``work`` (4, k), from its second row on: a factor whose logarithm is still to be taken; what is added to it.
    """
    constant = np.float32(_BIN_LOG - np.log(2 * np.pi * np.sqrt(3) * GLARE) + np.log(GLARING))
    zero, half, one, two, three = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2), np.float32(3)
    for i in range(shown.shape[1]):
        blue, green, red = (
            max(shown[0, i] - OFFSET, zero),
            max(shown[1, i] - OFFSET, zero),
            max(shown[2, i] - OFFSET, zero),
        )
        more_b, more_g, more_r = (
            to_linear(blue) - to_linear(expected[0, i] - OFFSET),
            to_linear(green) - to_linear(expected[1, i] - OFFSET),
            to_linear(red) - to_linear(expected[2, i] - OFFSET),
        )
        white = (more_b + more_g + more_r) / three
        apart = more_b * more_b + more_g * more_g + more_r * more_r
        noise = two * max(blue / scale[0, i], green / scale[1, i], red / scale[2, i])
        squared, is_paler = noise * noise, white > 0
        likely = constant - white / np.float32(GLARE) - half * (apart - three * white * white) / squared
        work[1, i] = two * blue * two * green * two * red / squared if is_paler else one
        work[2, i] = likely if is_paler else np.float32(-np.inf)
