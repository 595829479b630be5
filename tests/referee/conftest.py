"""A small film: a referee is shown hands, frames and readings of tables that a test sets up, 12 a second."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest

from companion.events import Event
from companion.games import read_position
from companion.match import Match
from companion.referee.referee import Referee
from companion.rules.board import Stack, Table
from companion.simulate.readings import Noise, kit_states, next_frame, read_table
from vision.reading import Reading

FRAME_S = 1 / 12
HIGHEST = 10
"""Pieces in the tallest stack that the simulated camera knows."""

CALM_FRAMES = 9
"""The table lies calm for three quarters of a second after a hand has left."""


START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"


class Film:
    """A referee at a table whose camera sees it with ``noise``."""

    def __init__(self, match: Match, noise: Noise | None = None, seed: int = 1) -> None:
        self.match, self.game = match, match.game
        self.noise = noise or Noise(height_nats=60.0, top_nats=60.0, frame_nats=0.1)
        self.rng = np.random.default_rng(seed)
        self.referee = Referee(match)
        self.events: list[Event] = list(self.referee.begin(0.0))
        self.frame = 0
        self.doubts: dict[str, tuple[str, str, float]] = {}
        self.changed: tuple[str, ...] | None = None
        self.table = self.game.table(match.position)

    @property
    def t_s(self) -> float:
        """Time of the next frame in seconds."""
        return self.frame * FRAME_S

    def lie(self, stacks: tuple[Stack, ...], frames: int = CALM_FRAMES, covered: Iterable[int] = ()) -> list[Event]:
        """The scene stays as it is; its first frame still differs from the one before."""
        begun, scene = len(self.events), self.reading(stacks, covered)
        for i in range(frames):
            glance = self.referee.glance(self.t_s, moving=i == 0)
            self.events += glance.events
            if glance.read:
                self.events += self.referee.observe(self.t_s, next_frame(scene, self.t_s, self.noise, self.rng))
            self.frame += 1
        self.table = Table(stacks)
        return self.events[begun:]

    def reading(self, stacks: tuple[Stack, ...], covered: Iterable[int] = ()) -> Reading:
        """One of a table, in which some cells may be covered."""
        states = kit_states(self.game.pieces, HIGHEST, hides=True)
        sights = [self.game.sight(stack) for stack in stacks]
        return self.compared(read_table(self.game.layout.cells, states, sights, self.noise, self.rng, covered))

    def compared(self, reading: Reading) -> Reading:
        """The reading in which the pictures of the ``changed`` cells differ, and no others; None: nobody knows."""
        reading = self.doubtful(reading)
        if self.changed is None:
            return reading
        return replace(reading, changed=np.array([cell in self.changed for cell in reading.cells], np.float32))

    def doubtful(self, reading: Reading) -> Reading:
        """The reading with the ``doubts``: a cell looks like the first stack, by so many nats more than the second."""
        log_p = reading.log_likelihood.copy()
        for cell, (seen, rather, nats) in self.doubts.items():
            row = log_p[self.game.layout.index[cell]]
            row[:] = -60.0
            row[reading.index[self.game.sight(seen)]] = 0.0
            row[reading.index[self.game.sight(rather)]] = -nats
        return replace(reading, log_likelihood=log_p)

    def show(self, *stacks: tuple[str, Stack], frames: int = CALM_FRAMES) -> list[Event]:
        """A hand changes some cells (by name) of the last accepted position and leaves; what is said then."""
        board = list(self.game.table(self.referee.match.position).stacks)
        for cell, stack in stacks:
            board[self.game.layout.index[cell]] = stack
        self.sweep()
        return self.lie(tuple(board), frames)

    def sweep(self, frames: int = 2, sides: Iterable[str] = ()) -> None:
        """Something moves over the board; arms reach in from ``sides``."""
        for _ in range(frames):
            self.events += self.referee.glance(self.t_s, moving=True, sides=frozenset(sides)).events
            self.frame += 1


@pytest.fixture
def film() -> Callable[..., Film]:
    """A film of a match."""
    return Film


def match_at(text: str) -> Match:
    """A match from a position."""
    return Match(*read_position(text))


def kinds(events: list[Event]) -> list[str]:
    """What was said, in short."""
    return [event.event for event in events]


def settled(film, position: str = START):
    """A film whose first calm table was the right one."""
    shot = film(match_at(position))
    assert shot.show() == []
    return shot
