"""A board for the firmware in this very process: its clock is set from outside, its pins end at a :class:`Bench`."""

from __future__ import annotations

import time

from firmware_bridge.firmware import wire
from firmware_bridge.firmware.pillars import SAMPLES
from firmware_bridge.simulated.bench import Bench

UID = b"simulate"


class SimulatedBoard:
    """See :class:`firmware_bridge.board.Board`; ``inbox`` and ``outbox`` are the two ends of its line."""

    def __init__(
        self, bench: Bench, boot: int, cause: int = wire.POWER_ON, flash: dict[str, bytes] | None = None
    ) -> None:
        """``flash`` outlives the board: what is stored there is found again."""
        self.uid, self.boot, self.cause = UID, boot, cause
        self.now_ms = 0
        self.inbox = self.outbox = b""
        self._bench = bench
        self._flash = {} if flash is None else flash

    def millis(self) -> int:
        """The time that was set."""
        return self.now_ms

    def micros(self) -> int:
        """CPU time of this thread: how long a scan takes here, whatever else the computer is busy with."""
        return time.thread_time_ns() // 1000

    def measure(self, channel: int) -> tuple[list[int], list[int]]:
        """Samples from the bench; channel 0 begins a scan."""
        if channel == 0:
            self._bench.next_scan()
        one, other = ([self._bench.raw(mux, channel) for _ in range(SAMPLES)] for mux in (0, 1))
        return one, other

    def read(self) -> bytes:
        """All that has come."""
        data, self.inbox = self.inbox, b""
        return data

    def write(self, data: bytes) -> None:
        """Put into ``outbox``, to be fetched."""
        self.outbox += data

    def load(self) -> bytes:
        """Read from the flash."""
        return self._flash.get("calibration", b"")

    def store(self, data: bytes) -> bool:
        """Write to the flash."""
        self._flash["calibration"] = data
        return True

    def feed(self) -> None:
        """Do nothing: whoever runs the board watches it."""
