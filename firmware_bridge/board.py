"""What the firmware needs of a board: a Pico (firmware/pico.py) or a simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Board(Protocol):
    """Pins, line, clock and flash.

    Attributes:
        uid: the board's own 8 bytes.
        boot: random number of this start, 32 bit.
        cause: why it started: wire.POWER_ON, WATCHDOG or OTHER_RESET.
    """

    uid: bytes
    boot: int
    cause: int

    def millis(self) -> int:
        """Milliseconds since some moment before the start; never wraps."""
        ...

    def micros(self) -> int:
        """Microseconds, for differences."""
        ...

    def measure(self, channel: int) -> tuple[Sequence[int], Sequence[int]]:
        """Switch both multiplexers to a channel 0…15, let them settle, take pillars.SAMPLES of each: 0…65535."""
        ...

    def read(self) -> bytes:
        """Bytes received from the host; never waits."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes to the host."""
        ...

    def load(self) -> bytes:
        """The data stored last; empty where nothing was."""
        ...

    def store(self, data: bytes) -> bool:
        """Keep ``data`` across power cuts; returns whether that worked."""
        ...

    def feed(self) -> None:
        """Tell the watchdog that the loop is alive."""
        ...
