"""The serial port: one thread opens it, reads, writes, and opens it again.  The only file that imports pyserial."""

from __future__ import annotations

import contextlib
import termios
import threading
import time
from collections import deque
from collections.abc import Callable

import serial

from firmware_bridge.errors import BridgeError
from firmware_bridge.session import Event, Levels, Session

BAUD = 115200
"""Speed of a UART; USB and pseudo-terminals ignore it."""

TURN_S = 0.02
"""Longest wait for bytes between two looks at the clock."""

WRITE_S = 0.2
"""A port that accepts nothing for this long counts as gone."""

FIRST_RETRY_S, LAST_RETRY_S = 0.05, 0.4
"""First and longest wait before a port that has gone is tried again, doubled each time; the handshake that follows
takes 0.1 s."""

MAX_EVENTS = 4096
"""More than a minute of samples; the oldest are dropped first when nobody fetches them."""

CONNECTION_ERRORS = (OSError, termios.error, TypeError)
"""What pyserial raises when a cable is pulled: SerialException is an OSError, termios.error is not, and a port that is
torn away while it is read has None for its file (pyserial issue tracker, "TypeError: an integer is required")."""


class Link:
    """A controller at ``url``: a device path or any URL of pyserial.  Events are fetched by :meth:`take`."""

    def __init__(self, url: str, levels: Levels, clock: Callable[[], float] = time.monotonic) -> None:
        """Open the port.  Raises BridgeError when it cannot be opened now; later it is tried again and again."""
        self._url, self._clock = url, clock
        self._session = Session(levels)
        self._events: deque[Event] = deque(maxlen=MAX_EVENTS)
        self._requests: deque[tuple[int, ...]] = deque()
        self._closed = threading.Event()
        port = self._opened()
        self._thread = threading.Thread(target=self._work, args=(port,), name=f"pillars at {url}", daemon=True)
        self._thread.start()

    def take(self) -> tuple[Event, ...]:
        """What has happened since the last call, in order."""
        return tuple(self._events.popleft() for _ in range(len(self._events)))

    def request(self, message: tuple[int, ...]) -> None:
        """Send wire.Calibrate or wire.AskStatus; its answer comes as an event."""
        self._requests.append(message)

    def close(self) -> None:
        """Stop the thread and release the port; closing twice is fine."""
        self._closed.set()
        self._thread.join()

    def _opened(self) -> serial.Serial:
        try:
            port: serial.Serial = serial.serial_for_url(
                self._url, BAUD, timeout=TURN_S, write_timeout=WRITE_S, exclusive=True
            )
        except (*CONNECTION_ERRORS, ValueError) as error:
            raise BridgeError(f"{self._url}: {_why(error)}") from error
        return port

    def _work(self, port: serial.Serial) -> None:
        wait_s = FIRST_RETRY_S
        while not self._closed.is_set():
            self._session.opened(self._clock())
            try:
                self._talk(port)
            except CONNECTION_ERRORS:
                self._events.extend(self._session.closed(f"the port {self._url} has gone"))
            finally:
                with contextlib.suppress(*CONNECTION_ERRORS):
                    port.close()
            while not self._closed.wait(wait_s):
                try:
                    port = self._opened()
                except BridgeError:
                    wait_s = min(2 * wait_s, LAST_RETRY_S)
                else:
                    wait_s = FIRST_RETRY_S
                    break

    def _talk(self, port: serial.Serial) -> None:
        """Exchange bytes until the port goes, which raises one of CONNECTION_ERRORS, or the link is closed."""
        session = self._session
        while not self._closed.is_set():
            if data := port.read(max(1, port.in_waiting)):
                self._events.extend(session.receive(data, self._clock()))
            sent, events = session.tick(self._clock())
            self._events.extend(events)
            while self._requests:
                sent += session.request(self._requests.popleft(), self._clock())
            if sent:
                port.write(sent)


def _why(error: BaseException) -> str:
    """What pyserial and the system say, as one clear line."""
    text = " ".join(str(error).split())
    number = getattr(error, "errno", None)
    if number == 2 or "No such file" in text:
        return "there is no such port; is the pillar controller plugged in? (ls /dev/serial/by-id)"
    if number == 13 or "Permission denied" in text:
        return "no permission; add yourself to the group dialout and log in again"
    if number in (11, 16) or "exclusively" in text or "Resource temporarily" in text:
        return "in use by another program; close that first"
    return f"cannot be opened ({text}); give a device path or a URL of pyserial"
