"""A hard shadow over half of a picture, as of a window's frame in the sun."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from companion.simulate.light import LINEAR, to_srgb
from vision.appearance.hard_shadow import relight

Picture = npt.NDArray[np.uint8]

PENUMBRA_PX = 3.0
"""Width of the shadow's edge: between a fifth and four fifths of the light lie 2.8 times as many pixels."""


class HalfShadow:
    """A shadow whose edge goes through the middle of a picture, in a direction drawn at random."""

    def __init__(self, size: tuple[int, int], share: float, name: str) -> None:
        """``size``: height and width, px; ``share``: of the light that is left, 0…1; ``name``: seeds the direction."""
        angle, (height, width) = random.Random(name).uniform(0, 2 * np.pi), size
        y, x = np.mgrid[:height, :width]
        beyond_px = (x - width / 2) * np.cos(angle) + (y - height / 2) * np.sin(angle)
        self._shaded = np.rint(255 / (1 + np.exp(beyond_px / PENUMBRA_PX))).astype(np.uint8)
        light = 1 - (1 - share) * np.arange(256)[:, None] / 255
        codes = np.rint(to_srgb(light * LINEAR)).astype(np.uint8)
        self._codes = np.ascontiguousarray(np.repeat(codes[:, None], 3, axis=1))

    def over(self, image: Picture) -> Picture:
        """The picture (height, width, 3) uint8 with the shadow over it."""
        return relight(image, self._shaded, self._codes)


def half_shaded(image: Picture, share: float, name: str) -> Picture:
    """A picture (height, width, 3) uint8 in half of which a ``share`` of the light is left; see :class:`HalfShadow`."""
    return HalfShadow(image.shape[:2], share, name).over(image)
