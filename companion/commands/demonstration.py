"""`companion demo`: the whole system without hardware; a rendered camera looks at simulated players."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import cv2

from calibration.kit import available_kits, load_kit
from companion.app.eyes import Eyes
from companion.app.ground import ground_levels
from companion.commands.refereeing import add_output, begin_match, open_kit, referee_match
from companion.commands.sensing import simulated_pillars
from companion.events import Accepted, Event, Illegal, TakenBack, Unsure
from companion.games import available_games
from companion.recorder.place import default_store, make_folder
from companion.rules.notation import format_tag, parse_tag
from companion.simulate.players import ILLEGAL, MOVE, TAKEBACK
from companion.simulate.table import FAST, REAL, SimulatedTable, Truth, clock, enrol_picture
from vision.enrolment import enrol

DEFAULT_GAME = "domination"
DEFAULT_SEED = 1
STORE = "demo.db"
"""Demonstrations are kept apart from real matches."""

KINDS = LOST, WRONG, MISSED, ASKED, MISCITED, ACCUSED = "lost", "wrong", "missed", "asked", "miscited", "accused"
"""Of disagreements: a move not accepted, one accepted that was not played, an illegal act passed over in silence, one
that people were only asked about, one named with rules that it does not break, an accusation for nothing."""

THREAD_LOST = 4
"""So many moves more than the referee has accepted, and the demonstration ends."""

HAND_COMES_S = 0.3
"""A calm ends when the next hand sets out; it takes so long to be over the board, and a verdict may still fall."""


def add_parsers(subparsers: Any) -> None:
    """Add `demo`."""
    demo = subparsers.add_parser("demo", help="show the main job without hardware: a simulated match, refereed")
    demo.add_argument("game", nargs="?", default=DEFAULT_GAME, metavar="GAME[:variant][/n]")
    demo.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="S", help="repeats a demonstration exactly")
    demo.add_argument("--plies", type=_count, metavar="N", help="end after N accepted moves")
    demo.add_argument("--fast", action="store_true", help="as fast as it goes instead of in real time")
    add_output(demo)
    demo.set_defaults(run=run_demo, confirm=False, clock=None)


def run_demo(arguments: argparse.Namespace) -> int:
    """`companion demo`: exit code 1 when the referee and the players' own record of what they did disagree."""
    result = demonstrate(arguments)
    if not arguments.json:
        print("\n".join(["", *result.lines()]), file=sys.stdout)
        print(f"kept in {arguments.match}: companion verify last --store {arguments.match}")
    return 0 if result.is_clean else 1


def demonstrate(arguments: argparse.Namespace) -> Result:
    """Show one match as `demo` is told to, and hold what was said against what was done."""
    cv2.setNumThreads(1)
    match = begin_match(made_for(arguments.game), None)
    kit = open_kit(None, match.game)
    if arguments.match is None:
        folder = default_store(os.environ).parent
        make_folder(folder)
        arguments.match = folder / STORE
    pace, wait = (FAST, None) if arguments.fast else (REAL, clock())
    table = SimulatedTable(kit, match, arguments.seed, pace=pace, wait=wait)
    levels = ground_levels(kit, match.game, match.position)
    eyes = Eyes(kit, table.camera, enrol(enrol_picture(kit, levels=levels), kit, table.camera, levels), levels)
    said: list[Event] = []
    referee_match(
        arguments,
        match,
        kit,
        eyes,
        table,
        listeners=[said.append, table.hear],
        pillars=simulated_pillars(table, kit, arguments.seed, in_real_time=not arguments.fast),
        is_over=lambda: arguments.plies is not None and is_over(arguments.plies, said, table.truth),
    )
    return compare(table.truth, said)


def shown_games() -> tuple[str, ...]:
    """Every game that a kit comes with the program for, for as many players as it may have."""
    players = {info.name: info.players for info in available_games()}
    games = [parse_tag(load_kit(name).game) for name in available_kits()]
    return tuple(format_tag(name, variant, n) for name, variant, _ in games for n in players[name])


def made_for(tag: str) -> str:
    """The game that is shown: where the kit is made for a variant, the main rules are shown in that."""
    name, variant, players = parse_tag(tag)
    own = load_kit(name).game if name in available_kits() else name
    return tag if variant else own + (f"/{players}" if players else "")


@dataclass(frozen=True, slots=True)
class Fault:
    """A disagreement at ``t_s``: what was ``played``, what was ``said``; ``kind`` is one of KINDS."""

    t_s: float
    kind: str
    played: str
    said: str

    def line(self) -> str:
        """For people."""
        return f"  {self.t_s:7.1f} s  {self.kind}: {self.played}; {self.said}"


