"""The analogue side: 25 slide pots, two multiplexers and their wires, as the firmware's converter sees them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from firmware_bridge.firmware.pillars import FULL, GROUND, MIDDLE, NOMINAL, WIRED
from firmware_bridge.firmware.wire import PILLARS

TOP = 65535
CONVERTER_NOISE = 80.0
"""Standard deviation of one sample: 5 of 4096 steps, that of the RP2040's converter (effective 8.7 bits)."""

WILD_MM = 6.0
"""Standard deviation of the noise of a pot whose track is worn."""

PLACES = {
    **{(0, channel): i for i, channel in enumerate(WIRED)},
    **{(1, c): len(WIRED) + i for i, c in enumerate(WIRED)},
}
"""(multiplexer, channel) → pillar; the last channel of the second one is spare."""


@dataclass
class Bench:
    """Pots at ``heights_mm`` above the mat, and what is wrong with them.

    Attributes:
        heights_mm: where the pillars stand.
        lowest_mm, highest_mm: heights at the two ends of a pot's travel.
        noise_mm: standard deviation of a pot's own noise, drawn anew for each scan.
        broken: pillar → one of ``open``, ``short``, ``stuck``, ``jam``, ``noise``.
        supply: whether the pots have voltage.
        stuck_line: (multiplexer, number of the address line, its value) of a line that does not switch.
    """

    heights_mm: Sequence[float]
    lowest_mm: float = 12.0
    highest_mm: float = 72.0
    noise_mm: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 - noise, no secret
    broken: dict[int, str] = field(default_factory=dict)
    supply: bool = True
    stuck_line: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        """Begin with nothing stuck."""
        self._kept: dict[int, int] = {}
        self._jammed_mm: dict[int, float] = {}
        self._shake_mm = [0.0] * PILLARS

    def next_scan(self) -> None:
        """Draw each pot's own noise anew."""
        gauss = self.rng.gauss
        if self.noise_mm or self.broken:
            for i in range(PILLARS):
                sigma = WILD_MM if self.broken.get(i) == "noise" else self.noise_mm
                self._shake_mm[i] = gauss(0.0, sigma) if sigma else 0.0
        self._kept = {i: raw for i, raw in self._kept.items() if self.broken.get(i) == "stuck"}
        self._jammed_mm = {i: mm for i, mm in self._jammed_mm.items() if self.broken.get(i) == "jam"}

    def raw(self, mux: int, channel: int) -> int:
        """One sample: 0…65535 in steps of 16, as 12 bits give them."""
        if self.stuck_line is not None and self.stuck_line[0] == mux:
            bit, value = 1 << self.stuck_line[1], self.stuck_line[2]
            channel = channel | bit if value else channel & ~bit
        pillar = PLACES.get((mux, channel), PILLARS)
        if pillar in self._kept:
            return self._kept[pillar]
        level = self._level(pillar, channel) + self.rng.gauss(0.0, CONVERTER_NOISE)
        raw = min(max(int(level), 0), TOP) & ~15
        if self.broken.get(pillar) == "stuck":
            self._kept[pillar] = raw
        return raw | raw >> 12

    def _level(self, pillar: int, channel: int) -> float:
        """The voltage on a channel: 0…65535 of the supply."""
        if not self.supply or channel == GROUND:
            return 0.0
        if channel in (MIDDLE, FULL):
            return TOP / 2 if channel == MIDDLE else TOP
        fault = self.broken.get(pillar)
        if pillar >= PILLARS or fault in ("open", "short"):
            return TOP if fault == "short" else 0.0
        mm = self.heights_mm[pillar]
        if fault == "jam":
            mm = self._jammed_mm.setdefault(pillar, mm)
        share = (mm + self._shake_mm[pillar] - self.lowest_mm) / (self.highest_mm - self.lowest_mm)
        return NOMINAL[0] + share * (NOMINAL[1] - NOMINAL[0])


Heights = Callable[[float], Sequence[float]]
"""Where the pillars stand at a time (s): mm above the mat, in the order of the wire."""
