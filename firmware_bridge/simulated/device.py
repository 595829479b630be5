"""The simulated controller with its cable, stepped by whoever has a clock: bytes in, bytes out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from firmware_bridge.firmware import wire
from firmware_bridge.firmware.controller import Controller
from firmware_bridge.simulated.bench import Bench, Heights
from firmware_bridge.simulated.board import SimulatedBoard
from firmware_bridge.simulated.faults import OF_PILLARS, Fault

WATCHDOG_S = 2.0
"""As on the Pico."""

NOT_YET_S = -1.0
"""The time of heights and faults before that has begun."""

BAD_BYTES = 0.01
"""Share of the bytes that a bad line drops or flips."""


class Host(Protocol):
    """Something that runs the firmware."""

    def start(self, boot: int, cause: int) -> None:
        """Start anew, as after a reset."""
        ...

    def run(self, t_s: float, received: bytes) -> bytes:
        """Give it bytes and let it run until ``t_s``; returns what it sends."""
        ...

    def freeze(self, *, frozen: bool) -> None:
        """Stop its processor, or let it continue."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class InProcess:
    """Runs the firmware on this very interpreter."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._flash: dict[str, bytes] = {}
        self._now_s = 0.0
        self._frozen = False
        self.start(0, wire.POWER_ON)

    def start(self, boot: int, cause: int) -> None:
        """Start a new board, its clock at zero, with the old flash."""
        self._board = SimulatedBoard(self._bench, boot, cause, self._flash)
        self._started_s = self._now_s
        self._controller = Controller(self._board)

    def run(self, t_s: float, received: bytes) -> bytes:
        """Run all iterations of the loop that are due until then."""
        self._now_s = t_s
        board, until_ms = self._board, round(1000 * (t_s - self._started_s))
        if not self._frozen:
            while (due_ms := board.now_ms + self._controller.step()) < until_ms:
                board.now_ms = max(due_ms, board.now_ms + 1)
            board.now_ms = until_ms
            board.inbox += received
            self._controller.step()
        sent, board.outbox = board.outbox, b""
        return sent

    def freeze(self, *, frozen: bool) -> None:
        """Stop the loop, or let it continue."""
        self._frozen = frozen

    def close(self) -> None:
        """Nothing to end."""


class Device:
    """A controller whose pillars stand where ``heights`` says, with ``faults`` on demand.

    The time of heights and faults begins when the host first speaks, so that a file and a video can be played together.

    Attributes:
        plugged: whether its cable is in.
    """

    def __init__(self, bench: Bench, heights: Heights, faults: Sequence[Fault] = (), host: Host | None = None) -> None:
        """The same seed of ``bench.rng`` gives the same start numbers, noise and bad bytes."""
        self.plugged = True
        self._bench, self._heights, self._faults = bench, heights, tuple(faults)
        self._host = host or InProcess(bench)
        self._rng = random.Random(bench.rng.random())  # noqa: S311 - noise, no secret
        self._begun: set[Fault] = set()
        self._frozen_s: float | None = None
        self._spoken_s: float | None = None
        self._played_s = NOT_YET_S
        self._boot(wire.POWER_ON)

    def run(self, t_s: float, received: bytes = b"") -> bytes:
        """What comes out of the cable until ``t_s``, when ``received`` goes in."""
        if received and self._spoken_s is None:
            self._spoken_s = t_s
        played_s = NOT_YET_S if self._spoken_s is None else t_s - self._spoken_s
        on = [fault for fault in self._faults if fault.is_on(played_s, self._played_s)]
        self._played_s = played_s
        self._bench.heights_mm = self._heights(max(played_s, 0.0))
        self._bench.broken = {fault.pillar: fault.name for fault in on if fault.name in OF_PILLARS}
        names = {fault.name for fault in on}
        self._bench.supply = "supply" not in names
        self._bench.stuck_line = (0, 2, 1) if "line" in names else None
        self._act(on, names, t_s)
        if not self.plugged:
            return b""
        return self._over_the_line(self._host.run(t_s, self._over_the_line(received, names)), names)

    def close(self) -> None:
        """End the firmware."""
        self._host.close()

    def _act(self, on: Sequence[Fault], names: set[str], t_s: float) -> None:
        """Apply what happens to the whole board: power from the cable, a reboot, a loop that hangs and its watchdog."""
        if self.plugged == ("cable" in names):
            self.plugged = not self.plugged
            if self.plugged:
                self._host.run(t_s, b"")
                self._boot(wire.POWER_ON)
        for fault in on:
            if fault not in self._begun and fault.name in ("reboot", "freeze"):
                self._begun.add(fault)
                if fault.name == "reboot":
                    self._boot(wire.OTHER_RESET)
                else:
                    self._host.freeze(frozen=True)
                    self._frozen_s = t_s
        if self._frozen_s is not None and t_s - self._frozen_s >= WATCHDOG_S:
            self._frozen_s = None
            self._host.freeze(frozen=False)
            self._boot(wire.WATCHDOG)

    def _boot(self, cause: int) -> None:
        self._host.start(self._rng.getrandbits(32), cause)

    def _over_the_line(self, data: bytes, names: set[str]) -> bytes:
        if not names & {"drop", "flip"}:
            return data
        result = bytearray()
        for byte in data:
            is_bad = self._rng.random() < BAD_BYTES
            if is_bad and "flip" in names:
                result.append(byte ^ 1 << self._rng.randrange(8))
            elif not is_bad or "drop" not in names:
                result.append(byte)
        return bytes(result)
