"""Perft counts from the data files ``perft/<game>.perft``."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.games import available_games, read_position
from companion.rules.notation import format_move
from companion.rules.perft import divide, perft

FOLDER = Path(__file__).parent / "perft"


def read_figures() -> list[tuple[str, str, int, int]]:
    """Return the id, position, depth and count of every entry in the folder."""
    figures = []
    for path in sorted(FOLDER.glob("*.perft")):
        name = position = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            word, _, rest = line.partition(" ")
            if word == "id":
                name = rest
            elif word == "position":
                position = rest
            elif word == "perft":
                depth, count = map(int, rest.split())
                figures.append((name, position, depth, count))
    return figures


@pytest.mark.parametrize(("name", "position", "depth", "count"), read_figures())
def test_figure(name: str, position: str, depth: int, count: int) -> None:
    game, start = read_position(position)
    counts = divide(game, start, depth)
    listing = "\n".join(sorted(f"{format_move(game, start, move)}: {n}" for move, n in counts.items()))
    assert sum(counts.values()) == count, f"{name} at depth {depth}\n{listing}"
    assert perft(game, start, depth) == count


def test_depth_nought_is_one() -> None:
    game, start = read_position(read_figures()[0][1])
    assert perft(game, start, 0) == 1


@pytest.mark.parametrize("name", [info.name for info in available_games()])
def test_every_game_has_figures(name: str) -> None:
    assert (FOLDER / f"{name}.perft").exists()
