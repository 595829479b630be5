"""Denoising: a noisy picture of pale pieces is smoothed until it has no more noise than the colour model allows for.

Colours are classified pixel by pixel, so that noise makes pale pieces and the ground alike, although the mean of a face
clearly differs from it.  Where single pixels can be told apart, sharp edges are worth more than smooth colours: in
smoothed pictures of discs in dim light, the shade at the foot was taken for a further disc.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.shading import SENSOR_NOISE
from vision.likelihood.noise import measure_noise
from vision.pose.projection import Points

Picture = npt.NDArray[np.uint8]

STEP_PX = 3
"""Distance between two pixels whose difference measures noise: lens and compression correlate nearer ones."""

COLOUR_VARIANCE_WEIGHT = 0.76
"""Weight of the variances of both colour differences in that of a channel, if the noise of channels is independent: the
variances of brightness and of b − r and g − (b + r) / 2, both halved, are 1/3, 1/2 and 3/8 of it."""

MIN_CONTRAST_DEVIATIONS = 3.0
"""Difference of colours, in standard deviations of noise, above which a single pixel tells them apart."""

MIN_PX = 0.4
"""Standard deviation below which a kernel changes nothing: its neighbours have weights below 0.05."""


def denoise(image: Picture, outline_px: Points, gain: float, contrast: float) -> Picture:
    """A picture (height, width, 3) uint8 BGR, blurred if noise hides a contrast in it, else unchanged.

    ``outline_px`` (4, 2): outline of the mat, within which noise is measured; ``gain``: display value relative to white
    paper that one code adds; ``contrast``: mean difference, over channels and in such values, between the colours to be
    told apart, infinite where nothing may be blurred.  A Gaussian kernel of standard deviation σ px leaves 1 / (4 π σ²)
    of the variance of white noise.
    """
    if math.isinf(contrast):
        return image
    brightness, *colours = measure_noise(image, STEP_PX, outline_px) / 2
    noise = gain * math.sqrt(brightness + COLOUR_VARIANCE_WEIGHT * sum(colours))
    blur_px = noise / SENSOR_NOISE / math.sqrt(4 * math.pi)
    if contrast > MIN_CONTRAST_DEVIATIONS * noise or blur_px < MIN_PX:
        return image
    return np.asarray(cv2.GaussianBlur(image, (0, 0), blur_px), np.uint8)
