"""Let the learned colour of pillars follow what bare ones show during a match.

A lamp near the table lights pillars otherwise than the paper beside them, by which the light is measured, and a set
that was enrolled in another light does not know that.  Only pillars count on which surely nothing stands and that
nearly all of the sky lights, and of these the median.  Their sides change by the same share.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from calibration.appearance import ColumnAppearance
from calibration.kit import Kit
from vision.appearance.piece_colours import Photograph, floor_points
from vision.errors import VisionError
from vision.scene.terrain import floors_mm, sky_view_factors

LEAST_SKY_VIEW_FACTOR = 0.95
"""Share of the sky that must light an upper face that counts.  Chosen by eye."""

LEAST_PILLARS = 5
"""Of fewer pillars nothing is learned: single ones are shaded by cubes.  Chosen by eye."""

PART = 0.5
"""Part of the way, in log reflectance, that the colour goes at a time.  Chosen by eye."""

LEAST_CHANGE = 0.03
"""Difference of log reflectance up to which the colour stays: in ``diamond-1`` twelve measurements differ from what was
enrolled by 0.015 at most."""


def follow_column(
    known: ColumnAppearance, photograph: Photograph, kit: Kit, levels: tuple[int, ...], bare: Collection[str]
) -> ColumnAppearance:
    """What is ``known``, nearer to what a photograph shows of pillars at ``levels``, of those cells that are ``bare``.

    ``known`` itself where they are alike, or too few are seen.
    """
    floors = floors_mm(kit, levels)
    shares = sky_view_factors(floors, min(kit.board.pitch_mm))
    numbers = [
        number for number, cell in enumerate(kit.cells) if cell in bare and shares[number] > LEAST_SKY_VIEW_FACTOR
    ]
    if len(numbers) < LEAST_PILLARS:
        return known
    try:
        shown = np.median([photograph.reflectance(floor_points(kit, floors[number])) for number in numbers], axis=0)
    except VisionError:
        return known
    change = np.log(shown / np.array(known.top))
    if np.abs(change).max() < LEAST_CHANGE:
        return known
    (r, g, b), (u, v, w) = ((np.array(part) * np.exp(PART * change)).tolist() for part in (known.top, known.side))
    return ColumnAppearance((r, g, b), (u, v, w))
