"""Pillar heights from sensors and camera, and their joint interpretation in a match of Diamond."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.games import load_game
from companion.match import Match
from companion.rules.board import Table
from companion.rules.game import Move
from companion.rules.notation import parse_move
from companion.simulate.readings import Noise, kit_states, read_table
from companion.tracker.evidence import ALONE_NATS, camera_levels, evidence_of
from companion.tracker.hypotheses import predict
from companion.tracker.interpret import (
    Ambiguous,
    Illegal,
    Interpretation,
    Played,
    TakenBack,
    Unchanged,
    Undecided,
    interpret,
)
from companion.tracker.pillars import (
    DISTRUST_S,
    OUTWEIGHING_READINGS,
    TRUST_AGAIN_S,
    Doubt,
    Doubts,
    Rows,
    contradictions,
    fuse,
    sensor_log_likelihood,
    update_doubts,
)
from companion.tracker.scoring import Context
from companion.tracker.sights import format_sights, table_sights
from vision.reading import Reading

LEVELS_MM = tuple(12.0 + 10 * level for level in range(7))
NOISE_MM = 0.8
GAME = load_game("diamond:table")
CLEAR = Noise(height_nats=60.0, top_nats=60.0)
INDEX = GAME.layout.index


def rows(levels: tuple[int, ...], nats: float = 20.0) -> Rows:
    """Return normalised log-likelihoods (25, 7) of a clear camera for these levels."""
    found = np.full((len(levels), 7), -nats)
    found[np.arange(len(levels)), levels] = 0.0
    return found - np.logaddexp.reduce(found, axis=1, keepdims=True)


def sensed(levels: tuple[int, ...], silent: tuple[str, ...] = ()) -> Rows:
    """Return log-likelihoods (25, 7) from noisy sensors; ``silent`` cells report nothing."""
    rng = random.Random(1)
    heights = [12 + 10 * level + rng.gauss(0, NOISE_MM) for level in levels]
    return sensor_log_likelihood(
        [None if GAME.layout.cells[i] in silent else mm for i, mm in enumerate(heights)], LEVELS_MM, NOISE_MM
    )


class Board:
    """A match of Diamond, and tables that differ from its own."""

    def __init__(self, *moves: str, tag: str = "diamond:table") -> None:
        game = load_game(tag)
        self.match = Match(game, game.start())
        for text in moves:
            self.match = self.match.play(self.move(text))
        self.table = game.table(self.match.position)
        assert self.table.levels is not None
        self.levels = self.table.levels

    def move(self, text: str) -> Move:
        """Parse a move in the current position."""
        return parse_move(self.match.game, self.match.position, text)

    def raised(self, **steps: int) -> tuple[int, ...]:
        """Return the levels with some pillars raised or lowered."""
        return tuple(level + steps.get(name, 0) for name, level in zip(GAME.layout.cells, self.levels, strict=True))

    def stacks(self, **cubes: str) -> tuple[str, ...]:
        """Return the cubes with some replaced."""
        return tuple(cubes.get(name, cube) for name, cube in zip(GAME.layout.cells, self.table.stacks, strict=True))

    def read(self, stacks: tuple[str, ...]) -> Reading:
        """Return a clear reading of cubes."""
        sights = [GAME.sight(stack) for stack in stacks]
        return read_table(GAME.layout.cells, kit_states(GAME.pieces, 2), sights, CLEAR, np.random.default_rng(1))

    def judge(
        self, stacks: tuple[str, ...], sensors: Rows | None, camera: Rows | None, doubts: Doubts | None = None
    ) -> Interpretation:
        """Interpret clearly visible cubes together with what sensors and camera report of the pillars."""
        reading = self.read(stacks)
        known = fuse(sensors, camera, self.levels, doubts or {})
        evidence = evidence_of(GAME.layout, reading, pillars=known)
        return interpret(evidence, predict(self.match), Context()).interpretation

    def seen(self, stacks: tuple[str, ...], levels: tuple[int, ...]) -> Interpretation:
        """Interpret a table on which sensors and camera agree."""
        return self.judge(stacks, sensed(levels), rows(levels))


@pytest.fixture
def board() -> Callable[..., Board]:
    """Return the class of boards, to be called with moves."""
    return Board


@pytest.mark.parametrize("senses", ["both", "sensors", "camera"])
def test_every_legal_move_is_known(board: Callable[..., Board], senses: str) -> None:
    """Pushes and pillar moves are recognised from both sources, and from either alone."""
    at = (
        board("+c3", "e1-e2")
        if not GAME.violations(board("+c3").match.position, board().move("e1-e2"))
        else board("+c3")
    )
    for move in GAME.legal_moves(at.match.position):
        after = GAME.table(GAME.play(at.match.position, move))
        assert after.levels is not None
        by_sensors = None if senses == "camera" else sensed(after.levels)
        by_camera = None if senses == "sensors" else rows(after.levels)
        assert at.judge(after.stacks, by_sensors, by_camera) == Played((move,))


def test_nothing_is_nothing(board: Callable[..., Board]) -> None:
    """An unchanged table is interpreted as unchanged."""
    at = board()
    assert at.seen(at.stacks(), at.levels) == Unchanged()


ACTS: Mapping[str, tuple[Mapping[str, str], Mapping[str, int], str | None, set[str]]] = {
    "two levels": ({}, {"c3": 2}, None, {"DIA-2"}),
    "two levels down": ({}, {"c3": -2}, None, {"DIA-2"}),
    "the pillar just moved, by two": ({}, {"d3": 2}, None, {"DIA-2"}),
    "two pillars, one by two": ({}, {"c3": 1, "b2": 2}, None, {"G-2", "DIA-2"}),
    "three pillars": ({}, {"c3": 1, "b2": 1, "e4": 1}, None, {"G-2"}),
    "another's cube and a pillar": ({"a5": "", "b5": "R"}, {"b2": 2}, None, {"G-2", "DIA-2"}),
    "another player's cube": ({"a5": "", "b5": "R"}, {}, "a5-b5", {"G-1", "DIA-3"}),
    "an occupied pillar": ({"a3": "", "e3": "XX"}, {}, "a3-e3", {"DIA-5"}),
    "a cube gone": ({"e1": ""}, {}, "e1-off", {"G-2"}),
}


@pytest.mark.parametrize("act", ACTS)
def test_illegal_acts_are_named_with_their_rules(board: Callable[..., Board], act: str) -> None:
    """The position is after Red's move -d3, with Green to move."""
    cubes, steps, attempt, rules = ACTS[act]
    at = board("-d3")
    meaning = at.seen(at.stacks(**cubes), at.raised(**steps))
    assert isinstance(meaning, Illegal), meaning
    found = meaning.diagnosis
    assert rules <= set(found.rules)
    assert found.move == (None if attempt is None else at.move(attempt))
    assert {*cubes, *steps} <= set(found.cells)
    assert meaning.is_lifted == (not steps and attempt == "e1-off")


