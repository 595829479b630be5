"""The pictures kept as evidence, in bounded space."""

from __future__ import annotations

import sqlite3

BUDGET_BYTES = 512 * 2**20
"""Limit for all pictures of a store together: some 4,000 from a camera of 1280 × 720, a club's season on the smallest
SD card that a Raspberry Pi takes."""

ASIDE = ("view", "sensors", "clock")
"""Kinds of events that may come between a verdict and people's reaction to it."""

OLDEST = f"""
    SELECT match, n, length(content) FROM evidence AS still
    WHERE ? OR 'corrected' IS NOT (
        SELECT kind FROM event
        WHERE match = still.match AND n > still.n AND kind NOT IN ({", ".join(f"'{kind}'" for kind in ASIDE)})
        ORDER BY n LIMIT 1)
    ORDER BY match, n"""  # noqa: S608 — made of the constants above
"""The pictures, the oldest first: all of them, or only those of verdicts not followed at once by a ruling."""


class Stills:
    """Adds pictures to the store of ``connection``, inside the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._used: int | None = None

    def add(self, match: int, n: int, content: bytes) -> None:
        """Keep a picture with event ``n``; if it does not fit, older ones are dropped, disputed ones last."""
        used = self._count() if self._used is None else self._used
        excess = used + len(content) - BUDGET_BYTES
        for with_disputed in (False, True):
            if excess > 0:
                freed = self._drop(excess, with_disputed=with_disputed)
                used, excess = used - freed, excess - freed
        if excess <= 0:
            used += len(content)
            self._connection.execute("INSERT INTO evidence VALUES (?, ?, ?)", (match, n, content))
        self._used = used

    def _count(self) -> int:
        """The bytes of all pictures: a page must be read for each, too much to do it at every verdict."""
        sql = "SELECT coalesce(sum(length(content)), 0) FROM evidence"
        return int(self._connection.execute(sql).fetchone()[0])

    def _drop(self, excess: int, *, with_disputed: bool) -> int:
        """Drop pictures until ``excess`` bytes are free; the number of bytes freed."""
        freed, gone = 0, []
        for match, n, size in self._connection.execute(OLDEST, (with_disputed,)):
            if freed >= excess:
                break
            freed += size
            gone.append((match, n))
        self._connection.executemany("DELETE FROM evidence WHERE match = ? AND n = ?", gone)
        return freed
