"""Saturated channels: a code at the top of the range is only a lower bound of the light.

Such an observation is censored, and its likelihood is the probability of all values that it may stand for (Tobin,
"Estimation of relationships for limited dependent variables", Econometrica 26, 1958).  In the colour model that is a
sum over bins.  It is divided by their number, as if the observation were spread evenly over them, so that its evidence
stays comparable with that of other pixels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import BINS, quantised
from vision.appearance.illumination import Illumination
from vision.appearance.tone_curve import codes_to_values, gain_at

SATURATED = 254
"""Least code of a saturated channel: resampling and JPEG turn some 255 into 254."""

Bins = tuple[int, int, int]
"""For each channel, r g b, the first bin of the colour model that a saturated pixel may belong to."""

NOTHING_SATURATED: Bins = (BINS - 1, BINS - 1, BINS - 1)
"""Nothing is censored: the last bins keep their meaning."""


def saturated_bins(light: Illumination) -> Bins:
    """The first bins of saturated channels at the centre of a mat in this light."""
    red, green, blue = (
        quantised(codes_to_values(np.array(SATURATED), gain_at(light.at(np.zeros((1, 3)))))).ravel().tolist()
    )
    return red, green, blue


def censor(table: npt.NDArray[np.float32], first: Bins) -> None:
    """Make the last bin of each channel stand for saturated values, which may lie in any bin from ``first`` on.

    Args:
        table: (BINS³, …) float32 log-likelihoods, changed in place.
        first: per channel; the last bin where that one keeps its meaning.
    """
    cube = table.reshape(BINS, BINS, BINS, -1)
    for axis, begin in enumerate(first):
        if begin < BINS - 1:
            along = np.moveaxis(cube, axis, 0)
            along[-1] = np.log(np.exp(along[begin:]).mean(axis=0))


class CensoredTable:
    """Log-likelihoods of colours (BINS³, …), in which the last bin of each channel stands for saturated values.

    Attributes:
        table: (BINS³, …) float32.
    """

    def __init__(self, table: npt.NDArray[np.float32]) -> None:
        """Take a ``table`` in which nothing is censored; it is changed in place from now on."""
        self.table = table
        self._first = NOTHING_SATURATED
        self._last = [plane.copy() for plane in self._planes()]

    def censor_from(self, first: Bins) -> bool:
        """Make saturated channels stand for bins from ``first`` on; returns whether that changes anything."""
        if first == self._first:
            return False
        for plane, last in zip(self._planes(), self._last, strict=True):
            plane[:] = last
        censor(self.table, first)
        self._first = first
        return True

    def _planes(self) -> list[npt.NDArray[np.float32]]:
        """(BINS, BINS, …) views of the last bin of each channel."""
        cube = self.table.reshape(BINS, BINS, BINS, -1)
        return [np.moveaxis(cube, axis, 0)[-1] for axis in range(3)]
