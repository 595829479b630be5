"""Removes veiling glare: light that is scattered in the lens, or a raised black level, and adds evenly to a picture.

A window beside the table or a dusty lens makes a picture hazy (ISO 9358, Veiling glare of image forming systems): the
board, pieces and shadows all show white that is none of theirs.  The mat's markers tell how much: they are printed
black on white, so that whatever their black shows beyond its share of their white at enrolment was added.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.appearance import Reflectance
from calibration.camera import Camera
from calibration.kit import Kit
from calibration.srgb import display, linear_light
from vision.last_value_cache import LastValueCache
from vision.pose.markers import module_places, modules
from vision.pose.projection import Points, Registration, project

Picture = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]

MIN_MARKERS = 2
"""So many markers must be visible: a single one may mirror a lamp."""

MIN_VEIL = 0.05
"""Veiling glare, as a share of the light of white paper, below which a picture is left as it is.  In 802 pictures of 83
sets and boards without any, reflections of lamps on all markers added up to 0.037."""

SHARPEST = 3
"""One in so many modules counts: where markers are small or out of focus, their neighbours blur the others."""

MAX_BLACK = 0.5
"""Largest share of its white that a marker's black is taken to show."""

_LIGHT = linear_light(np.arange(256) / 255)


class Modules(NamedTuple):
    """The modules (k) of all markers (m) in a picture.

    Attributes:
        rows: (m, k) px of their centres.
        columns: (m, k) px.
        is_white: (m, k, 1).
        black_weights: (m, k, 1) of the black ones, the darkest first, in their mean; 0 for those that do not count.
        white_weights: (m, k, 1) of the white ones, the brightest first.
    """

    rows: Indices
    columns: Indices
    is_white: npt.NDArray[np.bool_]
    black_weights: Points
    white_weights: Points


class VeilingGlare:
    """Removes veiling glare from the pictures of one kit, given its markers' ``black`` of :func:`measure_black`."""

    def __init__(self, kit: Kit, black: Reflectance | None) -> None:
        """``black`` None: it is not known, and pictures are left as they are."""
        self._kit, self._black, self._modules = kit, black, LastValueCache[Modules]()

    def remove(self, image: Picture, pose: Registration, camera: Camera) -> Picture:
        """A picture (height, width, 3) uint8 BGR without veiling glare; itself if there is none, or it is not known."""
        if self._black is None:
            return image
        shown = _black_and_white(image, self._modules.get((pose, camera), lambda: _modules(self._kit, pose, camera)))
        if shown is None:
            return image
        black, white = shown
        share = np.array(self._black)
        veils = (black - share * white) / (1 - share)
        veil = veils[veils.mean(axis=1).argmin()]
        if veil.mean() < MIN_VEIL * white.max():
            return image
        codes = np.rint(255 * display(np.maximum(_LIGHT[:, None] - veil[::-1], 0)))
        return np.asarray(cv2.LUT(image, codes.astype(np.uint8)[None]), np.uint8)


def measure_black(image: Picture, kit: Kit, pose: Registration, camera: Camera) -> Reflectance | None:
    """Light of the markers' black as a share of their white, r g b, in a picture (height, width, 3) uint8 BGR.

    That of the marker with the least; None if fewer than :data:`MIN_MARKERS` are visible.
    """
    shown = _black_and_white(image, _modules(kit, pose, camera))
    if shown is None:
        return None
    black, white = shown
    shares = np.minimum(black / np.maximum(white, _LIGHT[1]), MAX_BLACK)
    r, g, b = shares[shares.mean(axis=1).argmin()].tolist()
    return r, g, b


def _modules(kit: Kit, pose: Registration, camera: Camera) -> Modules:
    """The modules of each marker that ``pose`` was estimated from and that is wholly in the picture."""
    places, white = [], []
    for marker in kit.mat.markers:
        if marker.id in pose.markers:
            (is_white,) = modules(kit.mat.dictionary, (marker.id,))
            flat = module_places(np.array(marker.corners_mm), len(is_white)).reshape(-1, 2)
            at = np.rint(project(np.column_stack([flat, np.zeros(len(flat))]), pose, camera)).astype(np.intp)
            if (at >= 0).all() and (at < (camera.width_px, camera.height_px)).all():
                places.append(at)
                white.append(is_white.ravel())
    count = len(white[0]) if white else 0
    columns, rows = np.array(places, np.intp).reshape(len(places), count, 2).transpose(2, 0, 1)
    is_white = np.array(white, np.bool_).reshape(len(white), count, 1)
    return Modules(rows, columns, is_white, _weights(~is_white), _weights(is_white))


def _weights(is_asked: npt.NDArray[np.bool_]) -> Points:
    """(m, k, 1) weights of modules, sorted, in the mean of one in :data:`SHARPEST` of those ``is_asked`` (m, k, 1)."""
    counted = 1 + is_asked.sum(axis=1, keepdims=True) // SHARPEST
    weights: Points = (np.arange(is_asked.shape[1])[:, None] < counted) / counted
    return weights


def _black_and_white(image: Picture, markers: Modules) -> tuple[Points, Points] | None:
    """Mean light (m, 3) r g b of the darkest black, and of the brightest white modules of all markers in the picture.

    None if there are fewer than :data:`MIN_MARKERS`.  ``image``: (height, width, 3) uint8 BGR.
    """
    if len(markers.rows) < MIN_MARKERS:
        return None
    light = _LIGHT[image[markers.rows, markers.columns][..., ::-1]]
    # Light is 1 at most, so that the others come last.
    darkest = np.sort(np.where(markers.is_white, 1.0, light), axis=1)
    brightest = np.sort(np.where(markers.is_white, -light, 0.0), axis=1)
    return (darkest * markers.black_weights).sum(axis=1), -(brightest * markers.white_weights).sum(axis=1)
