"""What a webcam adds to a picture from one frame to the next: noise, sharpening, compression, drift, flicker, shake.

How to use it::

    webcam = Webcam(noise=6, sharpening=1.1, quality=72, flicker=0.1)
    film = [webcam.take(picture, number) for number, picture in enumerate(pictures)]

The same webcam, picture and number always give the same frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulate.light import to_linear, to_srgb

Picture = npt.NDArray[np.uint8]

SHARPENED_PX = 1.3
"""Standard deviation of the blur that sharpening takes away."""

DRIFT_S, BALANCE_S = 4.1, 7.3
"""Time in which exposure, and white balance, go through a radian of their drift: as slowly as automatic ones hunt."""


LINEAR = to_linear(np.arange(256))
"""Linear light of every code."""


@dataclass(frozen=True)
class Webcam:
    """A camera with these faults; none by default.

    Attributes:
        noise: standard deviation in codes, 0…255, of each channel of a pixel.
        sharpening: share of the difference to a blurred picture that is added, noise and all.
        quality: of the JPEG picture that the camera sends, 1…100; None: it is not compressed.
        drift: share by which the exposure grows and shrinks; the white balance by half of it.
        flicker: share by which the lamps' light grows and shrinks.
        mains_hz: lamps flicker twice as often.
        readout_s: time from the first row to the last; 0: all rows are exposed at once.
        fps: frames a second.
        shake_px: standard deviation of the picture's place, in x and y.
    """

    noise: float = 0.0
    sharpening: float = 0.0
    quality: int | None = None
    drift: float = 0.0
    flicker: float = 0.0
    mains_hz: float = 50.0
    readout_s: float = 1 / 30
    fps: float = 12.0
    shake_px: float = 0.0

    def take(self, picture: Picture, number: int) -> Picture:
        """Frame ``number``, from 0, of ``picture`` (h, w, 3) uint8 BGR."""
        rng = np.random.default_rng(number)
        if self.shake_px:
            picture = _shifted(picture, rng.normal(0, self.shake_px, 2))
        codes = self._exposed(picture, number / self.fps) if self.drift or self.flicker else picture.astype(np.float32)
        if self.noise:
            codes += self.noise * rng.standard_normal(codes.shape, np.float32)
        if self.sharpening:
            codes += self.sharpening * (codes - cv2.GaussianBlur(codes, (0, 0), SHARPENED_PX))
        taken = np.clip(np.rint(codes), 0, 255).astype(np.uint8)
        return taken if self.quality is None else _compressed(taken, self.quality)

    def _exposed(self, picture: Picture, t_s: float) -> npt.NDArray[np.float32]:
        """(h, w, 3) codes of ``picture`` in the light and at the exposure of ``t_s``."""
        rows_s = t_s + self.readout_s * np.arange(len(picture)) / len(picture)
        light = 1 + self.flicker * np.cos(4 * np.pi * self.mains_hz * rows_s)
        exposure = 1 + self.drift * np.sin(t_s / DRIFT_S + 1)
        balance = 1 + self.drift / 2 * np.sin(t_s / BALANCE_S + 2 * np.arange(3))
        gains = exposure * light[:, None, None] * balance
        return to_srgb(LINEAR[picture] * gains).astype(np.float32)


def _shifted(picture: Picture, shift_px: npt.NDArray[np.float64]) -> Picture:
    size = picture.shape[1::-1]
    move = np.column_stack((np.eye(2), shift_px))
    return np.asarray(cv2.warpAffine(picture, move, size, borderMode=cv2.BORDER_REFLECT), np.uint8)


def _compressed(picture: Picture, quality: int) -> Picture:
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
