"""Test vectors: positions with their legal moves, and attempts with the rules they break.

A sample is part of the repository; further files are used where they lie beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from companion.games import read_position
from companion.rules.notation import format_move, parse_move

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
FOLDERS = (ROOT / "tests" / "data" / "rules", SHARED / "vectors", SHARED / "draughts")
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.jsonl"))]


def rows(path: Path, key: str) -> list[dict[str, Any]]:
    """Return the rows of ``path`` that have ``key``."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if key in row]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_move_lists_and_outcomes(path: Path) -> None:
    for row in rows(path, "legal"):
        game, position = read_position(row["position"])
        moves = game.legal_moves(position)
        assert sorted(format_move(game, position, move) for move in moves) == sorted(row["legal"]), row["position"]
        outcome = game.outcome(position)
        found = None if outcome is None else {"winner": outcome.winner, "rule": outcome.rule}
        assert found == row["outcome"], row["position"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_refusals_cite_every_broken_rule(path: Path) -> None:
    for row in rows(path, "attempt"):
        game, position = read_position(row["position"])
        broken = game.violations(position, parse_move(game, position, row["attempt"]))
        cited = {violation.rule for violation in broken}
        assert cited == set(row["violated"]), f"{row['position']} {row['attempt']}"
