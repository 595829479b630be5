"""Simulates a referee and a table without pictures: people act, hands come and go, readings are noisy.

The reading of a square stays the same until something happens to it, so that a square that looks wrong goes on looking
wrong, as at a real table.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from companion.events import Event, Unsure
from companion.match import Match
from companion.referee.orders import Answer, Done, Order, OrderRefused, RejectVerdict, SetPosition
from companion.referee.referee import Referee
from companion.rules.board import Cell, Table
from companion.rules.game import view
from companion.simulate.players import ILLEGAL, MOVE, Act, changed
from companion.simulate.readings import Kin, Noise, changed_shares, compared, kit_states, next_frame, read_table
from companion.simulate.table import ANSWERS, Truth
from companion.tracker.pillars import sense
from companion.tracker.verification import Verified
from vision.reading import CellState, Reading

FPS = 12
HIGHEST = 10
"""Pieces in the tallest stack that the camera knows."""

LEVEL_MM, SENSOR_NOISE_MM = 10.0, 0.8
"""Height of a pillar's step, and noise of one reading of its sensor, as in the kit of Diamond."""

LEVELS = 20
"""Number of levels that sensors and camera distinguish."""

LEVEL_SHARE = 0.5
"""The camera tells a pillar from the next level by so much of what it tells a stack from a piece more by."""

HIDING = 0.2
"""Share of a square that each piece of the stack before it hides, from the second on by which that is taller."""

LEAST_SEEN = 0.1

WORDLESS_S = 3.0
"""How long people wait for a word from the referee before they go on, or call the arbiter."""

ANSWER_S = 1.5
"""Time after which a question is answered."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How people behave, as probabilities per visit to the board.

    Attributes:
        rests: the hand rests over the board before it acts.
        hurry: the next hand comes after two to six calm frames instead of waiting for a word.
        jostle: a neighbouring stack is touched: it stands where it stood and looks a little different.
        askew: what has been put down lies so badly that it is hard to read.
        lamp: the light changes: every square looks a little different.
        bump: camera or mat is pushed; the view is lost for a moment.
    """

    rests: float = 0.1
    hurry: float = 0.1
    jostle: float = 0.1
    askew: float = 0.03
    lamp: float = 0.01
    bump: float = 0.01


