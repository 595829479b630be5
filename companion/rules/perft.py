"""Counting move sequences: the objective check of a move generator."""

from __future__ import annotations

from companion.rules.game import Game, Move, Position


def perft(game: Game, position: Position, depth: int) -> int:
    """How many sequences of ``depth`` legal moves there are from ``position``."""
    if depth == 0:
        return 1
    moves = game.legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(perft(game, game.play(position, move), depth - 1) for move in moves)


def divide(game: Game, position: Position, depth: int) -> dict[Move, int]:
    """The :func:`perft` count of each first move; ``depth`` is at least 1."""
    return {move: perft(game, game.play(position, move), depth - 1) for move in game.legal_moves(position)}