def test_a_pillar_put_back_is_a_move_taken_back(board: Callable[..., Board]) -> None:
    """It would also be an illegal reversal by the other player, but the harmless explanation is preferred."""
    at = board("-d3", "+c3")
    assert at.seen(at.stacks(), at.raised(c3=-1)) == TakenBack(1)


def test_a_pillar_that_may_not_go_back_is_named(board: Callable[..., Board]) -> None:
    """With four players, Red's pillar move is still banned from being reversed on the next but one turn."""
    at = board("-d3", "+c3", tag="diamond:table/4")
    meaning = at.seen(at.stacks(), at.raised(d3=1))
    assert isinstance(meaning, Illegal)
    assert (meaning.diagnosis.move, meaning.diagnosis.rules) == (at.move("+d3"), ("DIA-9",))


def test_two_pillars_at_once_are_asked_about(board: Callable[..., Board]) -> None:
    """They may be two quick turns in unknown order."""
    at = board()
    meaning = at.seen(at.stacks(), at.raised(c3=1, b2=1))
    assert isinstance(meaning, Ambiguous)
    assert set(meaning.options) == {(at.move("+c3"), at.move("+b2")), (at.move("+b2"), at.move("+c3"))}


def test_a_raised_pillar_is_no_moved_cube(board: Callable[..., Board]) -> None:
    """The cube on a moved pillar goes along; the change is no cube move."""
    at = board()
    assert at.seen(at.stacks(), at.raised(a5=1)) == Played((at.move("+a5"),))
    assert at.seen(at.stacks(), at.raised(e1=-1)) == Played((at.move("-e1"),))


@pytest.mark.parametrize("cell", ["a1", "c3", "e5"])
def test_a_silent_sensor_is_made_up_for_by_the_camera(board: Callable[..., Board], cell: str) -> None:
    """If a sensor reports nothing, the camera determines the level."""
    at = board()
    levels = at.raised(**{cell: 1})
    assert at.judge(at.stacks(), sensed(levels, silent=(cell,)), rows(levels)) == Played((at.move(f"+{cell}"),))
    assert at.judge(at.stacks(), sensed(at.levels, silent=(cell,)), rows(at.levels)) == Unchanged()


