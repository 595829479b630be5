"""The Raspberry Pi's camera modules through picamera2, with exposure, colour and focus locked."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.capture.frames import SourceLost

SETTLING_FRAMES = 45
"""About one and a half seconds, in which exposure, colour and focus settle before they are locked."""

EFFECT_FRAMES = 8
"""Controls take effect after the requests that are already under way: four buffers, and as many for the sensor."""

TOLERANCE = 0.03
"""Largest relative deviation: sensors round exposure and gain to their own steps."""

MANUAL_FOCUS = 0
"""libcamera's AfModeManual."""

NAMES = {
    "ExposureTime": "exposure",
    "AnalogueGain": "gain",
    "ColourGains": "white balance",
    "LensPosition": "focus",
}
"""libcamera's names of the controls that are locked -> what people call them."""


class PiCamera:
    """Camera module number ``number``."""

    def __init__(self, number: int, camera: Camera) -> None:
        """``camera``: gives the wanted picture size."""
        self.name = f"camera module {number}"
        self._number, self._camera = number, camera
        self._device: Any = None
        self._found: dict[str, Any] = {}

    def open(self) -> tuple[str, ...]:
        """Open, let the automatic controls settle, and lock what they found.  Raises SourceLost."""
        try:
            driver = importlib.import_module("picamera2")
        except ImportError as error:
            raise SourceLost(
                f"{self.name}: picamera2 is not there ({error}); sudo apt install python3-picamera2, and make the venv "
                "with --system-site-packages"
            ) from None
        try:
            self._device = driver.Picamera2(self._number)
            return self._start()
        except (RuntimeError, IndexError, OSError) as error:
            self.close()
            raise SourceLost(f"{self.name}: cannot be opened ({error}); is its ribbon cable seated?") from error

    def grab(self) -> npt.NDArray[np.uint8]:
        """The next picture, (height, width, 3) uint8 BGR.  Raises SourceLost."""
        if self._device is None:
            raise SourceLost(f"{self.name}: is not open")
        try:
            return np.ascontiguousarray(self._device.capture_array("main")[..., :3], np.uint8)
        except (RuntimeError, OSError) as error:
            raise SourceLost(f"{self.name}: gives no more pictures ({error})") from error

    def close(self) -> None:
        """Release the camera."""
        if self._device is not None:
            self._device.close()
            self._device = None

    def _start(self) -> tuple[str, ...]:
        size = (self._camera.width_px, self._camera.height_px)
        # libcamera's "RGB888" names bytes from the last to the first: in memory it is B, G, R.
        settings = self._device.create_video_configuration(main={"size": size, "format": "RGB888"})
        self._device.configure(settings)
        self._device.start()
        # When opened again, it keeps what was found the first time: the set was enrolled so.
        found = self._found = self._found or self._metadata(SETTLING_FRAMES)
        wanted = {name: found[name] for name in NAMES if name in found and name in self._device.camera_controls}
        controls = {"AeEnable": False, "AwbEnable": False, **wanted}
        if "FrameDuration" in found:
            controls["FrameDurationLimits"] = (found["FrameDuration"], found["FrameDuration"])
        if "LensPosition" in wanted:
            controls["AfMode"] = MANUAL_FOCUS
        self._device.set_controls(controls)
        got = self._metadata(EFFECT_FRAMES)
        missing = [f"has no control of its {NAMES[name]}: it may drift" for name in NAMES if _is_needed(name, wanted)]
        return (
            *missing,
            *(_remark(name, value, got.get(name)) for name, value in wanted.items() if _differs(value, got.get(name))),
        )

    def _metadata(self, frames: int) -> dict[str, Any]:
        """The settings with which the last of so many pictures was taken."""
        metadata: dict[str, Any] = {}
        for _ in range(frames):
            metadata = self._device.capture_metadata()
        return metadata


def _is_needed(name: str, wanted: dict[str, Any]) -> bool:
    """Whether a control is missing that should be there; modules without one for the focus have a fixed focus."""
    return name not in wanted and name != "LensPosition"


def _differs(value: Any, got: Any) -> bool:
    if got is None:
        return True
    a, b = np.atleast_1d(np.asarray(value, float)), np.atleast_1d(np.asarray(got, float))
    return bool((np.abs(a - b) > TOLERANCE * np.maximum(np.abs(a), 0.1)).any())


def _remark(name: str, value: Any, got: Any) -> str:
    return f"{NAMES[name]} was to be held at {value} but is {got}"
