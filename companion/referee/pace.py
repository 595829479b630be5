"""Whether pictures come often enough to show what happens between two calm tables.  Pure: only their times count."""

from __future__ import annotations

from dataclasses import dataclass, replace

from companion.tracker.interpret import Illegal, Judgement, Undecided

SLOW_S, BRISK_S = 0.28, 0.24
"""Mean gap between two pictures above which there are too few, and to which it must fall for there to be enough again:
in recordings thinned to one picture in 0.25 s no move was missed, in 0.35 s two of three
(docs/measurements/phone.md)."""

AVERAGED_GAPS = 8
"""Number of gaps averaged: two seconds of too few pictures; a phone or network that stumbles once is not reported."""

OUTAGE_S = 0.75
"""A longer gap is an outage of the camera, or was left out of a recording because nothing moved."""

BLIND_S = 2.5
"""After a longer gap several acts may lie on the table at once: in recordings one follows another within two seconds.
A recording with thinned calms keeps a picture at least every two (companion.tracker.settle.SETTLED_PAUSE_S)."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often pictures come.

    Attributes:
        last_s: when the last picture was taken; None before the first.
        was_read: whether it was read: the time that a reading takes says nothing about how often pictures come.
        gaps_s: the last gaps between two pictures.
        is_slow: whether there are too few pictures.
        has_missed: whether something has moved during such a time since the table was last understood.
    """

    last_s: float | None = None
    was_read: bool = False
    gaps_s: tuple[float, ...] = ()
    is_slow: bool = False
    has_missed: bool = False

    def since_s(self, t_s: float) -> float:
        """Seconds from the last picture to ``t_s``; 0 before the first."""
        return 0.0 if self.last_s is None else t_s - self.last_s


def step(pace: Pace, t_s: float, *, moving: bool, read: bool) -> Pace:
    """The pace after the picture at ``t_s``: ``moving``, something moves in it; ``read``, it will be read."""
    gap_s = pace.since_s(t_s)
    counts = 0 < gap_s < OUTAGE_S and not pace.was_read
    gaps_s = (*pace.gaps_s, gap_s)[-AVERAGED_GAPS:] if counts else pace.gaps_s
    mean_s = sum(gaps_s) / AVERAGED_GAPS if len(gaps_s) == AVERAGED_GAPS else 0.0
    is_slow = mean_s > (BRISK_S if pace.is_slow else SLOW_S)
    return Pace(t_s, read, gaps_s, is_slow, pace.has_missed or (is_slow and moving))


def clear_missed(pace: Pace) -> Pace:
    """The pace once the table has been understood, or asked about."""
    return replace(pace, has_missed=False)


def soften_accusation(judgement: Judgement, pace: Pace, gap_s: float) -> Judgement:
    """``judgement``, but no accusation if pictures were missing while the table changed, for ``gap_s`` at most.

    Legal moves that nobody saw may lie between.  After a single gap, what a single act explains remains that act.
    """
    meaning = judgement.interpretation
    if not isinstance(meaning, Illegal):
        return judgement
    if not pace.has_missed and (gap_s <= BLIND_S or meaning.diagnosis.move is not None):
        return judgement
    return replace(
        judgement, interpretation=Undecided((), is_violation_possible=True, fallback_posterior=judgement.posterior)
    )
