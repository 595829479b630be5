"""Simulates a match with a real referee but without pictures: players act, hands come and go, readings are noisy.

A square's reading error persists until something happens to the square, as at a real table: readings of successive
frames are not independent.
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
from companion.simulate.table import ANSWERS, GroundTruth
from companion.tracker.pillars import sensor_log_likelihood
from companion.tracker.verification import VerificationAnswer
from vision.reading import CellState, Reading

FPS = 12
"""Frames per second."""

MAX_HEIGHT = 10
"""Number of pieces in the tallest stack that readings distinguish."""

LEVEL_MM, SENSOR_NOISE_MM = 10.0, 0.8
"""Height of a pillar's step, and standard deviation of a sensor reading, as in the kit of Diamond."""

LEVELS = 20
"""Number of pillar levels that sensors and camera distinguish."""

LEVEL_EVIDENCE_SHARE = 0.5
"""The camera's evidence (nats) between adjacent pillar levels, relative to that between adjacent stack heights."""

OCCLUSION_PER_PIECE = 0.2
"""Fraction of a square occluded by each piece, from the second on, by which the stack in front of it is higher."""

MIN_VISIBLE = 0.1
"""Minimum visible fraction of a square."""

PATIENCE_S = 3.0
"""Time for which players wait for the referee's response before they go on or call the arbiter."""

ANSWER_S = 1.5
"""Time after which players answer a question."""

SOON_S, LATER_S = 0.5, (2.0, 12.0)
"""Time from the referee's verdict to the next visit, and its range where players linger."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How players behave, as probabilities per visit to the board.

    Attributes:
        rests: the hand rests over the board before it acts.
        hurry: the next hand follows after two to six calm frames, without waiting for the referee.
        lingers: nobody touches the table for some seconds after the verdict.
        jostle: a neighbouring stack is touched: its position is unchanged, its appearance differs slightly.
        askew: the piece put down lies so crookedly that it is hard to read.
        lamp: the light changes: the appearance of every square differs slightly.
        bump: camera or mat is pushed; the view is lost for a moment, and all readings are drawn anew.
    """

    rests: float = 0.1
    hurry: float = 0.1
    lingers: float = 0.1
    jostle: float = 0.1
    askew: float = 0.03
    lamp: float = 0.01
    bump: float = 0.01


