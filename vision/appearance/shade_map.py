"""The map of a hard shadow on a board: how far each block is in the shade, and how deep that is.

Bare blocks tell it themselves.  Where pieces cover them the shadow's edge does: a straight one wherever it is straight
beside the squares, else the side on which most bare blocks nearby are.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.pose.projection import Points

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

LEVEL_LOG = 0.2
"""Largest difference of the log light that a bare block shows from its level, in the mean of all channels."""

EDGE, MIN_SHARPNESS = (2, 6), 0.75
"""Distances from a shadow's edge, in blocks, between which the light on either side is measured, and the least
difference between them, as a share of that between the levels: light that changes slowly has less."""

BRIGHT = 75.0
"""Percentile of the blocks there that shows the light: stacks shade others, as well.  Chosen by eye."""

MEDIAN = 15
"""Blocks in the window of the median by which the map of the shadow is smoothed: it keeps edges and penumbras, and
leaves out pieces that happen to be darker than the ground by as much as its shade."""

SMOOTH = 5.0
"""Standard deviation in blocks of the window by which is decided whether covered blocks are shaded."""

MAX_MORE_ASTRAY = 0.03
"""Largest share of the blocks beside the squares, where no pieces lie, by which more may be on the wrong side of a
straight edge than of one of any form: the shadow of a window's frame has a straight edge, that of a person mostly not.
"""

LINE_STEPS, RIDGE = 12, 1e-3
"""Newton's steps, and the ridge, of the logistic regression that finds such an edge."""

FAR_ASTRAY, ROUNDS = 4.0, 3
"""Distance, in blocks, by which a block on the wrong side of it is covered or shaded otherwise, and left out when it is
found again; and how often it is found."""

PROFILE = np.arange(-5.0, 6.0)
"""Distances from it, in blocks, at which the share of the shade is measured: beyond lies no penumbra."""


class Levels(NamedTuple):
    """Blocks (k) on two levels of light.

    Attributes:
        above: (3, k) float32 log light r g b relative to that of the lit part.
        share: (k,) float32, how far each is in the shade: about 0 in the light, and 1 where it is wholly shaded.
        is_lit: (k,) whether each is bare and on the upper level…
        is_shaded: (k,) …or on the lower one.
        is_bare: (k,) whether each has the ground's hue in its part of the shade.
        step: mean log light between the levels.
    """

    above: Array
    share: Array
    is_lit: Mask
    is_shaded: Mask
    is_bare: Mask
    step: float


def shade_map(levels: Levels, is_square: Mask) -> tuple[Picture, Array] | None:
    """(rows, columns) uint8, how far each block is in the shade, 255: wholly; and (3,) its depth in log light, r g b.

    None where the light changes too slowly from one level to the other.  ``is_square`` (rows, columns).
    """
    shape = is_square.shape
    lit, shaded, share = levels.is_lit.reshape(shape), levels.is_shaded.reshape(shape), levels.share.reshape(shape)
    is_bare, above = levels.is_bare.reshape(shape), levels.above.reshape(3, *shape)
    beyond = np.float32(LEVEL_LOG / levels.step)
    is_known = is_bare & (share > -beyond) & (share < 1 + beyond)
    # Covered blocks are on the side of most bare ones nearby, or of a straight edge.
    sides = _smooth(shaded.astype(np.float32) - lit) > 0
    inwards = _from_straight_edge(lit, shaded)
    beside = lit & ~is_square, shaded & ~is_square
    if _astray(inwards > 0, *beside) <= _astray(sides, *beside) + MAX_MORE_ASTRAY:
        sides, smooth = inwards > 0, _across_edge(inwards, share, is_known)
    else:
        smooth = _median(np.where(is_known, np.clip(share, 0, 1), sides)).astype(np.float64)
    depth = _beside_edge(above, is_bare, ~sides) - _beside_edge(above, is_bare, sides)
    if not depth.mean() > MIN_SHARPNESS * levels.step:
        return None
    return np.rint(255 * smooth).astype(np.uint8), depth


def _from_straight_edge(lit: Mask, shaded: Mask) -> Points:
    """(rows, columns) distance in blocks into the shade from the straight edge that divides it best from the light.

    By logistic regression of the side on the place.
    """
    y, x = np.indices(lit.shape)
    places = np.stack([np.ones_like(x), x - x.mean(), y - y.mean()], axis=-1).astype(np.float64)
    is_used, inwards = lit | shaded, np.zeros(lit.shape)
    for _ in range(ROUNDS):
        line = _dividing_line(places[is_used], shaded[is_used])
        inwards = places @ (line / np.hypot(*line[1:]))
        is_used = (lit & (inwards < FAR_ASTRAY)) | (shaded & (inwards > -FAR_ASTRAY))
    return inwards


def _dividing_line(places: Points, is_beyond: Mask) -> Points:
    """(3,) coefficients of ``places`` (k, 3) whose sum is positive where they are most likely beyond a line."""
    line = np.zeros(3)
    for _ in range(LINE_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(places @ line, -30, 30)))
        weighted = places * (likely * (1 - likely))[:, None]
        line += np.linalg.solve(weighted.T @ places + RIDGE * np.eye(3), places.T @ (is_beyond - likely) - RIDGE * line)
    return line


def _astray(sides: Mask, lit: Mask, shaded: Mask) -> float:
    """Share of the blocks, (rows, columns), that are on the wrong one of two ``sides``, True being the shade."""
    return float(((sides & lit) | (~sides & shaded)).sum() / (lit | shaded).sum())


def _across_edge(inwards: Points, share: Array, is_known: Mask) -> Points:
    """(rows, columns) share of the shade by the distance ``inwards`` from a straight edge: medians of known blocks."""
    near = (share[is_known & (np.abs(inwards - at) < 1)] for at in PROFILE)
    profile = np.clip([float(np.median(shown)) if len(shown) else 0.0 for shown in near], 0, 1)
    return np.interp(inwards, PROFILE, np.maximum.accumulate(profile), 0.0, 1.0)


def _smooth(values: Array) -> Array:
    """(rows, columns) weighted means of ``values`` in a window of :data:`SMOOTH`."""
    return np.asarray(cv2.GaussianBlur(values, (0, 0), SMOOTH, borderType=cv2.BORDER_REPLICATE), np.float32)


def _median(share: Array) -> Array:
    """(rows, columns) median in a window of :data:`MEDIAN` of a ``share`` 0…1."""
    bordered = cv2.copyMakeBorder(np.rint(255 * share).astype(np.uint8), *(MEDIAN,) * 4, cv2.BORDER_REPLICATE)
    return cv2.medianBlur(bordered, MEDIAN)[MEDIAN:-MEDIAN, MEDIAN:-MEDIAN] / np.float32(255)


def _beside_edge(above: Array, is_bare: Mask, side: Mask) -> Array:
    """(3,) log light, :data:`BRIGHT`, of the bare blocks on a ``side`` that are near its edge; nan if there are none.

    ``above`` (3, rows, columns), the others (rows, columns).
    """
    inwards = cv2.distanceTransform(side.astype(np.uint8), cv2.DIST_L2, 3)
    near = is_bare & (inwards >= EDGE[0]) & (inwards <= EDGE[1])
    return (
        np.percentile(above[:, near], BRIGHT, axis=1).astype(np.float32)
        if near.any()
        else np.full(3, np.nan, np.float32)
    )
