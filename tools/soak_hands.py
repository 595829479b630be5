"""What comes and goes beside the board while others play: does any of it make a verdict late, false or missed?

    python -m tools.soak_hands --seeds 2 --plies 8
    python -m tools.soak_hands diamond --first 7 --kinds cup shade

All games before the simulated camera.  From each of the four edges in turn comes what :mod:`tools.bystanders` knows,
over no square but for shadows, for 0.3 to 20 s.  A verdict is late when it falls more than 0.6 s after the acting hand
has left the picture.  Every fault is printed with its game and seed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
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
from companion.simulate.players import ILLEGAL, MOVE, OVERFLOW, RESTORE, TAKEBACK
from companion.simulate.table import REAL, SimulatedTable, Truth
from tools.bystanders import KINDS, Bystanders
from tools.soak import aligned, rate, table

GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond:table")
LATE_S = 0.6

ANSWER: Mapping[str, type[Event]] = {
    MOVE: Accepted,
    ILLEGAL: Illegal,
    RESTORE: Restored,
    TAKEBACK: TakenBack,
    OVERFLOW: Unfinished,
}


@dataclass(frozen=True)
class Run:
    """One match: its faults, (k,) latencies of the verdicts in seconds, the late ones in words, visits by kind."""

    result: Result
    latencies_s: Sequence[float]
    late: Sequence[str]
    visits: Mapping[str, int]


def main(words: Sequence[str] | None = None) -> int:
    """Run the matches; exit code 1 when a verdict was late, false or missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="what comes and goes")
    parser.add_argument("--plies", type=int, default=10, metavar="N", help="accepted moves of each")
    told = parser.parse_args(words)
    cv2.setNumThreads(1)
    runs = {
        game: [shoot(game, seed, told.plies, told.kinds) for seed in range(told.first, told.first + told.seeds)]
        for game in told.games
    }
    print("\n".join([*table({game: [run.result for run in each] for game, each in runs.items()}), "", *_late(runs)]))
    everything = [run for each in runs.values() for run in each]
    return 0 if all(run.result.is_clean and not run.late for run in everything) else 1


def shoot(tag: str, seed: int, plies: int, kinds: Sequence[str] = KINDS) -> Run:
    """One match; its faults are printed as soon as they are known."""
    game = load_game(tag)
    match, kit = Match(game, game.start()), open_kit(None, game)
    bystanders = Bystanders(kit, seed, kinds)
    source = SimulatedTable(kit, match, seed, pace=REAL, bystanders=bystanders)
    eyes = simulated_eyes(kit, source, ground_levels(kit, game, match.position))
    said: list[Event] = []
    info = MatchInfo(tag, game.players, format_position(game, match.position), datetime.now(UTC), kit.name)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "hands.db")
        keeper = Keeper(store, store.begin(info))
        referee = Referee(match, verifying=True)
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
        print(f"{tag} --first {seed} --seeds 1 --plies {plies} --kinds {' '.join(kinds)}{line}", flush=True)
    return Run(result, latencies_s, late, Counter(visit.kind for visit in bystanders.seen))


def _latencies(truth: Sequence[Truth], said: Sequence[Event]) -> tuple[list[float], list[str]]:
    """Seconds from the hand's leaving to each verdict, and the late verdicts in words."""
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
    rows: list[Sequence[str]] = [("game", *KINDS, "verdicts", f"later than {LATE_S} s", "median s", "worst s")]
    for game, each in (*runs.items(), ("all", [run for one in runs.values() for run in one])):
        times_s = sorted(s for run in each for s in run.latencies_s)
        late = sum(len(run.late) for run in each)
        spread = (f"{times_s[len(times_s) // 2]:.2f}", f"{times_s[-1]:.2f}") if times_s else ("-", "-")
        rows.append(
            (
                game,
                *(str(sum(run.visits.get(kind, 0) for run in each)) for kind in KINDS),
                str(len(times_s)),
                rate(late, len(times_s)),
                *spread,
            )
        )
    return aligned(rows)


if __name__ == "__main__":
    sys.exit(main())
