"""The Raspberry Pi Pico as a board; the only file that knows its pins.  See docs/pillars.md for the wiring."""

import os
import select
import sys
import time

import machine
import micropython

from firmware_bridge.firmware import wire

ADDRESS_PINS = (2, 3, 4, 5)
"""GPIO of S0…S3 of both multiplexers."""

ADC_PINS = (26, 27)
"""GPIO of the common pins of the first and the second one."""

REPAIR_PIN = 22
"""If it is tied to ground at power-on, the program does not start and leaves the board to mpremote."""

SETTLE_US = 20
"""Four time constants of 100 kΩ and 50 pF at the multiplexer's common."""

WATCHDOG_MS = 2000
FILE, NEW_FILE = "pillars.cal", "pillars.new"


class Pico:
    """See firmware_bridge.board.Board."""

    def __init__(self) -> None:
        # A byte 3 is data here, not control-C.
        micropython.kbd_intr(-1)
        self.uid = machine.unique_id()
        self.boot = int.from_bytes(os.urandom(4), "little")
        self.cause = {machine.PWRON_RESET: wire.POWER_ON, machine.WDT_RESET: wire.WATCHDOG}.get(
            machine.reset_cause(), wire.OTHER_RESET
        )
        self._address = [machine.Pin(pin, machine.Pin.OUT) for pin in ADDRESS_PINS]
        self._read = [machine.ADC(pin).read_u16 for pin in ADC_PINS]
        self._input = select.poll()
        self._input.register(sys.stdin, select.POLLIN)
        self._ticks = time.ticks_ms()
        self._ms = 0
        self._watchdog = machine.WDT(timeout=WATCHDOG_MS)

    def millis(self) -> int:
        """Milliseconds since the start; the ticks wrap after 12 days, this does not."""
        now = time.ticks_ms()
        self._ms += time.ticks_diff(now, self._ticks)
        self._ticks = now
        return self._ms

    def micros(self) -> int:
        """Microseconds, for differences below a second."""
        return time.ticks_us()

    def measure(self, channel: int) -> "tuple[list[int], list[int]]":
        """Six samples of each; written out, since a call takes ten times as long as a conversion."""
        s0, s1, s2, s3 = self._address
        s0(channel & 1)
        s1(channel & 2)
        s2(channel & 4)
        s3(channel & 8)
        time.sleep_us(SETTLE_US)
        one, other = self._read
        # The first conversion may still show the channel before.
        one()
        other()
        return [one(), one(), one(), one(), one(), one()], [other(), other(), other(), other(), other(), other()]

    def read(self) -> bytes:
        """What has come, without waiting; byte by byte, since reading more than one would wait."""
        data = b""
        while self._input.poll(0):
            data += sys.stdin.buffer.read(1)
        return data

    def write(self, data: bytes) -> None:
        """Send to the host; what nobody fetches within half a second is lost (the port's own limit)."""
        sys.stdout.buffer.write(data)

    def load(self) -> bytes:
        """The stored calibration, empty where there is none."""
        try:
            with open(FILE, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def store(self, data: bytes) -> bool:
        """Store a calibration; the old one stays until the new one is complete."""
        try:
            with open(NEW_FILE, "wb") as file:
                file.write(data)
            os.rename(NEW_FILE, FILE)
        except OSError:
            return False
        return True

    def feed(self) -> None:
        """Tell the watchdog that the loop is running."""
        self._watchdog.feed()


def wants_repair() -> bool:
    """Whether somebody has tied the repair pin to ground."""
    return machine.Pin(REPAIR_PIN, machine.Pin.IN, machine.Pin.PULL_UP).value() == 0
