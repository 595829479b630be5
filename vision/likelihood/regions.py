"""Likelihood of a part of a picture, segmented into evenly lit faces before open ground.

Each face has one colour, which some material of the colour model must be able to show, and its pixels scatter about it;
some are outliers, so that a slightly misplaced edge does not decide alone.  The ground may lie in shade.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import BINS, OUTLIER_SHARE, TOP_VALUE
from vision.compiled import compiled
from vision.likelihood.boundaries import Contrasts
from vision.likelihood.crop_faces import FACE_DEVIATION
from vision.scene.materials import Materials

Array = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int32]

REGIONS = 5
"""Faces of a pillar or a piece: four sides, then the upper one, number ``UPPER``."""

UPPER = REGIONS - 1

GROUNDS = (Materials.FLOOR, Materials.TABLE)
"""Materials of the labels below ``FIRST``, which are open ground; from there on, each label is a face."""

FIRST = len(GROUNDS)

BLUR_PX = 2
"""Distance from the edge of the mat within which a face's boundary cannot be told from that edge.  A pillar two levels
too high, whose upper face ended just inside the mat's edge, gained 10 nats."""

EVEN_LOG = float(-1.5 * np.log(2 * np.pi * FACE_DEVIATION**2))
"""Log density (per display value³) of a pixel that has exactly its face's colour."""

BIN_LOG = float(3 * np.log(BINS / TOP_VALUE))
"""Log density (per display value³) of a pixel to whose bin the colour model gives the likelihood 1."""

MAX_OFF = float(2 * FACE_DEVIATION**2 * (EVEN_LOG - np.log(OUTLIER_SHARE / TOP_VALUE**3)))
"""Squared distance (display values²) from its face's colour beyond which a pixel is more likely an outlier."""

UNKNOWN_COLOUR_PROBABILITY = 1e-6
"""Probability that a whole face has a colour that no material shows: rarer than single outliers.  Chosen by eye."""

ROUNDS = 2
"""Rounds of estimating a face's colour: the mean of its pixels, then the mean without outliers.  Chosen by eye."""


class Colours(NamedTuple):
    """Log-likelihoods of the colours of whole surfaces, in rows of the colour model.

    Attributes:
        colour_model: (BINS³, materials) float32 of faces.
        ground: (BINS³, 2) float32 of the mat and what lies around it, blurred as unevenly as faces are lit.
        first: (2, REGIONS) intp first column of each face in ``colour_model``: of a pillar, and of a piece.
        choice: (2,) intp how many columns from there on, one for each colour that the body may have.
    """

    colour_model: Array
    ground: Array
    first: npt.NDArray[np.intp]
    choice: npt.NDArray[np.intp]


class Part(NamedTuple):
    """A part of a picture.

    Attributes:
        values: (height, width, 3) float32 display values r g b relative to white paper in the same light.
        bins: (height, width) int32 rows of the colour model.
        hidden: (height, width) bool, occluded pixels, which do not count.
        weight: independent observations per pixel.
    """

    values: Array
    bins: npt.NDArray[np.int32]
    hidden: npt.NDArray[np.bool_]
    weight: float


def make_colours(colour_model: Array, colours: int) -> Colours:
    """The colours of pillars, and of pieces in so many ``colours``, from a colour model (BINS³, materials) float32."""
    materials = Materials(colours)
    pillar = [materials.column_side] * UPPER + [materials.column_tops]
    piece = [materials.sides] * UPPER + [materials.TOPS]
    apart = np.subtract.outer(np.arange(BINS), np.arange(BINS)) * (TOP_VALUE / BINS)
    spread = np.exp(-(apart**2) / (2 * FACE_DEVIATION**2))
    spread /= spread.sum(axis=0)
    likelihood = np.exp(colour_model[:, list(GROUNDS)]).reshape(BINS, BINS, BINS, FIRST)
    uneven = np.einsum("ai,bj,ck,ijkm->abcm", spread, spread, spread, likelihood, optimize=True)
    ground = np.log(uneven).reshape(-1, FIRST).astype(np.float32)
    known = np.maximum(np.exp(colour_model) - OUTLIER_SHARE / BINS**3, 0) + UNKNOWN_COLOUR_PROBABILITY / BINS**3
    return Colours(np.log(known), ground, np.array([pillar, piece], np.intp), np.array([1, colours], np.intp))


@compiled
def score_faces(labels: Labels, part: Part, colours: Colours, storeys: int, bodies: int) -> float:
    """Log-likelihood of a part of a picture, given its segmentation.

    Args:
        labels: (height, width) int32, a ground of :data:`GROUNDS`, or from FIRST on a face, REGIONS for each body.
        part: of the picture.
        colours: of surfaces.
        storeys: bodies per pillar: the first of each such group is the pillar, the others are pieces on it.
        bodies: total number of bodies.
    """
    area, means = _means(labels, part, bodies * REGIONS)
    total, off = _deviations(labels, part, colours.ground, means)
    for body in range(bodies):
        total += _colour_log_likelihood(means, area, body, int(body % storeys > 0), colours)
    for region in range(len(area)):
        if area[region] > 0:
            # The fitted colour uses up one observation (Laplace's method).
            observed = area[region]
            evidence = (observed - min(observed, 1.0)) * EVEN_LOG - 1.5 * np.log(max(observed, 1.0))
            total += evidence - off[region] / (2 * FACE_DEVIATION**2)
    return float(total)


