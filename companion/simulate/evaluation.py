"""Compares what the players of a simulated match really did with what the referee said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from companion.events import Accepted, Event, Illegal, TakenBack, Unsure, withdrawn
from companion.languages.english import counted
from companion.simulate.players import ILLEGAL, MOVE, TAKEBACK
from companion.simulate.table import GroundTruth

KINDS = LOST, WRONG, MISSED, ASKED, MISCITED, ACCUSED = "lost", "wrong", "missed", "asked", "miscited", "accused"
"""Kinds of disagreement: a move not accepted, a move accepted that was not played, an illegal act not reported, one
about which the referee only asked, one reported with rules that it does not break, an accusation without cause."""

THREAD_LOST = 4
"""The demonstration ends when the players are this many moves ahead of the moves that were asked for."""

HAND_COMES_S = 0.3
"""Time from when the next hand sets out, which ends a calm, until it is over the board; a verdict may still come."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A disagreement at ``t_s``: what was ``played``, what was ``said``; ``kind`` is one of KINDS."""

    t_s: float
    kind: str
    played: str
    said: str

    def line(self) -> str:
        """One line of text for people."""
        return f"  {self.t_s:7.1f} s  {self.kind}: {self.played}; {self.said}"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of comparing what was played with what the referee said.

    Attributes:
        moves: number of honest moves played.
        accepted: number of them that were accepted as played.
        acts: number of illegal acts.
        caught: number of them that were reported with a rule that they break.
        questions: how often the referee asked people.
        faults: every disagreement, in order of time.
    """

    moves: int
    accepted: int
    acts: int
    caught: int
    questions: int
    faults: tuple[Fault, ...]

    @property
    def is_clean(self) -> bool:
        """Whether there is no disagreement but of kind ASKED: asking people is not an error."""
        return len(self.faults) == self.count(ASKED)

    def count(self, kind: str) -> int:
        """Number of faults of one kind."""
        return sum(fault.kind == kind for fault in self.faults)

    def lines(self) -> list[str]:
        """Lines of text for people."""
        lost, wrong, missed, asked, miscited, accused = map(self.count, KINDS)
        moves = f"{counted(self.moves, 'honest move')} played: {self.accepted} accepted as played, {lost} lost"
        acts = f"{counted(self.acts, 'illegal act')} done: {self.caught} caught, {asked} asked about, {missed} missed"
        asked_of_people = counted(self.questions, "question")
        return [
            *(fault.line() for fault in self.faults),
            f"{moves}; {wrong} accepted that were not played;",
            f"{acts}, {miscited} miscited; {counted(accused, 'false accusation')}; {asked_of_people} asked.",
        ]


def accepted(events: Sequence[Event]) -> int:
    """Number of accepted moves that have not been taken back."""
    taken = sum(len(event.moves) for event in events if isinstance(event, TakenBack))
    return sum(isinstance(event, Accepted) for event in events) - taken


def is_over(plies: int, said: Sequence[Event], truth: Sequence[GroundTruth]) -> bool:
    """Whether ``plies`` moves stand, or clearly more were played: a referee that is lost must not run forever."""
    played = sum(act.kind == MOVE for act in truth) - sum(act.kind == TAKEBACK for act in truth)
    return accepted(said) >= plies or played >= plies + THREAD_LOST


def compare(truth: Sequence[GroundTruth], events: Sequence[Event]) -> Result:
    """Compare the events with what was really done; acts that could not be judged before the end are not counted."""
    last_s = max((event.t for event in events), default=0.0)
    done = [act for act in truth if act.t_calm_from <= last_s or any(_speaks_of(event, act) for event in events)]
    moves = [act for act in done if act.kind == MOVE]
    acts = [act for act in done if act.kind == ILLEGAL]
    said = [event for event in events if isinstance(event, Accepted)]
    pairs = _longest_common_subsequence([act.text for act in moves], [event.move for event in said])
    faults = [*_judged(acts, done, events)]
    unpunished = sum(fault.kind != ACCUSED for fault in faults)
    taken, given = {i for i, _ in pairs}, {j for _, j in pairs}
    faults += [Fault(a.t_calm_from, LOST, f"{a.text} was played", "not accepted") for a in _excluding(moves, taken)]
    faults += [Fault(e.t, WRONG, _last_played(done, e.t), f"{e.move} was accepted") for e in _excluding(said, given)]
    return Result(
        moves=len(moves),
        accepted=len(pairs),
        acts=len(acts),
        caught=len(acts) - unpunished,
        questions=sum(isinstance(event, Unsure) for event in events),
        faults=tuple(sorted(faults, key=lambda fault: fault.t_s)),
    )


def _judged(acts: Sequence[GroundTruth], done: Sequence[GroundTruth], events: Sequence[Event]) -> Iterator[Fault]:
    """Faults in illegal acts and accusations; a false accusation does not keep another from being matched."""
    due = [event for event in events if isinstance(event, Illegal)]
    questions = [event for event in events if isinstance(event, Unsure)]
    false = withdrawn(events)
    for act in acts:
        own = [event for event in due if _is_of(act, event.t) and event.n not in false]
        rightly = next((event for event in own if set(event.rules) & set(act.rules)), None)
        word = rightly or next(iter(own), None)
        question = next((event for event in questions if _is_of(act, event.t)), None)
        if word is not None:
            due.remove(word)
            if rightly is None:
                yield Fault(word.t, MISCITED, _describe_act(act), _accusation(word))
        elif question is not None:
            yield Fault(question.t, ASKED, _describe_act(act), question.question)
        else:
            yield Fault(act.t_calm_from, MISSED, _describe_act(act), "nothing was said")
    for event in due:
        yield Fault(event.t, ACCUSED, _last_played(done, event.t), _accusation(event))


def _speaks_of(event: Event, act: GroundTruth) -> bool:
    """Whether the event is the verdict on an act, perhaps given before the hand was out of sight."""
    if act.kind == ILLEGAL:
        return isinstance(event, Illegal) and act.judged_from_s <= event.t
    return isinstance(event, Accepted) and event.move == act.text and act.judged_from_s <= event.t


def _is_of(act: GroundTruth, t_s: float) -> bool:
    """Whether an event at ``t_s`` is about what ``act`` left on the table."""
    return act.judged_from_s <= t_s and (act.t_calm_to is None or t_s <= act.t_calm_to + HAND_COMES_S)


def _describe_act(act: GroundTruth) -> str:
    rules = f"({', '.join(act.rules)})" if act.rules else ""
    text = act.text or ("no single act" if act.kind == ILLEGAL else "")
    return " ".join(filter(None, (f"{act.player}: {act.kind}", text, rules)))


def _accusation(event: Illegal) -> str:
    return f"accused {event.player} of {event.attempt or 'no single act'} ({', '.join(event.rules)})"


def _last_played(done: Sequence[GroundTruth], t_s: float) -> str:
    last = max((act for act in done if act.judged_from_s <= t_s), key=lambda act: act.t_calm_from, default=None)
    return "before anything was played" if last is None else f"after {_describe_act(last)} at {last.t_calm_from:.1f} s"


T = TypeVar("T")


def _excluding(things: Sequence[T], numbers: set[int]) -> list[T]:
    return [thing for i, thing in enumerate(things) if i not in numbers]


def _longest_common_subsequence(played: Sequence[str | None], said: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of indices: the moves accepted as played, in order."""
    longest = [[0] * (len(said) + 1) for _ in range(len(played) + 1)]
    for i, move in reversed(list(enumerate(played))):
        for j, word in reversed(list(enumerate(said))):
            skipped = max(longest[i + 1][j], longest[i][j + 1])
            longest[i][j] = 1 + longest[i + 1][j + 1] if move == word else skipped
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(played) and j < len(said):
        if played[i] == said[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
