"""Simulated matches of every game with a simulated reader: counts the referee's faults and questions.

    python -m tools.soak_readings --matches 60            # 60 matches of each game
    python -m tools.soak_readings ziggurat --matches 5 --first 7 --reader poor

Every fault is printed with its game, reader and seed, which reproduce it exactly.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from companion.commands.demo import shown_games
from companion.commands.options.game import STACKED, add_kings, begin_match, with_king_marking
from companion.simulate.evaluation import KINDS, Result, compare
from companion.simulate.players import ILLEGAL, Habits, play
from companion.simulate.readings import Noise
from companion.simulate.table import GroundTruth
from tools.simulated_match import SimulatedMatch
from tools.soak import aligned, rate, table

MATCHES, ACTS = 45, 45
"""Matches of each game, and visits to the board in each."""

HABITS = Habits(illegal=0.25, takeback=0.05, two_at_once=0.1, overflow_at_once=0.3, irregular_change=0.3, alike=0.1)

READERS: Mapping[str, Noise] = {
    "good": Noise(height_nats=48.0, top_nats=60.0, alike_nats=48.0, evenness=5.0),
    "fair": Noise(height_nats=36.0, top_nats=60.0, alike_nats=36.0, evenness=4.0),
    "poor": Noise(height_nats=24.0, top_nats=48.0, alike_nats=24.0, evenness=4.0),
}
"""Simulated readers, correct in 99.85, 99.4 and 98.1 % of squares (83,600 squares of the five games), with calibrated
probabilities."""


@dataclass(frozen=True)
class Run:
    """One match.

    Attributes:
        result: faults and counts.
        truth: all acts.
        needless_questions: questions about moves that look like no other.
        rulings: corrections by the arbiter.
        judged_s, prepared_s: times for judging each reading and for preparing the next one.
    """

    result: Result
    truth: Sequence[GroundTruth]
    needless_questions: int
    rulings: int
    judged_s: Sequence[float]
    prepared_s: Sequence[float]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the matches; return 1 if there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=shown_games(), metavar="GAME")
    parser.add_argument("--matches", type=int, default=MATCHES, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--acts", type=int, default=ACTS, metavar="N", help="visits to the board in each")
    parser.add_argument("--reader", choices=READERS, help="one reader only (default: each in turn)")
    parser.add_argument("--one-look", action="store_true", help="do not answer the referee's requests for verification")
    add_kings(parser)
    options = parser.parse_args(argv)
    readers = [options.reader] if options.reader else list(READERS)
    runs: dict[tuple[str, str], list[Run]] = {}
    for game in options.games:
        for i, seed in enumerate(range(options.first, options.first + options.matches)):
            reader = readers[i % len(readers)]
            runs.setdefault((game, reader), []).append(
                play_match(game, seed, options.acts, reader, options.kings, looks_twice=not options.one_look)
            )
    print("\n".join(report(runs)))
    return 0 if all(run.result.is_clean for group_runs in runs.values() for run in group_runs) else 1


def play_match(tag: str, seed: int, acts: int, reader: str, kings: str = STACKED, *, looks_twice: bool = True) -> Run:
    """Simulate one match, and print its faults."""
    match = with_king_marking(begin_match(tag, None), kings)
    simulated = SimulatedMatch(match, READERS[reader], seed, looks_twice=looks_twice)
    simulated.watch(islice(play(match, random.Random(seed), HABITS), acts))
    result = compare(simulated.truth, simulated.events)
    for fault in result.faults:
        print(f"{tag} --reader {reader} --first {seed} --matches 1{fault.line()}", flush=True)
    idle = sum(event.event == "unsure" and not _is_about_lookalike(simulated, event.t) for event in simulated.events)
    return Run(result, simulated.truth, idle, simulated.rulings, simulated.judged_s, simulated.prepared_s)


def _is_about_lookalike(simulated: SimulatedMatch, t_s: float) -> bool:
    """Whether the last act before ``t_s`` was a move that looks like another one, or like none."""
    last_act = max((i for i, act in enumerate(simulated.truth) if act.t_calm_from <= t_s), default=-1)
    return last_act in simulated.lookalikes


def report(runs: Mapping[tuple[str, str], Sequence[Run]]) -> list[str]:
    """Lines of the report: faults by game, by reader, by rule and sort of act; then computing times and questions."""
    by_game: dict[str, list[Run]] = {}
    by_reader: dict[str, list[Run]] = {}
    for (game, reader), group_runs in runs.items():
        by_game.setdefault(game, []).extend(group_runs)
        by_reader.setdefault(reader, []).extend(group_runs)
    all_runs = [run for group_runs in runs.values() for run in group_runs]
    return [
        *table({game: [run.result for run in group_runs] for game, group_runs in by_game.items()}),
        "",
        *table({reader: [run.result for run in group_runs] for reader, group_runs in by_reader.items()})[:-1],
        "",
        *_by_rule(all_runs),
        "",
        *_costs(by_game),
        "",
        _questions(all_runs),
    ]


def _by_rule(runs: Iterable[Run]) -> list[str]:
    """A table of illegal acts and their faults, by the first broken rule and by sort."""
    act_counts: Counter[str] = Counter()
    fault_counts: dict[str, Counter[str]] = {}
    for run in runs:
        faults = {fault.t_s: fault.kind for fault in run.result.faults}
        for act in run.truth:
            if act.kind != ILLEGAL:
                continue
            kind = next((k for t, k in faults.items() if act.t_calm_from <= t <= (act.t_calm_to or t)), None)
            for name in (*act.rules[:1], *([f"({act.sort})"] if act.sort else [])):
                act_counts[name] += 1
                if kind is not None:
                    fault_counts.setdefault(name, Counter())[kind] += 1
    kinds = KINDS[2:5]
    rows = [
        (name, str(act_counts[name]), *(str(fault_counts.get(name, Counter())[kind]) for kind in kinds))
        for name in sorted(act_counts)
    ]
    return aligned([("first rule, or (sort)", "acts", *kinds), *rows])


def _costs(by_game: Mapping[str, Sequence[Run]]) -> list[str]:
    """A table of the times for judging and preparing, by game."""
    rows = [("milliseconds", "readings", "judge median", "p95", "max", "prepare median", "max")]
    for game, runs in by_game.items():
        judged = sorted(1000 * s for run in runs for s in run.judged_s)
        prepared = sorted(1000 * s for run in runs for s in run.prepared_s if s > 1e-4)
        judging_ms = (statistics.median(judged), judged[int(0.95 * len(judged))], judged[-1])
        rows.append(
            (game, str(len(judged)), *(f"{ms:.2f}" for ms in (*judging_ms, statistics.median(prepared), prepared[-1])))
        )
    return aligned(rows)


def _questions(runs: Sequence[Run]) -> str:
    """A summary of needless questions and of rulings."""
    acts = sum(len(run.truth) for run in runs)
    idle, rulings = sum(run.needless_questions for run in runs), sum(run.rulings for run in runs)
    return (
        f"{len(runs)} matches, {acts} visits to the board: {rate(idle, acts)} questions but for moves that look like "
        f"others by nature; {rulings} rulings by the arbiter."
    )


if __name__ == "__main__":
    sys.exit(main())
