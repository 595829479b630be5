"""Matches and tables, with readings as from a good camera."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest

from companion.games import read_position
from companion.match import Match
from companion.rules.board import Stack
from companion.rules.game import Move
from companion.rules.notation import parse_move
from companion.simulate.readings import Noise, kit_states, read_table
from companion.tracker.evidence import Evidence, evidence_of
from companion.tracker.hypotheses import predict
from companion.tracker.interpret import Judgement, interpret
from companion.tracker.scoring import Context
from vision.reading import Reading

CLEAR = Noise(height_nats=60.0, top_nats=60.0)
HIGHEST = 10


class Scene:
    """A match and the table beside it."""

    def __init__(self, position: str, *moves: str) -> None:
        """Start a match at ``position`` and play some moves."""
        self.match = Match(*read_position(position))
        for text in moves:
            self.match = self.match.play(self.move(text))

    def move(self, text: str) -> Move:
        """Parse a move in the current position."""
        return parse_move(self.match.game, self.match.position, text)

    def board(self, **cells: Stack) -> tuple[Stack, ...]:
        """Return the accepted table with some stacks replaced."""
        board = list(self.match.game.table(self.match.position).stacks)
        for name, stack in cells.items():
            board[self.match.game.layout.index[name]] = stack
        return tuple(board)

    def after(self, text: str) -> tuple[Stack, ...]:
        """Return the table after a legal move."""
        game = self.match.game
        return game.table(game.play(self.match.position, self.move(text))).stacks

    def reading(self, board: tuple[Stack, ...], covered: Iterable[str] = (), odd: Iterable[str] = ()) -> Reading:
        """Return a clear reading of a table.

        ``covered``: cells behind a hand; ``odd``: cells misread as one piece higher, with certainty.
        """
        game = self.match.game
        states = kit_states(game.pieces, HIGHEST)
        sights = [game.sight(stack) for stack in board]
        for name in odd:
            height, top = sights[game.layout.index[name]]
            sights[game.layout.index[name]] = ((height or 0) + 1, top or game.pieces[0])
        hidden = [game.layout.index[name] for name in covered]
        return read_table(game.layout.cells, states, sights, CLEAR, np.random.default_rng(1), hidden)

    def judge(
        self, board: tuple[Stack, ...], context: Context | None = None, readings: int = 1, **reading: Iterable[str]
    ) -> Judgement:
        """Interpret the table from its reading."""
        evidence: Evidence = evidence_of(self.match.game.layout, self.reading(board, **reading))
        return interpret(replace(evidence, readings=readings), predict(self.match), context or Context())


@pytest.fixture
def scene() -> Callable[..., Scene]:
    """Return a function that makes a scene from a position and some moves."""
    return Scene
