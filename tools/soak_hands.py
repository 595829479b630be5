"""Tests that disturbances beside the board make no verdict late, false or missed.

    python -m tools.soak_hands --seeds 2 --plies 8
    python -m tools.soak_hands diamond --first 7 --kinds cup shade

Matches of all games in front of the simulated camera.  The disturbances of :mod:`tools.bystanders` come from all four
edges; only shadows cover squares.  A verdict is late if it comes more than 0.6 s after the acting hand has left the
picture.  Every fault is printed with its game and seed.
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
from companion.commands.options.source import simulated_camera_reader
from companion.events import Accepted, Event, Illegal, Restored, TakenBack, Unfinished
from companion.games import load_game
from companion.match import Match
from companion.panel.choice import open_panel
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.simulate.evaluation import Result, compare, is_over
from companion.simulate.players import ILLEGAL, MOVE, OVERFLOW, RESTORE, TAKEBACK
from companion.simulate.table import REAL, GroundTruth, SimulatedTable
from tools.bystanders import KINDS, Bystanders
from tools.soak import aligned, rate, table

GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond:table")
LATE_S = 0.6
"""Maximum latency of a verdict."""

VERDICT_OF: Mapping[str, type[Event]] = {
    MOVE: Accepted,
    ILLEGAL: Illegal,
    RESTORE: Restored,
    TAKEBACK: TakenBack,
    OVERFLOW: Unfinished,
}
"""The expected event for each kind of act."""


@dataclass(frozen=True)
class Run:
    """One match: its result, latencies of its verdicts, lines about the late ones, number of visits by kind."""

    result: Result
    latencies_s: Sequence[float]
    late: Sequence[str]
    visits: Mapping[str, int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the matches; return 1 if a verdict was late, false or missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="kinds of disturbances")
    parser.add_argument("--plies", type=int, default=10, metavar="N", help="accepted moves of each match")
    options = parser.parse_args(argv)
    cv2.setNumThreads(1)
    runs = {
        game: [
            play_match(game, seed, options.plies, options.kinds)
            for seed in range(options.first, options.first + options.seeds)
        ]
        for game in options.games
    }
    print(
        "\n".join(
            [*table({game: [run.result for run in game_runs] for game, game_runs in runs.items()}), "", *_late(runs)]
        )
    )
    all_runs = [run for game_runs in runs.values() for run in game_runs]
    return 0 if all(run.result.is_clean and not run.late for run in all_runs) else 1


def play_match(tag: str, seed: int, plies: int, kinds: Sequence[str] = KINDS) -> Run:
    """Simulate one match, and print its faults."""
    game = load_game(tag)
    match, kit = Match(game, game.start()), open_kit(None, game)
    bystanders = Bystanders(kit, seed, kinds)
    source = SimulatedTable(kit, match, seed, pace=REAL, bystanders=bystanders)
    camera_reader = simulated_camera_reader(kit, source, ground_levels(kit, game, match.position))
    events: list[Event] = []
    info = MatchInfo(tag, game.players, format_position(game, match.position), datetime.now(UTC), kit.name)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "hands.db")
        keeper = Keeper(store, store.begin(info))
        referee = Referee(match, verifying=True)
        pillars = simulated_pillars(source, kit, seed, in_real_time=False)
        Table(
            source,
            camera_reader,
            referee,
            keeper,
            open_panel("none", game.players, sys.stdout),
            [events.append, source.hear],
            is_over=lambda: is_over(plies, events, source.truth),
            pillars=pillars,
        ).run()
    result = compare(source.truth, events)
    latencies_s, late = _latencies(source.truth, events)
    for line in (*(fault.line() for fault in result.faults), *late):
        print(f"{tag} --first {seed} --seeds 1 --plies {plies} --kinds {' '.join(kinds)}{line}", flush=True)
    return Run(result, latencies_s, late, Counter(visit.kind for visit in bystanders.seen))


def _latencies(truth: Sequence[GroundTruth], events: Sequence[Event]) -> tuple[list[float], list[str]]:
    """Seconds from the hand's leaving to each verdict, and a line about each late one."""
    latencies_s, late = [], []
    for act in truth:
        kind = VERDICT_OF[act.kind]
        verdict = next((event for event in events if isinstance(event, kind) and event.t >= act.judged_from_s), None)
        if verdict is None:
            continue  # a missed verdict: compare() reports it
        latencies_s.append(max(0.0, verdict.t - act.t_calm_from))
        if latencies_s[-1] > LATE_S:
            late.append(f"  {act.t_calm_from:7.1f} s  late by {latencies_s[-1]:.2f} s: {act.kind} {act.text or ''}")
    return latencies_s, late


def _late(runs: Mapping[str, Sequence[Run]]) -> list[str]:
    """A table of visits and latencies, with a row per game."""
    rows: list[Sequence[str]] = [("game", *KINDS, "verdicts", f"later than {LATE_S} s", "median s", "worst s")]
    for game, game_runs in (*runs.items(), ("all", [run for each in runs.values() for run in each])):
        sorted_s = sorted(s for run in game_runs for s in run.latencies_s)
        late = sum(len(run.late) for run in game_runs)
        spread = (f"{sorted_s[len(sorted_s) // 2]:.2f}", f"{sorted_s[-1]:.2f}") if sorted_s else ("-", "-")
        rows.append(
            (
                game,
                *(str(sum(run.visits.get(kind, 0) for run in game_runs)) for kind in KINDS),
                str(len(sorted_s)),
                rate(late, len(sorted_s)),
                *spread,
            )
        )
    return aligned(rows)


if __name__ == "__main__":
    sys.exit(main())