@pytest.mark.parametrize("step", [1, -1])
def test_a_sensor_and_a_camera_that_contradict_each_other_are_asked_about(
    board: Callable[..., Board], step: int
) -> None:
    """Neither is believed, whichever of them reports the move, but the move is offered in a question."""
    at = board()
    levels = at.raised(c3=step)
    move = at.move("+c3" if step > 0 else "-c3")
    for by_sensors, by_camera in ((sensed(at.levels), rows(levels)), (sensed(levels), rows(at.levels))):
        meaning = at.judge(at.stacks(), by_sensors, by_camera)
        assert isinstance(meaning, Undecided)
        assert (move,) in meaning.options


@pytest.mark.parametrize("doubt", [Doubt(0.0, is_distrusted=True), Doubt(0.0, outweighed=OUTWEIGHING_READINGS)])
def test_a_sensor_that_is_not_heard_moves_nothing_and_leaves_the_camera_alone(
    board: Callable[..., Board], doubt: Doubt
) -> None:
    """A distrusted or outweighed sensor does not count; the camera alone decides, or raises a question."""
    at = board()
    moved, doubts = at.raised(c3=1), {INDEX["c3"]: doubt}
    assert at.judge(at.stacks(), sensed(moved), rows(at.levels), doubts) == Unchanged()
    assert at.judge(at.stacks(), sensed(at.levels), rows(moved), doubts) == Played((at.move("+c3"),))
    unclear = at.judge(at.stacks(), sensed(at.levels), rows(moved, nats=5.0), doubts)
    assert isinstance(unclear, Undecided)
    assert unclear.options == ((at.move("+c3"),),)


def test_one_wild_measurement_in_a_thousand_is_no_verdict(board: Callable[..., Board]) -> None:
    """A measured height between two levels is weak evidence."""
    at = board()
    heights = [12.0 + 10 * level for level in at.levels]
    heights[INDEX["c3"]] += 5.0
    by_sensors = sensor_log_likelihood(heights, LEVELS_MM, NOISE_MM)
    assert at.judge(at.stacks(), by_sensors, rows(at.levels)) == Unchanged()


def test_doubt_becomes_distrust_and_trust_comes_back() -> None:
    """A source is distrusted after contradicting for DISTRUST_S, and trusted again after agreeing for TRUST_AGAIN_S.

    A source that reports nothing changes nothing.
    """
    accepted = (3,) * 25
    right, wrong = rows(accepted), rows((3,) * 12 + (4,) + (3,) * 12)
    doubts = update_doubts({}, right, wrong, accepted, 10.0)
    assert doubts == {12: Doubt(10.0, outweighed=1)}
    assert update_doubts(doubts, right, right, accepted, 10.5) == {}
    assert update_doubts(doubts, right, np.zeros((25, 7)), accepted, 10.5) == {12: Doubt(10.0)}
    doubts = update_doubts(doubts, right, wrong, accepted, 10.0 + DISTRUST_S)
    assert doubts == {12: Doubt(12.0, is_distrusted=True, outweighed=2)}
    doubts = update_doubts(doubts, right, wrong, accepted, 14.0)
    assert update_doubts(doubts, None, right, accepted, 99.0) == doubts
    assert update_doubts(doubts, right, right, accepted, 13.9 + TRUST_AGAIN_S) == doubts
    assert update_doubts(doubts, right, right, accepted, 14.0 + TRUST_AGAIN_S) == {}


@pytest.mark.parametrize(("by_sensor", "by_camera", "is_fault"), [(3, 4, False), (4, 6, False), (4, 3, True)])
def test_a_picture_that_is_hardly_clear_proves_a_sensor_wrong_only_with_what_was_accepted(
    by_sensor: int, by_camera: int, is_fault: bool
) -> None:
    """A mostly hidden pillar seemed two levels too high, by 10 nats, for a whole match."""
    doubts: Doubts = {}
    for t_s in (10.0, 10.0 + DISTRUST_S, 20.0):
        doubts = update_doubts(doubts, rows((by_sensor,)), rows((by_camera,), nats=10.0), (3,), t_s)
    assert [doubt.is_distrusted for doubt in doubts.values()] == [is_fault]
    assert [doubt.is_trusted for doubt in doubts.values()] == [not is_fault]


def by_both(at: Board, moved: Sequence[int], nats: float, known: Doubts | None = None) -> tuple[Interpretation, Doubts]:
    """Return the interpretation and the doubts when the camera sees c3 two levels above its sensor."""
    seen = tuple(level + 2 * (cell == INDEX["c3"]) for cell, level in enumerate(moved))
    doubts = update_doubts(known or {}, sensed(moved), rows(seen, nats=nats), at.levels, 10.0)
    return at.judge(at.stacks(), sensed(moved), rows(seen, nats=nats), doubts), doubts


