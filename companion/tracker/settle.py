"""When is the table calm, and when is a picture of it worth reading?  Pure: times go in, decisions come out.

The motion gate says for each frame whether anything has moved since the frame before.  A reading costs thirty times as
much as the gate, so a calm table that has been understood is not read again and again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FAST_READINGS = 6
"""Number of consecutive calm frames read while the table is not understood: half a second at 12 frames a second."""

DOUBTFUL_PAUSE_S = 0.5
"""Interval of further readings: nothing moves, so the next frame says the same as the last."""

HAND_PAUSE_S = 0.25
"""Interval of readings while a hand rests over the board; when it leaves, motion starts a new calm at once."""

SETTLED_PAUSE_S = 2.0
"""Interval of readings of an understood table, in case it changed slower than the gate notices; but not of one with
something illegal on it: that may be put right any moment, and is read as often as a doubtful one."""

REVIEW_FRAMES, REVIEW_S = 6, 0.75
"""Once in each calm, after so many frames or seconds, the whole table is read anew from the mean of all its frames,
whose noise is 2.4 times less: what was taken for unchanged, or for a move alone, may show more.  This comes before
doubt has lasted long enough to ask about (patience.DOUBT_S)."""


UNDECIDED_S = 2.0
"""A calm table that is still being judged may show a move made in time; no flag falls on it for this long."""


@dataclass(frozen=True, slots=True)
class Calm:
    """A period in which nothing moves.

    ``since_s`` is the time of its first frame, None while something moves, ``frames`` their number; ``readings`` counts
    its readings, the last at ``read_s``; ``settled``: the table has been understood; ``wrong``: something illegal is on
    it; ``hand``: something lay over it; ``reviewed``: all of its frames have been read as one.
    """

    since_s: float | None = None
    frames: int = 0
    readings: int = 0
    read_s: float = 0.0
    settled: bool = False
    hand: bool = False
    wrong: bool = False
    reviewed: bool = False

    def is_review_due(self, t_s: float) -> bool:
        """Whether the frame at ``t_s`` is to be read as the mean of all frames."""
        lasts = self.frames >= REVIEW_FRAMES or self.lasted_s(t_s) >= REVIEW_S
        return lasts and not self.reviewed and not self.hand

    def lasted_s(self, t_s: float) -> float:
        """How long the table has been calm at ``t_s``, in seconds."""
        return 0.0 if self.since_s is None else t_s - self.since_s


def step(calm: Calm, t_s: float, *, moving: bool) -> tuple[Calm, bool]:
    """The calm after the frame at ``t_s``, and whether that frame should be read."""
    if moving:
        return Calm(), False
    if calm.since_s is None:
        return Calm(since_s=t_s, frames=1), True
    calm = replace(calm, frames=calm.frames + 1)
    return calm, calm.readings == 0 or calm.is_review_due(t_s) or t_s - calm.read_s >= _pause_s(calm)


def _pause_s(calm: Calm) -> float:
    """How long the last reading of this calm remains valid, in seconds."""
    if calm.hand:
        return HAND_PAUSE_S
    if calm.settled and not calm.wrong:
        return SETTLED_PAUSE_S
    return 0.0 if calm.readings < FAST_READINGS and not calm.settled else DOUBTFUL_PAUSE_S


def after_reading(calm: Calm, t_s: float, *, settled: bool, hand: bool, wrong: bool = False) -> Calm:
    """The calm once the frame at ``t_s`` has been read and judged."""
    reviewed = calm.reviewed or (calm.is_review_due(t_s) and not hand)
    since_s = t_s if calm.since_s is None else calm.since_s
    calm = replace(calm, since_s=since_s, readings=calm.readings + 1, read_s=t_s, reviewed=reviewed)
    return replace(calm, settled=settled, hand=hand, wrong=wrong)


def decided_s(calm: Calm, t_s: float) -> float:
    """The time, in seconds, up to which the table is known at ``t_s``; a move may have been made after that."""
    return t_s if calm.settled or calm.since_s is None else max(calm.since_s, t_s - UNDECIDED_S)
