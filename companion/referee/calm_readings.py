"""What one frame leads to, and what one calm has yielded: readings, and the second look's answers.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from companion.events import Event
from companion.tracker.evidence import Evidence, combine
from companion.tracker.hypotheses import Prediction
from companion.tracker.verification import SecondLook, VerificationAnswer, VerificationQuestion, add_answer

COMBINED_READINGS = 4
"""Number of readings of one calm that are weighed together; older ones are dropped, so that slow changes show."""


@dataclass(frozen=True, slots=True)
class FrameDecision:
    """What one frame leads to: whether to read it, and events.

    ``is_review``: read the whole of it, compared with the last understood table of an earlier calm.
    """

    read: bool
    events: tuple[Event, ...]
    is_review: bool = False


@dataclass(frozen=True, slots=True)
class CalmReadings:
    """The newest readings of this calm, the oldest first, and the result of the last second look.

    ``is_whole``: one of them was of the whole table, not only of the cells whose picture had changed.
    """

    frames: tuple[Evidence, ...] = ()
    look: SecondLook | None = None
    is_whole: bool = False

    @property
    def evidence(self) -> Evidence:
        """All readings together; there must be at least one."""
        return combine(self.frames)

    def with_reading(self, evidence: Evidence, *, is_whole: bool = False) -> CalmReadings:
        """This with one more reading; the first whole one replaces those before, which knew less."""
        frames = () if is_whole and not self.is_whole else self.frames
        frames = (*frames, evidence)[-COMBINED_READINGS:]
        return replace(self, frames=frames, is_whole=is_whole or self.is_whole)

    def with_answer(self, question: VerificationQuestion, answer: VerificationAnswer) -> CalmReadings:
        """This with the answer of a second look."""
        return replace(self, look=add_answer(self.look, question.views, answer))

    def is_exhausted(self, question: VerificationQuestion) -> bool:
        """Whether the question has been answered, with as many readings weighed as possible."""
        is_answered = self.look is not None and self.look.log_p.keys() >= set(question.views)
        return is_answered and len(self.frames) == COMBINED_READINGS


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A table about which something is to be announced once the ``question`` has been answered."""

    question: VerificationQuestion
    prediction: Prediction
    evidence: Evidence
