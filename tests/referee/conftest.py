"""Films: a referee is shown hands, frames and noisy readings of what players do, 12 a second."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
import pytest

from companion.events import Accepted, Event, Illegal, Restored, TakenBack, Unfinished, Unsure, ViewChanged
from companion.games import load_game
from companion.match import Match
from companion.referee.referee import Referee
from companion.rules.board import Stack, Table
from companion.simulate.players import ILLEGAL, MOVE, OVERFLOW, RESTORE, TAKEBACK, Act, Habits, changed, play
from companion.simulate.readings import Noise, kit_states, next_frame, read_table
from vision.reading import Reading

FRAME_S = 1 / 12
HIGHEST = 10
"""Pieces in the tallest stack that the simulated camera knows."""

REST_FRAMES, CALM_FRAMES = 4, 9
"""A hand rests on source and on target; the table lies calm for three quarters of a second after it has left."""

SLACK_S = 1.5
"""A verdict counts until so long after its calm."""

KINDS = {MOVE: Accepted, ILLEGAL: Illegal, RESTORE: Restored, TAKEBACK: TakenBack, OVERFLOW: Unfinished}
HABITS = Habits(illegal=0.3, takeback=0.06, two_at_once=0.2, overflow_at_once=0.3)


@dataclass
class Score:
    """What a referee made of a film: acts by kind that were answered, missed, or answered with other rules."""

    answered: dict[str, int] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    miscited: list[str] = field(default_factory=list)
    unfounded: list[str] = field(default_factory=list)
    questions: int = 0
    views: int = 0
    waits_s: list[float] = field(default_factory=list)

    def faults(self) -> list[str]:
        """Everything that should not have been."""
        return [*self.missed, *self.miscited, *self.unfounded]


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
        self.table = self.game.table(match.position)

    @property
    def t_s(self) -> float:
        """Time of the next frame in seconds."""
        return self.frame * FRAME_S

    def lie(self, stacks: tuple[Stack, ...], frames: int = CALM_FRAMES, covered: Iterable[int] = ()) -> list[Event]:
        """The scene stays as it is; its first frame still differs from the one before."""
        game, begun = self.game, len(self.events)
        states = kit_states(game.pieces, HIGHEST, hides=True)
        sights = [game.sight(stack) for stack in stacks]
        scene = self.doubtful(read_table(game.layout.cells, states, sights, self.noise, self.rng, covered))
        for i in range(frames):
            glance = self.referee.glance(self.t_s, moving=i == 0)
            self.events += glance.events
            if glance.read:
                self.events += self.referee.observe(self.t_s, next_frame(scene, self.t_s, self.noise, self.rng))
            self.frame += 1
        self.table = Table(stacks)
        return self.events[begun:]

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

    def sweep(self, frames: int = 2) -> None:
        """Something moves over the board."""
        for _ in range(frames):
            self.events += self.referee.glance(self.t_s, moving=True).events
            self.frame += 1

    def watch(self, acts: Iterable[Act], calm_frames: int = CALM_FRAMES) -> Score:
        """Show the acts with the hands that do them."""
        rows: list[tuple[Act, float, float]] = []
        self.lie(self.table.stacks, 12)
        for act in acts:
            cells = list(changed(self.table, act.table)) or [0]
            self.sweep()
            self.lie(self.table.stacks, REST_FRAMES, cells[:1])
            self.sweep()
            self.lie(act.table.stacks, REST_FRAMES, cells)
            self.sweep()
            calm_from = self.t_s
            self.lie(act.table.stacks, calm_frames)
            rows.append((act, calm_from, self.t_s + SLACK_S))
        return score(rows, self.events)


def score(rows: Iterable[tuple[Act, float, float]], events: Iterable[Event]) -> Score:
    """Each act's verdict looked for in its time; verdicts that no act asked for counted."""
    result, left = Score(), list(events)
    for act, begins, ends in rows:
        kind, text = KINDS[act.kind], act.text if act.kind == MOVE else None
        fits = (
            e for e in left if isinstance(e, kind) and begins <= e.t <= ends and text in (None, getattr(e, "move", ""))
        )
        event = next(fits, None)
        told = f"{begins:.2f} {act.kind} {act.text} {act.rules}"
        if event is None:
            result.missed.append(told)
            continue
        left.remove(event)
        result.answered[act.kind] = result.answered.get(act.kind, 0) + 1
        result.waits_s.append(event.t - begins)
        if isinstance(event, Illegal) and not set(event.rules) & set(act.rules):
            result.miscited.append(f"{told}: cited {event.rules}")
    result.unfounded = [str(event) for event in left if isinstance(event, Accepted | Illegal)]
    result.questions = sum(isinstance(event, Unsure) for event in left)
    result.views = sum(isinstance(event, ViewChanged) for event in left)
    return result


@pytest.fixture
def film() -> Callable[..., Film]:
    """A film of a match."""
    return Film


@pytest.fixture
def campaign() -> Callable[[str, int, int, Noise], Score]:
    """``acts`` of a random match of the game ``tag`` as seen with some noise."""

    def shoot(tag: str, seed: int, acts: int, noise: Noise) -> Score:
        game = load_game(tag)
        match = Match(game, game.start())
        return Film(match, noise, seed).watch(islice(play(match, random.Random(seed), HABITS), acts))

    return shoot
