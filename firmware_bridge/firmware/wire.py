"""The wire between pillar controller and host: messages, packets, frames.  One file for both sides.

A frame is ``COBS(packet) 0x00``; a packet is ``kind u8, seq u8, body, crc32 u32``, all little-endian, the CRC that of
zlib over what stands before it.  COBS (Cheshire and Baker, IEEE/ACM Transactions on Networking 7(2), 1999) leaves no
zero byte inside a frame, so a receiver finds the next frame whatever came before.  docs/protocol.md shows every byte.

A body may be longer than its message is here: newer minor versions append fields, older receivers ignore them.
"""

import struct
from binascii import crc32
from collections import namedtuple

MAJOR, MINOR = 1, 0
"""Version of the protocol; sides of different MAJOR cannot talk.  Hello and Welcome begin alike in all versions."""

PILLARS = 25
"""In the order a1, b1, … e1, a2, … e5."""

MAX_PACKET = 250
"""Bytes.  Short enough that no run between zeros needs COBS' code 0xff."""

UNKNOWN_LEVEL = 31
"""Level in the state of a pillar that stands at none."""

UNKNOWN_HEIGHT = 0xFFFF

FAULTS = ("ok", "open", "short", "range", "noisy", "stuck", "between", "line")
"""Faults of one pillar by number: wiper or supply leg open, shorted to the supply, beyond the range, noisy, its value
frozen, seated at no level for long, or its multiplexer's references wrong."""

OK, OPEN, SHORT, RANGE, NOISY, STUCK, BETWEEN, LINE = range(8)

SUPPLY_OFF, LINES_A, LINES_B, UNCALIBRATED, OVERRUN = 1, 2, 4, 8, 16
"""Bits of a board's state: no voltage on the pots, references of a multiplexer wrong, nominal calibration, a scan that
took longer than its period."""

POWER_ON, WATCHDOG, OTHER_RESET = range(3)
"""Why the controller started."""

DONE, BAD_VALUE, NOT_PLAUSIBLE, NOT_STORED = range(4)
"""How a request ended; NOT_PLAUSIBLE: the pillars do not stand as the request says."""

AT_LOWEST, AT_HIGHEST = range(2)
"""Where all pillars stand when they are calibrated."""

Hello = namedtuple("Hello", ("major", "minor"))
"""Host: who are you?"""

Ping = namedtuple("Ping", ("host_ms",))
"""Host: I am here; its clock, modulo 2³²."""

Configure = namedtuple("Configure", ("base", "step", "lowest", "highest"))
"""Host: level n is at ``base + n * step`` (hundredths of a millimetre above the mat), from lowest to highest."""

Calibrate = namedtuple("Calibrate", ("point",))
"""Host: all pillars stand AT_LOWEST or AT_HIGHEST now."""

AskStatus = namedtuple("AskStatus", ())
"""Host: how are you?"""

Welcome = namedtuple(
    "Welcome", ("re", "major", "minor", "firmware", "board", "boot", "pillars", "rate_hz", "cause", "calibration")
)
"""Controller, to Hello, and unasked when it has started: firmware version (3 numbers), the board's own 8 bytes, a
random number of this start, scans a second, why it started, CRC of its calibration (0: nominal)."""

Pong = namedtuple("Pong", ("re", "host_ms", "ms"))
"""Controller, to Ping: the host's clock echoed, and its own."""

Heights = namedtuple("Heights", ("ms", "board", "heights", "states"))
"""Controller, unasked: its clock at the scan, bits of the board's state, 25 heights above the mat in hundredths of a
millimetre, 25 states ``fault << 5 | level``."""

Done = namedtuple("Done", ("re", "code"))
"""Controller, to Configure and Calibrate."""

Status = namedtuple(
    "Status", ("re", "up_ms", "scans", "scan_us", "worst_scan_us", "packets", "bad", "supply_permille", "free_bytes")
)
"""Controller, to AskStatus: scans made, time of the last and the longest, packets received and discarded, the
full-scale reference in thousandths, free heap."""

