"""The controller's clock in the host's time."""

from __future__ import annotations

from collections import deque

WRAP_MS = 1 << 32
MAX_EXCHANGES = 16
"""Number of exchanges that are kept: at two a second, a drift of 50 ppm makes half a millisecond meanwhile."""


class DeviceClock:
    """Maps the controller's milliseconds, which wrap, to seconds of the host.

    Of the last exchanges the one with the shortest round trip is trusted: delays only make it longer (Cristian,
    Distributed Computing 3, 1989).
    """

    def __init__(self) -> None:
        self._exchanges: deque[tuple[float, float]] = deque(maxlen=MAX_EXCHANGES)
        self._newest_ms = 0

    def add_exchange(self, sent_s: float, device_ms: int, received_s: float) -> None:
        """Record an exchange: a question was sent, the controller's clock showed ``device_ms``, the answer came."""
        middle_s = (sent_s + received_s) / 2
        self._exchanges.append((received_s - sent_s, middle_s - self._unwrapped(device_ms) / 1000))

    def host_s(self, device_ms: int, received_s: float) -> float:
        """When the controller's clock showed ``device_ms``; not later than the message came."""
        unwrapped = self._unwrapped(device_ms)
        if not self._exchanges:
            return received_s
        _, offset_s = min(self._exchanges)
        return min(unwrapped / 1000 + offset_s, received_s)

    def _unwrapped(self, device_ms: int) -> int:
        """Milliseconds without wrap-around: the value nearest to the newest one seen."""
        ahead = (device_ms - self._newest_ms + WRAP_MS // 2) % WRAP_MS - WRAP_MS // 2
        unwrapped = self._newest_ms + ahead
        self._newest_ms = max(self._newest_ms, unwrapped)
        return unwrapped
