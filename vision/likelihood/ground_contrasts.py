"""Contrasts of the ground itself: a table's texture, and the drawing on a board whose appearance was learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.bare_picture import PER_VALUE, BarePicture
from vision.appearance.tone_curve import OFFSET
from vision.compiled import allocation_free, compiled
from vision.likelihood.dissimilarity import FALSE_EDGE, Dissimilarity, dissimilarity_index
from vision.likelihood.noise import CHANNELS, opponent, opponent_differences
from vision.scene.materials import Materials

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int16]
Place = tuple[int, int]
Three = tuple[float, float, float]

DRAWN_WEIGHT, MAX_NATS = 0.5, 2.0
"""Weight of a drawing's contrasts relative to boundaries, where the same lines are often crossed, and upper bound of
the evidence of one pair of pixels for it, since the edge of a piece may lie along a drawn one.  52 boards with discs
(looked at) had 251 nats without any of it, 233 with these.  While further pieces cost nothing they had 230, 239 with
1 nat at most, 257 with 0.4, and 686 with no bound."""

DRAWN_CODES, DRAWN_NOISES = 4.0, 3.0
"""Difference, in codes and in standard deviations of what was learned, up to which two points of a board are even."""

DRAWN_CONTRAST_DEVIATION = 0.3
"""Standard deviation of a drawn contrast, as a share of it: the pose is half a pixel off, and blur differs."""

INVISIBLE_PROBABILITY = 0.15
"""Probability that a drawn contrast is invisible, as beneath a lamp's reflection."""

DARKEST, BRIGHTEST = 0.2, 1.4
"""Range of the light on a drawing, as a share of the usual one."""

MAX_EXPONENT = 500.0
"""Upper bound of the log-likelihood ratio before exponentiation."""

TABLE = int(Materials.TABLE)


class SeenGround(NamedTuple):
    """The ground in a picture (height, width).

    Attributes:
        labels: (height, width) int16, its materials.
        bare: appearance of the bare board there.
        gain: (3,) float32, display value relative to white paper that one code adds, b g r.
    """

    labels: Labels
    bare: BarePicture
    gain: Array


@compiled
def ground_sums(
    image: Picture,
    box: tuple[int, int, int, int],
    step: int,
    ground: SeenGround,
    dissimilarity: Dissimilarity,
    weight: float,
) -> tuple[Floats, Floats]:
    """Cumulative sums, as :attr:`.boundaries.Patch.across` and ``down``, of the evidence for contrasts of the ground.

    That is the log-likelihood ratio that both pixels show the ground, against both being on one even surface.

    Args:
        image: (height, width, 3) uint8 BGR.
        box: left, top, right, bottom, px.
        step: pixels between two pixels that are compared.
        ground: in this picture.
        dissimilarity: of this picture.
        weight: of one pair.
    """
    left, top, right, bottom = box
    height, width = bottom - top, right - left
    across, down = np.zeros((height, width + 1)), np.zeros((height, width + 1))
    if len(ground.bare.levels) > 0 or (ground.labels[top:bottom, left:right] == TABLE).any():
        _sum(across, image, (left, top), (step, 0), ground, dissimilarity, weight)
        _sum(down, image, (left, top), (0, step), ground, dissimilarity, weight)
    return across, down


