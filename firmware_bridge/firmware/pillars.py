"""From raw samples to heights, levels and faults.  Pure; whole numbers only, since floats cost a Pico's heap.

Raw values are 0…65535 of the supply.  Every pot has a resistor at either end, so that a good wiper never reads near 0
or full scale; a pull-down of 100 kΩ behind each multiplexer makes an open wire read 0 (docs/pillars.md).
"""

from firmware_bridge.firmware import wire

SAMPLES = 8
"""Samples a channel after the first, which may still show the channel before; the middle half of them is summed."""

OPEN_BELOW, SHORT_ABOVE = 1000, 64500
"""Raw; the end resistors keep a good pot between 2800 and 62700."""

NOMINAL = (2818, 62717)
"""Raw values at the lowest and the highest level while nothing has been calibrated: 10 kΩ between two of 470 Ω."""

LEAST_SPAN = 8000
"""Raw values between lowest and highest level; less is a pillar that was not moved."""

SEATED_PERCENT = 35
"""A pillar nearer to a level than this share of a step has it; between, it keeps the one that it had (hysteresis)."""

BETWEEN_MS = 3000
STUCK_MS = 3000
"""A live value always flickers in its last bits: one that stays the same for so long is no measurement."""

NOISY, QUIET, MOST_CHANGE = 350, 200, 1000
"""Mean change from scan to scan in hundredths of a millimetre from which a value is noise, and below which it is none
any more; one scan counts for no more than the third.  The kit's noise of 0.8 mm makes 0.9 mm; a hand that moves a
pillar over its whole way at 300 mm/s raises the mean to 3 mm."""

GROUND, MIDDLE, FULL = 0, 10, 15
"""Channels of the references.  Between them each address line is both 0 and 1, so a stuck line shows."""

WIRED = tuple(channel for channel in range(16) if channel not in (GROUND, MIDDLE, FULL))
"""Channels of the pillars: 13 on the first multiplexer, the next 12 on the second."""


def scanned(board: "Board") -> "tuple[list[int], list[int]]":
    """The raw value of each pillar, and of the references: ground, middle, full of the first, then of the second."""
    raw = [[0] * 16, [0] * 16]
    for channel in range(16):
        board.select(channel)
        for mux in (0, 1):
            board.sample(mux)
            samples = sorted([board.sample(mux) for _ in range(SAMPLES)])
            raw[mux][channel] = sum(samples[SAMPLES // 4 : -SAMPLES // 4]) // (SAMPLES // 2)
    pillars = ([raw[0][channel] for channel in WIRED] + [raw[1][channel] for channel in WIRED])[: wire.PILLARS]
    return pillars, [raw[mux][channel] for mux in (0, 1) for channel in (GROUND, MIDDLE, FULL)]


def board_state(references: "list[int]") -> int:
    """The bits of the board's state that the references tell."""
    if references[2] < OPEN_BELOW and references[5] < OPEN_BELOW:
        return wire.SUPPLY_OFF
    state = 0
    for mux, bit in ((0, wire.LINES_A), (1, wire.LINES_B)):
        ground, middle, full = references[3 * mux : 3 * mux + 3]
        if ground > OPEN_BELOW or full < SHORT_ABOVE or not 29000 < middle < 36500:
            state |= bit
    return state


class Scale:
    """Where the levels are: hundredths of a millimetre."""

    def __init__(self, base: int = 1200, step: int = 1000, lowest: int = 0, highest: int = 6) -> None:
        self.base, self.step, self.lowest, self.highest = base, step, lowest, highest

    def height(self, level: int) -> int:
        """Of a level."""
        return self.base + level * self.step

    def is_plausible(self) -> bool:
        """Whether there are levels, and all of them can be told on the wire."""
        return (
            0 <= self.lowest < self.highest < wire.UNKNOWN_LEVEL and self.step > 0 and self.height(self.highest) < 65000
        )


class Pillar:
    """One pillar: its height in hundredths of a millimetre, its level, its fault."""

    def __init__(self) -> None:
        self.low, self.high = NOMINAL
        self.raw = 0
        self.height = wire.UNKNOWN_HEIGHT
        self.level = wire.UNKNOWN_LEVEL
        self.fault = wire.OK
        self._recent = [0, 0, 0]
        self._unrest = 0
        self._changed_ms = 0
        self._seated_ms = 0
        self._last = -1

    def step(self, raw: int, ms: int, scale: Scale) -> None:
        """One more scan."""
        if self._last < 0:
            self._recent = [raw, raw, raw]
            self._changed_ms = self._seated_ms = ms
        if raw != self._last:
            self._changed_ms = ms
            change = abs(self._height_of(raw, scale) - self._height_of(self._last, scale)) if self._last >= 0 else 0
            self._unrest += min(change, MOST_CHANGE)
        self._unrest -= self._unrest // 16
        self._last = raw
        self._recent = [self._recent[1], self._recent[2], raw]
        self.raw = sorted(self._recent)[1]
        self.height = min(max(self._height_of(self.raw, scale), 0), wire.UNKNOWN_HEIGHT - 1)
        self._seat(ms, scale)
        self.fault = self._found(ms, scale)

    def state(self) -> int:
        """As on the wire."""
        return self.fault << 5 | self.level

    def _height_of(self, raw: int, scale: Scale) -> int:
        span = (scale.highest - scale.lowest) * scale.step
        return scale.height(scale.lowest) + (raw - self.low) * span // (self.high - self.low)

    def _seat(self, ms: int, scale: Scale) -> None:
        """The level, once the height is near one; a pillar on its way keeps the one it had."""
        nearest = (self.height - scale.base + scale.step // 2) // scale.step
        nearest = min(max(nearest, scale.lowest), scale.highest)
        off = abs(self.height - scale.height(nearest))
        if 100 * off <= SEATED_PERCENT * scale.step:
            self.level = nearest
            self._seated_ms = ms

    def _found(self, ms: int, scale: Scale) -> int:
        """The fault, the gravest first."""
        if self.raw < OPEN_BELOW:
            return wire.OPEN
        if self.raw > SHORT_ABOVE:
            return wire.SHORT
        if self._unrest > 16 * (QUIET if self.fault == wire.NOISY else NOISY):
            return wire.NOISY
        if ms - self._changed_ms >= STUCK_MS:
            return wire.STUCK
        beyond = 8 * scale.step // 10
        if not scale.height(scale.lowest) - beyond <= self.height <= scale.height(scale.highest) + beyond:
            return wire.RANGE
        return wire.BETWEEN if ms - self._seated_ms >= BETWEEN_MS else wire.OK


TYPE_CHECKING = False
if TYPE_CHECKING:
    from firmware_bridge.board import Board
