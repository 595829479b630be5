"""A heartbeat telling systemd that the table is up and its loop still runs; nothing if systemd does not ask for it.

The protocol is one datagram a message: sd_notify(3).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress

from companion.referee.snapshot import Snapshot
from vision.capture.frames import Frame

DEFAULT_S = 5.0
"""Interval of the heartbeat if no watchdog is set; it carries the state that `systemctl status` shows."""


class Heartbeat:
    """A state observer that beats as often as systemd wants: with every frame or outage, and between matches.

    Args:
        send: takes one message for systemd.
        interval_s: longest time between two beats.
        clock: seconds, monotonic.
    """

    def __init__(self, send: Callable[[str], None], interval_s: float, clock: Callable[[], float]) -> None:
        self._send = send
        self._interval_s = interval_s
        self._clock = clock
        self._beaten_s: float | None = None

    def see(self, frame: Frame) -> None:
        """Do nothing: a frame counts once it has been dealt with."""

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:
        """Beat if it is time; the first time, say that the table is ready."""
        self._beat(warning or f"{snapshot.mode}, view {snapshot.view}, {t_s:.0f} s")

    def rest(self) -> None:
        """Beat if it is time, while no match is being played."""
        self._beat("no match is being played")

    def _beat(self, status: str) -> None:
        now_s = self._clock()
        if self._beaten_s is not None and now_s - self._beaten_s < self._interval_s:
            return
        ready = "READY=1\n" if self._beaten_s is None else ""
        self._beaten_s = now_s
        self._send(f"{ready}WATCHDOG=1\nSTATUS={status}\n")


def heartbeat(environment: Mapping[str, str], clock: Callable[[], float]) -> Heartbeat | None:
    """The heartbeat for which systemd asks by ``$NOTIFY_SOCKET`` and ``$WATCHDOG_USEC``; None if it asks for none."""
    path = environment.get("NOTIFY_SOCKET", "")
    if not path:
        return None
    address = "\0" + path[1:] if path.startswith("@") else path
    # A third of the time allowed: one late beat does no harm.
    usec = environment.get("WATCHDOG_USEC", "")
    interval_s = int(usec) / 3e6 if usec.isdecimal() and int(usec) else DEFAULT_S

    def send(message: str) -> None:
        # A systemd that does not listen is no reason to stop a match, or to wait.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
            wire.settimeout(0)
            wire.connect(address)
            wire.send(message.encode())

    return Heartbeat(send, interval_s, clock)
