"""Runs many demonstrations and counts the referee's faults: ``make soak``, or ``python -m tools.soak --help``.

Every fault is printed with its game, seed and time; `companion demo GAME --fast --plies N --seed S` reproduces it.
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
from companion.commands.options.parser import parse_group
from companion.simulate.evaluation import ACCUSED, ASKED, LOST, MISCITED, MISSED, WRONG, Result

SEEDS, PLIES = 4, 12
"""Demonstrations of each game, and accepted moves of each."""

Z_95 = 1.959964
"""Quantile of the standard normal distribution for a two-sided 95 % interval."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstrations one by one; return 1 if there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=shown_games(), metavar="GAME")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="demonstrations of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--plies", type=int, default=PLIES, metavar="N", help="accepted moves of each demonstration")
    options = parser.parse_args(argv)
    results = {
        game: [_demonstrate(game, seed, options.plies) for seed in range(options.first, options.first + options.seeds)]
        for game in options.games
    }
    print("\n".join(table(results)))
    return 0 if all(result.is_clean for runs in results.values() for result in runs) else 1


def _demonstrate(game: str, seed: int, plies: int) -> Result:
    """Run one demonstration and print its faults."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["demo", game, "--fast", "--panel", "none", "--seed", str(seed), "--plies", str(plies)]
        arguments += ["--match", str(Path(folder) / "soak.db")]
        result = demonstrate(parse_group(Options, build_parser("demo").parse_args(arguments)))
    for fault in result.faults:
        print(f"{game} --seed {seed}{fault.line()}", flush=True)
    return result


def table(results: dict[str, list[Result]]) -> list[str]:
    """A row per game and one for all: counts with the 95 % interval of their rates."""
    headings = ("moves", "accepted", LOST, WRONG, "acts", "caught", ASKED, MISSED, MISCITED, ACCUSED, "questions")
    rows = [("game", "runs", *headings)]
    rows += [_row(game, runs) for game, runs in results.items()]
    rows.append(_row("all", [result for runs in results.values() for result in runs]))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """``rows`` as lines of text with aligned columns."""
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


def rate(count: int, total: int) -> str:
    """A count with the 95 % interval of its rate in percent."""
    low, high = wilson(count, total)
    return f"{count} ({100 * low:.1f}-{100 * high:.1f} %)"


def wilson(count: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a rate, of which ``count`` out of ``total`` were observed."""
    if total == 0:
        return 0.0, 1.0
    proportion, z2_by_n = count / total, Z_95**2 / total
    centre = proportion + z2_by_n / 2
    half_width = Z_95 * sqrt(proportion * (1 - proportion) / total + z2_by_n / (4 * total))
    return max(0.0, (centre - half_width) / (1 + z2_by_n)), min(1.0, (centre + half_width) / (1 + z2_by_n))


if __name__ == "__main__":
    sys.exit(main())
