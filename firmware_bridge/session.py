"""The host's side of the conversation with a controller.  Pure: bytes and times come in, events and bytes go out."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_bridge.clock import DeviceClock
from firmware_bridge.firmware import wire

GREET_AGAIN_S = 0.2
"""A Hello without an answer is repeated after this time."""

PING_S = 0.5
SILENT_S = 1.0
"""Reports come 25 times a second; after this long without any the controller is frozen, or the line is dead."""

ASK_AGAIN_S = 0.3
PURGE = b"\0"
"""Ends any incomplete frame on the line."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Where the levels of a set's pillars are, in mm above the mat."""

    base_mm: float
    step_mm: float
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Connected:
    """A controller has answered; ``rebooted``: it has restarted since it was last heard."""

    welcome: wire.Welcome
    rebooted: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """One scan.

    Attributes:
        t_s: when it was made, in the host's time.
        heights_mm: (25) above the mat.
        levels: (25) levels, None where a pillar stands at none.
        faults: (25) numbers of wire.FAULTS.
        board: bits of the board's state.
    """

    t_s: float
    heights_mm: tuple[float, ...]
    levels: tuple[int | None, ...]
    faults: tuple[int, ...]
    board: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The controller is no longer heard; ``why`` is for people."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """What answers speaks another version, or is no such controller."""

    why: str


Event = Connected | Sample | Lost | Refused | wire.Done | wire.Status


class Session:
    """One conversation; call :meth:`opened`, then :meth:`receive` and :meth:`tick`, then :meth:`closed`."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._boot: int | None = None
        self._decoder = wire.Decoder()
        self._open = self._greeted = self._refused = False
        self.bad_frames = self.gaps = 0

    def opened(self, t_s: float) -> None:
        """The port is open; nothing has been said."""
        self._decoder, self._clock = wire.Decoder(), DeviceClock()
        self._open, self._greeted, self._refused, self._configured = True, False, False, False
        self._seq, self._next_seq = 0, -1
        self._sent: dict[int, float] = {}
        self._heard_s = t_s
        self._greet_s = self._ping_s = self._configure_s = t_s

    def closed(self, why: str) -> tuple[Event, ...]:
        """The port is gone."""
        was_greeted = self._open and self._greeted
        self._open = self._greeted = False
        return (Lost(why),) if was_greeted else ()

    def tick(self, t_s: float) -> tuple[bytes, tuple[Event, ...]]:
        """Bytes to send now, and events due to the passing of time; to be called at least ten times a second."""
        if not self._open:
            return b"", ()
        if self._greeted and t_s - self._heard_s >= SILENT_S:
            self._greeted, self._greet_s = False, t_s
            return b"", (Lost(f"the pillar controller has been silent for {SILENT_S:.0f} s"),)
        if not self._greeted:
            if t_s < self._greet_s:
                return b"", ()
            self._greet_s = t_s + GREET_AGAIN_S
            return PURGE + self._encode(wire.Hello(wire.MAJOR, wire.MINOR), t_s), ()
        sent = b""
        if t_s >= self._ping_s:
            self._ping_s = t_s + PING_S
            sent += self._encode(wire.Ping(round(1000 * t_s) % (1 << 32)), t_s)
        if not self._configured and t_s >= self._configure_s:
            self._configure_s = t_s + ASK_AGAIN_S
            sent += self.request(self._scale(), t_s)
        return sent, ()

    def request(self, message: tuple[int, ...], t_s: float) -> bytes:
        """The bytes of a request: wire.Configure, Calibrate or AskStatus; its answer comes as an event."""
        return self._encode(message, t_s)

    def receive(self, data: bytes, t_s: float) -> tuple[Event, ...]:
        """The events of bytes that have come at ``t_s``."""
        before = self._decoder.bad
        events: list[Event] = []
        for seq, message in self._decoder.feed(data):
            events += self._handle(seq, message, t_s)
        self.bad_frames += self._decoder.bad - before
        return tuple(events)

    def _handle(self, seq: int, message: tuple[object, ...], t_s: float) -> tuple[Event, ...]:
        if self._next_seq >= 0 and seq != self._next_seq:
            self.gaps += 1
        self._next_seq = (seq + 1) & 0xFF
        if isinstance(message, wire.Welcome):
            return self._handle_welcome(message, t_s)
        if not self._greeted:
            return ()
        if isinstance(message, wire.Heights):
            self._heard_s = t_s
            return (self._sample(message, t_s),)
        if isinstance(message, wire.Pong):
            if message.re in self._sent:
                self._clock.add_exchange(self._sent.pop(message.re), message.ms, t_s)
        elif isinstance(message, wire.Done):
            if message.re == self._configure_seq:
                self._configured = True
                return ()
            return (message,)
        elif isinstance(message, wire.Status):
            return (message,)
        return ()

    def _handle_welcome(self, welcome: wire.Welcome, t_s: float) -> tuple[Event, ...]:
        if self._refused:
            return ()
        if welcome.major != wire.MAJOR or welcome.pillars != wire.PILLARS:
            self._refused = True
            return (Refused(_incompatibility(welcome)),)
        is_known = self._greeted and welcome.boot == self._boot
        rebooted = self._boot is not None and welcome.boot != self._boot
        self._boot = welcome.boot
        if is_known:
            return ()
        self._greeted, self._configured, self._configure_seq = True, False, -1
        self._clock = DeviceClock()
        self._heard_s, self._ping_s, self._configure_s = t_s, t_s, t_s
        return (Connected(welcome, rebooted),)

    def _sample(self, message: wire.Heights, t_s: float) -> Sample:
        levels = (state & wire.UNKNOWN_LEVEL for state in message.states)
        return Sample(
            self._clock.host_s(message.ms, t_s),
            tuple(height / 100 for height in message.heights),
            tuple(None if level == wire.UNKNOWN_LEVEL else level for level in levels),
            tuple(state >> 5 for state in message.states),
            message.board,
        )

    def _scale(self) -> wire.Configure:
        at = self._levels
        return wire.Configure(round(100 * at.base_mm), round(100 * at.step_mm), at.lowest, at.highest)

    def _encode(self, message: tuple[int, ...], t_s: float) -> bytes:
        seq = self._seq
        self._seq = (seq + 1) & 0xFF
        self._sent[seq] = t_s
        if isinstance(message, wire.Configure):
            self._configure_seq = seq
        return wire.encode(message, seq)


def _incompatibility(welcome: wire.Welcome) -> str:
    if welcome.major != wire.MAJOR:
        old = "the controller's firmware" if welcome.major < wire.MAJOR else "this program"
        return f"the controller speaks version {welcome.major} of the protocol, not {wire.MAJOR}; update {old}"
    return f"the controller has {welcome.pillars} pillars, not {wire.PILLARS}; is it the right one?"