@allocation_free
def _sum(
    sums: Floats,
    image: Picture,
    origin: Place,
    way: Place,
    ground: SeenGround,
    dissimilarity: Dissimilarity,
    weight: float,
) -> None:
    """Fill in ``sums`` (height, width + 1) of a patch of an ``image``, which begins at ``origin``, x and y.

    ``way``: pixels from one place to the other, to the right and down.  One loop over all pixels, since a function call
    per pixel would pass all arrays anew.
    """
    (left, top), (right, below), (height, columns) = origin, way, sums.shape
    # Horizontal pairs are sampled in every second row, vertical pairs in every second column.
    row_step, column_step = (2, 1) if right > 0 else (1, 2)
    labels, levels, known, even = ground.labels, ground.bare.levels, ground.bare.known, _even_levels(ground)
    is_learned = len(levels) > 0
    for line in range((height - below + row_step - 1) // row_step):
        row, total = line * row_step, 0.0
        y, v = top + row, top + row + below
        for number in range((columns - 1 - right + column_step - 1) // column_step):
            column = number * column_step
            x, u = left + column, left + column + right
            if labels[y, x] == TABLE:
                total += (
                    weight * dissimilarity.on_table[dissimilarity_index(image, (y, x), (v, u), dissimilarity.slopes)]
                )
            elif is_learned and known[y, x] and known[v, u]:
                blue = float(levels[y, x, 0]) - levels[v, u, 0]
                green = float(levels[y, x, 1]) - levels[v, u, 1]
                red = float(levels[y, x, 2]) - levels[v, u, 2]
                if abs(blue) >= even[0] or abs(green) >= even[1] or abs(red) >= even[2]:
                    drawn = _drawn_log_ratio(image, ((y, x), (v, u)), ground, (blue, green, red), dissimilarity)
                    total += weight * DRAWN_WEIGHT * drawn
            for passed in range(column + 1, min(column + 1 + column_step, columns)):
                sums[row, passed] = total


@allocation_free
def _even_levels(ground: SeenGround) -> tuple[float, float, float]:
    """Differences of levels, b g r, below which two points of a board are even."""
    gain, noise = ground.gain, ground.bare.noise
    blue = max(DRAWN_CODES * PER_VALUE * gain[0], DRAWN_NOISES * noise[0])
    green = max(DRAWN_CODES * PER_VALUE * gain[1], DRAWN_NOISES * noise[1])
    red = max(DRAWN_CODES * PER_VALUE * gain[2], DRAWN_NOISES * noise[2])
    return blue, green, red


@allocation_free
def _drawn_log_ratio(
    image: Picture, pair: tuple[Place, Place], ground: SeenGround, apart: Three, dissimilarity: Dissimilarity
) -> float:
    """Log-likelihood ratio of a ``pair`` of pixels on a board, whose levels there differ by ``apart``, b g r."""
    (one, other), gain, levels, noise = pair, ground.gain, ground.bare.levels, ground.bare.noise
    shown, known = 0.0, 0.0
    for channel in range(CHANNELS):
        offset = 2 * OFFSET / gain[channel]
        shown += float(image[one[0], one[1], channel]) + image[other[0], other[1], channel] + offset
        both = float(levels[one[0], one[1], channel]) + levels[other[0], other[1], channel]
        known += both / (PER_VALUE * gain[channel]) + offset
    lit = min(max(shown / known, DARKEST), BRIGHTEST) / PER_VALUE
    band, entry = dissimilarity_index(image, one, other, dissimilarity.slopes)
    return _mixed(
        opponent_differences(image, one, other),
        opponent(lit * apart[0] / gain[0], lit * apart[1] / gain[1], lit * apart[2] / gain[2]),
        _variances(lit * noise[0] / gain[0], lit * noise[1] / gain[1], lit * noise[2] / gain[2]),
        dissimilarity.narrow[band],
        dissimilarity.ratios[band, entry],
    )


@allocation_free
def _variances(blue: float, green: float, red: float) -> tuple[float, float, float]:
    """Variances of :func:`.noise.opponent`, given the standard deviations of the three channels."""
    return (
        (blue * blue + green * green + red * red) / 9,
        (blue * blue + red * red) / 4,
        green * green / 4 + (blue * blue + red * red) / 16,
    )


@allocation_free
def _mixed(
    shown: Three,
    drawn: Three,
    unsure: Three,
    narrow: Array,
    ratio: float,
) -> float:
    """Log-likelihood ratio that the contrast ``shown`` between two pixels is ``drawn`` on the board, or washed out.

    Against both being on one even surface.

    Args:
        shown: difference of two pixels, codes: of brightness, and two of colour.
        drawn: that of the board there.
        unsure: variances of the learned one.
        narrow: (3,) variances on one even surface.
        ratio: of the densities where two surfaces meet, and on one even surface.
    """
    squares, volume = 0.0, 1.0
    for channel in range(CHANNELS):
        variance = narrow[channel] + (DRAWN_CONTRAST_DEVIATION * drawn[channel]) ** 2 + unsure[channel]
        squares += (shown[channel] - drawn[channel]) ** 2 / variance - shown[channel] ** 2 / narrow[channel]
        volume *= narrow[channel] / variance
    as_drawn = np.sqrt(volume) * np.exp(min(-0.5 * squares, MAX_EXPONENT))
    board = (1 - FALSE_EDGE - INVISIBLE_PROBABILITY) * as_drawn + INVISIBLE_PROBABILITY + FALSE_EDGE * ratio
    return min(float(np.log(board / (1 - FALSE_EDGE + FALSE_EDGE * ratio))), MAX_NATS)
