"""A USB camera through Video4Linux: opened at the camera file's size, with exposure, colour and focus locked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.capture.frames import SourceLost

SETTLING_FRAMES = 30
"""About a second, in which a camera's automatic controls find exposure and focus before they are locked."""

UNKNOWN = -1.0
"""OpenCV's value of a control that the camera does not have."""

TOLERANCE = 0.02
"""Largest relative deviation: cameras round values to their own steps."""


@dataclass(frozen=True, slots=True)
class Lock:
    """One control that drifts: OpenCV's property for its automatic mode, the "off" of that, and that for its value."""

    name: str
    automatic: int
    off: float
    value: int
    is_needed: bool = True


LOCKS = (
    # V4L2_EXPOSURE_MANUAL is 1; cameras set to 3 (aperture priority) choose the exposure themselves.
    Lock("exposure", cv2.CAP_PROP_AUTO_EXPOSURE, 1, cv2.CAP_PROP_EXPOSURE),
    Lock("white balance", cv2.CAP_PROP_AUTO_WB, 0, cv2.CAP_PROP_WB_TEMPERATURE),
    # Cameras without this control have a fixed focus, which is best.
    Lock("focus", cv2.CAP_PROP_AUTOFOCUS, 0, cv2.CAP_PROP_FOCUS, is_needed=False),
)

Capture = Any
"""What ``cv2.VideoCapture`` gives, or something that behaves like it."""


def open_capture(device: int | str) -> Capture:
    """The capture of a Video4Linux device."""
    return cv2.VideoCapture(device, cv2.CAP_V4L2)


class Video4LinuxCamera:
    """Camera number or path ``device`` (``/dev/v4l/by-id/…`` stays the same wherever it is plugged in)."""

    def __init__(self, device: int | str, camera: Camera, make: Callable[[int | str], Capture] = open_capture) -> None:
        """``camera``: gives the wanted picture size; ``make``: opens a capture."""
        self.name = f"camera {device}"
        self._device, self._camera, self._make = device, camera, make
        self._capture: Capture | None = None
        self._found: dict[str, float] = {}

    def open(self) -> tuple[str, ...]:
        """Open, let the automatic controls settle, and lock what they found the first time.  Raises SourceLost."""
        capture = self._make(self._device)
        if not capture.isOpened():
            raise SourceLost(f"{self.name}: cannot be opened; is it plugged in? (ls /dev/video*)")
        self._capture = capture
        try:
            self._set_size()
            for _ in range(1 if self._found else SETTLING_FRAMES):
                self.grab()
        except SourceLost:
            self.close()
            raise
        self._found = self._found or {lock.name: capture.get(lock.value) for lock in LOCKS}
        return tuple(remark for lock in LOCKS if (remark := lock_value(capture, lock, self._found[lock.name])))

    def grab(self) -> npt.NDArray[np.uint8]:
        """The next picture, (height, width, 3) uint8 BGR.  Raises SourceLost."""
        if self._capture is None:
            raise SourceLost(f"{self.name}: is not open")
        done, image = self._capture.read()
        if not done or image is None:
            raise SourceLost(f"{self.name}: gives no more pictures; is it still plugged in?")
        return np.asarray(image, np.uint8)

    def close(self) -> None:
        """Release the camera."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None

    def _set_size(self) -> None:
        assert self._capture is not None, "called by open()"
        # Uncompressed pictures of this size do not fit through USB 2 at a useful rate.
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, self._camera.width_px)
        self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self._camera.height_px)
        # The driver's queue holds old pictures; where this is not honoured the fetching thread empties it.
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        got = tuple(round(self._capture.get(prop)) for prop in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        if got != (self._camera.width_px, self._camera.height_px):
            raise SourceLost(
                f"{self.name}: gives pictures of {got[0]} x {got[1]} px, the camera file is for "
                f"{self._camera.width_px} x {self._camera.height_px} px; calibrate the lens at a size that it can give"
            )


def lock_value(capture: Capture, lock: Lock, value: float) -> str:
    """Switch an automatic off and lock ``value``, which it had found; returns what failed, in words, or ""."""
    if capture.get(lock.automatic) == UNKNOWN:
        return f"has no control of its {lock.name}: it may drift" if lock.is_needed else ""
    capture.set(lock.automatic, lock.off)
    if capture.get(lock.automatic) != lock.off:
        return f"{lock.name} stays automatic: it could not be locked"
    if value == UNKNOWN:
        return ""
    capture.set(lock.value, value)
    got = capture.get(lock.value)
    if abs(got - value) > TOLERANCE * max(abs(value), 1.0):
        return f"{lock.name} was to be held at {value:g} but is {got:g}"
    return ""
