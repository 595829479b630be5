"""Access control for one phone camera: only the first phone that knows the code may send pictures.  No clock inside."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from companion.errors import CompanionError
from firmware_bridge.clock import DeviceClock

STALE_S = 10.0
"""Largest plausible age of an arriving picture; if a phone's clock gives a larger one, it has jumped."""


class AccessDenied(CompanionError):
    """A phone that is refused; the message says why, ``reason`` is a keyword for which pages have a sentence."""

    def __init__(self, why: str, reason: str) -> None:
        super().__init__(why)
        self.reason = reason


@dataclass
class PhoneAccess:
    """Access control of one camera.

    Attributes:
        code: the secret that admits a phone; it is in the QR code.
        phone: id of the phone admitted; empty if there is none.
        refused: number of messages refused.
    """

    code: str
    phone: str = ""
    refused: int = 0
    _gone: str = ""
    _page: str = ""
    _clock: DeviceClock = field(default_factory=DeviceClock)
    _asked_s: float | None = None

    def enter(self, code: str, phone: str, page: str) -> None:
        """Check a message from ``phone``, whose page was loaded as ``page``.  Raises AccessDenied."""
        if not hmac.compare_digest(code.encode(), self.code.encode()) or not phone:
            self.refused += 1
            raise AccessDenied("this code is not right: scan the one that the program shows now", "code")
        if self.phone and phone != self.phone:
            self.refused += 1
            raise AccessDenied("another phone is this table's camera; the arbiter's page can let it go", "other")
        if phone == self._gone:
            self.refused += 1
            raise AccessDenied("this phone was let go; another one is awaited", "gone")
        if (phone, page) != (self.phone, self._page):
            # A page that is loaded again restarts its clock.
            self._clock, self._asked_s = DeviceClock(), None
        self.phone, self._page = phone, page

    def let_go(self) -> None:
        """Admit another phone, but not the present one, unless no other has come when this is called again."""
        self._gone, self.phone = self.phone, ""

    def compare(self, phone_ms: int | None, now_s: float) -> None:
        """Synchronise clocks: the phone got the last answer at ``phone_ms`` of its clock; None: its first request."""
        if phone_ms is not None and self._asked_s is not None:
            self._clock.add_exchange(self._asked_s, phone_ms, now_s)
        self._asked_s = now_s

    def taken_s(self, phone_ms: int, now_s: float) -> float:
        """Our time when the phone's clock showed ``phone_ms``: at most ``now_s``, at least STALE_S before it."""
        return max(self._clock.host_s(phone_ms, now_s), now_s - STALE_S)


def code_of(token: str, number: int) -> str:
    """The code of phone ``number`` (0: panels), derived from the token: equally lasting, and it does not reveal it."""
    return hmac.new(token.encode(), f"phone {number}".encode(), hashlib.sha256).hexdigest()[:20]
