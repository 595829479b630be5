"""Where people request a table's next match, from any thread; the deciding thread begins it.

How to use it::

    requests = MatchRequestQueue(games, usual)
    begun = requests.put(NewMatch("domination"))    # any thread: the page
    request = requests.take(timeout_s)              # the deciding thread, between two matches
    request.begun()                                 # or request.refuse(error)
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, Full, Queue

from companion.errors import CompanionError
from companion.referee.orders import OrderRefused
from companion.web.starting import Choice, NewMatch, Playable, Unfinished


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """What is requested, and where to report whether it has begun."""

    wanted: Choice
    outcome: Future[None]

    def begun(self) -> None:
        """Report that the match has begun."""
        self.outcome.set_result(None)

    def refuse(self, error: Exception) -> None:
        """Report that it cannot begin."""
        self.outcome.set_exception(error if isinstance(error, CompanionError) else CompanionError(str(error)))


@dataclass(frozen=True)
class MatchRequestQueue:
    """Holds the one match that is requested.

    Attributes:
        games: what can be played at the table.
        usual: what is played there by its settings.
        unfinished: the kept matches that can go on, the newest first; called in any thread.
    """

    games: tuple[Playable, ...]
    usual: NewMatch
    unfinished: Callable[[], tuple[Unfinished, ...]] = tuple
    _waiting: Queue[MatchRequest] = field(default_factory=lambda: Queue(1))

    @property
    def has_request(self) -> bool:
        """Whether a match other than the one being played is requested."""
        return not self._waiting.empty()

    def put(self, wanted: Choice) -> Future[None]:
        """Request a match; refused at once while another one is about to begin."""
        request = MatchRequest(wanted, Future())
        try:
            self._waiting.put_nowait(request)
        except Full:
            request.refuse(OrderRefused("another match is about to begin"))
        return request.outcome

    def take(self, timeout_s: float) -> MatchRequest | None:
        """The request; None: there was none for ``timeout_s``."""
        try:
            request = self._waiting.get(timeout=timeout_s)
        except Empty:
            return None
        return request if request.outcome.set_running_or_notify_cancel() else None
