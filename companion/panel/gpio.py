"""The panel on real pins, through gpiozero; on mock pins if there are none.  Nothing else imports gpiozero."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from gpiozero import LED, RGBLED, DigitalInputDevice, GPIOZeroError, TonalBuzzer
from gpiozero.pins.mock import MockFactory, MockPWMPin
from gpiozero.tones import Tone

from companion.panel.buttons import Button, ButtonState, Press, debounced, next_due, with_sample
from companion.panel.cue_player import Lights
from companion.panel.panel import PanelDisplay, PanelError
from companion.panel.pins import Pins
from companion.rules.board import Player

OCTAVES = 1
"""Octaves of the buzzer on either side of A4: 220 … 880 Hz."""


class GpioPanel:
    """An RGB status light, one light a player, a buzzer.

    Args:
        players: in turn order; each has the light at the same place in ``pins.players``.
        pins: which pin does what.
        factory: gpiozero's pin factory; None for gpiozero's own choice.

    Raises:
        PanelError: the pins cannot be used, or are too few for the players.
    """

    def __init__(self, players: tuple[Player, ...], pins: Pins, factory: Any) -> None:
        if len(players) > len(pins.players):
            raise PanelError(f"panel: {len(players)} players but only {len(pins.players)} player pins; name more")
        self._shown = Lights()
        self._devices: list[Any] = []
        try:
            with _panel_errors():
                self._status = self._made(RGBLED, pins.red, pins.green, pins.blue, pin_factory=factory)
                self._buzzer = self._made(TonalBuzzer, pins.buzzer, octaves=OCTAVES, pin_factory=factory)
                self._lamps = {
                    player: self._made(LED, pin, pin_factory=factory)
                    for player, pin in zip(players, pins.players, strict=False)
                }
        except PanelError:
            self.close()
            raise

    def show(self, shown: PanelDisplay) -> None:
        """Set what differs from what is shown."""
        lights, before = shown.lights, self._shown
        self._shown = lights
        with _panel_errors():
            if lights.colour != before.colour:
                self._status.color = lights.colour
            if lights.tone_hz != before.tone_hz:
                self._buzzer.play(None if lights.tone_hz is None else Tone.from_frequency(lights.tone_hz))
            if lights.players != before.players:
                for player, lamp in self._lamps.items():
                    lamp.value = player in lights.players

    def close(self) -> None:
        """Turn everything off and release the pins."""
        while self._devices:
            self._devices.pop().close()

    def _made(self, kind: Callable[..., Any], *pins: int, **options: Any) -> Any:
        device = kind(*pins, **options)
        self._devices.append(device)
        return device


class GpioButtons:
    """The three push buttons.  Their presses are reported from a thread of their own.

    gpiozero's own button debounces on real pins only and needs a thread for each; this way the logic is tested.

    Args:
        pins: which pin does what.
        factory: gpiozero's pin factory; None for gpiozero's own choice.
        press: called with every press; must be quick.

    Raises:
        PanelError: the pins cannot be used.
    """

    def __init__(self, pins: Pins, factory: Any, press: Callable[[Press], None]) -> None:
        self._press = press
        self._edges: SimpleQueue[tuple[Button, bool, float] | None] = SimpleQueue()
        self._devices: list[Any] = []
        try:
            with _panel_errors():
                for button, number in _numbers(pins).items():
                    device = DigitalInputDevice(number, pull_up=True, pin_factory=factory)
                    self._devices.append(device)
                    device.when_activated = partial(self._closed, button)
                    device.when_deactivated = partial(self._opened, button)
        except PanelError:
            self._give_back()
            raise
        self._thread = Thread(target=self._run, name="buttons", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and release the pins; a second call does nothing."""
        self._edges.put(None)
        self._thread.join()
        self._give_back()

    # Both are called by gpiozero, in whatever thread sees the pin change.
    def _closed(self, button: Button) -> None:
        self._edges.put((button, True, time.monotonic()))

    def _opened(self, button: Button) -> None:
        self._edges.put((button, False, time.monotonic()))

    def _run(self) -> None:
        contacts = {button: ButtonState() for button in Button}
        while True:
            due = [t_s for t_s in map(next_due, contacts.values()) if t_s is not None]
            try:
                edge = self._edges.get(timeout=max(0.0, min(due) - time.monotonic()) if due else None)
            except Empty:
                self._settle(contacts, time.monotonic())
                continue
            if edge is None:
                return
            button, level, t_s = edge
            self._settle(contacts, t_s)
            contacts[button] = with_sample(contacts[button], level=level, t_s=t_s)

    def _settle(self, contacts: dict[Button, ButtonState], t_s: float) -> None:
        for button, contact in contacts.items():
            contacts[button], presses = debounced(contact, button, t_s)
            for press in presses:
                self._press(press)

    def _give_back(self) -> None:
        while self._devices:
            self._devices.pop().close()


def stuck_buttons(pins: Pins, factory: Any) -> tuple[Button, ...]:
    """The buttons that are closed at present.  Raises PanelError."""
    stuck = []
    with _panel_errors():
        for button, number in _numbers(pins).items():
            with DigitalInputDevice(number, pull_up=True, pin_factory=factory) as device:
                stuck += [button] * bool(device.value)
    return tuple(stuck)


def _numbers(pins: Pins) -> dict[Button, int]:
    return {Button.DONE: pins.done, Button.UNDO: pins.undo, Button.ARBITER: pins.arbiter}


def pin_factory(environment: Mapping[str, str], devices: Path = Path("/dev")) -> Any:
    """Mock pins if the environment asks for them or the machine has no GPIO, else None: gpiozero's own choice."""
    wants_mock = environment.get("GPIOZERO_PIN_FACTORY") == "mock"
    if wants_mock or not any(devices.glob("gpiochip*")):
        return MockFactory(pin_class=MockPWMPin)
    return None


@contextmanager
def _panel_errors() -> Iterator[None]:
    try:
        yield
    except (GPIOZeroError, OSError) as error:
        why = " ".join(str(error).split())
        raise PanelError(
            f"panel: no way to the GPIO pins ({why}); see docs/panel.md, or run --panel terminal"
        ) from error
