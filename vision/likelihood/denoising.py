"""A noisy picture of pale pieces, smoothed until it has no more noise than the colour model grants.

Each pixel speaks of a colour for itself, so that noise makes pale pieces and the ground alike, although the mean of a
face differs from it plainly.  Where pixels can be told apart edges are worth more than smooth colours: of discs in dim
light, smoothed, the shade at the foot was taken for a further one.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.shading import SENSOR_NOISE
from vision.likelihood.noise import noise_of
from vision.pose.projection import Points

Picture = npt.NDArray[np.uint8]

STEP_PX = 3
"""Distance between two pixels whose difference tells noise: lens and compression correlate nearer ones."""

COLOUR_SHARE = 0.76
"""Share of the variances of both differences of colour in that of a channel, as channels' noise is independent: those
of brightness, b − r and g − (b + r) / 2, halved, have 1/3, 1/2 and 3/8 of it."""

TOLD_APART = 3.0
"""Standard deviations of noise by which colours differ that a pixel alone tells apart."""

LEAST_PX = 0.4
"""Standard deviation of a kernel under which it changes nothing: its neighbours have weights below 0.05."""


def without_noise(image: Picture, outline_px: Points, gain: float, contrast: float) -> Picture:
    """A picture (height, width, 3) uint8 BGR, blurred as far as noise hides a contrast in it; itself where it does not.

    ``outline_px`` (4, 2): the mat's, within which noise is measured; ``gain``: display value relative to white paper
    that one code adds; ``contrast``: a channel's mean difference, of such values, between the colours that are to be
    told apart, infinite where nothing may be blurred.  A Gaussian kernel of standard deviation σ px leaves 1 / (4 π σ²)
    of the variance of white noise.
    """
    if math.isinf(contrast):
        return image
    brightness, *colours = noise_of(image, STEP_PX, outline_px) / 2
    noise = gain * math.sqrt(brightness + COLOUR_SHARE * sum(colours))
    blur_px = noise / SENSOR_NOISE / math.sqrt(4 * math.pi)
    if contrast > TOLD_APART * noise or blur_px < LEAST_PX:
        return image
    return np.asarray(cv2.GaussianBlur(image, (0, 0), blur_px), np.uint8)
