"""Simulated webcam artefacts, frame by frame: noise, smear, sharpening, compression, drift, flicker.

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

from companion.simulate.light import LINEAR, to_srgb

Picture = npt.NDArray[np.uint8]

SHARPENED_PX = 1.3
"""Standard deviation of the Gaussian of the unsharp mask."""

SMEARED_PX = 5
"""Width of the neighbourhood of the noise filter."""

DRIFT_S, BALANCE_S = 4.1, 7.3
"""Time per radian of the drift of exposure, and of white balance: as slow as automatic ones hunt."""


@dataclass(frozen=True)
class Webcam:
    """A camera with these faults; none by default.

    Attributes:
        noise: standard deviation of each channel of a pixel, in codes 0…255.
        smear_codes: differences up to about this are smoothed as if they were noise.
        contrast: increase of the contrast curve's slope in the middle of the range, as a fraction.
        sharpening: fraction of the difference from a blurred picture that is added, including noise.
        chroma_px: standard deviation of the blur of the chroma, which is kept at half the resolution.
        saturation: factor of the chroma.
        quality: of the JPEG picture that the camera sends, 1…100; None: it is not compressed.
        drift: relative amplitude of the exposure's drift; that of the white balance is half of it.
        flicker: relative amplitude of the lamps' flicker.
        mains_hz: lamps flicker twice as often.
        readout_s: time from the first row to the last; 0: all rows are exposed at once.
        fps: frames a second.
        shake_px: standard deviation of the picture's shift, in x and y.
    """

    noise: float = 0.0
    smear_codes: float = 0.0
    contrast: float = 0.0
    sharpening: float = 0.0
    chroma_px: float = 0.0
    saturation: float = 1.0
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
        if self.smear_codes:
            codes = np.asarray(cv2.bilateralFilter(codes, SMEARED_PX, self.smear_codes, SMEARED_PX / 3), np.float32)
        if self.contrast:
            share = np.clip(codes / 255, 0, 1)
            codes += 255 * self.contrast * (share - 0.5) * 4 * share * (1 - share)
        if self.sharpening:
            codes += self.sharpening * (codes - cv2.GaussianBlur(codes, (0, 0), SHARPENED_PX))
        if self.chroma_px or self.saturation != 1:
            codes = self._coloured(codes)
        taken = np.clip(np.rint(codes), 0, 255).astype(np.uint8)
        return taken if self.quality is None else _compressed(taken, self.quality)

    def _coloured(self, codes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """(h, w, 3) codes with the chroma as the camera keeps it: smoothed, at half the resolution each way."""
        split = cv2.cvtColor(codes / np.float32(255), cv2.COLOR_BGR2YCrCb)
        chroma = split[..., 1:] - 0.5
        soft = cv2.GaussianBlur(chroma, (0, 0), self.chroma_px) if self.chroma_px else chroma
        half = cv2.resize(soft, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        split[..., 1:] = 0.5 + self.saturation * cv2.resize(half, codes.shape[1::-1], interpolation=cv2.INTER_LINEAR)
        return 255 * np.asarray(cv2.cvtColor(split, cv2.COLOR_YCrCb2BGR), np.float32)

    def _exposed(self, picture: Picture, t_s: float) -> npt.NDArray[np.float32]:
        """(h, w, 3) codes of ``picture`` in the light and with the exposure at ``t_s``."""
        exposure = 1 + self.drift * np.sin(t_s / DRIFT_S + 1)
        balance = 1 + self.drift / 2 * np.sin(t_s / BALANCE_S + 2 * np.arange(3))
        if not self.flicker:
            codes = to_srgb(LINEAR[:, None] * exposure * balance)
            return np.asarray(cv2.LUT(picture, codes[None].astype(np.float32)), np.float32)
        rows_s = t_s + self.readout_s * np.arange(len(picture)) / len(picture)
        light = 1 + self.flicker * np.cos(4 * np.pi * self.mains_hz * rows_s)
        gains = exposure * light[:, None, None] * balance
        return to_srgb(LINEAR[picture] * gains).astype(np.float32)


def _shifted(picture: Picture, shift_px: npt.NDArray[np.float64]) -> Picture:
    size = picture.shape[1::-1]
    move = np.column_stack((np.eye(2), shift_px))
    return np.asarray(cv2.warpAffine(picture, move, size, borderMode=cv2.BORDER_REFLECT), np.uint8)


def _compressed(picture: Picture, quality: int) -> Picture:
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
