"""From raw samples to heights, levels and faults.  Pure; whole numbers only, since floats cost a Pico's heap.

Raw values are 0…65535 of the supply.  Every pot has a resistor at either end, so that a good wiper never reads near 0
or full scale; a pull-down of 100 kΩ behind each multiplexer makes an open wire read 0 (docs/pillars.md).
"""

from firmware_bridge.firmware import wire

SAMPLES = 6
SUMMED = SAMPLES - 2
"""Samples that a board takes of a channel; all but the lowest and the highest are averaged: spikes do not count."""

OPEN_BELOW, SHORT_ABOVE = 1000, 64500
"""Raw limits; the end resistors keep a good pot between 2800 and 62700."""

NOMINAL = (2818, 62717)
"""Raw values at the lowest and the highest level before calibration: 10 kΩ between two of 470 Ω."""

MIN_SPAN = 8000
"""Least difference of raw values between lowest and highest level; less is a pillar that was not moved."""

SEATED_PERCENT = 35
"""A pillar within this share of a step from a level has it; between levels it keeps its last one (hysteresis)."""

BETWEEN_MS = 3000
STUCK_MS = 3000
"""A live value always flickers in its last bits: one that stays the same for this long is no measurement."""

NOISY, QUIET, MAX_CHANGE = 350, 200, 1000
"""Mean change from scan to scan, in hundredths of a millimetre, above which a value is noise, and below which it no
longer is; one scan counts for no more than the third.  The kit's noise of 0.8 mm makes 0.9 mm; a hand that moves a
pillar over its whole way at 300 mm/s raises the mean to 3 mm."""

MOVED = 150
"""Hundredths of a millimetre from the height last reported that are reported at once: twice the noise."""

GROUND, MIDDLE, FULL = 0, 10, 15
"""Channels of the references.  Between them each address line is both 0 and 1, so a stuck line shows."""

WIRED = tuple(channel for channel in range(16) if channel not in (GROUND, MIDDLE, FULL))
FIRST_MUX = len(WIRED)
"""Channels of the pillars, and how many of them are on the first multiplexer; the rest are on the second."""


def scanned(board: "Board") -> "tuple[list[int], list[int]]":
    """The raw value of each pillar, and of the references: ground, middle, full of the first, then of the second."""
    first, second = [], []
    for channel in range(16):
        one, other = board.measure(channel)
        first.append((sum(one) - min(one) - max(one)) // SUMMED)
        second.append((sum(other) - min(other) - max(other)) // SUMMED)
    pillars = [first[channel] for channel in WIRED] + [second[channel] for channel in WIRED]
    return pillars[: wire.PILLARS], [
        values[channel] for values in (first, second) for channel in (GROUND, MIDDLE, FULL)
    ]


def board_state(references: "list[int]") -> int:
    """The bits of the board's state that follow from the references."""
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
        """The height of a level."""
        return self.base + level * self.step

    def is_plausible(self) -> bool:
        """Whether there are levels, and all of them can be sent over the wire."""
        return (
            0 <= self.lowest < self.highest < wire.UNKNOWN_LEVEL and self.step > 0 and self.height(self.highest) < 65000
        )


class Pillar:
    """One pillar.  Each scan works on raw values only: the limits are computed once per calibration."""

    def __init__(self) -> None:
        self.raw = 0
        self.level = wire.UNKNOWN_LEVEL
        self.fault = wire.OK
        self._before = self._last = -1
        self._noise_level = self._changed_ms = self._seated_ms = self._reported = 0
        self._nearest, self._farthest = 1, 0
        self.scale(Scale(), *NOMINAL)

    def scale(self, scale: Scale, low: int, high: int) -> None:
        """From now on raw ``low`` is the lowest level of ``scale``, ``high`` the highest."""
        self._scale, self._low, self._span = scale, low, high - low
        self._travel = (scale.highest - scale.lowest) * scale.step
        self._noisy, self._quiet = 16 * self._raw_distance(NOISY), 16 * self._raw_distance(QUIET)
        self._most = self._raw_distance(MAX_CHANGE)
        self._moved = self._raw_distance(MOVED)
        beyond = 8 * scale.step // 10
        self._range = low - self._raw_distance(beyond), high + self._raw_distance(beyond)
        self._nearest, self._farthest = 1, 0

    def step(self, raw: int, ms: int) -> bool:
        """Take one more scan; returns whether there is something to report."""
        last, before = self._last, self._before
        self._before, self._last = last, raw
        change = raw - last if raw > last else last - raw
        if last < 0:
            change, last, before = 1, raw, raw
            self._seated_ms = ms
        noise_level = self._noise_level
        noise_level += (change if change < self._most else self._most) - (noise_level >> 4)
        self._noise_level = noise_level
        # The middle one of three scans.
        if before > last:
            before, last = last, before
        middle = raw if before <= raw <= last else before if raw < before else last
        self.raw = middle
        if change:
            self._changed_ms = ms
            # The fast path, for nearly every scan of a pillar at rest.
            if self._nearest <= middle <= self._farthest and noise_level <= self._noisy and not self.fault:
                self._seated_ms = ms
                return not -self._moved <= middle - self._reported <= self._moved
        level, fault = self.level, self.fault
        self._update_level(ms)
        self.fault = self._diagnose(ms)
        return self.level != level or self.fault != fault or abs(middle - self._reported) > self._moved

    def report_height(self) -> int:
        """The height in hundredths of a millimetre above the mat, which counts as reported from now on."""
        self._reported = self.raw
        return self.height()

    def height(self) -> int:
        """The same, without counting as reported."""
        scale = self._scale
        height = scale.base + scale.lowest * scale.step + (self.raw - self._low) * self._travel // self._span
        return min(max(height, 0), wire.UNKNOWN_HEIGHT - 1)

    def _raw_distance(self, distance: int) -> int:
        """A distance in hundredths of a millimetre as a difference of raw values."""
        return distance * self._span // self._travel

    def _update_level(self, ms: int) -> None:
        """Set the level, once the height is near one; a pillar on its way keeps its last one."""
        scale = self._scale
        steps, rest = divmod(self.height() - scale.base + scale.step // 2, scale.step)
        level = min(max(steps, scale.lowest), scale.highest)
        if level == steps and 100 * abs(rest - scale.step // 2) <= SEATED_PERCENT * scale.step:
            centre = self._low + self._raw_distance((level - scale.lowest) * scale.step)
            near = self._raw_distance(SEATED_PERCENT * scale.step // 100)
            self._nearest, self._farthest = max(centre - near, OPEN_BELOW), min(centre + near, SHORT_ABOVE)
            self.level = level
            self._seated_ms = ms

    def _diagnose(self, ms: int) -> int:
        """The fault, the gravest first."""
        raw = self.raw
        if raw < OPEN_BELOW:
            return wire.OPEN
        if raw > SHORT_ABOVE:
            return wire.SHORT
        if self._noise_level > (self._quiet if self.fault == wire.NOISY else self._noisy):
            return wire.NOISY
        if ms - self._changed_ms >= STUCK_MS:
            return wire.STUCK
        if not self._range[0] <= raw <= self._range[1]:
            return wire.RANGE
        return wire.BETWEEN if ms - self._seated_ms >= BETWEEN_MS else wire.OK


TYPE_CHECKING = False
if TYPE_CHECKING:
    from firmware_bridge.board import Board
