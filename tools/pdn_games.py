"""Random matches of draughts as PDN, one a line as JSON, to be read by another program: `make pdn`.

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

GAMES, LONGEST = 25, 150
"""Matches of each form, and plies of each at most."""


def main() -> int:
    """Each match with its form, its PDN and what stands where at its end, as lists of a square's name and a stack."""
    for tag in TYPES:
        for seed in range(GAMES):
            record, match = played(tag, seed)
            names = square_names(match.game.layout, TYPES[tag].squares)
            cells = zip(match.game.layout.cells, match.position.board, strict=True)
            there = sorted((names[cell], stack) for cell, stack in cells if stack)
            print(json.dumps({"form": tag, "pdn": format_pdn(record), "there": there}))
    return 0


def played(tag: str, seed: int) -> tuple[MatchRecord, Match]:
    """A match of random moves, always the same for the same seed, and its end."""
    game, chance = load_game(tag), random.Random(f"{tag} {seed}")
    match = Match(game, game.start())
    begun = format_position(game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=begun)]
    while match.outcome is None and len(events) <= LONGEST:
        move = chance.choice(game.legal_moves(match.position))
        text, mover, match = format_move(game, match.position, move), match.position.to_move, match.play(move)
        position = format_position(game, match.position)
        events.append(Accepted(t=float(len(events)), n=len(events) + 1, player=mover, move=text, position=position))
    info = MatchInfo(tag, game.players, begun, datetime(2026, 1, 1, tzinfo=UTC), "draughts", ())
    return MatchRecord(info, tuple(events)), match


if __name__ == "__main__":
    sys.exit(main())
