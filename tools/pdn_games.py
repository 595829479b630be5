"""Prints random draughts matches as PDN, one JSON object per line, for a check by another program: `make pdn`.

python -m tools.pdn_games | PYTHONPATH=.venv-py-draughts python tools/pdn_reader.py
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime

from companion.events import Accepted, Event, Start
from companion.games import load_game
from companion.match import Match
from companion.recorder.store import MatchInfo
from companion.records.pdn import TYPES, format_pdn, square_names
from companion.records.record import MatchRecord
from companion.rules.notation import format_move, format_position

MATCHES, MAX_PLIES = 25, 150
"""Number of matches of each variant, and maximum number of plies of each."""


def main() -> int:
    """Print each match: its variant (form), PDN, and final position (there) as pairs of square name and stack."""
    for tag in TYPES:
        for seed in range(MATCHES):
            record, match = random_match(tag, seed)
            names = square_names(match.game.layout, TYPES[tag].squares)
            cells = zip(match.game.layout.cells, match.position.board, strict=True)
            pieces = sorted((names[cell], stack) for cell, stack in cells if stack)
            print(json.dumps({"form": tag, "pdn": format_pdn(record), "there": pieces}))
    return 0


def random_match(tag: str, seed: int) -> tuple[MatchRecord, Match]:
    """The record of a match of random moves, deterministic by seed, and the match at its end."""
    game, rng = load_game(tag), random.Random(f"{tag} {seed}")
    match = Match(game, game.start())
    start = format_position(game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=start)]
    while match.outcome is None and len(events) <= MAX_PLIES:
        move = rng.choice(game.legal_moves(match.position))
        text, mover, match = format_move(game, match.position, move), match.position.to_move, match.play(move)
        position = format_position(game, match.position)
        events.append(Accepted(t=float(len(events)), n=len(events) + 1, player=mover, move=text, position=position))
    info = MatchInfo(tag, game.players, start, datetime(2026, 1, 1, tzinfo=UTC), "draughts", ())
    return MatchRecord(info, tuple(events)), match


if __name__ == "__main__":
    sys.exit(main())
