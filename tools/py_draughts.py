"""Random play by py-draughts, like in :mod:`tools.rules_bench`: a baseline for the speed of the rules.

py-draughts is under the GPL, brings a web server, and its package `draughts` has the same name as that of pydraughts.
So it is installed in a folder of its own, PY_DRAUGHTS in the Makefile, which is put first on the path: ``make bench``.
"""

from __future__ import annotations

import random
import sys
import time

import draughts

SECONDS, MAX_PLIES = 2.0, 200
"""Duration of a measurement and maximum plies of a match, as in :mod:`tools.rules_bench`, which imports pydraughts."""


def main() -> int:
    """Print a row for each variant."""
    for variant in ("American", "Standard", "Russian", "Brazilian"):
        print(f"| py-draughts, {variant.lower()}, in the same run | | {plies_per_s(variant):,.0f} |", flush=True)
    return 0


def plies_per_s(variant: str) -> float:
    """Plies per second of random play: list the legal moves, choose one, play it."""
    rng = random.Random(1)
    plies, begun_s = 0, time.perf_counter()
    while time.perf_counter() - begun_s < SECONDS:
        board = getattr(draughts, f"{variant}Board")()
        for _ in range(MAX_PLIES):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun_s)


if __name__ == "__main__":
    sys.exit(main())