def test_a_step_that_a_sensor_reports_overrules_a_picture_that_is_hardly_clear(board: Callable[..., Board]) -> None:
    """A pillar shaded by others seemed two levels too low, by 9 nats, for the rest of the match."""
    at = board()
    meaning, doubts = by_both(at, at.raised(c3=1), nats=10.0)
    assert meaning == Played((at.move("+c3"),))
    after = board("+c3")
    meaning, doubts = by_both(after, after.levels, 10.0, doubts)
    assert meaning == Unchanged()
    meaning, doubts = by_both(after, after.levels, 20.0, doubts)
    assert isinstance(meaning, Undecided)
    assert not doubts[INDEX["c3"]].is_overruled


def test_a_sensor_that_reports_no_step_or_was_doubted_before_overrules_nobody(board: Callable[..., Board]) -> None:
    """The sensor does not prevail either if it reports the larger step, or if the picture is clear."""
    at, cell = board(), INDEX["c3"]
    assert isinstance(by_both(at, at.levels, 10.0)[0], Undecided)
    assert isinstance(by_both(at, at.raised(c3=1), 10.0, {cell: Doubt(9.0)})[0], Undecided)
    assert isinstance(by_both(at, at.raised(c3=1), 20.0)[0], Undecided)
    assert isinstance(by_both(at, at.raised(c3=-2), 10.0)[0], Undecided)


def test_only_a_picture_that_is_clear_again_and_again_outweighs_a_sensor() -> None:
    """A sensor counts until OUTWEIGHING_READINGS clear pictures have contradicted it."""
    right, wrong = rows((3,)), rows((4,))
    doubts: Doubts = {}
    for reading in range(1, OUTWEIGHING_READINGS + 1):
        assert all(doubt.is_trusted for doubt in doubts.values())
        doubts = update_doubts(doubts, right, wrong, (3,), 10.0 + reading / 12)
    assert not doubts[0].is_trusted
    doubts = update_doubts(doubts, right, rows((4,), nats=7.0), (3,), 11.0)
    assert not doubts[0].is_trusted


def test_nobody_waits_for_ever_for_another_clear_picture() -> None:
    """One clear picture is followed by unclear ones: once the contradiction has lasted, no more are waited for."""
    doubts = update_doubts({}, rows((3,)), rows((4,)), (3,), 10.0)
    for t_s, count in ((11.0, 1), (10.0 + DISTRUST_S, 0), (13.0, 0)):
        doubts = update_doubts(doubts, rows((3,)), rows((4,), nats=10.0), (3,), t_s)
        assert doubts == {0: Doubt(10.0, outweighed=count)}


def test_a_less_clear_picture_in_between_neither_counts_nor_starts_anew() -> None:
    """The weaker picture neither counts as outweighing nor resets the count.

    Pictures are weaker while more levels are unknown; a jammed sensor was once outweighed in every second reading only.
    """
    doubts: Doubts = {}
    for reading in range(2 * OUTWEIGHING_READINGS):
        doubts = update_doubts(doubts, rows((3,)), rows((4,), nats=20.0 if reading % 2 else 10.0), (3,), reading / 12)
        assert doubts[0].is_trusted == (reading + 1 < 2 * OUTWEIGHING_READINGS)


@given(st.lists(st.integers(0, 6), min_size=25, max_size=25), st.lists(st.integers(0, 6), min_size=25, max_size=25))
def test_where_both_agree_nothing_is_contested(one: list[int], other: list[int]) -> None:
    """Pillars are contested exactly where both disagree, and the fused result follows the camera."""
    found = contradictions(rows(tuple(one)), rows(tuple(other)))
    assert found == {i for i in range(25) if one[i] != other[i]}
    known = fuse(rows(tuple(one)), rows(tuple(other)), one, {})
    assert np.isfinite(known).all()
    assert all(known[i].argmax() == other[i] for i in range(25))


def test_a_camera_that_is_not_clear_contradicts_nobody() -> None:
    """A camera with a lead of 3 nats does not count as contradicting."""
    assert contradictions(rows((3,)), rows((4,), nats=3.0)) == frozenset()


def test_rows_are_likelihoods() -> None:
    """Each row is normalised; without a measured height it is uniform."""
    found = sensor_log_likelihood([42.0, None, 47.0], LEVELS_MM, NOISE_MM)
    assert np.exp(found).sum(axis=1) == pytest.approx([1.0, 1.0, 1.0])
    assert found[0].argmax() == 3
    assert np.ptp(found[1]) == 0.0
    assert found[2][3] == pytest.approx(found[2][4])


