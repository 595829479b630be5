"""Which places on the board a lamp does not reach, or a camera does not see, for the stacks of discs in between.

A stack of discs is an upright cylinder.  The ray from a place on the board to a point meets it if it passes its axis,
up to where it is as high as the stack, at less than the radius.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Mask = npt.NDArray[np.bool_]
Points = npt.NDArray[np.float64]


@compiled
def hidden(places_mm: Points, stacks_mm: Points, radius_mm: float, sources_mm: Points) -> Mask:
    """(k, m) whether stacks (s, 3) are between places (k, 2) on the board and sources (m, 3), lamps or a camera.

    ``stacks_mm``: x and y of each one's axis, and its height.  Sources are higher than all stacks.
    """
    is_hidden = np.zeros((len(places_mm), len(sources_mm)), np.bool_)
    # Nothing farther from a stack than this is in its shadow.
    slope = 0.0
    farthest = np.sqrt((places_mm**2).sum(axis=1).max()) if len(places_mm) else 0.0
    for m in range(len(sources_mm)):
        aside = np.sqrt(sources_mm[m, 0] ** 2 + sources_mm[m, 1] ** 2) + farthest
        slope = max(slope, aside / sources_mm[m, 2])
    for j in range(len(stacks_mm)):
        stack_x, stack_y, height = stacks_mm[j]
        reach = radius_mm + slope * height
        for i in range(len(places_mm)):
            aside_x, aside_y = stack_x - places_mm[i, 0], stack_y - places_mm[i, 1]
            apart = aside_x * aside_x + aside_y * aside_y
            if apart < reach * reach:
                for m in range(len(sources_mm)):
                    to_x, to_y = sources_mm[m, 0] - places_mm[i, 0], sources_mm[m, 1] - places_mm[i, 1]
                    # The ray's share up to the stack's height, and within it that nearest to the axis.
                    most, along = height / sources_mm[m, 2], aside_x * to_x + aside_y * to_y
                    square = to_x * to_x + to_y * to_y
                    share = min(max(along / max(square, 1e-9), 0.0), most)
                    nearest = apart - 2 * share * along + share * share * square
                    is_hidden[i, m] |= nearest < radius_mm * radius_mm
    return is_hidden


@compiled
def open_share(is_hidden: Mask, power: Points) -> Points:
    """(k,) share of light that reaches places which are hidden from sources (k, m) of such ``power`` (m,)."""
    share = np.ones(len(is_hidden))
    for i in range(len(is_hidden)):
        for m in range(len(power)):
            share[i] -= power[m] if is_hidden[i, m] else 0.0
    return share
