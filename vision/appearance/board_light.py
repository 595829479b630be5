"""Measures the illumination of a board whose appearance was learned, wherever nothing stands on it.

A point shows its learned display value (:mod:`calibration.board_appearance`) under the light there, plus the specular
reflection of lamps, which changes slowly from place to place (:mod:`vision.appearance.tone_curve`).  That is negative
where a lamp was mirrored when the board's appearance was learned.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.srgb import GAMMA
from vision.appearance.board_blocks import BLOCK_SPREAD, NOISE_FLOOR, BoardBlocks, PlacedBlocks
from vision.appearance.illumination import (
    MIN_REFERENCES,
    Illumination,
    curved_terms,
    fit_plane,
    usable_references,
)
from vision.appearance.logarithm import exp_in_place, log_in_place
from vision.appearance.tone_curve import OFFSET, to_display, to_linear
from vision.compiled import compiled
from vision.errors import VisionError
from vision.pose.projection import Points

Array = npt.NDArray[np.float32]

SPECULAR_KNOWN = 0.01
"""Strength of the prior that there is no specular reflection: the share of a window that, seen without any, would say
so as firmly."""

EVEN_KNOWN = 0.001
"""Strength of the prior that what is darker than was learned is not shaded: a lamp may have been mirrored there when
it was learned.  Chosen by eye."""

MAX_MISSING = 0.98
"""Largest share that a mirrored lamp may have in what a block and its neighbours showed when they were learned, as the
board has a colour of its own.  On ``own-r89305`` it was 0.97 beside a line; with 0.8 and 0.95, 5 and 6 of 10 pictures
of that board were read, with this 7; nine other boards were unchanged."""

MIN_WEIGHT_SUM = 1e-6
"""Total weight round a block below which nothing is known there."""

MIN_SHARE = 0.2
"""Smallest share of the light that a shade is assumed to leave where a lamp was mirrored.  Chosen by eye."""

WHITE_WEIGHT = 0.2
"""Total weight of all references known to be white, as a share of that of all blocks: a board of one hue cannot
separate illumination from specular reflection.  Chosen by eye."""

TOLERANCES = (0.3, 0.2, 0.15, 0.1, BLOCK_SPREAD)
"""Residual in display value at which a block's weight falls to a third, in successive fits: it may be covered or
shaded."""

MISSING, BEGIN_TOLERANCE = (-0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8), 0.1
"""Specular reflection from which the fits may start, besides none: this much of a mirrored lamp may be missing, but no
more than the palest blocks show.  Blocks agree with each within the tolerance of the last fit but one."""

MIN_AGREEING_SHARE = 0.05
"""Share of a window's blocks by which more must agree with such a start than with none.  Chosen by eye."""

MIN_KNOWN, MIN_BLOCKS = 0.2, 12
"""How well blocks must be known to be used at the start, and how many of these are needed."""

PALE_PERCENTILE = 60.0
"""Percentile of paleness from which on known blocks are called pale."""

STIFFNESS = 100.0
"""Precision of the prior that the log light has no curvature: that of one reference known to a tenth.  Chosen by
eye."""

MIN_SHOWN, MAX_SHOWN = 0.02, 0.985
"""Range of display values that are not clipped."""


