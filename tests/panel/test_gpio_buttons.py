"""Push buttons on gpiozero's mock pins, with real threads in real time."""

import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory, MockPWMPin

from companion.panel.buttons import HELD_S, Button, Press
from companion.panel.gpio import GpioButtons
from companion.panel.panel import PanelError
from companion.panel.pins import Pins

PINS = Pins()
PATIENCE_S = 60.0
STEADY = 0.05
"""Time (s) after which a contact counts as steady."""


@pytest.fixture
def factory() -> Iterator[MockFactory]:
    """Return gpiozero's mock pins."""
    made = MockFactory(pin_class=MockPWMPin)
    yield made
    made.reset()


@pytest.fixture
def told() -> SimpleQueue[Press]:
    """Return the queue that receives the presses."""
    return SimpleQueue()


@pytest.fixture
def buttons(factory: MockFactory, told: SimpleQueue[Press]) -> Iterator[GpioButtons]:
    made = GpioButtons(PINS, factory, told.put)
    yield made
    made.close()


def bounce(factory: MockFactory, number: int) -> None:
    """Let a contact bounce and then close (pulled up: low is closed)."""
    pin = factory.pin(number)
    for _ in range(4):
        pin.drive_low()
        pin.drive_high()
    pin.drive_low()


@pytest.mark.usefixtures("buttons")
def test_each_button_tells_its_press_once(factory: MockFactory, told: SimpleQueue[Press]) -> None:
    for number, button in ((PINS.done, Button.DONE), (PINS.undo, Button.UNDO), (PINS.arbiter, Button.ARBITER)):
        bounce(factory, number)
        assert told.get(timeout=PATIENCE_S) == Press(button)
        factory.pin(number).drive_high()
        time.sleep(STEADY)
    assert told.empty()


@pytest.mark.usefixtures("buttons")
def test_one_that_is_held_is_told_again(factory: MockFactory, told: SimpleQueue[Press]) -> None:
    pressed_s = time.monotonic()
    bounce(factory, PINS.arbiter)
    assert told.get(timeout=PATIENCE_S) == Press(Button.ARBITER)
    assert told.get(timeout=PATIENCE_S) == Press(Button.ARBITER, is_held=True)
    assert time.monotonic() - pressed_s >= HELD_S


def test_closing_gives_the_pins_back_and_leaves_no_thread(factory: MockFactory, told: SimpleQueue[Press]) -> None:
    before = set(threading.enumerate())
    buttons = GpioButtons(PINS, factory, told.put)
    assert set(threading.enumerate()) - before
    buttons.close()
    buttons.close()
    assert set(threading.enumerate()) <= before
    for number in (PINS.done, PINS.undo, PINS.arbiter):
        LED(number, pin_factory=factory).close()


def test_a_pin_in_use_is_one_line_and_frees_the_others(factory: MockFactory, told: SimpleQueue[Press]) -> None:
    other = LED(PINS.undo, pin_factory=factory)
    with pytest.raises(PanelError, match=r"panel: no way to the GPIO pins \(.*GPIO24"):
        GpioButtons(PINS, factory, told.put)
    LED(PINS.done, pin_factory=factory).close()
    other.close()
