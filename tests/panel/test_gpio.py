"""The panel on gpiozero's mock pins: whole sequences, pin by pin."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gpiozero import LED, GPIOZeroError
from gpiozero.pins.mock import MockFactory, MockPin, MockPWMPin

from companion.events import Accepted, Event, GameOver, Illegal, Start, ViewChanged
from companion.panel.controller import PanelController
from companion.panel.cue_player import Lights
from companion.panel.cues import WHITE
from companion.panel.gpio import GpioPanel, pin_factory
from companion.panel.panel import PanelDisplay, PanelError
from companion.panel.pins import Pins

PINS = Pins()
START = Start(t=0, n=1, position="g b R")
ACCEPTED = Accepted(t=0, n=1, player="R", move="m", position="g b G")
ILLEGAL = Illegal(t=0, n=1, player="G", attempt=None, rules=(), reason="", cells=(), seen="", expected="")


@pytest.fixture
def factory() -> Iterator[MockFactory]:
    """Return gpiozero's mock pins with PWM."""
    made = MockFactory(pin_class=MockPWMPin)
    yield made
    made.reset()


@pytest.fixture
def panel(factory: MockFactory) -> Iterator[GpioPanel]:
    """Return a panel for two players on mock pins."""
    made = GpioPanel(("R", "G"), PINS, factory)
    yield made
    made.close()


@pytest.fixture
def announcer(panel: GpioPanel, clock: Any) -> PanelController:
    """Return a panel controller in the middle of a match; Red is to move."""
    made = PanelController(panel, clock)
    made.tell(START)
    clock.t = 100.0
    made.tick()
    return made


def told(
    announcer: PanelController, clock: Any, factory: MockFactory, event: Event, until_s: float
) -> dict[str, list[float]]:
    """Return all states of each pin from ``event`` on, the first one included, and all tones (Hz)."""
    pins = {"red": PINS.red, "green": PINS.green, "blue": PINS.blue, "R": PINS.players[0], "G": PINS.players[1]}
    for pin in pins.values():
        factory.pin(pin).clear_states()
    tones = [factory.pin(PINS.buzzer).frequency or 0.0]
    begun = clock.t
    announcer.tell(event)
    while True:
        if (tone := factory.pin(PINS.buzzer).frequency or 0.0) != tones[-1]:
            tones.append(round(tone, 2))
        wait_s = announcer.tick()
        if wait_s is None or clock.t + wait_s >= begun + until_s:
            break
        clock.t += wait_s + 1e-9
        announcer.tick()
    return {name: [state.state for state in factory.pin(pin).states] for name, pin in pins.items()} | {"tone": tones}


def test_an_accepted_move(announcer: PanelController, clock: Any, factory: MockFactory) -> None:
    assert told(announcer, clock, factory, ACCEPTED, 5.0) == {
        "red": [0.0],
        "green": [1.0, 0.0, 1.0],
        "blue": [0.0],
        "R": [1.0, 0.0],
        "G": [0.0, 1.0],
        "tone": [0.0, 783.99, 0.0],
    }


def test_an_illegal_act(announcer: PanelController, clock: Any, factory: MockFactory) -> None:
    # Six barks with a period of 0.2 s, then blinks of 0.5 s: two and a half until 2.3 s.
    assert told(announcer, clock, factory, ILLEGAL, 2.3) == {
        "red": [0.0, *[1.0, 0.0] * 6, *[1.0, 0.0] * 2, 1.0],
        "green": [1.0, 0.0],
        "blue": [0.0],
        "R": [1.0, 0.0],
        "G": [0.0, *[1.0, 0.0] * 6, *[1.0, 0.0] * 2, 1.0],
        "tone": [0.0, *[261.63, 0.0] * 6],
    }


