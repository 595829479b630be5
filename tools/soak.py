"""Demonstrations by the dozen: how often is the referee right?  ``make soak``, or ``python -m tools.soak --help``.

Every fault is printed with its game, seed and time; `companion demo GAME --fast --plies N --seed S` repeats it exactly.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from companion.cli import build_parser
from companion.commands.demo import Options, demonstrate, shown_games
from companion.commands.options.parser import filled
from companion.simulate.evaluation import ACCUSED, ASKED, LOST, MISCITED, MISSED, WRONG, Result

SEEDS, PLIES = 4, 12

Z_95 = 1.959964
"""Quantile of the normal distribution for a two-sided interval of 95 %."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the demonstrations one after the other; exit code 1 when there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=shown_games(), metavar="GAME")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="demonstrations of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--plies", type=int, default=PLIES, metavar="N", help="accepted moves of each")
    told = parser.parse_args(words)
    results = {
        game: [_run(game, seed, told.plies) for seed in range(told.first, told.first + told.seeds)]
        for game in told.games
    }
    print("\n".join(table(results)))
    return 0 if all(result.is_clean for runs in results.values() for result in runs) else 1


def _run(game: str, seed: int, plies: int) -> Result:
    """One demonstration; its faults are printed as soon as they are known."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["demo", game, "--fast", "--panel", "none", "--seed", str(seed), "--plies", str(plies)]
        words += ["--match", str(Path(folder) / "soak.db")]
        result = demonstrate(filled(Options, build_parser("demo").parse_args(words)))
    for fault in result.faults:
        print(f"{game} --seed {seed}{fault.line()}", flush=True)
    return result


def table(results: dict[str, list[Result]]) -> list[str]:
    """One row a game, and one for all: each count with the 95 % interval of the rate that it stands for."""
    heads = ("moves", "accepted", LOST, WRONG, "acts", "caught", ASKED, MISSED, MISCITED, ACCUSED, "questions")
    rows = [("game", "runs", *heads)]
    rows += [_row(game, runs) for game, runs in results.items()]
    rows.append(_row("all", [result for runs in results.values() for result in runs]))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines whose words stand below one another."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(name: str, runs: Sequence[Result]) -> tuple[str, ...]:
    moves, acts = sum(run.moves for run in runs), sum(run.acts for run in runs)

    def faults(kind: str) -> int:
        return sum(run.count(kind) for run in runs)

    return (
        name,
        str(len(runs)),
        str(moves),
        rate(sum(run.accepted for run in runs), moves),
        rate(faults(LOST), moves),
        rate(faults(WRONG), moves),
        str(acts),
        rate(sum(run.caught for run in runs), acts),
        rate(faults(ASKED), acts),
        rate(faults(MISSED), acts),
        rate(faults(MISCITED), acts),
        rate(faults(ACCUSED), moves + acts),
        rate(sum(run.questions for run in runs), moves + acts),
    )


def rate(n: int, of: int) -> str:
    """A count with the 95 % interval of the rate that it stands for."""
    low, high = wilson(n, of)
    return f"{n} ({100 * low:.1f}-{100 * high:.1f} %)"


def wilson(n: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a rate of which ``n`` out of ``of`` were seen (Wilson's score interval)."""
    if of == 0:
        return 0.0, 1.0
    share, spread = n / of, Z_95**2 / of
    middle = share + spread / 2
    reach = Z_95 * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, (middle - reach) / (1 + spread)), min(1.0, (middle + reach) / (1 + spread))


if __name__ == "__main__":
    sys.exit(main())