def measure_on_board(image: npt.NDArray[np.uint8], placed: PlacedBlocks) -> Illumination:
    """The light in a picture (height, width, 3) uint8 BGR, including the specular reflection of lamps.

    Raises VisionError when it is too dark, or too little of the board is visible.
    """
    blocks, (shown, in_range) = placed.blocks, sample_blocks(image, placed.map_px)
    known = blocks.known * (in_range & placed.inside)
    begun = known > MIN_KNOWN
    if begun.sum() < MIN_BLOCKS:
        raise VisionError("too little of the bare board is to be seen: uncover it, or turn a lamp on")
    # Blocks that are pale in all channels show the light whatever they mirror.
    pale = begun & (blocks.paleness >= np.percentile(blocks.paleness[begun], PALE_PERCENTILE))
    logs = _logs(shown)
    light_logs = _light_logs(logs, blocks.own, np.zeros(len(known), np.float32))
    white_at, white_logs = usable_references(image, blocks.white, placed.pose, placed.camera)
    begin = _initial_plane(
        (white_at, white_logs), (blocks.middles_mm[pale], light_logs.T[pale].astype(np.float64)), blocks.half_mm
    )
    precision, white_terms = blocks.precision * known, curved_terms(white_at, blocks.half_mm).T
    of_white = WHITE_WEIGHT * precision.sum(axis=1, keepdims=True) / max(len(white_at), 1)
    weights, terms = (
        np.hstack(parts).astype(np.float32)
        for parts in ((precision, np.broadcast_to(of_white, white_logs.T.shape)), (blocks.terms, white_terms))
    )
    plane = np.vstack([begin.plane, np.zeros((3, 3))])
    specular = _initial_specular(_in_even_light(shown, blocks.terms, plane), blocks, known)
    for tolerance in TOLERANCES:
        told = np.hstack([_light_logs(logs, blocks.own, specular), white_logs.T]).astype(np.float32)
        plane = _refit(terms, told, _weighted(terms, told, weights, plane, GAMMA * tolerance))
        layers = _layers(_in_even_light(shown, blocks.terms, plane), (blocks.own, specular), known, tolerance)
        specular = _specular(layers, blocks)
    return Illumination(plane, blocks.half_mm, specular.reshape(blocks.points_mm.shape[:2]))


def _initial_plane(
    told: tuple[Points, Points], pale: tuple[Points, Points], half_mm: tuple[float, float]
) -> Illumination:
    """A plane of log light through points and logs (n, 3), those ``told``, or the ``pale`` ones if these do not do."""
    try:
        return fit_plane(*(told if len(told[0]) >= MIN_REFERENCES else pale), half_mm)
    except VisionError:
        return fit_plane(*pale, half_mm)


