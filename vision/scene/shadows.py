"""Points on the board that a lamp does not reach, or a camera does not see, because of the stacks of discs in between.

A stack of discs is an upright cylinder.  The ray from a point on the board to a source meets it if, below the stack's
height, it passes the axis at less than the radius.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled

Mask = npt.NDArray[np.bool_]
Points = npt.NDArray[np.float64]


@compiled
def occluded(places_mm: Points, stacks_mm: Points, radius_mm: float, sources_mm: Points) -> Mask:
    """(k, m) whether stacks (s, 3) are between points (k, 2) on the board and sources (m, 3), lamps or a camera.

    ``stacks_mm``: x and y of each one's axis, and its height.  Sources are higher than all stacks.
    """
    is_hidden = np.zeros((len(places_mm), len(sources_mm)), np.bool_)
    x_mm, y_mm, z_mm = sources_mm[:, 0].copy(), sources_mm[:, 1].copy(), sources_mm[:, 2].copy()
    # Nothing farther from a stack than this is in its shadow.
    farthest = np.sqrt((places_mm**2).sum(axis=1).max()) if len(places_mm) else 0.0
    slope = ((np.hypot(x_mm, y_mm) + farthest) / z_mm).max() if len(sources_mm) else 0.0
    tops = np.empty(len(sources_mm))
    for stack in range(len(stacks_mm)):
        for source in range(len(tops)):
            tops[source] = stacks_mm[stack, 2] / z_mm[source]
        reach_mm = radius_mm + slope * stacks_mm[stack, 2]
        _add_stack(is_hidden, places_mm, stacks_mm[stack], (radius_mm, reach_mm), (x_mm, y_mm, tops))
    return is_hidden


@allocation_free
def _add_stack(
    is_hidden: Mask,
    places_mm: Points,
    stack_mm: Points,
    reach_mm: tuple[float, float],
    sources: tuple[Points, Points, Points],
) -> None:
    """Add to ``is_hidden`` (k, m) what one stack (3,) hides; of :func:`occluded`.

    ``reach_mm``: its radius, and the farthest from its axis that it hides anything; ``sources``: see
    :func:`_add_hidden`.
    """
    radius_mm, farthest_mm = reach_mm
    for i in range(len(places_mm)):
        aside_x, aside_y = stack_mm[0] - places_mm[i, 0], stack_mm[1] - places_mm[i, 1]
        beyond = aside_x * aside_x + aside_y * aside_y - radius_mm * radius_mm
        if beyond < 0:
            is_hidden[i] = True
        elif beyond < farthest_mm * farthest_mm:
            place = (places_mm[i, 0], places_mm[i, 1], beyond)
            _add_hidden(is_hidden[i], place, (aside_x, aside_y), sources)


@allocation_free
def _add_hidden(
    is_hidden: Mask,
    place: tuple[float, float, float],
    aside: tuple[float, float],
    sources: tuple[Points, Points, Points],
) -> None:
    """Add to ``is_hidden`` (m,) from which sources a stack hides a point outside its foot.

    Without a branch, so that several sources are processed at once (SIMD).

    Args:
        is_hidden: is changed.
        place: its x and y, mm, and the square of its distance from the axis less that of the radius.
        aside: from it to the axis, mm.
        sources: their x and y, mm, and the share (m,) of each ray that is no higher than the stack.
    """
    (place_x, place_y, beyond), (aside_x, aside_y), (x_mm, y_mm, tops) = place, aside, sources
    for m in range(len(tops)):
        to_x, to_y = x_mm[m] - place_x, y_mm[m] - place_y
        along, square = aside_x * to_x + aside_y * to_y, to_x * to_x + to_y * to_y
        ends_within = tops[m] * (tops[m] * square - 2 * along) < -beyond
        passes_within = (along * along > beyond * square) & (along <= tops[m] * square)
        is_hidden[m] |= (along > 0) & (ends_within | passes_within)


@compiled
def unoccluded_share(is_hidden: Mask, power: Points) -> Points:
    """(k,) share of light that reaches points occluded from sources as in ``is_hidden`` (k, m), of ``power`` (m,)."""
    share = np.ones(len(is_hidden))
    for i in range(len(is_hidden)):
        for m in range(len(power)):
            share[i] -= power[m] if is_hidden[i, m] else 0.0
    return share
