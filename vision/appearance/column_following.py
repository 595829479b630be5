"""Let the learned colour of pillars follow what bare ones show during a match.

A lamp near the table lights pillars differently from the paper beside them, from which the light is measured, and a
set that was enrolled in other light does not know that.  Only pillars count that surely carry nothing and that nearly
all of the sky lights, and of these the median.  Their sides change by the same factor.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from calibration.appearance import ColumnAppearance
from calibration.kit import Kit
from vision.appearance.piece_colours import Photograph, floor_points
from vision.errors import VisionError
from vision.scene.terrain import floors_mm, sky_view_factors

MIN_SKY_VIEW_FACTOR = 0.95
"""Sky view factor above which an upper face counts.  Chosen by eye."""

MIN_PILLARS = 5
"""From fewer pillars nothing is learned: single ones are shaded by cubes.  Chosen by eye."""

STEP_FRACTION = 0.5
"""Fraction of the difference in log reflectance by which the colour moves at a time.  Chosen by eye."""

MIN_CHANGE = 0.03
"""Difference of log reflectance below which the colour stays: in ``diamond-1`` twelve measurements differ from what was
enrolled by 0.015 at most."""


def update_column_colour(
    known: ColumnAppearance, photograph: Photograph, kit: Kit, levels: tuple[int, ...], bare: Collection[str]
) -> ColumnAppearance:
    """``known``, moved towards what a photograph shows of the ``bare`` cells' pillars, which stand at ``levels``.

    ``known`` itself where the two are alike, or too few pillars are seen.
    """
    floors = floors_mm(kit, levels)
    shares = sky_view_factors(floors, min(kit.board.pitch_mm))
    numbers = [number for number, cell in enumerate(kit.cells) if cell in bare and shares[number] > MIN_SKY_VIEW_FACTOR]
    if len(numbers) < MIN_PILLARS:
        return known
    try:
        shown = np.median([photograph.reflectance(floor_points(kit, floors[number])) for number in numbers], axis=0)
    except VisionError:
        return known
    change = np.log(shown / np.array(known.top))
    if np.abs(change).max() < MIN_CHANGE:
        return known
    (r, g, b), (u, v, w) = (
        (np.array(part) * np.exp(STEP_FRACTION * change)).tolist() for part in (known.top, known.side)
    )
    return ColumnAppearance((r, g, b), (u, v, w))
