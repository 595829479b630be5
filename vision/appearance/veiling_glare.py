"""Removes veiling glare: light that is scattered in the lens, or a raised black level, and adds evenly to a picture.

A window beside the table or a dusty lens makes a picture hazy (ISO 9358, Veiling glare of image forming systems): the
board, pieces and shadows all show white that is none of theirs.  The mat's markers tell how much: they are printed
black on white, so that whatever their black shows beyond its share of their white at enrolment was added.
"""

from __future__ import annotations

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


class VeilingGlare:
    """Removes veiling glare from the pictures of one kit, given its markers' ``black`` of :func:`measure_black`."""

    def __init__(self, kit: Kit, black: Reflectance | None) -> None:
        """``black`` None: it is not known, and pictures are left as they are."""
        self._kit, self._black, self._places = kit, black, LastValueCache[Points]()

    def remove(self, image: Picture, pose: Registration, camera: Camera) -> Picture:
        """A picture (height, width, 3) uint8 BGR without veiling glare; itself if there is none, or it is not known."""
        if self._black is None or len(pose.markers) < MIN_MARKERS:
            return image
        places_px = self._places.get((pose, camera), lambda: _module_places_px(self._kit, pose, camera))
        black, white = _black_and_white(image, places_px, _modules(self._kit, pose))
        if len(black) < MIN_MARKERS:
            return image
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
    if len(pose.markers) < MIN_MARKERS:
        return None
    black, white = _black_and_white(image, _module_places_px(kit, pose, camera), _modules(kit, pose))
    if len(black) < MIN_MARKERS:
        return None
    shares = np.minimum(black / np.maximum(white, _LIGHT[1]), MAX_BLACK)
    r, g, b = shares[shares.mean(axis=1).argmin()].tolist()
    return r, g, b


def _module_places_px(kit: Kit, pose: Registration, camera: Camera) -> Points:
    """(m, k, 2) px, the centres of all modules of the markers that ``pose`` was estimated from."""
    side = _modules(kit, pose).shape[1]
    corners = [np.array(marker.corners_mm) for marker in kit.mat.markers if marker.id in pose.markers]
    flat = np.array([module_places(corner, side).reshape(-1, 2) for corner in corners])
    places_mm = np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=2)
    return project(places_mm.reshape(-1, 3), pose, camera).reshape(*flat.shape[:2], 2)


def _modules(kit: Kit, pose: Registration) -> npt.NDArray[np.bool_]:
    """(m, side, side) whether modules are white, of the markers that ``pose`` was estimated from."""
    return modules(kit.mat.dictionary, tuple(marker.id for marker in kit.mat.markers if marker.id in pose.markers))


def _black_and_white(image: Picture, places_px: Points, is_white: npt.NDArray[np.bool_]) -> tuple[Points, Points]:
    """Mean light (m, 3) r g b of the darkest black, and of the brightest white modules of all markers in the picture.

    Args:
        image: (height, width, 3) uint8, BGR.
        places_px: (n, k, 2) centres of their modules.
        is_white: (n, side, side) whether these are white.
    """
    height, width, _ = image.shape
    columns, rows = np.rint(places_px[..., 0]).astype(int), np.rint(places_px[..., 1]).astype(int)
    inside = ((columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)).all(axis=1)
    light = _LIGHT[image[rows[inside], columns[inside], ::-1]]
    black, white = np.empty((2, len(light), 3))
    for number, (shown, are_white) in enumerate(zip(light, is_white.reshape(len(is_white), -1)[inside], strict=True)):
        darkest, brightest = np.sort(shown[~are_white], axis=0), np.sort(shown[are_white], axis=0)[::-1]
        black[number] = darkest[: 1 + len(darkest) // SHARPEST].mean(axis=0)
        white[number] = brightest[: 1 + len(brightest) // SHARPEST].mean(axis=0)
    return black, white
