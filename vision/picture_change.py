"""Where two small pictures of one camera differ, in the same light, by more than noise and not by a shadow alone."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision.gain_compensation import PEDESTAL, gain_compensated

Picture = npt.NDArray[np.uint8]

NOISE_FACTOR = 6.0
"""A pixel has changed when it differs by so many standard deviations of the frame's own noise…"""

MIN_STEP = 8.0
"""…and at least by so many codes: video compression makes smaller differences."""

BAND, ENOUGH_PX = 64, 30
"""Noise is measured in bands of so many codes of brightness, where a band has at least so many pixels."""

MAX_NOISE = 4.0
"""More codes than this in one band are not noise, but a hand that covers half of it; and in the whole picture a shadow
over much of it, except for each pixel's difference from its neighbours."""

ROUND_PX = 5
"""Side of the square neighbourhood of a pixel."""

NOISY, SMOOTHED_PX = 2.5, 5
"""Codes of noise above which pictures are smoothed before comparison: by means over squares of so many pixels, narrower
than any arm and most pieces.  Otherwise changes of less than 15 codes would not be seen: a hand of nearly the table's
colour would be no arm, and a cell that it has left would still seem to show it."""

TOGETHER_PX = 3
"""A pixel that has changed has at least two such neighbours, as in a line, which makes three; noise stands alone."""

SHADOW_LEAST, SHADOW_TINT = 0.5, 0.05
"""A shadow leaves at least this share of a display value (counted from -PEDESTAL; so a fifth of the light), the same in
all three channels to within the second number, as a share of the brightest one.  Beside a single lamp most shadows of
hands left 0.6 to 0.7, and 4 % of their pixels less than 0.5 (the recording ``diamond-2``)."""

MIN_SHADOW_PX, MIN_SHADOW_NATS = 50, 0.1
"""Pixels in a shadow, and mean change of their log brightness, from which on they tell the colour of its light."""


class PictureComparison(NamedTuple):
    """Two small pictures as they were compared: in the same light, and without most of their noise where it is strong.

    Attributes:
        changes: (height, width) uint8, 1 where they differ by more than noise makes them.
        small: (height, width, 3) uint8, the first one.
        bare: likewise the other, in the light of the first.
    """

    changes: Picture
    small: Picture
    bare: Picture


def compare_pictures(small: Picture, kept: Picture) -> PictureComparison:
    """Compare a small picture with one that was kept, both (height, width, 3) uint8 BGR."""
    bare = gain_compensated(kept, small)
    grain = _grain(small, bare)
    if grain >= NOISY:
        small, bare = (np.asarray(cv2.blur(picture, (SMOOTHED_PX, SMOOTHED_PX)), np.uint8) for picture in (small, bare))
        grain = _grain(small, bare)
    return PictureComparison(_changes(small, bare, grain), small, bare)


def remove_shadows(changes: Picture, small: Picture, bare: Picture, kept: Picture) -> Picture:
    """(height, width) uint8, ``changes`` except where ``small`` may show what ``bare`` does, in a shadow.

    Or in the light that it had when it was ``kept``, where a shadow over most of the picture has dimmed ``bare``.

    Args:
        changes: (height, width) uint8, 1 where the two differ.
        small: (height, width, 3) uint8 BGR, as of :attr:`PictureComparison.small`.
        bare: likewise, :attr:`PictureComparison.bare`.
        kept: likewise, as it was kept.
    """
    changed = changes > 0
    now, dimmed = ((picture[changed] + np.float32(PEDESTAL)).T.copy() for picture in (small, bare))
    share, is_tinted = _shaded(now, dimmed)
    is_solid = (share >= 1) | (share <= SHADOW_LEAST) | is_tinted
    brighter = share >= 1
    if brighter.any():
        share, is_tinted = _shaded(now[:, brighter], (kept[changed][brighter] + np.float32(PEDESTAL)).T.copy())
        is_solid[brighter] = (share > 1 + SHADOW_TINT) | is_tinted
    solid = np.zeros_like(changes)
    solid[changed] = is_solid
    return solid


