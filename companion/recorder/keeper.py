"""Keeping one match through a failing disk: what cannot be written is kept in memory, reported, and written later.

How to use it, in the deciding thread::

    keeper = Keeper(store, store.begin(info))
    keeper.append(event)            # 1. never raises for the disk; on return the event is kept, or waits
    panel.warn(keeper.warning, t)   # 2. the standing warning (None: all is written) is shown
    panel.tell(event, t)            # 3. then the event itself
    keeper.retry(t)                 # now and then while nothing happens, e.g. with every frame: it paces itself
    keeper.close()                  # at the end: a last attempt; raises StoreError if events are still unwritten
"""

from __future__ import annotations

from dataclasses import dataclass, field

from companion.errors import StoreError
from companion.events import Event
from companion.languages.english import counted
from companion.recorder.store import MatchId, Store

RETRY_S = 1.0
"""Interval between two attempts on a failing disk: each may cost the whole timeout of a locked store."""


@dataclass
class Keeper:
    """Writes the events of one match, in order.

    Attributes:
        store: the open store; the keeper opens it anew after a failure, and closes it.
        match: the match's number in it.
    """

    store: Store
    match: MatchId
    _waiting: list[tuple[Event, bytes | None, str | None]] = field(default_factory=list)
    _fault: str = ""
    _tried_at_s: float = 0.0

    @property
    def waiting(self) -> tuple[Event, ...]:
        """The events that are only in memory."""
        return tuple(event for event, _, _ in self._waiting)

    @property
    def warning(self) -> str | None:
        """One line for people while events wait, None when all are written."""
        if not self._waiting:
            return None
        count = len(self._waiting)
        return f"NOT SAVED: {counted(count, 'event')} only in memory ({self._fault})"

    def append(self, event: Event, evidence: bytes | None = None, grounds: str | None = None) -> None:
        """Keep ``event`` with its picture and its grounds.

        On the disk if that works, else in memory behind those already waiting.
        """
        was_failing = bool(self._waiting)
        self._waiting.append((event, evidence, grounds))
        if was_failing:
            self.retry(event.t)
        else:
            self._tried_at_s = event.t
            self._write()

    def retry(self, t: float) -> None:
        """Write what waits, if the last attempt is :data:`RETRY_S` ago; ``t`` is in the events' time."""
        if self._waiting and t - self._tried_at_s >= RETRY_S:
            self._tried_at_s = t
            self._reopen_and_write()

    def close(self) -> None:
        """Write what waits and close the store.

        Raises:
            StoreError: events are still unwritten; they stay in :attr:`waiting`.
        """
        if self._waiting:
            self._reopen_and_write()
        self.store.close()
        if self._waiting:
            raise StoreError(f"NOT SAVED: {counted(len(self._waiting), 'event')} of match {self.match} ({self._fault})")

    def _write(self) -> None:
        try:
            while self._waiting:
                self.store.append(self.match, *self._waiting[0])
                del self._waiting[0]
        except StoreError as error:
            self._fault = str(error)

    def _reopen_and_write(self) -> None:
        """Write through a fresh connection: one to a disk that was pulled out and put back fails for ever."""
        path = self.store.path
        self.store.close()
        try:
            # A missing file must not be made anew, perhaps on the disk below the one that was pulled out.
            path.stat()
            self.store = Store.open(path)
        except StoreError as error:
            self._fault = str(error)
        except OSError as error:
            self._fault = f"{path}: is gone ({error.strerror}); put its disk back"
        else:
            self._write()
            while self._waiting and self._is_written_bare():
                self._write()

    def _is_written_bare(self) -> bool:
        """Write the first waiting event without its evidence: if a picture finds no room, the event still may."""
        event, evidence, grounds = self._waiting[0]
        if evidence is None:
            return False
        try:
            self.store.append(self.match, event, None, grounds)
        except StoreError:
            return False
        del self._waiting[0]
        return True
