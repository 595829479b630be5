"""What was at each place when a table was last understood, for comparison with changed pictures.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from companion.rules.board import Sight
from companion.tracker.sights import Changes


@dataclass(frozen=True, slots=True)
class UnderstoodTable:
    """A table that was understood.

    Attributes:
        sights: what is at each place (:mod:`companion.tracker.sights`): None where that was in doubt, UNKNOWN where an
            accusation claims a change; None for all if nothing is known.
        claimed: what an accusation takes to be where it claims a change.
    """

    sights: tuple[Sight | None, ...] | None = None
    claimed: Changes = ()

    def levels(self, n: int) -> tuple[int | None, ...] | None:
        """The levels of the pillars under ``n`` cells, None where in doubt; None: all are unknown, or none exist."""
        pillars = None if self.sights is None else self.sights[n:]
        return tuple(None if sight is None else sight[0] for sight in pillars) if pillars else None


@dataclass(frozen=True, slots=True)
class UnderstoodHistory:
    """The last table that was understood, and the last one of an earlier calm.

    ``is_recalled``: pictures are compared with the earlier calm's table, though a table of this calm was understood.
    """

    last: UnderstoodTable = UnderstoodTable()
    earlier: UnderstoodTable = UnderstoodTable()
    is_recalled: bool = False


def after_motion(known: UnderstoodHistory) -> UnderstoodHistory:
    """``known`` once something has moved."""
    return UnderstoodHistory(known.last, known.last)


def with_earlier(known: UnderstoodHistory) -> UnderstoodHistory:
    """``known`` once pictures are compared with the earlier calm's table again."""
    return replace(known, last=known.earlier, is_recalled=True)