@dataclass(frozen=True, slots=True)
class Result:
    """The players' own record against the referee's word.

    Attributes:
        moves: honest moves played, ``accepted`` of them as played.
        acts: illegal acts done, ``caught`` of them with a rule that they break.
        questions: how often people were asked.
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
        """Whether nothing was missed, invented or taken for something else; to ask people is no fault."""
        return len(self.faults) == self.count(ASKED)

    def count(self, kind: str) -> int:
        """How many faults are of one kind."""
        return sum(fault.kind == kind for fault in self.faults)

    def lines(self) -> list[str]:
        """For people."""
        lost, wrong, missed, asked, miscited, accused = map(self.count, KINDS)
        moves = f"{self.moves} honest moves were played: {self.accepted} accepted as played, {lost} lost"
        acts = f"{self.acts} illegal acts were done: {self.caught} caught, {asked} asked about, {missed} missed"
        return [
            *(fault.line() for fault in self.faults),
            f"{moves}; {wrong} accepted that were not played;",
            f"{acts}, {miscited} miscited; {accused} false accusations; {self.questions} questions asked.",
        ]


def accepted(events: Sequence[Event]) -> int:
    """Accepted moves that still stand."""
    taken = sum(len(event.moves) for event in events if isinstance(event, TakenBack))
    return sum(isinstance(event, Accepted) for event in events) - taken


def is_over(plies: int, said: Sequence[Event], truth: Sequence[Truth]) -> bool:
    """Whether so many moves stand; or, lest a referee who has lost the thread be watched forever, clearly more were."""
    played = sum(act.kind == MOVE for act in truth) - sum(act.kind == TAKEBACK for act in truth)
    return accepted(said) >= plies or played >= plies + THREAD_LOST


def compare(truth: Sequence[Truth], events: Sequence[Event]) -> Result:
    """Hold the events against what was really done; an act after the last event counts for nobody."""
    last_s = max((event.t for event in events), default=0.0)
    done = [act for act in truth if act.t_calm_from <= last_s]
    moves = [act for act in done if act.kind == MOVE]
    acts = [act for act in done if act.kind == ILLEGAL]
    said = [event for event in events if isinstance(event, Accepted)]
    pairs = _in_common([act.text for act in moves], [event.move for event in said])
    faults = [*_judged(acts, done, events)]
    unpunished = sum(fault.kind != ACCUSED for fault in faults)
    taken, given = {i for i, _ in pairs}, {j for _, j in pairs}
    faults += [Fault(a.t_calm_from, LOST, f"{a.text} was played", "not accepted") for a in _but(moves, taken)]
    faults += [Fault(e.t, WRONG, _last_played(done, e.t), f"{e.move} was accepted") for e in _but(said, given)]
    return Result(
        moves=len(moves),
        accepted=len(pairs),
        acts=len(acts),
        caught=len(acts) - unpunished,
        questions=sum(isinstance(event, Unsure) for event in events),
        faults=tuple(sorted(faults, key=lambda fault: fault.t_s)),
    )


def _judged(acts: Sequence[Truth], done: Sequence[Truth], events: Sequence[Event]) -> Iterator[Fault]:
    """What went wrong with illegal acts and accusations: one that an act gave no cause for costs no other its due."""
    due = [event for event in events if isinstance(event, Illegal)]
    questions = [event for event in events if isinstance(event, Unsure)]
    for act in acts:
        own = [event for event in due if _is_of(act, event.t)]
        rightly = next((event for event in own if set(event.rules) & set(act.rules)), None)
        word = rightly or next(iter(own), None)
        question = next((event for event in questions if _is_of(act, event.t)), None)
        if word is not None:
            due.remove(word)
            if rightly is None:
                yield Fault(word.t, MISCITED, _told(act), _accusation(word))
        elif question is not None:
            yield Fault(question.t, ASKED, _told(act), question.question)
        else:
            yield Fault(act.t_calm_from, MISSED, _told(act), "nothing was said")
    for event in due:
        yield Fault(event.t, ACCUSED, _last_played(done, event.t), _accusation(event))


def _is_of(act: Truth, t_s: float) -> bool:
    """Whether what is said at ``t_s`` is said of what ``act`` left on the table."""
    return act.t_calm_from <= t_s and (act.t_calm_to is None or t_s <= act.t_calm_to + HAND_COMES_S)


def _told(act: Truth) -> str:
    rules = f"({', '.join(act.rules)})" if act.rules else ""
    text = act.text or ("no single act" if act.kind == ILLEGAL else "")
    return " ".join(filter(None, (f"{act.player}: {act.kind}", text, rules)))


def _accusation(event: Illegal) -> str:
    return f"accused {event.player} of {event.attempt or 'no single act'} ({', '.join(event.rules)})"


def _last_played(done: Sequence[Truth], t_s: float) -> str:
    last = max((act for act in done if act.t_calm_from <= t_s), key=lambda act: act.t_calm_from, default=None)
    return "before anything was played" if last is None else f"after {_told(last)} at {last.t_calm_from:.1f} s"


T = TypeVar("T")


def _but(things: Sequence[T], numbers: set[int]) -> list[T]:
    return [thing for i, thing in enumerate(things) if i not in numbers]


def _in_common(played: Sequence[str | None], said: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of indices: moves accepted as played, in their order."""
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


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of moves, 1 or more")
    return int(text)
