"""Device checks: scripted cameras, a controller with the real firmware, a panel on mock pins."""

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from calibration.kit import load_kit
from companion.app.station import StationConfig
from companion.doctor.check import Check, Status
from companion.doctor.devices import check_camera, check_panel, check_serial
from companion.panel.buttons import Button
from companion.panel.gpio import stuck_buttons
from companion.panel.pins import Pins
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.device import Device
from firmware_bridge.simulated.faults import parse_fault
from firmware_bridge.simulated.port import Port, serve
from vision.capture.frames import SourceLost

FLAT = (12.0,) * 25
SCANNED_TURNS = 40
"""Number of turns of the controller's line after which it has scanned several times."""


class Camera:
    """A camera whose simulated clock advances by ``step_s`` per picture."""

    name = "camera 7"

    def __init__(self, step_s: float = 0.03, remarks: tuple[str, ...] = (), lost_after: int = 1000) -> None:
        self.t_s, self.closed = 0.0, False
        self._step_s, self._remarks, self._left = step_s, remarks, lost_after

    def open(self) -> tuple[str, ...]:
        return self._remarks

    def grab(self) -> np.ndarray:
        self._left -= 1
        if self._left < 0:
            raise SourceLost("camera 7: gives no more pictures; is it still plugged in?")
        self.t_s += self._step_s
        return np.zeros((72, 128, 3), np.uint8)

    def close(self) -> None:
        self.closed = True


def looked(camera: Camera) -> Check:
    """Check a camera, which must be closed afterwards."""
    check = check_camera(camera, lambda: camera.t_s).check
    assert camera.closed
    return check


def test_a_camera_that_works() -> None:
    check = looked(Camera())
    assert (check.state, check.found) == (Status.OK, "camera 7: 128 x 72 px, 33 pictures a second")


@pytest.mark.parametrize(
    ("camera", "words"),
    [
        (Camera(step_s=0.2), "5 pictures a second"),
        (Camera(remarks=("exposure stays automatic: it could not be locked",)), "exposure stays automatic"),
        (Camera(lost_after=3), "gives no more pictures"),
    ],
)
def test_a_camera_that_does_not(camera: Camera, words: str) -> None:
    check = looked(camera)
    assert check.state is Status.FAULT
    assert words in f"{check.found}: {check.todo}"


@pytest.fixture
def controller(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the port of a controller that has the faults given by the test's parameter."""
    device = Device(Bench(FLAT), lambda _: FLAT, [parse_fault(text) for text in getattr(request, "param", ())])
    device.run(0.0, b"\0")  # faults begin with the first message, and must have been detected when the test asks
    path, over, ready, turns = tmp_path / "pillars", threading.Event(), threading.Event(), count()

    def is_over() -> bool:
        if next(turns) == SCANNED_TURNS:
            ready.set()
        return over.is_set()

    thread = threading.Thread(target=serve, args=(device, Port(path), is_over), daemon=True)
    thread.start()
    assert ready.wait(60)
    yield str(path)
    over.set()
    thread.join()


def test_a_controller_tells_its_firmware(controller: str) -> None:
    check = check_serial(controller, load_kit("diamond"))
    assert check.state is Status.OK
    assert "firmware 1." in check.found
    assert "25 sensors well" in check.found


@pytest.mark.parametrize("controller", [("open:b2@0",)], indirect=True)
def test_a_broken_wire_is_named(controller: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = check_serial(controller, load_kit("diamond"))
    assert check.state is Status.FAULT
    assert "b2 open" in check.found


def test_a_port_that_is_not_there_and_a_set_without_pillars(tmp_path: Path) -> None:
    assert check_serial(None, None).state is Status.UNUSED
    assert str(tmp_path) in check_serial(str(tmp_path / "none"), load_kit("diamond")).found
    assert check_serial("loop://", load_kit("citadel")).found == "the set has no pillars"


def test_a_port_at_which_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.doctor.devices.ANSWER_S", 0.3)
    check = check_serial("loop://", load_kit("diamond"))
    assert check.state is Status.FAULT
    assert "unplug" in check.todo or "firmware" in check.todo


def panel(kind: str) -> Check:
    """Check a panel on mock pins."""
    return check_panel(StationConfig(kind), ("R", "G"), {"GPIOZERO_PIN_FACTORY": "mock"}, wait=lambda _: None)


def test_a_panel_on_mock_pins_is_said_to_be_none() -> None:
    assert panel("terminal").state is Status.UNUSED
    assert panel("gpio").found == "this machine has no GPIO pins"


def test_a_button_that_is_stuck_is_seen() -> None:
    factory, pins = MockFactory(pin_class=ShortedPin), Pins()
    assert stuck_buttons(pins, factory) == (Button.UNDO,)
    factory.reset()


class ShortedPin(MockPin):
    """Mock pins, of which the one of "undo" is shorted to ground."""

    def _set_pull(self, value: str) -> None:
        super()._set_pull(value)
        if self.info.name == f"GPIO{Pins().undo}":
            self.drive_low()
