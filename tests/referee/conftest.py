"""A simulated film for the referee: hands, frames and readings of tables set up by a test, at 12 frames a second."""

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
"""Height of the tallest stack known to the simulated camera, in pieces."""

CALM_FRAMES = 9
"""Frames for which the table stays calm after a hand has left: three quarters of a second."""


START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"


class Film:
    """A referee at a table that the camera sees with ``noise``."""

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
        """Time of the next frame, in seconds."""
        return self.frame * FRAME_S

    def keep_still(
        self, stacks: tuple[Stack, ...], frames: int = CALM_FRAMES, covered: Iterable[int] = ()
    ) -> list[Event]:
        """Show an unchanged scene for some frames and return the events; its first frame still shows motion."""
        begun, scene = len(self.events), self.reading(stacks, covered)
        for i in range(frames):
            glance = self.referee.glance(self.t_s, moving=i == 0)
            self.events += glance.events
            if glance.read:
                self.events += self.referee.observe(self.t_s, next_frame(scene, self.t_s, self.noise, self.rng))
            self.frame += 1
        self.table = Table(stacks)
        return self.events[begun:]

    def watch(self, scene: Reading, frames: int) -> list[Event]:
        """Show a scene for some frames, none of which shows motion, and return the events."""
        begun = len(self.events)
        for _ in range(frames):
            if self.referee.glance(self.t_s, moving=False).read:
                self.events += self.referee.observe(self.t_s, next_frame(scene, self.t_s, self.noise, self.rng))
            self.frame += 1
        return self.events[begun:]

    def reading(self, stacks: tuple[Stack, ...], covered: Iterable[int] = ()) -> Reading:
        """Return a reading of a table, with some cells covered."""
        states = kit_states(self.game.pieces, HIGHEST, hides=True)
        sights = [self.game.sight(stack) for stack in stacks]
        return self.compared(read_table(self.game.layout.cells, states, sights, self.noise, self.rng, covered))

    def compared(self, reading: Reading) -> Reading:
        """Mark the ``changed`` cells as changed in the reading; None: unknown which cells changed."""
        reading = self.doubtful(reading)
        if self.changed is None:
            return reading
        return replace(reading, changed=np.array([cell in self.changed for cell in reading.cells], np.float32))

    def doubtful(self, reading: Reading) -> Reading:
        """Apply the ``doubts`` to a reading.

        A cell looks like the first stack, by so many nats more than like the second.
        """
        log_p = reading.log_likelihood.copy()
        for cell, (seen, rather, nats) in self.doubts.items():
            row = log_p[self.game.layout.index[cell]]
            row[:] = -60.0
            row[reading.index[self.game.sight(seen)]] = 0.0
            row[reading.index[self.game.sight(rather)]] = -nats
        return replace(reading, log_likelihood=log_p)

    def show(self, *stacks: tuple[str, Stack], frames: int = CALM_FRAMES) -> list[Event]:
        """Show a hand changing some cells (by name) of the accepted position and leaving; return the later events."""
        board = list(self.game.table(self.referee.match.position).stacks)
        for cell, stack in stacks:
            board[self.game.layout.index[cell]] = stack
        self.sweep()
        return self.keep_still(tuple(board), frames)

    def sweep(self, frames: int = 2, sides: Iterable[str] = ()) -> None:
        """Show motion over the board, with arms reaching in from ``sides``."""
        for _ in range(frames):
            self.events += self.referee.glance(self.t_s, moving=True, sides=frozenset(sides)).events
            self.frame += 1


@pytest.fixture
def film() -> Callable[..., Film]:
    """Return the class of films, to be called with a match."""
    return Film


def match_at(text: str) -> Match:
    """Return a match that starts at a position."""
    return Match(*read_position(text))


def kinds(events: list[Event]) -> list[str]:
    """Return the kinds of the events."""
    return [event.event for event in events]


def settled(film, position: str = START):
    """Return a film whose first calm table shows the right position."""
    shot = film(match_at(position))
    assert shot.show() == []
    return shot
