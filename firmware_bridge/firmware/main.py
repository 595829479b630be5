"""Started by MicroPython when the Pico gets power; copied to its root as main.py."""

import time

from firmware_bridge.firmware.controller import Controller
from firmware_bridge.firmware.pico import Pico, wants_repair


def main() -> None:
    """Run until the power goes."""
    controller = Controller(Pico())
    while True:
        time.sleep_ms(min(controller.step(), 1))


if not wants_repair():
    main()
