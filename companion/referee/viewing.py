"""What the referee has announced about the picture as a whole, and what has not lasted long enough yet.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

HAND_S = 3.0
"""A hand over the board is play; if it stays this long, it is announced (``view``: ``hand``)."""

PASSING, UNSEEN_S = ("no-mat", "blocked", "dark"), 2.0
"""An arm over a marker hides the mat for a moment, which is not announced."""

SLOW = "slow"
"""The view when too few pictures come (companion.referee.pace)."""

POOR = ("noise", "flicker", "shaking", SLOW)
"""The views of a picture that never comes to rest, or of too few pictures; such pictures are read all the same."""

SEEING = ("clear", "hand", "blocked", *POOR)
"""The views in which a clock runs: only in these is it up to the players if the board is hidden from the camera."""


@dataclass(frozen=True, slots=True)
class Viewing:
    """The view of one table.

    Attributes:
        said: the state that people have been told last.
        unseen_s: since when the board cannot be seen; None while it can.
        busy_s: since when something has been moving or lying over the board; None while nothing does.
    """

    said: str = "clear"
    unseen_s: float | None = None
    busy_s: float | None = None

    @property
    def is_poor(self) -> bool:
        """Whether people have been told that the picture never comes to rest, or comes too seldom."""
        return self.said in POOR


def update_view(viewing: Viewing, state: str, t_s: float) -> tuple[Viewing, bool]:
    """The viewing once the picture is in ``state``, and whether to announce it; what a hand can do must last first."""
    if state not in PASSING or viewing.unseen_s is None:
        viewing = replace(viewing, unseen_s=None if state == "clear" else t_s)
    lasts = viewing.unseen_s is not None and t_s - viewing.unseen_s >= UNSEEN_S
    is_news = state != viewing.said and (state not in PASSING or lasts)
    return (replace(viewing, said=state), True) if is_news else (viewing, False)


def start_busy(viewing: Viewing, t_s: float) -> tuple[Viewing, bool]:
    """The viewing while something moves or lies over the board, and whether that is worth announcing."""
    if viewing.busy_s is None:
        viewing = replace(viewing, busy_s=t_s)
    assert viewing.busy_s is not None
    return viewing, t_s - viewing.busy_s >= HAND_S and viewing.said == "clear"


def end_busy(viewing: Viewing) -> Viewing:
    """The viewing once nothing is over the board."""
    return replace(viewing, busy_s=None)
