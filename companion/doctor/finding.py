"""Finds connected devices by the names that Linux gives them, so that nobody needs to name them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from companion.doctor.machine import PATIENCE_S

DEVICES = Path("/dev")
CAMERAS = "v4l/by-id/*-video-index0"
"""udev's links to USB cameras; a camera's further nodes have other numbers and give no pictures."""

CONTROLLERS = "serial/by-id/usb-MicroPython_*"
"""udev's links to boards that run MicroPython, as the pillar controller does."""

LISTING = ("rpicam-hello", "--list-cameras")
"""Raspberry Pi OS's command that lists camera modules, and USB cameras too."""

MODULE = re.compile(r"^\s*(\d+) : \S+ .*\((?!.*usb)[^()]*\)\s*$", re.MULTILINE)
"""A line of that list for no USB camera: ``0 : imx708 [4608x2592 10-bit RGGB] (/base/soc/i2c0mux/…/imx708@1a)``."""


def find_devices(pattern: str, devices: Path = DEVICES) -> tuple[str, ...]:
    """The paths below ``devices`` that match ``pattern``, sorted."""
    return tuple(map(str, sorted(devices.glob(pattern))))


def parse_camera_modules(listing: str) -> tuple[int, ...]:
    """The numbers of the camera modules in the output of :data:`LISTING`."""
    return tuple(int(number) for number in MODULE.findall(listing))


def list_camera_modules() -> str:
    """The output of :data:`LISTING`; empty where the command does not exist or fails."""
    try:
        done = subprocess.run(LISTING, capture_output=True, text=True, check=True, timeout=PATIENCE_S)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr
