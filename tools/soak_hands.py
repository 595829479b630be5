"""Hands that rest beside the board while others play: does any of them make a verdict late, false or missed?

    python -m tools.soak_hands --seeds 2 --plies 8
    python -m tools.soak_hands diamond --first 7

All games before the simulated camera.  From each of the four edges in turn a hand comes, lies beside the mat for 0.3 to
20 s, over no square, trembling a little, and goes.  A verdict is late when it falls more than 0.6 s after the acting
hand has left the picture.  Every fault is printed with its game and seed.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import cv2

from companion.app.ground import ground_levels
from companion.app.table import Table
from companion.commands.options.game import open_kit
from companion.commands.options.serial import simulated_pillars
from companion.commands.options.source import simulated_eyes
from companion.events import Accepted, Event, Illegal, Restored, TakenBack, Unfinished
from companion.games import load_game
from companion.match import Match
from companion.panel.choice import open_desk
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.simulate.evaluation import Result, compare, is_over
from companion.simulate.gesture import AWAY_MM
from companion.simulate.hand import HOVER_MM, SKINS, SLEEVES, Hand
from companion.simulate.players import ILLEGAL, MOVE, OVERFLOW, RESTORE, TAKEBACK
from companion.simulate.table import REAL, SimulatedTable, Truth
from tools.soak import aligned, rate, table

GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond:table")
EDGES_DEG = (-90.0, 0.0, 90.0, 180.0)

SHORTEST_S, LONGEST_S = 0.3, 20.0
"""How long a hand rests."""

PAUSE_S = (0.3, 2.0)
"""Between two of them."""

BESIDE_MM = (15.0, 80.0)
"""How far beyond the mat's edge fingertips lie."""

REACH_S, TREMBLE_MM = 0.4, 0.5

LATE_S = 0.6

ANSWER: Mapping[str, type[Event]] = {
    MOVE: Accepted,
    ILLEGAL: Illegal,
    RESTORE: Restored,
    TAKEBACK: TakenBack,
    OVERFLOW: Unfinished,
}


@dataclass(frozen=True, slots=True)
class Rest:
    """One hand beside the board: from ``begin_s`` on, for ``rest_s`` at ``place_mm``; it comes from ``away_mm``."""

    begin_s: float
    rest_s: float
    place_mm: tuple[float, float]
    away_mm: tuple[float, float]
    edge_deg: float
    look: int

    @property
    def end_s(self) -> float:
        """When it is out of sight again."""
        return self.begin_s + self.rest_s + 2 * REACH_S

    def hand(self, t_s: float) -> Hand:
        """Where it is at ``t_s``."""
        since_s = t_s - self.begin_s
        share = min(1.0, since_s / REACH_S, (self.end_s - t_s) / REACH_S)
        wobble = TREMBLE_MM * math.sin(11.0 * t_s)
        x, y = ((1 - share) * far + share * near for far, near in zip(self.away_mm, self.place_mm, strict=True))
        return Hand((x + wobble, y, HOVER_MM), self.edge_deg, SKINS[self.look], SLEEVES[self.look])


class Bystanders:
    """Hands that rest beside one edge after another, for ever."""

    def __init__(self, half_mm: tuple[float, float], seed: int) -> None:
        self._rests = _rests(half_mm, random.Random(f"bystanders {seed}"))
        self._now = next(self._rests)
        self.seen: list[Rest] = []

    def __call__(self, t_s: float) -> Sequence[Hand]:
        """Whose hands are in the picture."""
        while t_s >= self._now.end_s:
            self._now = next(self._rests)
        if self._now not in self.seen and t_s >= self._now.begin_s:
            self.seen.append(self._now)
        return () if t_s < self._now.begin_s else (self._now.hand(t_s),)


def _rests(half_mm: tuple[float, float], chance: random.Random) -> Iterator[Rest]:
    t_s = 2.0
    while True:
        for edge_deg in chance.sample(EDGES_DEG, len(EDGES_DEG)):
            out = (math.cos(math.radians(edge_deg)), math.sin(math.radians(edge_deg)))
            aside = chance.uniform(-0.8, 0.8)
            beside_mm = chance.uniform(*BESIDE_MM)

            def point(by_mm: float, out: tuple[float, float] = out, aside: float = aside) -> tuple[float, float]:
                x = out[0] * (half_mm[0] + by_mm) + abs(out[1]) * aside * half_mm[0]
                return x, out[1] * (half_mm[1] + by_mm) + abs(out[0]) * aside * half_mm[1]

            # As many short rests as long ones.
            rest_s = math.exp(chance.uniform(math.log(SHORTEST_S), math.log(LONGEST_S)))
            rest = Rest(t_s, rest_s, point(beside_mm), point(AWAY_MM), edge_deg, chance.randrange(len(SKINS)))
            yield rest
            t_s = rest.end_s + chance.uniform(*PAUSE_S)


@dataclass(frozen=True)
class Run:
    """One match: its faults, (k,) latencies of the verdicts in seconds, the late ones in words, hands that rested."""

    result: Result
    latencies_s: Sequence[float]
    late: Sequence[str]
    hands: int


def main(words: Sequence[str] | None = None) -> int:
    """Run the matches; exit code 1 when a verdict was late, false or missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--plies", type=int, default=10, metavar="N", help="accepted moves of each")
    told = parser.parse_args(words)
    cv2.setNumThreads(1)
    runs = {
        game: [shoot(game, seed, told.plies) for seed in range(told.first, told.first + told.seeds)]
        for game in told.games
    }
    print("\n".join([*table({game: [run.result for run in each] for game, each in runs.items()}), "", *_late(runs)]))
    everything = [run for each in runs.values() for run in each]
    return 0 if all(run.result.is_clean and not run.late for run in everything) else 1


def shoot(tag: str, seed: int, plies: int) -> Run:
    """One match; its faults are printed as soon as they are known."""
    game = load_game(tag)
    match, kit = Match(game, game.start()), open_kit(None, game)
    bystanders = Bystanders((kit.mat.width_mm / 2, kit.mat.height_mm / 2), seed)
    source = SimulatedTable(kit, match, seed, pace=REAL, bystanders=bystanders)
    eyes = simulated_eyes(kit, source, ground_levels(kit, game, match.position))
    said: list[Event] = []
    info = MatchInfo(tag, game.players, format_position(game, match.position), datetime.now(UTC), kit.name)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "hands.db")
        keeper = Keeper(store, store.begin(info))
        referee = Referee(match)
        pillars = simulated_pillars(source, kit, seed, in_real_time=False)
        Table(
            source,
            eyes,
            referee,
            keeper,
            open_desk("none", game.players, sys.stdout),
            [said.append, source.hear],
            is_over=lambda: is_over(plies, said, source.truth),
            pillars=pillars,
        ).run()
    result = compare(source.truth, said)
    latencies_s, late = _latencies(source.truth, said)
    for line in (*(fault.line() for fault in result.faults), *late):
        print(f"{tag} --first {seed} --seeds 1 --plies {plies}{line}", flush=True)
    return Run(result, latencies_s, late, len(bystanders.seen))


def _latencies(truth: Sequence[Truth], said: Sequence[Event]) -> tuple[list[float], list[str]]:
    """How long after the hand had left each verdict fell, in seconds, and those that were late, in words."""
    latencies_s, late = [], []
    for act in truth:
        kind = ANSWER[act.kind]
        word = next((event for event in said if isinstance(event, kind) and event.t >= act.judged_from_s), None)
        if word is None:
            continue  # a fault that compare() names
        latencies_s.append(max(0.0, word.t - act.t_calm_from))
        if latencies_s[-1] > LATE_S:
            late.append(f"  {act.t_calm_from:7.1f} s  late by {latencies_s[-1]:.2f} s: {act.kind} {act.text or ''}")
    return latencies_s, late


def _late(runs: Mapping[str, Sequence[Run]]) -> list[str]:
    rows = [("game", "hands beside", "verdicts", f"later than {LATE_S} s", "median s", "worst s")]
    for game, each in (*runs.items(), ("all", [run for one in runs.values() for run in one])):
        times_s = sorted(s for run in each for s in run.latencies_s)
        late = sum(len(run.late) for run in each)
        spread = (f"{times_s[len(times_s) // 2]:.2f}", f"{times_s[-1]:.2f}") if times_s else ("-", "-")
        rows.append((game, str(sum(run.hands for run in each)), str(len(times_s)), rate(late, len(times_s)), *spread))
    return aligned(rows)


if __name__ == "__main__":
    sys.exit(main())