def may_be_relit(changes: Picture, solid: Picture, small: Picture, bare: Picture) -> Picture:
    """(height, width) uint8, those ``solid`` pixels where ``small`` may show what ``bare`` does, out of a shadow.

    A shadow is lit by the room and not by the lamp, whose light has another colour: by how much is measured where
    shadows explain the changes.

    Args:
        changes: (height, width) uint8, 1 where the two differ.
        solid: (height, width) uint8, 1 where no shadow explains the difference, see :func:`remove_shadows`.
        small: (height, width, 3) uint8 BGR, as of :attr:`PictureComparison.small`.
        bare: likewise, :attr:`PictureComparison.bare`.
    """
    here = solid > 0
    now, before = ((picture[here] + np.float32(PEDESTAL)).T.copy() for picture in (small, bare))
    share, is_tinted = _shaded(now, before, _shadow_exponents((changes > 0) & ~here, small, bare))
    relit = np.zeros_like(solid)
    relit[here] = (share >= 1) & (share <= 1 / SHADOW_LEAST) & ~is_tinted
    return relit


def _shadow_exponents(
    in_shadow: npt.NDArray[np.bool_], small: Picture, bare: Picture
) -> npt.NDArray[np.float32] | None:
    """(3, 1) powers, b g r, of the share of brightness that shadows leave, by which each channel has changed.

    None if too little is in shadow to tell.

    ``in_shadow`` (height, width): pixels where a shadow has fallen or gone; others as in :func:`may_be_relit`.
    """
    if np.count_nonzero(in_shadow) < MIN_SHADOW_PX:
        return None
    now, before = (np.log(picture[in_shadow] + np.float32(PEDESTAL)) for picture in (small, bare))
    change = np.median(now - before, axis=0)
    if abs(change.mean()) < MIN_SHADOW_NATS:
        return None
    exponents: npt.NDArray[np.float32] = (change / change.mean())[:, None]
    return exponents


def _shaded(
    now: npt.NDArray[np.float32],
    before: npt.NDArray[np.float32],
    exponents: npt.NDArray[np.float32] | None = None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """(k,) brightness of pixels (3, k) as a share of that ``before``, and whether the channels differ otherwise in it.

    ``exponents``: of :func:`_shadow_exponents`, None: of equal shares in all channels.  Computed channel by channel,
    which is four times as fast as along an axis of three.
    """
    share: npt.NDArray[np.float32] = (now[0] + now[1] + now[2]) / (before[0] + before[1] + before[2])
    expected = before * (share if exponents is None else share**exponents)
    is_tinted: npt.NDArray[np.bool_] = _largest(np.abs(now - expected)) / _largest(before) >= SHADOW_TINT
    return share, is_tinted


def _largest(channels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(k,) the largest of (3, k)."""
    largest: npt.NDArray[np.float32] = np.maximum(np.maximum(channels[0], channels[1]), channels[2])
    return largest


def _changes(small: Picture, other: Picture, grain: float) -> Picture:
    """(height, width) uint8, 1 where two small pictures in the same light differ by more than noise makes them.

    ``grain``: of :func:`_grain`.
    """
    largest = _brightest(np.asarray(cv2.absdiff(small, other), np.uint8))
    brightness = _brightest(other)
    # Most of a frame is still, so the median difference is the noise's own (of the largest of three channels); where it
    # is dark the display curve is steep, and noise is larger.
    sampled, band = largest[::4, ::4], brightness[::4, ::4] // BAND
    usual = max(MIN_STEP, NOISE_FACTOR * min(float(np.median(sampled)), max(MAX_NOISE, grain)))
    least = np.full(256, usual, np.float32)
    for number in range(256 // BAND):
        here = sampled[band == number]
        if len(here) >= ENOUGH_PX:
            noise = min(float(np.median(here)), MAX_NOISE)
            least[number * BAND : (number + 1) * BAND] = max(usual, NOISE_FACTOR * noise)
    steps = cv2.LUT(brightness, np.minimum(least, 255).astype(np.uint8))
    changed = np.asarray(cv2.compare(largest, steps, cv2.CMP_GT), np.uint8) // 255
    together = cv2.boxFilter(changed, -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT)
    return changed & (together >= TOGETHER_PX)


def _grain(small: Picture, other: Picture) -> float:
    """Median difference in codes, less what each pixel shares with its neighbours, which is light and not noise."""
    difference = np.asarray(cv2.subtract(small, other, dtype=cv2.CV_16S))
    grain = np.abs(difference - cv2.blur(difference, (ROUND_PX, ROUND_PX)))[::4, ::4]
    return float(np.median(grain.max(axis=2)))


def _brightest(picture: Picture) -> Picture:
    """(height, width) uint8, the largest of three channels."""
    return np.asarray(cv2.max(cv2.max(picture[..., 0], picture[..., 1]), picture[..., 2]), np.uint8)
