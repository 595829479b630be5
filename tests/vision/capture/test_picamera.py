"""The driver of the Raspberry Pi camera against a fake picamera2 module."""

import sys
from types import ModuleType

import numpy as np
import pytest

from calibration.camera import Camera
from vision.capture.frames import SourceLost
from vision.capture.picamera import SETTLING_FRAMES, PiCamera

CAMERA = Camera(1280, 720, np.eye(3), np.zeros(5), 0.1)
SETTLED = {
    "ExposureTime": 9990,
    "AnalogueGain": 2.0,
    "ColourGains": (1.9, 1.6),
    "LensPosition": 2.4,
    "FrameDuration": 33333,
}


class Picamera2:
    """A fake camera module with autofocus.

    ``ignores``: controls that are accepted but have no effect; ``lacks``: controls that it does not have.
    """

    ignores = frozenset()
    lacks = frozenset()
    last = None

    def __init__(self, number):
        if number > 1:
            raise IndexError("list index out of range")
        self.number, self.calls, self.count = number, [], 0
        self.camera_controls = {name: (0, 1, 0) for name in SETTLED if name not in self.lacks}
        self.controls = {}
        type(self).last = self

    def create_video_configuration(self, main):
        self.calls.append("configuration")
        return main

    def configure(self, settings):
        self.settings = settings

    def start(self):
        self.calls.append("start")

    def capture_metadata(self):
        self.count += 1
        drift = {name: np.multiply(value, 1 + 1 / self.count).tolist() for name, value in SETTLED.items()}
        now = SETTLED if self.count >= SETTLING_FRAMES else drift
        held = {name: value for name, value in self.controls.items() if name not in self.ignores}
        ignored = {
            name: np.multiply(value, 1.5).tolist()
            for name, value in self.controls.items()
            if name in self.ignores and name in SETTLED
        }
        return {name: value for name, value in (now | held | ignored).items() if name not in self.lacks}

    def set_controls(self, controls):
        self.calls.append("controls")
        self.controls = controls

    def capture_array(self, _name):
        if "close" in self.calls:
            raise RuntimeError("camera is closed")
        width, height = self.settings["size"]
        return np.full((height, width, 3), 7, np.uint8)

    def close(self):
        self.calls.append("close")


@pytest.fixture
def driver(monkeypatch):
    """Install the fake picamera2 module; return its camera class."""
    module = ModuleType("picamera2")
    module.Picamera2 = type("Picamera2", (Picamera2,), {})
    monkeypatch.setitem(sys.modules, "picamera2", module)
    return module.Picamera2


def test_what_the_automatics_found_is_held(driver):
    """The settled values of all automatic controls are locked."""
    camera = PiCamera(0, CAMERA)
    assert camera.open() == ()
    assert driver.last.settings == {"size": (1280, 720), "format": "RGB888"}
    assert driver.last.controls == {
        "AeEnable": False,
        "AwbEnable": False,
        "ExposureTime": 9990,
        "AnalogueGain": 2.0,
        "ColourGains": (1.9, 1.6),
        "LensPosition": 2.4,
        "FrameDurationLimits": (33333, 33333),
        "AfMode": 0,
    }
    picture = camera.grab()
    assert (picture.shape, picture.dtype) == ((720, 1280, 3), np.uint8)
    camera.close()
    camera.close()
    assert driver.last.calls == ["configuration", "start", "controls", "close"]


def test_a_module_of_fixed_focus_is_left_alone(driver):
    """A module without autofocus gets no focus controls."""
    driver.lacks = {"LensPosition"}
    assert PiCamera(0, CAMERA).open() == ()
    assert not {"LensPosition", "AfMode"} & set(driver.last.controls)


def test_what_did_not_take_is_said(driver):
    """Controls that differ from what was set, or are missing, are reported."""
    driver.ignores = {"ColourGains"}
    (remark,) = PiCamera(0, CAMERA).open()
    assert remark.startswith("white balance was to be held at (1.9, 1.6) but is [2.8")
    driver.ignores, driver.lacks = set(), {"AnalogueGain"}
    assert PiCamera(0, CAMERA).open() == ("has no control of its gain: it may drift",)


def test_a_module_that_is_not_there(driver):
    """An unknown module number is refused."""
    with pytest.raises(SourceLost, match=r"camera module 5: cannot be opened \(list index out of range\)"):
        PiCamera(5, CAMERA).open()


def test_a_module_that_fails(driver):
    """Grabbing from a closed or failed module raises SourceLost."""
    camera = PiCamera(0, CAMERA)
    with pytest.raises(SourceLost, match="is not open"):
        camera.grab()
    camera.open()
    driver.last.calls.append("close")
    with pytest.raises(SourceLost, match="gives no more pictures"):
        camera.grab()


def test_without_the_library_it_is_said_what_to_install(monkeypatch):
    """The error without picamera2 names the package to install."""
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(SourceLost, match=r"picamera2 is not there .*; sudo apt install python3-picamera2"):
        PiCamera(0, CAMERA).open()


def test_a_module_that_is_opened_again_is_held_as_it_was(driver):
    """A reopened module gets the controls found before, without settling again."""
    camera = PiCamera(0, CAMERA)
    camera.open()
    first = driver.last
    camera.close()
    assert camera.open() == ()
    assert driver.last is not first
    assert driver.last.controls == first.controls
    assert driver.last.count < SETTLING_FRAMES
