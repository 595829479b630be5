"""Who may send the pictures of one camera: the first phone that knows the code, and no other.  Times are passed in."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from companion.errors import CompanionError
from firmware_bridge.clock import DeviceClock

STALE_S = 10.0
"""No picture that is worth a look was under way for longer; a phone's clock that says so has jumped."""


class TurnedAway(CompanionError):
    """A phone that is not let in; the message says why, ``reason`` in a word that pages have their own sentence for."""

    def __init__(self, why: str, reason: str) -> None:
        super().__init__(why)
        self.reason = reason


@dataclass
class Door:
    """The door of one camera.

    Attributes:
        code: who knows it may come in; it stands in the QR code.
        phone: the one that has; empty before.
        refused: messages that were turned away.
    """

    code: str
    phone: str = ""
    refused: int = 0
    _gone: str = ""
    _page: str = ""
    _clock: DeviceClock = field(default_factory=DeviceClock)
    _asked_s: float | None = None

    def enter(self, code: str, phone: str, page: str) -> None:
        """A message of ``phone``, whose page was loaded as ``page``.  Raises TurnedAway."""
        if not hmac.compare_digest(code.encode(), self.code.encode()) or not phone:
            self.refused += 1
            raise TurnedAway("this code is not right: scan the one that the program shows now", "code")
        if self.phone and phone != self.phone:
            self.refused += 1
            raise TurnedAway("another phone is this table's camera; the arbiter's page can let it go", "other")
        if phone == self._gone:
            self.refused += 1
            raise TurnedAway("this phone was let go; another one is awaited", "gone")
        if (phone, page) != (self.phone, self._page):
            # A page that is loaded again counts its time from new.
            self._clock, self._asked_s = DeviceClock(), None
        self.phone, self._page = phone, page

    def let_go(self) -> None:
        """Another phone may come; the one that was here may not, unless none has come when this is called again."""
        self._gone, self.phone = self.phone, ""

    def compare(self, phone_ms: int | None, now_s: float) -> None:
        """The phone heard the last answer at ``phone_ms`` of its clock, and says so at once; None: it asks first."""
        if phone_ms is not None and self._asked_s is not None:
            self._clock.exchanged(self._asked_s, phone_ms, now_s)
        self._asked_s = now_s

    def taken_s(self, phone_ms: int, now_s: float) -> float:
        """When the phone's clock showed ``phone_ms``, in our time: not after ``now_s``, and not long before."""
        return max(self._clock.host_s(phone_ms, now_s), now_s - STALE_S)


def code_of(token: str, number: int) -> str:
    """The code of phone ``number`` (0: of panels), from the table's token: as lasting, and it tells nothing of it."""
    return hmac.new(token.encode(), f"phone {number}".encode(), hashlib.sha256).hexdigest()[:20]
