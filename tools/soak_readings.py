"""Simulated matches of every game before a simulated reader: what the referee misses, misnames, invents, and asks.

    python -m tools.soak_readings --matches 60            # so many of each game
    python -m tools.soak_readings ziggurat --matches 5 --first 7 --reader poor

Every fault is printed with its game, reader and seed, which repeat it exactly.
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
from companion.commands.options.game import STACKED, add_kings, as_they_lie, begin_match
from companion.simulate.evaluation import KINDS, Result, compare
from companion.simulate.players import ILLEGAL, Habits, play
from companion.simulate.readings import Noise
from companion.simulate.table import Truth
from tools.film import Film
from tools.soak import aligned, rate, table

MATCHES, ACTS = 45, 45
HABITS = Habits(illegal=0.25, takeback=0.05, two_at_once=0.1, overflow_at_once=0.3, mischief=0.3, alike=0.1)

READERS: Mapping[str, Noise] = {
    "good": Noise(height_nats=48.0, top_nats=60.0, alike_nats=48.0, evenness=5.0),
    "fair": Noise(height_nats=36.0, top_nats=60.0, alike_nats=36.0, evenness=4.0),
    "poor": Noise(height_nats=24.0, top_nats=48.0, alike_nats=24.0, evenness=4.0),
}
"""Right in 99.85, 99.4 and 98.1 squares of a hundred (83,600 squares of the five games), and honest about the rest."""


@dataclass(frozen=True)
class Run:
    """One match: what came of it, its acts, the questions asked of moves that look like no other, and what it cost."""

    result: Result
    truth: Sequence[Truth]
    idle_questions: int
    rulings: int
    judged_s: Sequence[float]
    prepared_s: Sequence[float]


def main(words: Sequence[str] | None = None) -> int:
    """Run the matches; exit code 1 when a move was lost or invented, an act missed, or anybody falsely accused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=shown_games(), metavar="GAME")
    parser.add_argument("--matches", type=int, default=MATCHES, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--acts", type=int, default=ACTS, metavar="N", help="visits to the board in each")
    parser.add_argument("--reader", choices=READERS, help="one reader only (default: each in turn)")
    parser.add_argument("--one-look", action="store_true", help="nobody answers the referee's questions to the eyes")
    add_kings(parser)
    told = parser.parse_args(words)
    readers = [told.reader] if told.reader else list(READERS)
    runs: dict[tuple[str, str], list[Run]] = {}
    for game in told.games:
        for i, seed in enumerate(range(told.first, told.first + told.matches)):
            reader = readers[i % len(readers)]
            runs.setdefault((game, reader), []).append(
                shoot(game, seed, told.acts, reader, told.kings, looks_twice=not told.one_look)
            )
    print("\n".join(report(runs)))
    return 0 if all(run.result.is_clean for each in runs.values() for run in each) else 1


def shoot(tag: str, seed: int, acts: int, reader: str, kings: str = STACKED, *, looks_twice: bool = True) -> Run:
    """One match; its faults are printed as soon as they are known."""
    match = as_they_lie(begin_match(tag, None), kings)
    film = Film(match, READERS[reader], seed, looks_twice=looks_twice)
    film.watch(islice(play(match, random.Random(seed), HABITS), acts))
    result = compare(film.truth, film.events)
    for fault in result.faults:
        print(f"{tag} --reader {reader} --first {seed} --matches 1{fault.line()}", flush=True)
    idle = sum(event.event == "unsure" and not _is_of_alike(film, event.t) for event in film.events)
    return Run(result, film.truth, idle, film.rulings, film.judged_s, film.prepared_s)


def _is_of_alike(film: Film, t_s: float) -> bool:
    """Whether the last act before ``t_s`` was a move that looks like another."""
    last = max((i for i, act in enumerate(film.truth) if act.t_calm_from <= t_s), default=-1)
    return last in film.alike


def report(runs: Mapping[tuple[str, str], Sequence[Run]]) -> list[str]:
    """Faults by game, by reader, by rule and sort of act; then questions and cost."""
    by_game: dict[str, list[Run]] = {}
    by_reader: dict[str, list[Run]] = {}
    for (game, reader), each in runs.items():
        by_game.setdefault(game, []).extend(each)
        by_reader.setdefault(reader, []).extend(each)
    everything = [run for each in runs.values() for run in each]
    return [
        *table({game: [run.result for run in each] for game, each in by_game.items()}),
        "",
        *table({reader: [run.result for run in each] for reader, each in by_reader.items()})[:-1],
        "",
        *_by_rule(everything),
        "",
        *_costs(by_game),
        "",
        _questions(everything),
    ]


def _by_rule(runs: Iterable[Run]) -> list[str]:
    """How acts of each rule that comes first, and of each sort, fared."""
    done: Counter[str] = Counter()
    faulty: dict[str, Counter[str]] = {}
    for run in runs:
        faults = {fault.t_s: fault.kind for fault in run.result.faults}
        for act in run.truth:
            if act.kind != ILLEGAL:
                continue
            kind = next((k for t, k in faults.items() if act.t_calm_from <= t <= (act.t_calm_to or t)), None)
            for name in (*act.rules[:1], *([f"({act.sort})"] if act.sort else [])):
                done[name] += 1
                if kind is not None:
                    faulty.setdefault(name, Counter())[kind] += 1
    kinds = KINDS[2:5]
    rows = [
        (name, str(done[name]), *(str(faulty.get(name, Counter())[kind]) for kind in kinds)) for name in sorted(done)
    ]
    return aligned([("first rule, or (sort)", "acts", *kinds), *rows])


def _costs(by_game: Mapping[str, Sequence[Run]]) -> list[str]:
    rows = [("milliseconds", "readings", "judge median", "p95", "max", "prepare median", "max")]
    for game, runs in by_game.items():
        judged = sorted(1000 * s for run in runs for s in run.judged_s)
        prepared = sorted(1000 * s for run in runs for s in run.prepared_s if s > 1e-4)
        spread = (statistics.median(judged), judged[int(0.95 * len(judged))], judged[-1])
        rows.append(
            (game, str(len(judged)), *(f"{ms:.2f}" for ms in (*spread, statistics.median(prepared), prepared[-1])))
        )
    return aligned(rows)


def _questions(runs: Sequence[Run]) -> str:
    acts = sum(len(run.truth) for run in runs)
    idle, rulings = sum(run.idle_questions for run in runs), sum(run.rulings for run in runs)
    return (
        f"{len(runs)} matches, {acts} visits to the board: {rate(idle, acts)} questions but for moves that look like "
        f"others by nature; {rulings} rulings by the arbiter."
    )


if __name__ == "__main__":
    sys.exit(main())
