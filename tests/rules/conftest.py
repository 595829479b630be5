"""Sample positions reached by seeded random play, the same in every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache, lru_cache

import pytest

from companion.games import available_tags, load_game
from companion.rules.board import View
from companion.rules.game import Attempt, Game, Move, Position, view


@cache
def played_positions(tag: str, games: int, longest: int) -> tuple[Position, ...]:
    """Return every position of some random games, including starts and ends."""
    game, chance = load_game(tag), random.Random(f"{tag} {games}")
    positions: list[Position] = []
    for _ in range(games):
        position = game.start()
        positions.append(position)
        while (moves := game.legal_moves(position)) and len(positions) % longest:
            position = game.play(position, chance.choice(moves))
            positions.append(position)
    return tuple(positions)


def lookalikes(game: Game, position: Position) -> Iterator[tuple[Move, ...]]:
    """Yield groups of legal moves after which the board looks the same.

    Those that leave its look unchanged form one group.
    """
    looks: dict[View, list[Move]] = {}
    for move in game.legal_moves(position):
        looks.setdefault(view(game, game.table(game.play(position, move))), []).append(move)
    unseen = looks.pop(view(game, game.table(position)), [])
    yield from filter(None, [tuple(unseen), *(tuple(moves) for moves in looks.values() if len(moves) > 1)])


@lru_cache(maxsize=7)
def attempted(tag: str, position: Position) -> tuple[Attempt, ...]:
    """Return all single acts in ``position``, cached because several tests ask for them."""
    return tuple(load_game(tag).attempts(position))


@pytest.fixture(scope="module", params=available_tags())
def tag(request: pytest.FixtureRequest) -> str:
    """Return each game in every variant for every number of players, one after another."""
    return str(request.param)


@pytest.fixture
def game(tag: str) -> Game:
    """Return the game of ``tag``."""
    return load_game(tag)


@pytest.fixture
def positions(tag: str) -> tuple[Position, ...]:
    """Return some hundred positions of random play, including finished games."""
    return played_positions(tag, games=4, longest=120)


@pytest.fixture
def sample(positions: tuple[Position, ...]) -> list[Position]:
    """Return a few of ``positions`` for slow tests, with the first and the last, which is often a finished game."""
    return [*random.Random(len(positions)).sample(positions, 5), positions[0], positions[-1]]
