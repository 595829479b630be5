"""How blunt the tips of pyramids are.

The lateral faces of a moulded pyramid would meet above its tip.  The pyramid's contrast with its surroundings, summed
across it, grows with the distance from that point: a ramp that begins with a step where the tip is.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.pose.projection import Points

Picture = npt.NDArray[np.float32]

STEP_PX = 0.5
"""Distance between samples, along each axis."""

SHARPNESS_PX = 1.2
"""Standard deviation of the blur of a sharp picture, including that of the sampling step."""

ABOVE_PX = 5.0
"""How far above the point where lateral faces meet the picture is sampled."""

BEYOND_PX, ASIDE_PX = 2.0, 6.0
"""Range of distances from a pyramid's outline in which its surroundings are sampled: beyond its blur, up to here."""

SUMMED_PX = 3.0
"""How far beyond a pyramid's outline differences are summed across it."""

LOWEST, HIGHEST = 0.5, 0.3
"""As shares of the way from the point to the base: down to where the ramp is sampled; lower than which no tip is."""


def tip_share(image: Picture, corners_px: Points, base_px: Points) -> float:
    """How far a pyramid's tip is below the point where its faces meet, as a share of its height up to that point.

    Args:
        image: (height, width, 3) float32 BGR.
        corners_px: (5, 2), the base's corners and the point.
        base_px: (2,), the middle of the base.
    """
    point, axis = corners_px[4], base_px - corners_px[4]
    length = float(np.linalg.norm(axis))
    axis = axis / length
    across = np.array([-axis[1], axis[0]])
    down = np.arange(-ABOVE_PX, LOWEST * length, STEP_PX)
    relative = corners_px[:4] - point
    below = relative @ axis
    slopes = (relative @ across / np.maximum(below, 1.0))[below > length * LOWEST]
    if not len(slopes):
        return 0.0
    outline = np.maximum(down, 0)[:, None] * np.array([min(slopes.min(), 0), max(slopes.max(), 0)])
    return _step(down, _contrast(image, (point, axis, across), down, outline), length) / length


def _contrast(image: Picture, frame: tuple[Points, Points, Points], down: Points, outline: Points) -> Points:
    """(s,) contrast of the pyramid with its surroundings, summed across it, at each place ``down`` (s,).

    ``frame``: the point, the axis and the direction across it, px; ``outline`` (s, 2) px left and right of the axis.
    """
    point, axis, across = frame
    reach = float(np.abs(outline).max()) + ASIDE_PX
    aside = np.arange(-reach, reach + STEP_PX, STEP_PX)
    places = (point + down[:, None, None] * axis + aside[None, :, None] * across).astype(np.float32)
    shown = cv2.remap(image, places[..., 0], places[..., 1], cv2.INTER_LINEAR)
    left, right = outline[:, :1], outline[:, 1:]
    beside = [
        np.nanmedian(np.where(near[..., None], shown, np.nan), axis=1)
        for near in (
            (aside < left - BEYOND_PX) & (aside > left - ASIDE_PX),
            (aside > right + BEYOND_PX) & (aside < right + ASIDE_PX),
        )
    ]
    share = np.clip((aside - left) / np.maximum(right - left, STEP_PX), 0, 1)[..., None]
    differs = shown - beside[0][:, None] * (1 - share) - beside[1][:, None] * share
    differs *= ((aside > left - SUMMED_PX) & (aside < right + SUMMED_PX))[..., None]
    sums = differs.sum(axis=1) * STEP_PX
    usual = sums[len(sums) // 2 :].sum(axis=0)
    contrast: Points = sums @ (usual / max(float(np.linalg.norm(usual)), 1e-9))
    return contrast


def _step(down: Points, contrast: Points, length: float) -> float:
    """Where the ramp ``contrast`` (s,) begins, px below the point: least squares."""
    fine = np.arange(-2 * ABOVE_PX, length, STEP_PX / 5)
    kernel = np.exp(-0.5 * (np.arange(-4 * SHARPNESS_PX, 4 * SHARPNESS_PX, STEP_PX / 5) / SHARPNESS_PX) ** 2)
    best, at = np.inf, 0.0
    for begins in np.arange(0, HIGHEST * length, STEP_PX / 2):
        ramp = np.convolve(np.maximum(fine, 0) * (fine >= begins), kernel / kernel.sum(), "same")
        model = np.interp(down, fine, ramp)
        left = contrast - model * (model @ contrast) / (model @ model)
        if (off := float(left @ left)) < best:
            best, at = off, float(begins)
    return at
