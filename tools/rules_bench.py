"""Measures the speed of the rules: at every calm board, and in random play beside python-chess and pydraughts."""

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
PYDRAUGHTS = ("english", "standard")
"""Forms that pydraughts plays: English, and international, which it calls standard."""

LONGEST = 200
"""Plies after which a random match is stopped: some games seldom end by themselves."""


def worst_outlook_ms(tag: str) -> float:
    """Longest time for all legal moves with their successors' views, over random middle-game positions."""
    game, rng, worst = load_game(tag), random.Random(1), 0.0
    for position in random_positions(tag, rng, POSITIONS):
        # The best of three: what else the machine does must not count as the rules' time.
        worst = max(worst, min(clocked(_outlook, game, position)[1] for _ in range(3)))
    return worst


def _outlook(game: Game, position: Position) -> None:
    for move in game.legal_moves(position):
        view(game, game.table(game.play(position, move)))


def random_positions(tag: str, rng: random.Random, count: int) -> list[Position]:
    """Positions from random play, one every few plies."""
    game = load_game(tag)
    found: list[Position] = []
    while len(found) < count:
        position = game.start()
        for ply in range(LONGEST):
            moves = game.legal_moves(position)
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
            if ply >= 8 and ply % 5 == 0 and game.outcome(position) is None:
                found.append(position)
    return found[:count]


def plies_per_s(tag: str) -> float:
    """Random play: list the legal moves, choose one, play it."""
    game, rng = load_game(tag), random.Random(1)
    plies, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        position = game.start()
        for _ in range(LONGEST):
            moves = game.legal_moves(position)
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun)


def chess_plies_per_s() -> float:
    """The same by python-chess."""
    rng = random.Random(1)
    plies, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        board = chess.Board()
        for _ in range(LONGEST):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun)


def pydraughts_plies_per_s(variant: str) -> float:
    """The same by pydraughts, whose name for the form of the game is ``variant``."""
    rng = random.Random(1)
    plies, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        board = draughts.Board(variant=variant)
        for _ in range(LONGEST):
            moves = board.legal_moves()
            # A match lasts longer than the budget here, so the clock is asked at every ply.
            if not moves or time.perf_counter() - begun >= SECONDS:
                break
            board.push(rng.choice(moves))
            plies += 1
    return plies / (time.perf_counter() - begun)
