"""The panel on real pins, through gpiozero; on mock pins where there are none.  Nothing else imports gpiozero."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpiozero import LED, RGBLED, GPIOZeroError, TonalBuzzer
from gpiozero.pins.mock import MockFactory, MockPWMPin
from gpiozero.tones import Tone

from companion.panel.panel import PanelError, Shown
from companion.panel.pins import Pins
from companion.panel.player import Lights
from companion.rules.board import Player

OCTAVES = 1
"""Of the buzzer on either side of A4: 220 … 880 Hz."""


class GpioPanel:
    """An RGB status light, one light a player, a buzzer.

    Args:
        players: in turn order; each has the light of the same place in ``pins.players``.
        pins: which pin does what.
        factory: gpiozero's pin factory; None for gpiozero's own choice.

    Raises:
        PanelError: the pins cannot be had, or are too few for the players.
    """

    def __init__(self, players: tuple[Player, ...], pins: Pins, factory: Any) -> None:
        if len(players) > len(pins.players):
            raise PanelError(f"panel: {len(players)} players but only {len(pins.players)} player pins; name more")
        self._shown = Lights()
        self._devices: list[Any] = []
        try:
            with _told_plainly():
                self._status = self._made(RGBLED, pins.red, pins.green, pins.blue, pin_factory=factory)
                self._buzzer = self._made(TonalBuzzer, pins.buzzer, octaves=OCTAVES, pin_factory=factory)
                self._lamps = {
                    player: self._made(LED, pin, pin_factory=factory)
                    for player, pin in zip(players, pins.players, strict=False)
                }
        except PanelError:
            self.close()
            raise

    def show(self, shown: Shown) -> None:
        """Set what differs from what is shown."""
        lights, before = shown.lights, self._shown
        self._shown = lights
        with _told_plainly():
            if lights.colour != before.colour:
                self._status.color = lights.colour
            if lights.tone_hz != before.tone_hz:
                self._buzzer.play(None if lights.tone_hz is None else Tone.from_frequency(lights.tone_hz))
            if lights.players != before.players:
                for player, lamp in self._lamps.items():
                    lamp.value = player in lights.players

    def close(self) -> None:
        """Put everything out and give the pins back."""
        while self._devices:
            self._devices.pop().close()

    def _made(self, kind: Callable[..., Any], *pins: int, **options: Any) -> Any:
        device = kind(*pins, **options)
        self._devices.append(device)
        return device


def pin_factory(environment: Mapping[str, str], devices: Path = Path("/dev")) -> Any:
    """Mock pins where the environment asks for them or the machine has no GPIO, else None: gpiozero's own choice."""
    wants_mock = environment.get("GPIOZERO_PIN_FACTORY") == "mock"
    if wants_mock or not any(devices.glob("gpiochip*")):
        return MockFactory(pin_class=MockPWMPin)
    return None


@contextmanager
def _told_plainly() -> Iterator[None]:
    try:
        yield
    except (GPIOZeroError, OSError) as error:
        why = " ".join(str(error).split())
        raise PanelError(
            f"panel: no way to the GPIO pins ({why}); see docs/panel.md, or run --panel terminal"
        ) from error
