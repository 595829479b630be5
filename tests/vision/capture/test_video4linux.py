"""The USB camera's driver against a scripted capture that obeys, ignores or lacks controls."""

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from vision.capture.frames import SourceLost
from vision.capture.video4linux import SETTLING_FRAMES, UNKNOWN, Video4LinuxCamera

CAMERA = Camera(1280, 720, np.eye(3), np.zeros(5), 0.1)
AUTOMATICS = {
    cv2.CAP_PROP_AUTO_EXPOSURE: 3.0,
    cv2.CAP_PROP_AUTO_WB: 1.0,
    cv2.CAP_PROP_AUTOFOCUS: 1.0,
}
FOUND = {cv2.CAP_PROP_EXPOSURE: 157.0, cv2.CAP_PROP_WB_TEMPERATURE: 4600.0, cv2.CAP_PROP_FOCUS: 35.0}


class Capture:
    """A scripted stand-in for ``cv2.VideoCapture``."""

    def __init__(self, stubborn=(), lacks=(), resets=(), frames=10_000, is_there=True):
        self.values = dict.fromkeys((cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT), 640.0) | AUTOMATICS
        self.stubborn, self.lacks, self.resets = set(stubborn), set(lacks), set(resets)
        self.frames, self.is_there = frames, is_there
        self.read_count = 0
        self.released = False

    def isOpened(self):  # noqa: N802 - OpenCV's name
        return self.is_there

    def get(self, prop):
        return UNKNOWN if prop in self.lacks else self.values.get(prop, 0.0)

    def set(self, prop, value):
        if prop in self.lacks or prop in self.stubborn:
            return False
        self.values[prop] = 1.0 if prop in self.resets else float(value)
        return True

    def read(self):
        self.read_count += 1
        if self.read_count == SETTLING_FRAMES:
            self.values |= FOUND  # what automatic exposure, white balance and focus settled on
        if self.read_count > self.frames:
            return False, None
        return True, np.zeros((720, 1280, 3), np.uint8)

    def release(self):
        self.released = True


def opened(capture):
    """Open a camera on a scripted capture; return it and its remarks."""
    camera = Video4LinuxCamera(0, CAMERA, lambda _: capture)
    return camera, camera.open()


def test_exposure_colour_and_focus_are_held_at_what_was_found():
    """Exposure, white balance and focus are locked at the settled values."""
    capture = Capture()
    camera, remarks = opened(capture)
    assert remarks == ()
    assert capture.values | {cv2.CAP_PROP_BUFFERSIZE: 1.0} == capture.values
    assert (capture.values[cv2.CAP_PROP_FRAME_WIDTH], capture.values[cv2.CAP_PROP_FRAME_HEIGHT]) == (1280, 720)
    off = {cv2.CAP_PROP_AUTO_EXPOSURE: 1.0, cv2.CAP_PROP_AUTO_WB: 0.0, cv2.CAP_PROP_AUTOFOCUS: 0.0}
    assert capture.values | off | FOUND == capture.values
    assert camera.grab().shape == (720, 1280, 3)
    camera.close()
    camera.close()
    assert capture.released


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"stubborn": [cv2.CAP_PROP_AUTO_WB]}, ("white balance stays automatic: it could not be locked",)),
        ({"lacks": [cv2.CAP_PROP_AUTO_EXPOSURE]}, ("has no control of its exposure: it may drift",)),
        ({"lacks": [cv2.CAP_PROP_AUTOFOCUS, cv2.CAP_PROP_FOCUS]}, ()),
        ({"resets": [cv2.CAP_PROP_FOCUS]}, ("focus was to be held at 35 but is 1",)),
        (
            {"stubborn": [cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_AUTOFOCUS]},
            ("exposure stays automatic: it could not be locked", "focus stays automatic: it could not be locked"),
        ),
    ],
)
def test_what_did_not_take_is_said(how, said):
    """Controls that could not be locked are reported."""
    assert opened(Capture(**how))[1] == said


def test_a_camera_that_is_not_there():
    """A missing camera is refused."""
    with pytest.raises(SourceLost, match="camera 0: cannot be opened; is it plugged in"):
        opened(Capture(is_there=False))


def test_a_camera_that_cannot_give_the_size():
    """A camera that cannot deliver the required size is refused and released."""
    capture = Capture(stubborn=[cv2.CAP_PROP_FRAME_WIDTH])
    with pytest.raises(SourceLost, match="gives pictures of 640 x 720 px, the camera file is for 1280 x 720 px"):
        opened(capture)
    assert capture.released


def test_a_camera_that_is_unplugged():
    """Grabbing from an unplugged or closed camera raises SourceLost."""
    capture = Capture(frames=SETTLING_FRAMES + 1)
    camera, _ = opened(capture)
    camera.grab()
    with pytest.raises(SourceLost, match="camera 0: gives no more pictures"):
        camera.grab()
    camera.close()
    with pytest.raises(SourceLost, match="is not open"):
        camera.grab()


def test_a_camera_that_gives_nothing_is_released():
    """A camera that stops while settling is released."""
    capture = Capture(frames=3)
    with pytest.raises(SourceLost, match="gives no more pictures"):
        opened(capture)
    assert capture.released


def test_opencv_refuses_a_device_that_is_none(tmp_path):
    """A device that does not exist is refused by the real OpenCV."""
    with pytest.raises(SourceLost, match=r"none: cannot be opened"):
        Video4LinuxCamera(str(tmp_path / "none"), CAMERA).open()


def test_a_camera_that_is_opened_again_is_held_as_it_was():
    """A reopened camera gets the values found before, without settling again."""
    first, second = Capture(), Capture()
    captures = iter((first, second))
    camera = Video4LinuxCamera(0, CAMERA, lambda _: next(captures))
    camera.open()
    camera.close()
    assert camera.open() == ()
    assert second.read_count == 1
    assert second.values | FOUND == second.values