def test_a_view_in_trouble_mixes_amber_and_keeps_the_turn(
    announcer: PanelController, clock: Any, factory: MockFactory
) -> None:
    assert told(announcer, clock, factory, ViewChanged(t=0, n=1, state="blocked"), 3.5) == {
        "red": [0.0, 1.0, 0.0, 1.0, 0.0],
        "green": [1.0, 0.4, 0.0, 0.4, 0.0],
        "blue": [0.0],
        "R": [1.0],
        "G": [0.0],
        "tone": [0.0, 261.63, 0.0],
    }


def test_the_end_of_the_game(announcer: PanelController, clock: Any, factory: MockFactory) -> None:
    event = GameOver(t=0, n=1, winner="G", rule="", position="g b -")
    assert told(announcer, clock, factory, event, 3.5) == {
        "red": [0.0, 1.0, 0.0, 1.0],
        "green": [1.0, 0.0, 1.0],
        "blue": [0.0, 1.0, 0.0, 1.0],
        "R": [1.0, 0.0],
        "G": [0.0, 1.0, 0.0, 1.0],
        "tone": [0.0, 261.63, 392.0, 523.25, 783.99, 0.0],
    }


def test_closing_puts_everything_out_and_gives_the_pins_back(panel: GpioPanel, factory: MockFactory) -> None:
    panel.show(PanelDisplay(Lights(WHITE, ("R", "G"), 440.0)))
    panel.close()
    panel.close()
    for number in (PINS.red, PINS.green, PINS.blue, *PINS.players[:2], PINS.buzzer):
        assert not factory.pin(number).state
        LED(number, pin_factory=factory).close()
    assert factory.pin(PINS.buzzer).frequency is None


def test_pins_that_nobody_plays_with_are_left_alone(panel: GpioPanel, factory: MockFactory) -> None:
    LED(PINS.players[2], pin_factory=factory).close()


def test_a_pin_in_use_is_one_line_and_frees_the_others(factory: MockFactory) -> None:
    other = LED(PINS.players[1], pin_factory=factory)
    with pytest.raises(
        PanelError, match=r"panel: no way to the GPIO pins \(.*GPIO26|GPIO6.*\); see docs/panel.md"
    ) as caught:
        GpioPanel(("R", "G"), PINS, factory)
    assert "\n" not in str(caught.value)
    other.close()
    GpioPanel(("R", "G"), PINS, factory).close()


def test_pins_without_pwm_are_refused_in_one_line() -> None:
    with pytest.raises(PanelError, match="no way to the GPIO pins"):
        GpioPanel(("R", "G"), PINS, MockFactory(pin_class=MockPin))


def test_a_panel_that_fails_during_the_match_says_so(panel: GpioPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise GPIOZeroError("unplugged\nquite")

    monkeypatch.setattr(type(panel._status), "color", property(fset=fail))
    with pytest.raises(PanelError, match=r"\(unplugged quite\)"):
        panel.show(PanelDisplay(Lights(WHITE)))


@pytest.mark.parametrize(
    ("environment", "chips", "is_mock"),
    [
        ({}, [], True),
        ({}, ["gpiochip0"], False),
        ({"GPIOZERO_PIN_FACTORY": "mock"}, ["gpiochip0"], True),
        ({"GPIOZERO_PIN_FACTORY": "lgpio"}, ["gpiochip4"], False),
    ],
)
def test_mock_pins_are_used_off_the_pi_or_when_asked_for(
    tmp_path: Path, environment: dict[str, str], chips: list[str], is_mock: bool
) -> None:
    for chip in chips:
        (tmp_path / chip).touch()
    assert isinstance(pin_factory(environment, tmp_path), MockFactory) is is_mock


def test_other_pins_can_be_chosen(factory: MockFactory) -> None:
    panel = GpioPanel(("R",), replace(PINS, red=20, players=(21,)), factory)
    panel.show(PanelDisplay(Lights(WHITE, ("R",), None)))
    assert [factory.pin(number).state for number in (20, 21, PINS.red)] == [1.0, 1.0, 0.0]
    panel.close()
