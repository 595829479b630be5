"""PDN of :mod:`tools.pdn_games`, from standard input, read by py-draughts: does it come to the same position?

It is run with py-draughts in front, as :mod:`tools.py_draughts` is.
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
    """Of each form, how many of the matches are read to the same end."""
    read, same = Counter[str](), Counter[str]()
    for line in sys.stdin:
        game = json.loads(line)
        board = getattr(draughts, f"{BOARDS[game['form']]}Board")
        read[game["form"]] += 1
        try:
            seen = pieces(board.from_pdn(game["pdn"]).fen)
        except ValueError:  # other rules
            continue
        same[game["form"]] += seen == {(numbered(name), stack) for name, stack in game["there"]}
    print("\n".join(f"{form}: {same[form]} of {number}" for form, number in read.items()))
    return 0


def pieces(fen: str) -> set[tuple[str, str]]:
    """Number of the square and stack of every piece."""
    sides = fen.removeprefix('[FEN "').removesuffix('"]').split(":")[1:]
    squares = [(side[0], square) for side in sides for square in side[1:].rstrip(".").split(",") if square]
    return {(square.removeprefix("K"), letter * (1 + square.startswith("K"))) for letter, square in squares}


def numbered(name: str) -> str:
    """The number of a dark square of 8 × 8 that may be called by its letter: py-draughts counts from b8 on."""
    return str((8 - int(name[1:])) * 4 + "abcdefgh".index(name[0]) // 2 + 1) if name[0].isalpha() else name


if __name__ == "__main__":
    sys.exit(main())