@dataclass
class SimulatedMatch:
    """A match that is being simulated.

    Attributes:
        match: the match at its start, which the referee follows.
        noise: errors of the simulated reader.
        seed: of all random choices.
        behaviour: of the players.
        looks_twice: whether the referee's requests for verification are answered, by a second reading of the same table
            with independent errors of the same distribution.
        truth: ground truth: every act with its times.
        events: all events of the referee.
        rulings: how often the arbiter had to correct the record.
        lookalikes: indices into ``truth`` of moves that look like another legal move, or change nothing visible.
        judged_s, prepared_s: time spent on judging each reading without a hand, and on preparing for the next one.
    """

    match: Match
    noise: Noise
    seed: int
    behaviour: Behaviour = Behaviour()
    looks_twice: bool = True
    truth: list[GroundTruth] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    rulings: int = 0
    lookalikes: set[int] = field(default_factory=set)
    judged_s: list[float] = field(default_factory=list)
    prepared_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Set up the board and let the referee begin."""
        game = self.match.game
        self.rng, self.behaviour_rng = np.random.default_rng(self.seed), random.Random(f"manners {self.seed}")
        self.states = _states(self.match)
        self.kin = _kin(self.match)
        self.referee = Referee(self.match, verifying=self.looks_twice)
        self.frame = 0
        self.table = game.table(self.match.position)
        self.reading, self.second_reading = (self._read(self.table, np.ones(len(game.layout.cells))) for _ in range(2))
        self.touched = np.zeros(len(game.layout.cells), dtype=bool)
        self.shares: np.ndarray | None = None
        self.events += self.referee.begin(0.0)
        self._hold_still(24)
        self._confirm_setup()

    @property
    def t_s(self) -> float:
        """The time of the next frame."""
        return self.frame / FPS

    def watch(self, acts: Iterable[Act]) -> None:
        """Carry out the acts."""
        for act in acts:
            self._visit(act)

    def _visit(self, act: Act) -> None:
        """A hand comes, carries out the act, and leaves; then the referee responds."""
        begun_s = self.t_s
        if act.kind == MOVE and self._looks_alike(act):
            self.lookalikes.add(len(self.truth))
        cells = list(changed(self.table, act.table)) or [0]
        self._show_motion(self.behaviour_rng.randint(2, 5))
        if self.behaviour_rng.random() < self.behaviour.rests:
            self._hold_still(self.behaviour_rng.randint(6, 24), self._squares_under_arm(cells[0]))
            self._show_motion(2)
        if len(cells) > 1:
            self._hold_still(self.behaviour_rng.randint(0, 4), self._squares_under_arm(cells[0]))
            self._show_motion(self.behaviour_rng.randint(1, 3))
        self._rearrange(act.table, cells)
        self._hold_still(
            self.behaviour_rng.randint(0, 4), {place for cell in cells[:2] for place in self._squares_under_arm(cell)}
        )
        self._show_motion(self.behaviour_rng.randint(1, 4))
        self._disturb_view()
        calm_s, events_before = self.t_s, len(self.events)
        is_hurried = act.kind == MOVE and self.behaviour_rng.random() < self.behaviour.hurry
        if is_hurried:
            self._hold_still(self.behaviour_rng.randint(2, 6))
        else:
            self._await_response(act, events_before)
        self.truth.append(
            GroundTruth(
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
        if not is_hurried and act.kind != ILLEGAL:
            self._call_arbiter(act)

    def _await_response(self, act: Act, events_before: int) -> None:
        """Keep the table calm until the referee has responded, and a little longer; answer its questions."""
        asked_s: float | None = None
        if act.kind == MOVE and not self._looks_changed(act.table):
            self._order(Done())
        deadline_s = self.t_s + PATIENCE_S
        lingers = self.behaviour_rng.random() < self.behaviour.lingers
        rest_s = self.behaviour_rng.uniform(*LATER_S) if lingers else SOON_S
        while self.t_s < deadline_s:
            events_known = len(self.events)
            self._hold_still(1, fresh=False)
            if any(isinstance(event, Unsure) for event in self.events[events_known:]):
                asked_s, deadline_s = self.t_s, self.t_s + ANSWER_S + 1.0
            elif asked_s is None and any(
                isinstance(event, ANSWERS) for event in self.events[max(events_known, events_before) :]
            ):
                deadline_s = self.t_s + rest_s if lingers else min(deadline_s, self.t_s + rest_s)
            if asked_s is not None and self.t_s - asked_s >= ANSWER_S:
                self._answer(act)
                asked_s, deadline_s = None, self.t_s + 1.0

    def _answer(self, act: Act) -> None:
        """Answer a question with the true move, or None if it is not an option; then illegal acts get no answer."""
        options = self.referee.snapshot.options
        option = options.index(act.text) if act.text in options else None
        if option is None and act.kind == ILLEGAL:
            return
        self._order(Answer(option))

    def _call_arbiter(self, act: Act) -> None:
        """Let the arbiter correct the record if it differs from the ground truth."""
        if self.referee.match.position != act.position and act.kind != "overflow":
            self.rulings += 1
            self._order(SetPosition(act.position))
            self._hold_still(6)
            self._confirm_setup()

    def _confirm_setup(self) -> None:
        """If the referee asks for squares to be set up, reject that: the players see that they are right."""
        if self.referee.snapshot.mode == "setting up":
            self._order(RejectVerdict())
            self._hold_still(6)

    def _looks_alike(self, act: Act) -> bool:
        """Whether another legal move leads to the same view, or the view is unchanged."""
        game, match = self.match.game, self.referee.match
        tables_after = [game.table(game.play(match.position, move)) for move in game.legal_moves(match.position)]
        view_after = view(game, act.table)
        return (
            view_after == view(game, game.table(match.position))
            or sum(view(game, t) == view_after for t in tables_after) > 1
        )

    def _looks_changed(self, table: Table) -> bool:
        """Whether ``table`` looks different from the last accepted position."""
        game = self.match.game
        return view(game, table) != view(game, game.table(self.referee.match.position))

    def _order(self, order: Order) -> None:
        try:
            self.events += self.referee.order(self.t_s, order, by="arbiter")
        except OrderRefused:
            return

    def _rearrange(self, table: Table, cells: Sequence[Cell]) -> None:
        """Change the table under the hand; draw new readings for ``cells`` and for squares whose occlusion changes."""
        clarity = self._visible_shares(table)
        if self.behaviour_rng.random() < self.behaviour.askew:
            clarity[cells[-1]] *= 0.3
        touched = np.zeros(len(clarity), dtype=bool)
        touched[list(cells)] = True
        if self.behaviour_rng.random() < self.behaviour.jostle:
            touched[self._random_neighbour(cells[-1])] = True
        self.touched |= touched
        stale = touched | (clarity != self._visible_shares(self.table))
        self.table = table
        self._redraw_readings(stale, clarity)

    def _redraw_readings(self, stale: np.ndarray, clarity: np.ndarray) -> None:
        """Draw new readings for the ``stale`` (n,) squares; ``clarity`` (n,) is their visible fraction."""
        self.reading = _merged(self.reading, self._read(self.table, clarity), stale)
        self.second_reading = _merged(self.second_reading, self._read(self.table, clarity), stale)
        self.shares = changed_shares(self.touched, self.rng)

    def _disturb_view(self) -> None:
        """With the probabilities of the behaviour, change the light, or push the camera (view lost for six frames)."""
        draw = self.behaviour_rng.random()
        if draw < self.behaviour.bump:
            for _ in range(6):
                self.events += self.referee.glance(self.t_s, moving=False).events
                self.events += self.referee.view(self.t_s, "moved")
                self.frame += 1
        if draw < self.behaviour.bump + self.behaviour.lamp:
            self._redraw_readings(np.ones(len(self.touched), dtype=bool), self._visible_shares(self.table))
            self.shares = None

    def _show_motion(self, frames: int) -> None:
        """Show ``frames`` frames with motion over the board."""
        for _ in range(frames):
            self.events += self.referee.glance(self.t_s, moving=True).events
            self.frame += 1

    def _hold_still(self, frames: int, covered: Iterable[Cell] = (), *, fresh: bool = True) -> None:
        """Show ``frames`` frames without motion, with a resting arm over the ``covered`` squares.

        ``fresh``: motion came just before, so the first frame still differs from its predecessor.
        """
        covered_cells = list(covered)
        for i in range(frames):
            glance = self.referee.glance(self.t_s, moving=fresh and i == 0 and not covered_cells)
            self.events += glance.events
            if glance.read:
                self._look(covered_cells)
            self.frame += 1

    def _look(self, covered: list[Cell]) -> None:
        """Let the referee judge a reading of the present frame, with an arm over the ``covered`` squares."""
        reading = next_frame(self.reading, self.t_s, self.noise, self.rng)
        if covered:
            outlier_share = reading.outlier_share.copy()
            outlier_share[covered] = 1.0
            reading = replace(reading, outlier_share=outlier_share)
        begun_s = time.perf_counter()
        self.events += self.referee.observe(self.t_s, replace(reading, changed=self.shares), self._sensor_evidence())
        if (question := self.referee.question) is not None:
            self.events += self.referee.verified(
                self.t_s, VerificationAnswer(compared(self.second_reading, question.tables))
            )
        judged = time.perf_counter()
        self.referee.prepare()
        if not covered:
            self.judged_s.append(judged - begun_s)
        self.prepared_s.append(time.perf_counter() - judged)
        if self.referee.has_understood:
            self.touched[:] = False
            self.shares = changed_shares(self.touched, self.rng)

    def _read(self, table: Table, clarity: np.ndarray) -> Reading:
        """A noisy reading of ``table`` with new errors."""
        game = self.match.game
        sights = [game.sight(stack) for stack in table.stacks]
        reading = read_table(game.layout.cells, self.states, sights, self.noise, self.rng, (), self.kin, clarity)
        if table.levels is None:
            return reading
        return replace(reading, levels=table.levels, level_log_likelihood=self._camera_level_evidence(table.levels))

    def _camera_level_evidence(self, levels: tuple[int, ...]) -> np.ndarray:
        """(n, LEVELS) float32, noisy log-likelihood of each pillar's level as seen by the camera, normalized."""
        level_error = np.abs(np.arange(LEVELS)[np.newaxis] - np.array(levels)[:, np.newaxis])
        mean = LEVEL_EVIDENCE_SHARE * self.noise.height_nats * level_error
        rows = -self.rng.normal(mean, np.sqrt(2 * mean))
        return (rows - np.logaddexp.reduce(rows, axis=1, keepdims=True)).astype(np.float32)

    def _sensor_evidence(self) -> np.ndarray | None:
        """(n, LEVELS) evidence of noisy sensors on each pillar's level; None without pillars."""
        if self.table.levels is None:
            return None
        heights = [LEVEL_MM * level + self.rng.normal(0.0, SENSOR_NOISE_MM) for level in self.table.levels]
        return sensor_log_likelihood(heights, [LEVEL_MM * level for level in range(LEVELS)], SENSOR_NOISE_MM)

    def _visible_shares(self, table: Table) -> np.ndarray:
        """(n,) visible fraction of each square behind its neighbour; the camera is on the first rank's side."""
        layout = self.match.game.layout
        grounds = table.levels or layout.terrain or (0,) * len(layout.cells)
        tops = [ground + len(stack) for ground, stack in zip(grounds, table.stacks, strict=True)]
        in_front = [layout.step(cell, 0, -1) for cell in range(len(tops))]
        excess = [
            0 if neighbour is None else tops[neighbour] - top for neighbour, top in zip(in_front, tops, strict=True)
        ]
        return np.clip(1.0 - OCCLUSION_PER_PIECE * np.maximum(0, np.array(excess) - 1), MIN_VISIBLE, 1.0)

    def _squares_under_arm(self, cell: Cell) -> set[Cell]:
        """The squares covered by an arm that reaches for ``cell`` from the side of the player to move."""
        layout = self.match.game.layout
        x, y = layout.places[cell]
        is_first = self.referee.match.position.to_move in self.match.game.players[::2]
        ranks = range(y + 1) if is_first else range(y, layout.ranks)
        return {layout.at[x, rank] for rank in ranks if (x, rank) in layout.at}

    def _random_neighbour(self, cell: Cell) -> Cell:
        """A random orthogonal neighbour."""
        layout = self.match.game.layout
        steps = (layout.step(cell, dx, dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
        return self.behaviour_rng.choice([neighbour for neighbour in steps if neighbour is not None])


def _merged(reading: Reading, fresh: Reading, stale: np.ndarray) -> Reading:
    """``reading`` with the rows of the ``stale`` (n,) cells replaced by those of ``fresh``."""
    rows = np.where(stale[:, np.newaxis], fresh.log_likelihood, reading.log_likelihood)
    levels = fresh.level_log_likelihood
    if levels is not None:
        levels = np.where(stale[:, np.newaxis], levels, reading.level_log_likelihood)
    return replace(fresh, log_likelihood=rows, level_log_likelihood=levels)


def _states(match: Match) -> tuple[CellState, ...]:
    """The states that readings distinguish; a single piece that may hide others has the height None."""
    hiding = {piece for piece in match.game.pieces if match.game.sight(piece)[0] is None}
    plain = kit_states(match.game.pieces, MAX_HEIGHT)
    return tuple((None, top) if height == 1 and top in hiding else (height, top) for height, top in plain)


def _kin(match: Match) -> Kin:
    """Sets of pieces that look alike: those of the same owner."""
    game = match.game
    owners = {game.owner(piece) for piece in game.pieces} - {None}
    return tuple(frozenset(piece for piece in game.pieces if game.owner(piece) == owner) for owner in owners)