def test_a_board_with_pillars_as_text(board: Callable[..., Board]) -> None:
    """The text has the form of a position: the board, then the levels."""
    at = board()
    text = format_sights(GAME.layout, table_sights(GAME, Table(at.stacks(), at.levels)))
    assert text == "1R,1,1X,1,1B/5/1X,3,1X/5/1Y,1,1X,1,1G levels=5,5,3,1,1/5,3,3,3,1/3,3,3,3,3/1,3,3,3,5/1,1,3,5,5"


def test_a_cell_whose_pillar_moved_is_not_said_to_have_another_cube(board: Callable[..., Board]) -> None:
    """Its picture has changed, yet the evidence still favours the cube that stood there."""
    at = board()
    states = kit_states(GAME.pieces, 2)
    sights = [GAME.sight(stack) for stack in at.table.stacks]
    reading = read_table(GAME.layout.cells, states, sights, CLEAR, np.random.default_rng(1))
    changed = np.zeros(25, np.float32)
    changed[INDEX["a5"]] = 0.9
    known = fuse(sensed(at.raised(a5=1)), None, at.levels, {})
    before = table_sights(GAME, at.table)
    with_picture = evidence_of(GAME.layout, replace(reading, changed=changed), before, known)
    plain = evidence_of(GAME.layout, replace(reading, changed=np.zeros(25, np.float32)), before, known)
    assert (with_picture.log_p[INDEX["a5"]] >= plain.log_p[INDEX["a5"]]).all()


@pytest.mark.parametrize("level", [3, 6])
def test_a_level_beyond_the_cameras_is_the_sensors_alone(level: int) -> None:
    """The camera sees such a pillar at its own highest level, and does not confuse others with it."""
    beyond_mm = (*LEVELS_MM, 82.0)
    raised = sensor_log_likelihood([82.0, 12 + 10.0 * level], beyond_mm, NOISE_MM)
    both = fuse(raised, rows((6, level)), (6, level), {})
    assert list(both.argmax(axis=1)) == [7, level]
    assert both[0, 7] - both[0, 6] > 8
    assert update_doubts({}, raised, rows((6, level)), (6, 6), 1.0) == {}
    silent = fuse(sensor_log_likelihood([None, None], beyond_mm, NOISE_MM), rows((6, level)), (6, level), {})
    assert (silent[:, 7] == silent.min(axis=1)).all()


@pytest.mark.parametrize(("share", "is_still"), [(0.0, True), (0.04, True), (0.1, False)])
def test_a_pillar_of_which_nothing_is_known_stands_where_it_did_while_its_picture_is_nearly_the_same(
    board: Callable[..., Board], share: float, is_still: bool
) -> None:
    """No pillar move changes a picture as little as a passing shadow; larger changes are examined."""
    at = board()
    changed = np.full(25, share, np.float32)
    reading = replace(at.read(at.stacks()), changed=changed)
    known = evidence_of(GAME.layout, reading, table_sights(GAME, at.table), np.zeros((25, 7)))
    assert (np.ptp(known.log_p[25:], axis=1) > 0).tolist() == [is_still] * 25
    if is_still:
        assert [known.sight(column)[0] for column in known.best()[25:].tolist()] == list(at.levels)


@pytest.mark.parametrize(("beside", "is_evidence"), [(0.02, True), (0.1, False)])
def test_a_pillar_whose_picture_alone_has_changed_is_not_where_it_was(
    board: Callable[..., Board], beside: float, is_evidence: bool
) -> None:
    """This holds while the same cube stands on it; if a neighbour changed too, it may be a shadow."""
    at = board()
    reading = at.read(at.stacks())
    changed = np.zeros(25, np.float32)
    changed[INDEX["c3"]], changed[INDEX["c2"]] = 0.15, beside
    unclear = np.zeros((25, 7), np.float32)
    unclear[INDEX["c3"], 3] = 0.5
    before = table_sights(GAME, at.table)
    plain = replace(reading, level_log_likelihood=unclear)
    seen = camera_levels(GAME.layout, replace(plain, changed=changed), before)
    assert seen is not None
    ratio = seen[INDEX["c3"], 4] - seen[INDEX["c3"], 3]
    assert ratio == pytest.approx(ALONE_NATS - 0.5 if is_evidence else -0.5)
    other = at.read(at.stacks(c3="R"))
    seen = camera_levels(GAME.layout, replace(other, level_log_likelihood=unclear, changed=changed), before)
    assert seen is not None
    assert seen[INDEX["c3"], 3] > seen[INDEX["c3"], 4]
