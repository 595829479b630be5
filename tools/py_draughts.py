"""Random play by py-draughts, as :mod:`tools.rules_bench` does it: a yardstick that is no part of the program.

It is under the GPL, brings a web server, and its package is called `draughts` as that of pydraughts is.  So it lies in
its own folder, PY_DRAUGHTS in the Makefile, and this file is run with that in front: ``make bench``.
"""

from __future__ import annotations

import random
import sys
import time

import draughts

SECONDS, LONGEST = 2.0, 200
"""As in :mod:`tools.rules_bench`, which cannot be imported here: it imports the other `draughts`."""


def main() -> int:
    """A row for each form."""
    for form in ("American", "Standard", "Russian", "Brazilian"):
        print(f"| py-draughts, {form.lower()}, in the same run | | {plies_per_s(form):,.0f} |", flush=True)
    return 0


def plies_per_s(form: str) -> float:
    """List the legal moves, choose one, play it."""
    rng = random.Random(1)
    plies, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        board = getattr(draughts, f"{form}Board")()
        for _ in range(LONGEST):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun)


if __name__ == "__main__":
    sys.exit(main())