@dataclass
class Film:
    """One match in the making.

    Attributes:
        match: what has really been played.
        truth: every act with its times.
        events: all that the referee has said.
        rulings: how often the arbiter had to put the record right.
        alike: numbers of the acts that are moves which look like another move, or like none.
        looks_twice: whether the referee's questions to the eyes are answered, by a second reading of the same scene
            with the same sort of errors, drawn anew.
        judged_s, prepared_s: what judging each reading without a hand, and working out what may come next, has cost.
    """

    match: Match
    noise: Noise
    seed: int
    manners: Manners = Manners()
    looks_twice: bool = True
    truth: list[Truth] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    rulings: int = 0
    alike: set[int] = field(default_factory=set)
    judged_s: list[float] = field(default_factory=list)
    prepared_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """The board is set up, and the referee looks at it."""
        game = self.match.game
        self.rng, self.chance = np.random.default_rng(self.seed), random.Random(f"manners {self.seed}")
        self.states = _states(self.match)
        self.kin = _kin(self.match)
        self.referee = Referee(self.match, verifying=self.looks_twice)
        self.frame = 0
        self.table = game.table(self.match.position)
        self.scene, self.second = (self._read(self.table, np.ones(len(game.layout.cells))) for _ in range(2))
        self.touched = np.zeros(len(game.layout.cells), dtype=bool)
        self.shares: np.ndarray | None = None
        self.events += self.referee.begin(0.0)
        self._lie(24)
        self._say_that_it_is_right()

    @property
    def t_s(self) -> float:
        """The time of the next frame."""
        return self.frame / FPS

    def watch(self, acts: Iterable[Act]) -> None:
        """Show the acts."""
        for act in acts:
            self._visit(act)

    def _visit(self, act: Act) -> None:
        """A hand comes, carries out the act, and leaves; then the referee responds."""
        begun_s = self.t_s
        if act.kind == MOVE and self._looks_alike(act):
            self.alike.add(len(self.truth))
        cells = list(changed(self.table, act.table)) or [0]
        self._sweep(self.chance.randint(2, 5))
        if self.chance.random() < self.manners.rests:
            self._lie(self.chance.randint(6, 24), self._arm(cells[0]))
            self._sweep(2)
        if len(cells) > 1:
            self._lie(self.chance.randint(0, 4), self._arm(cells[0]))
            self._sweep(self.chance.randint(1, 3))
        self._put(act.table, cells)
        self._lie(self.chance.randint(0, 4), {place for cell in cells[:2] for place in self._arm(cell)})
        self._sweep(self.chance.randint(1, 4))
        self._mishap()
        calm_s, said = self.t_s, len(self.events)
        hurried = act.kind == MOVE and self.chance.random() < self.manners.hurry
        if hurried:
            self._lie(self.chance.randint(2, 6))
        else:
            self._await_word(act, said)
        self.truth.append(
            Truth(
                act.kind,
                act.player,
                begun_s,
                calm_s,
                calm_s,
                self.t_s,
                act.text,
                act.rules,
                act.position,
                act.table,
                act.sort,
            )
        )
        if not hurried and act.kind != ILLEGAL:
            self._call_arbiter(act)

    def _await_word(self, act: Act, said: int) -> None:
        """The table is calm until the referee has responded, and a little longer."""
        asked_s: float | None = None
        if act.kind == MOVE and not self._shows(act.table):
            self._order(Done())
        until_s = self.t_s + WORDLESS_S
        while self.t_s < until_s:
            known = len(self.events)
            self._lie(1, fresh=False)
            if any(isinstance(event, Unsure) for event in self.events[known:]):
                asked_s, until_s = self.t_s, self.t_s + ANSWER_S + 1.0
            elif asked_s is None and any(isinstance(event, ANSWERS) for event in self.events[max(known, said) :]):
                until_s = min(until_s, self.t_s + 0.5)
            if asked_s is not None and self.t_s - asked_s >= ANSWER_S:
                self._answer(act)
                asked_s, until_s = None, self.t_s + 1.0

    def _answer(self, act: Act) -> None:
        """People answer what was played; that something is really wrong they see for themselves."""
        options = self.referee.snapshot.options
        option = options.index(act.text) if act.text in options else None
        if option is None and act.kind == ILLEGAL:
            return
        self._order(Answer(option))

    def _call_arbiter(self, act: Act) -> None:
        """Have a wrong record corrected by the arbiter."""
        if self.referee.match.position != act.position and act.kind != "overflow":
            self.rulings += 1
            self._order(SetPosition(act.position))
            self._lie(6)
            self._say_that_it_is_right()

    def _say_that_it_is_right(self) -> None:
        """People who are told what to set up, and see it there, say so."""
        if self.referee.snapshot.mode == "setting up":
            self._order(RejectVerdict())
            self._lie(6)

    def _looks_alike(self, act: Act) -> bool:
        """Whether another legal move leads to the same view, or the view stays as it was."""
        game, match = self.match.game, self.referee.match
        seen = [game.table(game.play(match.position, move)) for move in game.legal_moves(match.position)]
        there = view(game, act.table)
        return there == view(game, game.table(match.position)) or sum(view(game, t) == there for t in seen) > 1

    def _shows(self, table: Table) -> bool:
        """Whether ``table`` looks different from the last accepted one."""
        game = self.match.game
        return view(game, table) != view(game, game.table(self.referee.match.position))

    def _order(self, order: Order) -> None:
        try:
            self.events += self.referee.order(self.t_s, order, by="arbiter")
        except OrderRefused:
            return

    def _put(self, table: Table, cells: Sequence[Cell]) -> None:
        """Change the table under the hand: new readings for these squares and those behind them."""
        clarity = self._clarity(table)
        if self.chance.random() < self.manners.askew:
            clarity[cells[-1]] *= 0.3
        touched = np.zeros(len(clarity), dtype=bool)
        touched[list(cells)] = True
        if self.chance.random() < self.manners.jostle:
            touched[self._near(cells[-1])] = True
        self.touched |= touched
        stale = touched | (clarity != self._clarity(self.table))
        self.table = table
        self._see_anew(stale, clarity)

    def _see_anew(self, stale: np.ndarray, clarity: np.ndarray) -> None:
        self.scene = _renewed(self.scene, self._read(self.table, clarity), stale)
        self.second = _renewed(self.second, self._read(self.table, clarity), stale)
        self.shares = changed_shares(self.touched, self.rng)

    def _mishap(self) -> None:
        """A lamp is switched, or somebody pushes the table."""
        wish = self.chance.random()
        if wish < self.manners.bump:
            for _ in range(6):
                self.events += self.referee.glance(self.t_s, moving=False).events
                self.events += self.referee.view(self.t_s, "moved")
                self.frame += 1
        if wish < self.manners.bump + self.manners.lamp:
            self._see_anew(np.ones(len(self.touched), dtype=bool), self._clarity(self.table))
            self.shares = None

    def _sweep(self, frames: int) -> None:
        """Something moves over the board."""
        for _ in range(frames):
            self.events += self.referee.glance(self.t_s, moving=True).events
            self.frame += 1

    def _lie(self, frames: int, covered: Iterable[Cell] = (), *, fresh: bool = True) -> None:
        """Frames without motion; the first after a motion still differs from the one before."""
        hidden = list(covered)
        for i in range(frames):
            glance = self.referee.glance(self.t_s, moving=fresh and i == 0 and not hidden)
            self.events += glance.events
            if glance.read:
                self._look(hidden)
            self.frame += 1

    def _look(self, covered: list[Cell]) -> None:
        reading = next_frame(self.scene, self.t_s, self.noise, self.rng)
        if covered:
            outlier_share = reading.outlier_share.copy()
            outlier_share[covered] = 1.0
            reading = replace(reading, outlier_share=outlier_share)
        begun = time.perf_counter()
        self.events += self.referee.observe(self.t_s, replace(reading, changed=self.shares), self._sensed())
        if (asked := self.referee.question) is not None:
            self.events += self.referee.verified(self.t_s, Verified(compared(self.second, asked.tables)))
        judged = time.perf_counter()
        self.referee.prepare()
        if not covered:
            self.judged_s.append(judged - begun)
        self.prepared_s.append(time.perf_counter() - judged)
        if self.referee.understands:
            self.touched[:] = False
            self.shares = changed_shares(self.touched, self.rng)

    def _read(self, table: Table, clarity: np.ndarray) -> Reading:
        game = self.match.game
        sights = [game.sight(stack) for stack in table.stacks]
        reading = read_table(game.layout.cells, self.states, sights, self.noise, self.rng, (), self.kin, clarity)
        if table.levels is None:
            return reading
        return replace(reading, levels=table.levels, level_log_likelihood=self._levels_seen(table.levels))

    def _levels_seen(self, levels: tuple[int, ...]) -> np.ndarray:
        """(n, LEVELS) the camera's evidence on the pillars' levels."""
        off = np.abs(np.arange(LEVELS)[np.newaxis] - np.array(levels)[:, np.newaxis])
        mean = LEVEL_SHARE * self.noise.height_nats * off
        rows = -self.rng.normal(mean, np.sqrt(2 * mean))
        return (rows - np.logaddexp.reduce(rows, axis=1, keepdims=True)).astype(np.float32)

    def _sensed(self) -> np.ndarray | None:
        """(n, LEVELS) the sensors' present evidence on the pillars' levels."""
        if self.table.levels is None:
            return None
        heights = [LEVEL_MM * level + self.rng.normal(0.0, SENSOR_NOISE_MM) for level in self.table.levels]
        return sense(heights, [LEVEL_MM * level for level in range(LEVELS)], SENSOR_NOISE_MM)

    def _clarity(self, table: Table) -> np.ndarray:
        """(n,) how much of each square is seen past the one before it; the camera looks from the first rank."""
        layout = self.match.game.layout
        grounds = table.levels or layout.terrain or (0,) * len(layout.cells)
        tops = [ground + len(stack) for ground, stack in zip(grounds, table.stacks, strict=True)]
        before = [layout.step(cell, 0, -1) for cell in range(len(tops))]
        excess = [0 if near is None else tops[near] - top for near, top in zip(before, tops, strict=True)]
        return np.clip(1.0 - HIDING * np.maximum(0, np.array(excess) - 1), LEAST_SEEN, 1.0)

    def _arm(self, cell: Cell) -> set[Cell]:
        """The squares that an arm covers which reaches for ``cell`` from the side of whoever is to move."""
        layout = self.match.game.layout
        x, y = layout.places[cell]
        is_first = self.referee.match.position.to_move in self.match.game.players[::2]
        ranks = range(y + 1) if is_first else range(y, layout.ranks)
        return {layout.at[x, rank] for rank in ranks if (x, rank) in layout.at}

    def _near(self, cell: Cell) -> Cell:
        layout = self.match.game.layout
        steps = (layout.step(cell, dx, dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
        return self.chance.choice([near for near in steps if near is not None])


def _renewed(scene: Reading, fresh: Reading, stale: np.ndarray) -> Reading:
    """``scene`` with the ``stale`` cells as in ``fresh``."""
    rows = np.where(stale[:, np.newaxis], fresh.log_likelihood, scene.log_likelihood)
    levels = fresh.level_log_likelihood
    if levels is not None:
        levels = np.where(stale[:, np.newaxis], levels, scene.level_log_likelihood)
    return replace(fresh, log_likelihood=rows, level_log_likelihood=levels)


def _states(match: Match) -> tuple[CellState, ...]:
    """The states that the camera distinguishes: a piece that may hide others has no height when it stands alone."""
    hiding = {piece for piece in match.game.pieces if match.game.sight(piece)[0] is None}
    plain = kit_states(match.game.pieces, HIGHEST)
    return tuple((None, top) if height == 1 and top in hiding else (height, top) for height, top in plain)


def _kin(match: Match) -> Kin:
    """The pieces of one owner look alike."""
    game = match.game
    owners = {game.owner(piece) for piece in game.pieces} - {None}
    return tuple(frozenset(piece for piece in game.pieces if game.owner(piece) == owner) for owner in owners)