@compiled
def score_boundaries(labels: Labels, hidden: npt.NDArray[np.bool_], contrasts: Contrasts) -> float:
    """Log-likelihood ratio of the boundaries of a segmentation, see :func:`score_faces`, against none.

    ``hidden`` (height, width) are occluded pixels, which do not count.  The edge between the two grounds and a face's
    boundary beside it, in a row or a column, are one: the clearer of the two.
    """
    step = contrasts.step
    across = hidden[:, :-step] | hidden[:, step:]
    # Transposed, vertical pairs become horizontal ones.
    down = (hidden[:-step] | hidden[step:]).T
    return _boundaries_across(labels[:, :-step], labels[:, step:], across, contrasts.across) + _boundaries_across(
        labels[:-step].T, labels[step:].T, down, contrasts.down.T
    )


@compiled
def _boundaries_across(left: Labels, right: Labels, hidden: npt.NDArray[np.bool_], contrasts: Array) -> float:
    """As :func:`score_boundaries`, for horizontal pairs with labels ``left`` and ``right``, each (height, width).

    ``hidden``: pairs of which a pixel is occluded; ``contrasts``: of each pair, at its left pixel.
    """
    total = 0.0
    for row in range(left.shape[0]):
        last, at, was_open = 0.0, -BLUR_PX - 1, False
        for column in range(left.shape[1]):
            if hidden[row, column] or left[row, column] == right[row, column]:
                continue
            contrast, is_open = contrasts[row, column], max(left[row, column], right[row, column]) < FIRST
            if is_open != was_open and column <= at + BLUR_PX:
                total -= last
                contrast = max(contrast, last)
            total += contrast
            last, at, was_open = contrast, column, is_open
    return total


@compiled
def _means(labels: Labels, part: Part, regions: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(regions,) float64 number of independent observations, and (regions, 3) float64 mean display values."""
    area, means = np.zeros(regions), np.zeros((regions, 3))
    for turn in range(ROUNDS):
        integrals = np.zeros((regions, 4))
        for row in range(labels.shape[0]):
            for column in range(labels.shape[1]):
                region = labels[row, column] - FIRST
                if region < 0 or part.hidden[row, column]:
                    continue
                value = part.values[row, column]
                if turn == 0:
                    area[region] += part.weight
                elif _distance2(value, means[region]) > MAX_OFF:
                    continue
                integrals[region, 0] += 1
                for channel in range(3):
                    integrals[region, 1 + channel] += value[channel]
        for region in range(regions):
            if integrals[region, 0] > 0:
                means[region] = integrals[region, 1:] / integrals[region, 0]
    return area, means


@compiled
def _deviations(
    labels: Labels, part: Part, ground: Array, means: npt.NDArray[np.float64]
) -> tuple[float, npt.NDArray[np.float64]]:
    """Log-likelihood of the ground's pixels; (regions,) float64 weighted sums of truncated squared deviations."""
    total, off = 0.0, np.zeros(len(means))
    for row in range(labels.shape[0]):
        for column in range(labels.shape[1]):
            if part.hidden[row, column]:
                continue
            label = labels[row, column]
            if label < FIRST:
                total += part.weight * (ground[part.bins[row, column], label] + BIN_LOG)
            else:
                distance2 = _distance2(part.values[row, column], means[label - FIRST])
                off[label - FIRST] += part.weight * min(distance2, MAX_OFF)
    return total, off


@compiled
def _colour_log_likelihood(
    means: npt.NDArray[np.float64], area: npt.NDArray[np.float64], body: int, kind: int, colours: Colours
) -> float:
    """Log-likelihood of the colours of a body's faces: all of one paint, with a uniform prior over paints.

    ``means`` and ``area`` from :func:`_means`; ``kind``: 0 for a pillar, 1 for a piece.
    """
    likely = np.zeros(colours.choice[kind])
    for side in range(REGIONS):
        region = body * REGIONS + side
        if area[region] > 0:
            row, once = 0, min(area[region], 1.0)
            for channel in range(3):
                row = row * BINS + min(int(means[region, channel] * (BINS / TOP_VALUE)), BINS - 1)
            for colour in range(len(likely)):
                likely[colour] += once * (colours.colour_model[row, colours.first[kind, side] + colour] + BIN_LOG)
    best = likely.max()
    return float(best + np.log(np.exp(likely - best).mean()))


@compiled
def _distance2(value: Array, mean: npt.NDArray[np.float64]) -> float:
    return float((value[0] - mean[0]) ** 2 + (value[1] - mean[1]) ** 2 + (value[2] - mean[2]) ** 2)
