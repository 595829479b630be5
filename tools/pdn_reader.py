"""Checks that py-draughts reads the PDN of :mod:`tools.pdn_games` (standard input) to the same final positions.

Run it with py-draughts first on the path, like :mod:`tools.py_draughts`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import draughts

BOARDS = {
    "draughts": "American",
    "draughts:international": "Standard",
    "draughts:russian": "Russian",
    "draughts:brazilian": "Brazilian",
}


def main() -> int:
    """Print for each variant how many matches are read to the same final position."""
    total, agreeing = Counter[str](), Counter[str]()
    for line in sys.stdin:
        game = json.loads(line)
        board = getattr(draughts, f"{BOARDS[game['form']]}Board")
        total[game["form"]] += 1
        try:
            final_pieces = pieces(board.from_pdn(game["pdn"]).fen)
        except ValueError:  # py-draughts rejects a move: its rules differ
            continue
        agreeing[game["form"]] += final_pieces == {(square_number(name), stack) for name, stack in game["there"]}
    print("\n".join(f"{form}: {agreeing[form]} of {number}" for form, number in total.items()))
    return 0


def pieces(fen: str) -> set[tuple[str, str]]:
    """Square number and stack of every piece in a FEN."""
    sides = fen.removeprefix('[FEN "').removesuffix('"]').split(":")[1:]
    squares = [(side[0], square) for side in sides for square in side[1:].rstrip(".").split(",") if square]
    return {(square.removeprefix("K"), letter * (1 + square.startswith("K"))) for letter, square in squares}


def square_number(name: str) -> str:
    """The number of a dark square; algebraic names (8 × 8) are converted, counting from b8 as py-draughts does."""
    return str((8 - int(name[1:])) * 4 + "abcdefgh".index(name[0]) // 2 + 1) if name[0].isalpha() else name


if __name__ == "__main__":
    sys.exit(main())
