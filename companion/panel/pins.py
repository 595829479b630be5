"""Which GPIO pin does what, and which pins must not be used."""

from __future__ import annotations

from dataclasses import dataclass

from companion.errors import BadText

RESERVED = {
    0: "the HAT's memory",
    1: "the HAT's memory",
    2: "the I2C bus",
    3: "the I2C bus",
    14: "the serial console",
    15: "the serial console",
}
"""Pins that a Raspberry Pi uses itself, and what for."""

PINS = range(28)
"""The GPIO numbers on the 40-pin header."""


@dataclass(frozen=True, slots=True)
class Pins:
    """GPIO numbers (not places on the header); the defaults avoid :data:`RESERVED`.

    Attributes:
        red, green, blue: the status light, driven by PWM.
        players: one light a player, in turn order.
        buzzer: a piezo; 12, 13, 18 and 19 have hardware PWM.
        done, undo, arbiter: push buttons to ground; the Raspberry Pi pulls them up.

    Raises:
        BadText: a pin is reserved, used twice or not on the header.
    """

    red: int = 17
    green: int = 27
    blue: int = 22
    players: tuple[int, ...] = (5, 6, 16, 26)
    buzzer: int = 12
    done: int = 23
    undo: int = 24
    arbiter: int = 25

    def __post_init__(self) -> None:
        used = (self.red, self.green, self.blue, *self.players, self.buzzer, self.done, self.undo, self.arbiter)
        for pin in used:
            if pin not in PINS:
                raise BadText(f"panel pin {pin} is not on the header; write one of 4-13 or 16-27")
            if pin in RESERVED:
                raise BadText(f"panel pin {pin} belongs to {RESERVED[pin]}; write one of 4-13 or 16-27")
            if used.count(pin) > 1:
                raise BadText(f"panel pin {pin} is used twice; give each part a pin of its own")