KINDS = {
    0x01: (Hello, "<BB", (1, 1)),
    0x02: (Ping, "<I", (1,)),
    0x03: (Configure, "<HHBB", (1, 1, 1, 1)),
    0x04: (Calibrate, "<B", (1,)),
    0x05: (AskStatus, "<", ()),
    0x81: (Welcome, "<BBB3B8sIBBBI", (1, 1, 1, 3, 1, 1, 1, 1, 1, 1)),
    0x82: (Pong, "<BII", (1, 1, 1)),
    0x83: (Heights, "<IB25H25B", (1, 1, 25, 25)),
    0x84: (Done, "<BB", (1, 1)),
    0x85: (Status, "<BIIIIIIHI", (1, 1, 1, 1, 1, 1, 1, 1, 1)),
}
"""Kind → its message, the body's format, and how many of the format's values each field takes."""

NUMBERS = {message: number for number, (message, _, _) in KINDS.items()}


def encode(message: tuple, seq: int) -> bytes:  # type: ignore[type-arg]
    """The frame of a message; ``seq`` is the sender's sequence number modulo 256."""
    number = NUMBERS[type(message)]
    values: list = []  # type: ignore[type-arg]
    for value in message:
        if isinstance(value, tuple):
            values.extend(value)
        else:
            values.append(value)
    packet = bytes((number, seq & 0xFF)) + struct.pack(KINDS[number][1], *values)
    return stuff(packet + struct.pack("<I", crc32(packet))) + b"\0"


def decode(frame: bytes) -> "tuple[int, tuple] | None":  # type: ignore[type-arg]
    """Sequence number and message of a frame without its final zero; None where it is damaged or of unknown kind."""
    packet = unstuff(frame)
    if packet is None or len(packet) < 6 or struct.unpack("<I", packet[-4:])[0] != crc32(packet[:-4]):
        return None
    message, form, counts = KINDS.get(packet[0], (None, "", ()))
    if message is None or len(packet) < 6 + struct.calcsize(form):
        return None
    values = struct.unpack_from(form, packet, 2)
    fields: list = []  # type: ignore[type-arg]
    at = 0
    for count in counts:
        fields.append(values[at] if count == 1 else tuple(values[at : at + count]))
        at += count
    return packet[1], message(*fields)


class Decoder:
    """Bytes in, messages out; what cannot be decoded is counted and skipped, never raised."""

    def __init__(self) -> None:
        self.good = 0
        self.bad = 0
        self._rest = b""

    def feed(self, data: bytes) -> "list[tuple[int, tuple]]":  # type: ignore[type-arg]
        """The messages that end in ``data``, each with its sequence number."""
        frames = (self._rest + data).split(b"\0")
        # One byte more than allowed is enough to know that a frame is too long.
        self._rest = frames.pop()[: MAX_PACKET + 2]
        found = []
        for frame in frames:
            if frame:
                heard = decode(frame) if len(frame) <= MAX_PACKET + 1 else None
                if heard is None:
                    self.bad += 1
                else:
                    self.good += 1
                    found.append(heard)
        return found


def stuff(packet: bytes) -> bytes:
    """COBS of at most MAX_PACKET bytes: no zero is left.  Each run up to a zero gets its length + 1 in front."""
    stuffed = bytearray()
    for run in packet.split(b"\0"):
        stuffed.append(len(run) + 1)
        stuffed.extend(run)
    return bytes(stuffed)


def unstuff(frame: bytes) -> "bytes | None":
    """The packet of a COBS frame that holds no zero; None where it ends before it should."""
    packet = bytearray()
    at = 0
    while at < len(frame):
        run = frame[at + 1 : at + frame[at]]
        if len(run) != frame[at] - 1:
            return None
        at += frame[at]
        packet.extend(run)
        if at < len(frame):
            packet.append(0)
    return bytes(packet)
