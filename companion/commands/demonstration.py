"""`companion demo`: the whole system without hardware; a rendered camera looks at simulated players."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2

from calibration.kit import load_kit
from companion.app.eyes import Eyes
from companion.commands.refereeing import add_output, begin_match, check_kit, referee_match
from companion.events import Accepted, Event, Illegal, TakenBack
from companion.recorder.place import default_store, make_folder
from companion.simulate.table import FAST, REAL, SimulatedTable, Truth, clock, enrol_picture
from vision.enrol import enrol

DEFAULT_GAME = "domination"
DEFAULT_SEED = 1
STORE = "demo.db"
"""Demonstrations are kept apart from real matches."""


def add_parsers(subparsers: Any) -> None:
    """Add `demo`."""
    demo = subparsers.add_parser("demo", help="show the main job without hardware: a simulated match, refereed")
    demo.add_argument("game", nargs="?", default=DEFAULT_GAME, metavar="GAME[:variant][/n]")
    demo.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="S", help="repeats a demonstration exactly")
    demo.add_argument("--plies", type=_count, metavar="N", help="end after N accepted moves")
    demo.add_argument("--fast", action="store_true", help="as fast as it goes instead of in real time")
    add_output(demo)
    demo.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """`companion demo`: exit code 1 when the referee and the players' own record of what they did disagree."""
    cv2.setNumThreads(1)
    match = begin_match(arguments.game, None)
    kit = load_kit(match.game.tag.split(":")[0].split("/")[0])
    check_kit(kit, match.game)
    if arguments.match is None:
        folder = default_store(os.environ).parent
        make_folder(folder)
        arguments.match = folder / STORE
    pace, wait = (FAST, None) if arguments.fast else (REAL, clock())
    table = SimulatedTable(kit, match, arguments.seed, pace=pace, wait=wait)
    eyes = Eyes(kit, table.camera, enrol(enrol_picture(kit), kit, table.camera))
    said: list[Event] = []
    referee_match(
        arguments,
        match,
        kit,
        eyes,
        table,
        listeners=[said.append, table.hear],
        is_over=lambda: arguments.plies is not None and accepted(said) >= arguments.plies,
    )
    result = compare(table.truth, said)
    if not arguments.json:
        print("\n".join(result.lines()), file=sys.stdout)
        print(f"kept in {arguments.match}: companion verify last --store {arguments.match}")
    return 0 if result.is_clean else 1


@dataclass(frozen=True, slots=True)
class Result:
    """The players' own record against the referee's word."""

    moves: int
    accepted: int
    acts: int
    caught: int
    accused: int
    wrong: int

    @property
    def is_clean(self) -> bool:
        """Whether nothing was missed, invented or taken for something else."""
        return self.moves == self.accepted and self.acts == self.caught and not self.accused and not self.wrong

    def lines(self) -> list[str]:
        """For people."""
        return [
            "",
            f"{self.moves} honest moves were played, {self.accepted} accepted as played, {self.wrong} otherwise;",
            f"{self.acts} illegal acts were done, {self.caught} caught; {self.accused} false accusations.",
        ]


def accepted(events: Sequence[Event]) -> int:
    """Accepted moves that still stand."""
    taken = sum(len(event.moves) for event in events if isinstance(event, TakenBack))
    return sum(isinstance(event, Accepted) for event in events) - taken


def compare(truth: Sequence[Truth], events: Sequence[Event]) -> Result:
    """Hold the events against what was really done; an act after the last event counts for nobody."""
    last_s = max((event.t for event in events), default=0.0)
    done = [act for act in truth if act.t_calm_from <= last_s]
    moves = [act.text for act in done if act.kind == "move"]
    acts = [set(act.rules) for act in done if act.kind == "illegal"]
    said = [event.move for event in events if isinstance(event, Accepted)]
    accusations = [set(event.rules) for event in events if isinstance(event, Illegal)]
    right = _common(moves, said)
    caught = sum(bool(a & b) for a, b in zip(acts, accusations, strict=False))
    return Result(len(moves), right, len(acts), caught, max(0, len(accusations) - len(acts)), len(said) - right)


def _common(played: Sequence[str | None], said: Sequence[str]) -> int:
    """Length of the longest common subsequence: moves accepted as played, in their order."""
    row = [0] * (len(said) + 1)
    for move in played:
        before = row[:]
        for j, word in enumerate(said, start=1):
            row[j] = before[j - 1] + 1 if move == word else max(before[j], row[j - 1])
    return row[-1]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of moves, 1 or more")
    return int(text)
