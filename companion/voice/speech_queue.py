"""Chooses the sentence to speak next: the most important, then the newest, no repetition.  Pure; times passed in.

One sentence is spoken at a time.  A new one interrupts it when it has the same topic (then the old one is out of date)
or is more important; else it waits, of each topic only the newest, and not for long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from companion.panel.panel import Announcement

STALE_S = 5.0
"""A sentence that has waited longer is dropped."""

REPEAT_S = 8.0
"""Time in which the same sentence is not repeated, for states that flicker or hands that fidget."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence that arrived, or whose speaking began, at ``t_s``."""

    said: Announcement
    t_s: float


@dataclass(frozen=True, slots=True)
class SpeechQueue:
    """The sentence being spoken, those waiting (one per topic), and when each text was last begun."""

    now: Utterance | None = None
    waiting: tuple[Utterance, ...] = ()
    begun: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def enqueue(queue: SpeechQueue, said: Announcement, t_s: float) -> SpeechQueue:
    """``queue`` after ``said`` arrived at ``t_s``."""
    now = queue.now
    if now is not None and now.said.text == said.text:
        return queue
    others = tuple(each for each in queue.waiting if each.said.topic is not said.topic)
    queue = replace(queue, waiting=(*others, Utterance(said, t_s)))
    if now is None or now.said.topic is said.topic or now.said.rank < said.rank:
        return next_sentence(queue, t_s)
    return queue


def next_sentence(queue: SpeechQueue, t_s: float) -> SpeechQueue:
    """``queue`` after speaking ended or was interrupted at ``t_s``: the next sentence is begun, if there is one."""
    fresh = tuple(each for each in queue.waiting if t_s - each.t_s <= STALE_S and not _is_repeated(queue, each, t_s))
    if not fresh:
        return replace(queue, now=None, waiting=())
    chosen = max(fresh, key=lambda each: (each.said.rank, each.t_s))
    begun = {text: since_s for text, since_s in queue.begun.items() if t_s - since_s < REPEAT_S}
    return SpeechQueue(
        now=Utterance(chosen.said, t_s),
        waiting=tuple(each for each in fresh if each is not chosen),
        begun=MappingProxyType({**begun, chosen.said.text: t_s}),
    )


def _is_repeated(queue: SpeechQueue, utterance: Utterance, t_s: float) -> bool:
    return t_s - queue.begun.get(utterance.said.text, float("-inf")) < REPEAT_S