def sample_blocks(image: npt.NDArray[np.uint8], map_px: tuple[Array, Array]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(3, k) float32 display values r g b of blocks in a picture, and (k,) whether they are in range.

    ``map_px``: see :class:`.board_blocks.PlacedBlocks`.
    """
    return _means(np.asarray(cv2.remap(image, *map_px, cv2.INTER_LINEAR), np.uint8).reshape(-1, 4, 3))


@compiled
def _means(codes: npt.NDArray[np.uint8]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Display values and whether they are in range, see :func:`sample_blocks`, from ``codes`` (k, 4, 3) b g r."""
    count = len(codes)
    shown, in_range, per_code = np.empty((3, count), np.float32), np.ones(count, np.bool_), np.float32(1 / 255)
    for channel in range(3):
        for i in range(count):
            light = np.float32(0)
            for place in range(4):
                light += to_linear(np.float32(codes[i, place, 2 - channel]) * per_code)
            value = to_display(light / np.float32(4))
            shown[channel, i] = value
            in_range[i] &= MIN_SHOWN < value < MAX_SHOWN
    return shown, in_range


@compiled
def _logs(shown: Array) -> Array:
    """(3, k) logarithms of display values plus :data:`OFFSET`."""
    logs, least = np.empty_like(shown), np.float32(MIN_SHOWN)
    for channel in range(3):
        for i in range(shown.shape[1]):
            logs[channel, i] = max(shown[channel, i], least) + OFFSET
        log_in_place(logs[channel])
    return logs


@compiled
def _light_logs(logs: Array, shares: Array, specular: Array) -> Array:
    """(3, k) log of the light under which blocks show ``logs`` (3, k), if they reflect ``shares`` (3, k) of it.

    ``shares``: :attr:`BoardBlocks.own`; ``specular``: (k,) specular reflection, which is added.
    """
    light, least, gamma = np.empty_like(logs), np.float32(NOISE_FLOOR**2), np.float32(GAMMA)
    for channel in range(3):
        own = light[channel]
        for i in range(logs.shape[1]):
            own[i] = to_display(max(shares[channel, i] + specular[i], least)) + OFFSET
        log_in_place(own)
        for i in range(logs.shape[1]):
            own[i] = gamma * (logs[channel, i] - own[i])
    return light


@compiled
def _log_light(terms: Array, plane: Points) -> Array:
    """(3, k) log light at points of ``terms`` (6, k); ``plane`` (6, 3)."""
    light, of = np.empty((3, terms.shape[1]), np.float32), plane.astype(np.float32)
    for channel in range(3):
        a, b, c, d, e, f = (
            of[0, channel],
            of[1, channel],
            of[2, channel],
            of[3, channel],
            of[4, channel],
            of[5, channel],
        )
        for i in range(terms.shape[1]):
            level = a * terms[0, i] + b * terms[1, i] + c * terms[2, i]
            light[channel, i] = level + d * terms[3, i] + e * terms[4, i] + f * terms[5, i]
    return light


@compiled
def _weighted(terms: Array, logs: Array, precision: Array, plane: Points, tolerance: float) -> Array:
    """(3, 6, n) ``terms`` (6, n) of references, weighted by how well they agree with a ``plane`` (6, 3) of log light.

    Args:
        terms: as above.
        logs: (3, n) log light that each shows.
        precision: (3, n) one over their variances.
        plane: as above.
        tolerance: residual in log light at which a reference's weight falls to a third.
    """
    fitted, count, per = _log_light(terms, plane), terms.shape[1], np.float32(-1 / tolerance**2)
    share, weighted = np.empty(count, np.float32), np.empty((3, 6, count), np.float32)
    for i in range(count):
        off = max(abs(logs[0, i] - fitted[0, i]), abs(logs[1, i] - fitted[1, i]), abs(logs[2, i] - fitted[2, i]))
        share[i] = off * off * per
    exp_in_place(share)
    for channel in range(3):
        for term in range(6):
            for i in range(count):
                weighted[channel, term, i] = share[i] * precision[channel, i] * terms[term, i]
    return weighted


def _refit(terms: Array, logs: Array, weighted: Array) -> Points:
    """(6, 3) second-order surface of log light fitted to references (one step of reweighted least squares).

    ``terms`` (6, n), ``logs`` (3, n), and the ``weighted`` terms of :func:`_weighted`.
    """
    normal = (weighted @ terms.T).astype(np.float64) + np.diag([0, 0, 0, *(STIFFNESS,) * 3])
    right = (weighted @ logs[..., None]).astype(np.float64)
    return np.ascontiguousarray(np.linalg.solve(normal, right)[..., 0].T, np.float64)


@compiled
def _in_even_light(shown: Array, terms: Array, plane: Points) -> Array:
    """(3, k) display values in even light of blocks at points of ``terms`` (6, k) that show ``shown`` (3, k)."""
    even, per = _log_light(terms, plane), np.float32(-1 / GAMMA)
    for channel in range(3):
        for i in range(terms.shape[1]):
            even[channel, i] *= per
        exp_in_place(even[channel])
        for i in range(terms.shape[1]):
            even[channel, i] = (shown[channel, i] + OFFSET) * even[channel, i] - OFFSET
    return even


@compiled
def _layers(even: Array, expected: tuple[Array, Array], known: Array, tolerance: float) -> Array:
    """(5, k) float32, the quantities summed over a window to estimate specular reflection, see :func:`_specular`.

    Args:
        even: (3, k) of :func:`_in_even_light`.
        expected: (3, k) light that the blocks show in even light; and (k,) the current specular reflection.
        known: (k,) as in :class:`.board_blocks.BoardBlocks`.
        tolerance: one of :data:`TOLERANCES`.
    """
    (shares, _), count, third = expected, len(known), np.float32(1 / 3)
    layers = np.zeros((5, count), np.float32)
    layers[0] = _weights(even, expected, known, tolerance)
    for channel in range(3):
        for i in range(count):
            own = shares[channel, i]
            more = to_linear(even[channel, i]) - own
            layers[1, i] += own * third
            layers[2, i] += more * third
            layers[3, i] += own * own * third
            layers[4, i] += own * more * third
    for i in range(count):
        weight = layers[0, i]
        layers[1, i] *= weight
        layers[2, i] *= weight
        layers[3, i] *= weight
        layers[4, i] *= weight
    return layers


@compiled
def _weights(even: Array, expected: tuple[Array, Array], known: Array, tolerance: float) -> Array:
    """(k,) float32 weights: how well blocks are known, and agree with ``expected``; arguments as of :func:`_layers`."""
    (shares, specular), weights = expected, np.zeros(len(known), np.float32)
    per = np.float32(-1 / tolerance**2)
    for channel in range(3):
        for i in range(len(known)):
            off = even[channel, i] - to_display(shares[channel, i] + specular[i])
            weights[i] = min(weights[i], off * off * per)
    exp_in_place(weights)
    for i in range(len(known)):
        weights[i] *= known[i]
    return weights


def _initial_specular(even: Array, blocks: BoardBlocks, known: Array) -> Array:
    """(k,) specular reflection from which the fits start: in each window none, or what most blocks agree is missing.

    A board that mirrored a lamp when it was learned is too pale in its appearance.  Started from none, the fits would
    take pieces for such ground and bare ground for covered, and not recover.  ``even`` and ``known`` are as of
    :func:`_layers`.
    """
    (rows, columns), shape = blocks.windows, blocks.points_mm.shape[:2]

    def agreeing(specular: Array) -> Array:
        weights = _weights(even, (blocks.own, specular), known, BEGIN_TOLERANCE)
        weights[-specular > MAX_MISSING * blocks.least] = 0
        return np.asarray(rows @ weights.reshape(shape) @ columns, np.float32).ravel()

    begun = np.zeros(len(known), np.float32)
    most = agreeing(begun) + np.float32(MIN_AGREEING_SHARE) * (rows @ known.reshape(shape) @ columns).ravel()
    palest = float(blocks.least.max(initial=0.0))
    for level in (level for level in MISSING if -level <= MAX_MISSING * palest):
        agree = agreeing(np.full(len(known), level, np.float32))
        begun[agree > most] = level
        most = np.maximum(agree, most)
    return begun


def _specular(layers: Array, blocks: BoardBlocks) -> Array:
    """(k,) specular reflection, white, averaged over a window.

    ``layers`` (5, k) are weights, and weighted means over channels: of the light that blocks show of their own, of
    the excess over that, of the squares of the former, and of the product of both.  Where less is shown, either a shade
    leaves a share of their own light, or white that was mirrored when they were learned is missing in all channels
    alike: both are fitted by least squares, whatever the light is taken for, the share from adjacent blocks and their
    channels.
    """
    grid = layers.reshape(5, *blocks.points_mm.shape[:2])
    (rows, columns), (next_rows, next_columns) = blocks.windows, blocks.next_to
    known, shares, total = rows @ grid[:3] @ columns
    known = known + np.float32(SPECULAR_KNOWN)
    there, own, more, own_squares, product = next_rows @ grid @ next_columns
    own_mean = own / np.maximum(there, np.float32(MIN_WEIGHT_SUM))
    scatter = np.stack([own_squares - own_mean * own, product - own_mean * more])
    variance, covariance = rows @ scatter @ columns
    slope = covariance / (variance + np.float32(EVEN_KNOWN))
    missing = (total - slope * shares) / known / np.maximum(1 + slope, np.float32(MIN_SHARE))
    specular = np.where(total > 0, total / known, np.minimum(missing, 0)).ravel()
    return np.asarray(np.maximum(specular, np.float32(-MAX_MISSING) * blocks.least), np.float32)
