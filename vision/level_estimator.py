"""Estimates the pillars' levels from one picture, where no sensor reports them."""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, Pillars
from vision.appearance.illumination import Illumination
from vision.inference.pillar_levels import LevelQuery, estimate_levels
from vision.inference.pillar_views import SHRINK, PillarViews, candidate_levels, make_views
from vision.last_value_cache import LastValueCache
from vision.likelihood.regions import Colours
from vision.pose.projection import Registration
from vision.scene.terrain import floors_mm

Array = npt.NDArray[np.float32]
Estimate = tuple[tuple[int, ...], Array, npt.NDArray[np.intp]]
"""Levels, log-likelihoods and configurations, as of :func:`vision.inference.pillar_levels.estimate_levels`."""


class LevelEstimator:
    """Estimates levels; the views of the pillars are cached while camera and mat stay where they are."""

    def __init__(self, kit: Kit, pillars: Pillars) -> None:
        self._kit, self._pillars, self._views = kit, pillars, LastValueCache[PillarViews]()

    def from_known_levels(self, levels: tuple[int, ...]) -> Estimate:
        """The estimate where all ``levels`` are known, so that no picture is needed; nothing on the pillars."""
        count = len(candidate_levels(self._pillars))
        return levels, np.full((len(levels), count), -np.log(count), np.float32), np.zeros(len(levels), np.intp)

    def estimate(
        self,
        image: npt.NDArray[np.uint8],
        view: tuple[Registration, Camera],
        light: Illumination,
        colours: Colours,
        question: LevelQuery,
    ) -> Estimate:
        """The levels in a picture (height, width, 3) uint8 BGR, taken in this ``view``."""
        views = self._views.get(view, partial(make_views, self._kit, self._pillars, *view))
        small = cv2.resize(image, None, fx=1 / SHRINK, fy=1 / SHRINK, interpolation=cv2.INTER_AREA)
        at_pillars = light.at(floors_mm(self._kit, tuple(question.levels)))
        return estimate_levels(np.asarray(small, np.uint8), at_pillars, colours, views, question)
