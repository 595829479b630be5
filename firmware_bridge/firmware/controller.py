"""The controller's one loop: listen, scan, report.  It uses its board through firmware_bridge.board.Board."""

import gc
import struct
from binascii import crc32

from firmware_bridge.firmware import wire
from firmware_bridge.firmware.pillars import (
    FIRST_MUX,
    MIN_SPAN,
    NOMINAL,
    OPEN_BELOW,
    SHORT_ABOVE,
    Pillar,
    Scale,
    board_state,
    scanned,
)

FIRMWARE = (1, 0, 0)

PERIOD_MS = 20
"""Time from scan to scan: 50 a second."""

REPORT_MS = 40
"""Time between reports, one every second scan; one is sent at once when a pillar's level, fault or place changes."""

HOST_GONE_MS = 2000
"""A host that is silent for this long gets no more reports: nobody empties the line."""

CALIBRATION = f"<{2 * wire.PILLARS}H"
"""As stored: low and high raw value of each pillar; a CRC follows."""


class Controller:
    """Everything between a board's pins and its line."""

    def __init__(self, board: "Board") -> None:
        self._board = board
        self._decoder = wire.Decoder()
        self._scale = Scale()
        self._pillars = [Pillar() for _ in range(wire.PILLARS)]
        self._ends = [NOMINAL] * wire.PILLARS
        self._calibration = self._restored()
        self._low: list[int] = []
        self._seq = self._scans = self._scan_us = self._worst_us = self._supply = self._state = 0
        self._begun_ms = self._due_ms = board.millis()
        self._heard_ms: int | None = None
        self._reported_ms = 0
        self._send(self._welcome(0))

    def step(self) -> int:
        """Do what is due; returns the milliseconds until something will be."""
        for seq, message in self._decoder.feed(self._board.read()):
            self._heard_ms = self._board.millis()
            self._answer(seq, message)
        now = self._board.millis()
        if now >= self._due_ms:
            # Scans that were missed are not made up for.
            self._due_ms = max(self._due_ms + PERIOD_MS, now + 1)
            self._report(now, news=self._scan(now))
            self._board.feed()
        return max(0, self._due_ms - self._board.millis())

    def _scan(self, now: int) -> bool:
        """Measure all pillars; returns whether there is something to report."""
        begun = self._board.micros()
        values, references = scanned(self._board)
        news = False
        for pillar, value in zip(self._pillars, values):  # noqa: B905 - not in MicroPython
            news = pillar.step(value, now) or news
        self._supply = 1000 * references[2] // 65535
        self._scan_us = self._board.micros() - begun
        self._worst_us = max(self._worst_us, self._scan_us)
        self._scans += 1
        uncalibrated = 0 if self._calibration else wire.UNCALIBRATED
        overrun = wire.OVERRUN if self._scan_us > 1000 * PERIOD_MS else 0
        before, self._state = self._state, board_state(references) | uncalibrated | overrun
        return news or self._state != before

    def _report(self, now: int, *, news: bool) -> None:
        if self._heard_ms is None or now - self._heard_ms >= HOST_GONE_MS:
            return
        if news or now - self._reported_ms >= REPORT_MS:
            heights = tuple([pillar.report_height() for pillar in self._pillars])
            states = [pillar.fault << 5 | pillar.level for pillar in self._pillars]
            for bit, first, end in ((wire.LINES_A, 0, FIRST_MUX), (wire.LINES_B, FIRST_MUX, wire.PILLARS)):
                if self._state & (bit | wire.SUPPLY_OFF):
                    states[first:end] = [wire.LINE << 5 | wire.UNKNOWN_LEVEL] * (end - first)
            self._send(wire.Heights(now & 0xFFFFFFFF, self._state, heights, tuple(states)))
            self._reported_ms = now

    def _answer(self, seq: int, message: tuple) -> None:  # type: ignore[type-arg]
        kind = type(message)
        if kind is wire.Hello:
            self._send(self._welcome(seq))
            # The newly greeted host gets a report with the next scan.
            self._reported_ms = -REPORT_MS
        elif kind is wire.Ping:
            self._send(wire.Pong(seq, message[0], self._board.millis() & 0xFFFFFFFF))
        elif kind is wire.Configure:
            self._send(wire.Done(seq, self._configured(Scale(*message))))
        elif kind is wire.Calibrate:
            self._send(wire.Done(seq, self._calibrated(message[0])))
        elif kind is wire.AskStatus:
            self._send(self._status(seq))

    def _configured(self, scale: Scale) -> int:
        if not scale.is_plausible():
            return wire.BAD_VALUE
        self._scale = scale
        self._rescale()
        return wire.DONE

    def _calibrated(self, point: int) -> int:
        raw = [pillar.raw for pillar in self._pillars]
        if point not in (wire.AT_LOWEST, wire.AT_HIGHEST):
            return wire.BAD_VALUE
        if min(raw) < OPEN_BELOW or max(raw) > SHORT_ABOVE:
            return wire.NOT_PLAUSIBLE
        if point == wire.AT_LOWEST:
            self._low = raw
            return wire.DONE
        if not self._low or min([high - low for low, high in zip(self._low, raw)]) < MIN_SPAN:  # noqa: B905
            return wire.NOT_PLAUSIBLE
        kept = struct.pack(CALIBRATION, *(self._low + raw))
        if not self._board.store(kept + struct.pack("<I", crc32(kept))):
            return wire.NOT_STORED
        self._calibration = self._restored()
        return wire.DONE

    def _restored(self) -> int:
        """Load the stored calibration, if there is an intact one; returns its CRC, 0 where there is none."""
        kept = self._board.load()
        size = struct.calcsize(CALIBRATION)
        if len(kept) != size + 4 or struct.unpack("<I", kept[size:])[0] != crc32(kept[:size]):
            return 0
        values = struct.unpack(CALIBRATION, kept[:size])
        self._ends = list(zip(values[: wire.PILLARS], values[wire.PILLARS :]))  # noqa: B905 - not in MicroPython
        self._rescale()
        return crc32(kept[:size])

    def _rescale(self) -> None:
        """Give each pillar its limits."""
        for pillar, (low, high) in zip(self._pillars, self._ends):  # noqa: B905 - not in MicroPython
            pillar.scale(self._scale, low, high)

    def _welcome(self, re: int) -> tuple:  # type: ignore[type-arg]
        board = self._board
        rate_hz = 1000 // PERIOD_MS
        return wire.Welcome(
            re,
            wire.MAJOR,
            wire.MINOR,
            FIRMWARE,
            board.uid,
            board.boot,
            wire.PILLARS,
            rate_hz,
            board.cause,
            self._calibration,
        )

    def _status(self, re: int) -> tuple:  # type: ignore[type-arg]
        up_ms = (self._board.millis() - self._begun_ms) & 0xFFFFFFFF
        # CPython's gc has no such function.
        free = getattr(gc, "mem_free", int)()
        decoder = self._decoder
        return wire.Status(
            re, up_ms, self._scans, self._scan_us, self._worst_us, decoder.good, decoder.bad, self._supply, free
        )

    def _send(self, message: tuple) -> None:  # type: ignore[type-arg]
        self._board.write(wire.encode(message, self._seq))
        self._seq = (self._seq + 1) & 0xFF


TYPE_CHECKING = False
if TYPE_CHECKING:
    from firmware_bridge.board import Board
