"""The driver of the camera that ``--device`` names."""

from __future__ import annotations

from calibration.camera import Camera
from vision.capture.live import Device
from vision.capture.network import NetworkCamera, is_address
from vision.capture.video4linux import Video4LinuxCamera


def parse_device(text: str) -> int | str:
    """The number, path or address of a camera.  Raises ValueError, whose text holds no password."""
    if text.isdecimal():
        return int(text)
    is_address(text)
    return text


def named_camera(device: int | str, camera: Camera) -> Device:
    """The driver of a camera on this machine or in the network; ``camera``: gives the wanted picture size."""
    if isinstance(device, str) and is_address(device):
        return NetworkCamera(device, camera)
    return Video4LinuxCamera(device, camera)
