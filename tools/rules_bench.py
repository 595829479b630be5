"""Measures the speed of the rules: successors of a position, and random play next to python-chess and pydraughts."""

from __future__ import annotations

import random
import time

import chess
import draughts

from companion.games import load_game
from companion.rules.game import Game, Position, view
from tools.timing import clocked

POSITIONS = 1000
SECONDS = 2.0
"""Duration of each measurement of random play."""

PYDRAUGHTS = ("english", "standard")
"""Names of pydraughts for the variants that it plays: English, and international (standard)."""

MAX_PLIES = 200
"""Maximum number of plies of a random match: some games seldom end by themselves."""


def worst_successors_ms(tag: str) -> float:
    """Worst time to compute all legal moves and their successors' views, over random middle-game positions."""
    game, rng, worst_ms = load_game(tag), random.Random(1), 0.0
    for position in random_positions(tag, rng, POSITIONS):
        # The best of three, so that other load on the machine is not counted.
        worst_ms = max(worst_ms, min(clocked(_compute_successors, game, position)[1] for _ in range(3)))
    return worst_ms


def _compute_successors(game: Game, position: Position) -> None:
    """Compute the views after all legal moves, as the referee does for a calm board."""
    for move in game.legal_moves(position):
        view(game, game.table(game.play(position, move)))


def random_positions(tag: str, rng: random.Random, count: int) -> list[Position]:
    """``count`` positions from random play: every fifth one from ply 10 on."""
    game = load_game(tag)
    positions: list[Position] = []
    while len(positions) < count:
        position = game.start()
        for ply in range(MAX_PLIES):
            moves = game.legal_moves(position)
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
            if ply >= 8 and ply % 5 == 0 and game.outcome(position) is None:
                positions.append(position)
    return positions[:count]


def plies_per_s(tag: str) -> float:
    """Plies per second of random play: list the legal moves, choose one, play it."""
    game, rng = load_game(tag), random.Random(1)
    plies, begun_s = 0, time.perf_counter()
    while time.perf_counter() - begun_s < SECONDS:
        position = game.start()
        for _ in range(MAX_PLIES):
            moves = game.legal_moves(position)
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun_s)


def chess_plies_per_s() -> float:
    """Likewise by python-chess."""
    rng = random.Random(1)
    plies, begun_s = 0, time.perf_counter()
    while time.perf_counter() - begun_s < SECONDS:
        board = chess.Board()
        for _ in range(MAX_PLIES):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun_s)


def pydraughts_plies_per_s(variant: str) -> float:
    """Likewise by pydraughts; ``variant`` is one of :data:`PYDRAUGHTS`."""
    rng = random.Random(1)
    plies, begun_s = 0, time.perf_counter()
    while time.perf_counter() - begun_s < SECONDS:
        board = draughts.Board(variant=variant)
        for _ in range(MAX_PLIES):
            moves = board.legal_moves()
            # A match takes longer than SECONDS here, so the clock is checked at every ply.
            if not moves or time.perf_counter() - begun_s >= SECONDS:
                break
            board.push(rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun_s)
