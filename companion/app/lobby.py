"""Where people ask for the next match of a table, from any thread; the deciding thread has it begun.

How to use it::

    lobby = Lobby(games, usual)
    begun = lobby.put(Begin("domination"))          # any thread: the page
    asked = lobby.take(timeout_s)                   # the deciding thread, between two matches
    asked.begun()                                   # or asked.refuse(error)
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, Full, Queue

from companion.errors import CompanionError
from companion.referee.orders import OrderRefused
from companion.web.starting import Begin, Choice, Playable, Unfinished


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted, and where to say whether it has begun."""

    wanted: Choice
    outcome: Future[None]

    def begun(self) -> None:
        """The match has begun."""
        self.outcome.set_result(None)

    def refuse(self, error: Exception) -> None:
        """It cannot begin."""
        self.outcome.set_exception(error if isinstance(error, CompanionError) else CompanionError(str(error)))


@dataclass(frozen=True)
class Lobby:
    """Holds the one match that is asked for.

    Attributes:
        games: what can be played at the table.
        usual: what its settings say is played there.
        unfinished: the kept matches that can go on, the newest first; called in any thread.
    """

    games: tuple[Playable, ...]
    usual: Begin
    unfinished: Callable[[], tuple[Unfinished, ...]] = tuple
    _waiting: Queue[Asked] = field(default_factory=lambda: Queue(1))

    @property
    def is_wanted(self) -> bool:
        """Whether another match is asked for than the one that is being played."""
        return not self._waiting.empty()

    def put(self, wanted: Choice) -> Future[None]:
        """Ask for a match; refused at once while another one is about to begin."""
        asked = Asked(wanted, Future())
        try:
            self._waiting.put_nowait(asked)
        except Full:
            asked.refuse(OrderRefused("another match is about to begin"))
        return asked.outcome

    def take(self, timeout_s: float) -> Asked | None:
        """What is asked for; None: nothing was for so long."""
        try:
            asked = self._waiting.get(timeout=timeout_s)
        except Empty:
            return None
        return asked if asked.outcome.set_running_or_notify_cancel() else None
