"""What one frame leads to, and what has been seen in one calm: readings, and what the second look has said.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from companion.events import Event
from companion.tracker.evidence import Evidence, combine
from companion.tracker.hypotheses import Prediction
from companion.tracker.verification import SecondLook, Verified, Verify, answered

COMBINED_READINGS = 4
"""Readings of one calm that are weighed together; older ones are forgotten, lest a slow change be averaged away."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What one frame of the gate leads to: whether to read it, and events.

    ``is_review``: the whole of it, and against the last table of an earlier calm that was understood.
    """

    read: bool
    events: tuple[Event, ...]
    is_review: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest readings of this calm, the oldest first, and what the last second look has said.

    ``is_whole``: one of them was of the whole table, and not of those cells alone whose picture had changed.
    """

    frames: tuple[Evidence, ...] = ()
    look: SecondLook | None = None
    is_whole: bool = False

    @property
    def evidence(self) -> Evidence:
        """Of all readings, of which there must be one, together."""
        return combine(self.frames)

    def with_reading(self, evidence: Evidence, *, is_whole: bool = False) -> Seen:
        """And one reading more; the first whole one replaces those before, which knew less."""
        frames = () if is_whole and not self.is_whole else self.frames
        frames = (*frames, evidence)[-COMBINED_READINGS:]
        return replace(self, frames=frames, is_whole=is_whole or self.is_whole)

    def with_answer(self, question: Verify, answer: Verified) -> Seen:
        """And what a second look has said."""
        return replace(self, look=answered(self.look, question.views, answer))

    def is_exhausted(self, question: Verify) -> bool:
        """Whether that has been answered, and as many readings weighed as ever are."""
        is_answered = self.look is not None and self.look.log_p.keys() >= set(question.views)
        return is_answered and len(self.frames) == COMBINED_READINGS


@dataclass(frozen=True, slots=True)
class Waiting:
    """A table of which something is to be said once the ``question`` has been answered."""

    question: Verify
    prediction: Prediction
    evidence: Evidence
