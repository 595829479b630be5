"""How blunt the tips of pyramids are.

The lateral faces of a moulded pyramid would meet above its tip.  Up to the tip the picture differs from what is beside
it the more, summed across the pyramid, the farther from that point: a ramp that begins with a step where the tip is.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.pose.projection import Points

Picture = npt.NDArray[np.float32]

STEP_PX = 0.5
"""Between samples, each way."""

SHARPNESS_PX = 1.2
"""Standard deviation of the blur of a sharp picture with the step between samples."""

ABOVE_PX = 5.0
"""How far above the point where lateral faces meet the picture is looked at."""

BEYOND_PX, ASIDE_PX = 2.0, 6.0
"""The picture beside a pyramid is taken so far from its outline: beyond its blur, up to here."""

SUMMED_PX = 3.0
"""Across a pyramid differences are summed up to so far beyond its outline."""

LOWEST, HIGHEST = 0.5, 0.3
"""As shares of the way from the point to the base: down to here the ramp is looked at; no tip is lower than this."""


def tip_share(image: Picture, corners_px: Points, base_px: Points) -> float:
    """How far below the point where its faces meet a pyramid ends, as a share of its height up to that point.

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
    """(s,) how much the picture differs from what is beside the pyramid, summed across it, at each place ``down`` (s,).

    ``frame``: the point, the axis and the way across it, px; ``outline`` (s, 2) px left and right of the axis.
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
