"""A line of two stacks and a single tower that look alike are told apart by their boundaries."""

import numpy as np
import pytest

from vision.glyphs.face_choice import ELSEWHERE_MM
from vision.glyphs.faces import distances_mm
from vision.inference import line_comparison, line_of_stacks, render_and_compare
from vision.inference.block_moves import occluded_singles
from vision.inference.comparison import FIT_NATS, stacks_of
from vision.inference.coordinate_ascent import converge
from vision.inference.hypothesis import Hypothesis
from vision.inference.line_comparison import NO_MOVES
from vision.inference.line_of_stacks import (
    DOUBT_NATS,
    GROUND_NATS,
    SURE_NATS,
    SURE_OF_PLAIN_NATS,
    join_lines,
    may_be_of_tower,
    raise_towers,
    split_lines,
)
from vision.inference.render_and_compare import rescore_by_rendering
from vision.likelihood.stacks import OUT_OF_REACH
from vision.scene.configurations import Configurations

FRONT, BEHIND = "e4", "e5"
COLOUR = "B"


def as_tower(drawn, table, height):
    """Return the picture of a table, and a hypothesis with a tower of ``height`` in front in place of the true line."""
    hypothesis = drawn.hypothesis(table)
    front, behind = drawn.cell(FRONT), drawn.cell(BEHIND)
    scores, tower = hypothesis.scores[[front]], drawn.state(COLOUR * height)
    scores[0, tower] = scores.max() + 30
    hypothesis.set_scores(np.array([front]), scores)
    hypothesis.assign(front, tower)
    hypothesis.assign(behind, 0)
    hypothesis.isolated.may_be_single[behind] = True
    return drawn.picture(table), hypothesis


def heights(drawn, hypothesis):
    """Return the hypothesised heights of the front and the rear cell; 0 for empty."""
    states = hypothesis.state[[drawn.cell(FRONT), drawn.cell(BEHIND)]]
    return [int(hypothesis.configuration_count(state)) if state else 0 for state in states.tolist()]


@pytest.fixture(scope="module")
def tall(drawn):
    """Return the height of the lowest tower that occludes the centre of the cell behind it."""
    for height in range(2, 11):
        _, hypothesis = as_tower(drawn, {FRONT: COLOUR * height}, height)
        if drawn.cell(BEHIND) in occluded_singles(hypothesis, drawn.cell(FRONT)):
            return height
    raise AssertionError("no tower occludes the cell behind")


@pytest.mark.parametrize("stacks", [(1, 1), (2, 1), (1, 2), (3, 1)])
def test_a_line_of_stacks_is_no_tower(drawn, tall, stacks):
    """A tower assumed in place of a line is replaced by the true two stacks."""
    table = dict(zip((FRONT, BEHIND), (COLOUR * height for height in stacks), strict=True))
    picture, hypothesis = as_tower(drawn, table, tall)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert heights(drawn, hypothesis) == list(stacks)
    assert hypothesis.scores[drawn.cell(FRONT)].argmax() == hypothesis.state[drawn.cell(FRONT)]


@pytest.mark.parametrize("others_nats", [-5.0, 9.0, 90.0])
def test_of_several_lines_that_a_tower_may_be_the_likeliest_is_taken(drawn, tall, monkeypatch, others_nats):
    """A tower that occludes two cells is replaced by the line that leads by more, whichever is compared first."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR * 2}, tall)
    cell, behind, other = (drawn.cell(name) for name in (FRONT, BEHIND, "e6"))
    compared = line_of_stacks.compare_with_line

    def compare(view, prisms, hypothesis, stacks, pair, **bounds):
        line = compared(view, prisms, hypothesis, stacks, (cell, behind), **bounds)
        if pair[1] == behind:
            return line
        # Nothing in front, and a single piece on the other cell.
        likely = np.full_like(line.log_likelihoods, -np.inf)
        likely[0] = line.tower + others_nats
        return line._replace(log_likelihoods=likely, behind=0)

    monkeypatch.setattr(line_of_stacks, "compare_with_line", compare)
    hidden = {cell: np.array([other, behind])}
    monkeypatch.setattr(line_of_stacks, "occluded_singles", lambda _, front: hidden.get(front, np.zeros(0, np.intp)))
    split_lines(drawn.look(picture), hypothesis, np.arange(len(hypothesis.state)) == cell)
    assert heights(drawn, hypothesis) == ([0, 2] if others_nats == 90 else [1, 2])


def test_a_high_stack_behind_is_no_part_of_a_tower(drawn, tall):
    """A line with a high rear stack is found with its true height behind."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR * 5, BEHIND: COLOUR * 5}, tall + 5)
    prisms, pair = drawn.geometry.prisms, (drawn.cell(FRONT), drawn.cell(BEHIND))
    view, stacks = drawn.look(picture)(), stacks_of(hypothesis, prisms)
    line = line_of_stacks.compare_with_line(
        view, prisms, hypothesis, stacks, pair, is_bare=False, sure_nats=SURE_OF_PLAIN_NATS
    )
    assert int(prisms.counts[line.behind]) == 5
    assert line.log_likelihoods.argmax() == 5


@pytest.mark.parametrize("has_plain_faces", [True, False])
def test_a_line_of_stacks_is_no_tower_on_a_learned_board_either(drawn, tall, monkeypatch, has_plain_faces):
    """The same correction works on a learned board, with plain and with printed faces."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    monkeypatch.setattr(Hypothesis, "is_on_learned_board", True)
    monkeypatch.setattr(Configurations, "has_plain_faces", has_plain_faces)
    rescore_by_rendering(picture, hypothesis)
    assert heights(drawn, hypothesis) == [1, 1]


def test_a_tower_of_plain_faces_is_no_line_of_stacks_on_a_learned_board_either(drawn, tall, monkeypatch):
    """Changing the height of one stack alone does not resolve this while the other one is hypothesised."""
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * tall}, (tall - 1, 1), nats=20.0)
    monkeypatch.setattr(Hypothesis, "is_on_learned_board", True)
    monkeypatch.setattr(render_and_compare, "weigh_heights", lambda *_: None)
    rescore_by_rendering(picture, hypothesis)
    assert heights(drawn, hypothesis) == [tall, 0]


@pytest.mark.parametrize(("nats", "is_split"), [(0.5, True), (20.0, False)])
def test_what_seems_to_stand_hidden_behind_a_tower_keeps_it_from_being_split_only_where_it_shows(
    drawn, tall, nats: float, *, is_split: bool
):
    """A rear stack prevents the split only if it is clearly likelier than an empty cell."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR * 2}, tall)
    behind, state = drawn.cell(BEHIND), drawn.state(COLOUR)
    scores = np.full_like(hypothesis.scores[[behind]], -50)
    scores[0, 0], scores[0, state] = 0, nats
    hypothesis.set_scores(np.array([behind]), scores)
    hypothesis.assign(behind, state)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert heights(drawn, hypothesis) == ([1, 2] if is_split else [tall, 1])


@pytest.mark.parametrize(
    ("has_plain_faces", "in_front", "is_split"), [(False, 0, True), (True, 0, False), (False, 1, False)]
)
def test_before_a_stack_that_shows_only_a_tower_with_characters_may_be_bare_ground(
    drawn, tall, monkeypatch, has_plain_faces, in_front, is_split
):
    """A tower with printed faces may be replaced by bare ground in front of a visible stack.

    This does not apply to plain faces, or if there is a stack in front.
    """
    table = {FRONT: COLOUR * in_front, BEHIND: COLOUR * 2}
    picture, hypothesis = as_tower(drawn, {cell: stack for cell, stack in table.items() if stack}, tall)
    behind, state = drawn.cell(BEHIND), drawn.state(COLOUR)
    scores = np.full_like(hypothesis.scores[[behind]], -50)
    scores[0, 0], scores[0, state] = 0, 20.0
    hypothesis.set_scores(np.array([behind]), scores)
    hypothesis.assign(behind, state)
    monkeypatch.setattr(Configurations, "has_plain_faces", has_plain_faces)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert heights(drawn, hypothesis) == ([0, 2] if is_split else [tall, 1])


@pytest.mark.parametrize(("nats", "is_asked"), [(GROUND_NATS - 1, True), (GROUND_NATS + 1, False)])
def test_a_tower_of_which_colours_are_sure_is_not_held_against_bare_ground(drawn, tall, monkeypatch, nats, *, is_asked):
    """Before a visible stack, boundaries are asked about a tower with printed faces only if colours may be wrong."""
    picture, hypothesis = as_tower(drawn, {BEHIND: COLOUR * 2}, tall)
    monkeypatch.setattr(Configurations, "has_plain_faces", False)
    front, behind, state = drawn.cell(FRONT), drawn.cell(BEHIND), drawn.state(COLOUR)
    for cell, one, its_nats in ((front, drawn.state(COLOUR * tall), nats), (behind, state, 20.0)):
        scores = np.full_like(hypothesis.scores[[cell]], -50)
        scores[0, 0], scores[0, one] = 0, its_nats
        hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(behind, state)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert heights(drawn, hypothesis)[0] == (0 if is_asked else tall)


def test_colours_alone_do_not_make_a_tower_again_of_what_boundaries_have_told(drawn, tall, monkeypatch):
    """A cell settled by boundaries is not updated from colours again until it is observed anew."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    updated: list[int] = []
    monkeypatch.setattr("vision.inference.coordinate_ascent.update", lambda _, cells: updated.extend(cells.tolist()))
    cells = [drawn.cell(FRONT), drawn.cell(BEHIND)]
    hypothesis.clear_stale()
    hypothesis.invalidate(np.array(cells))
    converge(hypothesis)
    assert updated == cells[1:]
    hypothesis.observe(np.array(cells[:1]), drawn.observe({}, np.array(cells[:1])))
    hypothesis.invalidate(cells[0])
    converge(hypothesis)
    assert updated == cells[::-1], "what it shows now may be something else"


@pytest.mark.parametrize("more", [0, 1, 2])
def test_a_tower_stays_one(drawn, tall, more):
    """A true tower is not split."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR * (tall + more)}, tall + more)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert heights(drawn, hypothesis) == [tall + more, 0]


def test_a_line_of_plain_stacks_need_not_be_as_sure(drawn, tall, monkeypatch):
    """A line of plain stacks is split only if it is likelier by more than ``SURE_OF_PLAIN_NATS``.

    Pictures blended more and more with that of a tower make the line less certain.
    """
    margins, compared = [], line_of_stacks.compare_with_line

    def spy(*arguments, **options):
        line = compared(*arguments, **options)
        margins.append(line.log_likelihoods.max() - line.tower)
        return line

    monkeypatch.setattr(line_of_stacks, "compare_with_line", spy)
    tower, split = drawn.picture({FRONT: COLOUR * tall}), []
    for share in (0, *np.linspace(0.6, 0.9, 8), 1):
        picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
        mixed = np.rint((1 - share) * picture + share * tower).astype(np.uint8)
        split_lines(drawn.look(mixed), hypothesis, hypothesis.updated)
        split.append(heights(drawn, hypothesis)[0] < tall)
    assert split == [margin > SURE_OF_PLAIN_NATS for margin in margins]
    assert any(SURE_OF_PLAIN_NATS < margin < SURE_NATS for margin in margins)


def test_a_tower_that_appears_where_another_one_was_split_is_asked_about_too(drawn, tall, monkeypatch):
    """What colours take for a tower behind the one that was split is asked about, not the stack that was found there.

    Of a line of three stacks the rear ones may seem one tower.
    """
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    front, behind, asked_for = drawn.cell(FRONT), drawn.cell(BEHIND), []
    split_once, update = line_of_stacks._split_once, line_of_stacks._update_neighbours

    def split(look, hypothesis, asked):
        asked_for.append(np.flatnonzero(asked).tolist())
        return split_once(look, hypothesis, asked) if len(asked_for) == 1 else np.zeros_like(asked)

    def misled(*given):
        update(*given)
        hypothesis.assign(behind, drawn.state(COLOUR * tall))

    asked = np.arange(len(hypothesis.state)) == front
    monkeypatch.setattr(line_of_stacks, "_split_once", split)
    split_lines(drawn.look(picture), hypothesis, asked)
    assert asked_for == [[front]]
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    monkeypatch.setattr(line_of_stacks, "_update_neighbours", misled)
    asked_for.clear()
    split_lines(drawn.look(picture), hypothesis, asked)
    assert asked_for == [[front], [behind]]


def test_only_what_was_updated_is_split(drawn, tall):
    """Cells that were not updated are not split."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    hypothesis.updated[:] = False
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert heights(drawn, hypothesis) == [tall, 0]


def as_line(drawn, table, stacks, nats=5.0):
    """Return the picture of a table, and a hypothesis with a line of ``stacks`` (heights in front and behind).

    ``nats``: score of the stack behind against an empty cell.
    """
    hypothesis = drawn.hypothesis(table)
    for name, height, best in ((FRONT, stacks[0], 30.0), (BEHIND, stacks[1], nats)):
        cell, state = drawn.cell(name), drawn.state(COLOUR * height)
        scores = hypothesis.scores[[cell]]
        scores[0, 1:] -= max(scores[0, 1:].max() - best + 3, 0)
        scores[0, state] = best
        hypothesis.set_scores(np.array([cell]), scores)
        hypothesis.assign(cell, state)
    return drawn.picture(table), hypothesis


@pytest.mark.parametrize("nats", [5.0, 50.0])
@pytest.mark.parametrize("less", [1, 2])
def test_a_tower_is_no_line_of_stacks(drawn, tall, less, nats):
    """A tower is restored even where its upper half seems to be a stack far likelier than bare ground."""
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * tall}, (tall - less, 1), nats)
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert heights(drawn, hypothesis) == [tall, 0]


@pytest.mark.parametrize(
    ("stands", "taken_for"),
    [((6, 0), (1, 2)), ((6, 1), (4, 2)), ((4, 5), (3, 3))],
    ids=["a tower higher by five", "a tower before a single piece", "a line of higher stacks"],
)
def test_a_line_of_stacks_may_be_something_else_than_a_tower_alone(drawn, stands, taken_for):
    """A wrong line is replaced by the true stacks, whatever their heights."""
    table = {name: COLOUR * height for name, height in zip((FRONT, BEHIND), stands, strict=True) if height}
    picture, hypothesis = as_line(drawn, table, taken_for)
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert heights(drawn, hypothesis) == list(stands)


@pytest.mark.parametrize("stacks", [(1, 1), (2, 1), (2, 2)])
def test_a_line_of_stacks_stays_one(drawn, stacks):
    """A true line is not joined."""
    table = dict(zip((FRONT, BEHIND), (COLOUR * height for height in stacks), strict=True))
    picture, hypothesis = as_line(drawn, table, stacks)
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert heights(drawn, hypothesis) == list(stacks)


def test_what_is_likely_behind_a_stack_is_not_joined_to_it(drawn, tall):
    """A rear stack likelier than DOUBT_NATS is not joined."""
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * tall}, (tall - 1, 1), nats=DOUBT_NATS + 5)
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert heights(drawn, hypothesis) == [tall - 1, 1]


def test_what_colours_are_sure_of_is_joined_where_boundaries_are_not(drawn, tall, monkeypatch):
    """The rear stack is in doubt only once boundaries have compared it with bare ground."""
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * tall}, (tall - 1, 1), nats=DOUBT_NATS + 5)
    behind = drawn.cell(BEHIND)

    def compared(_view, _prisms, hypothesis, _cells):
        scores = hypothesis.scores[[behind]]
        scores[0, 1:] -= 45
        hypothesis.set_scores(np.array([behind]), scores)
        return False

    monkeypatch.setattr(render_and_compare, "_rescore", compared)
    rescore_by_rendering(picture, hypothesis)
    assert heights(drawn, hypothesis) == [tall, 0]


@pytest.fixture
def undecided(monkeypatch):
    """Have boundaries say for a nat that each line is no tower, but no other line either; returns what was asked."""
    asked = []

    def with_tower(view, prisms, hypothesis, stacks, pair):
        asked.append(pair)
        towers = line_comparison.compare_with_tower(view, prisms, hypothesis, stacks, pair)
        return towers._replace(line=float(towers.log_likelihoods.max()) + 1)

    monkeypatch.setattr(line_of_stacks, "compare_with_tower", with_tower)
    return asked


@pytest.mark.parametrize("less", [1, 2])
@pytest.mark.usefixtures("undecided")
def test_where_boundaries_do_not_tell_a_line_from_a_tower_colours_do(drawn, tall, less):
    """A tower whose upper half was explained by a stack behind it is restored by the colours of both squares."""
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * tall}, (tall - less, 1))
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert heights(drawn, hypothesis) == [tall, 0]


@pytest.mark.parametrize("stacks", [(1, 1), (2, 1), (2, 2)])
def test_where_boundaries_do_not_tell_a_line_from_a_tower_a_line_stays(drawn, stacks, undecided):
    """Colours make no tower of a true line."""
    table = dict(zip((FRONT, BEHIND), (COLOUR * height for height in stacks), strict=True))
    picture, hypothesis = as_line(drawn, table, stacks)
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert heights(drawn, hypothesis) == list(stacks)
    assert (drawn.cell(FRONT), drawn.cell(BEHIND)) in undecided


def test_a_line_is_compared_again_only_if_its_front_stack_has_changed(drawn, undecided):
    """The same line is compared once, and again with another stack in front."""
    table = {FRONT: COLOUR * 2, BEHIND: COLOUR}
    picture, hypothesis = as_line(drawn, table, (2, 1))
    look, pair = drawn.look(picture), (drawn.cell(FRONT), drawn.cell(BEHIND))
    compared = join_lines(look, hypothesis, may_be_of_tower(hypothesis))
    assert undecided.count(pair) == 1
    join_lines(look, hypothesis, may_be_of_tower(hypothesis), compared)
    assert undecided.count(pair) == 1
    hypothesis.assign(drawn.cell(FRONT), drawn.state(COLOUR))
    join_lines(look, hypothesis, may_be_of_tower(hypothesis), compared)
    assert undecided.count(pair) == 2


@pytest.fixture
def efforts(monkeypatch):
    """Return a list that records the fitting effort of each later comparison."""
    found, absolute = [], line_comparison._compare_absolute
    for loop in ("_compare_line", "_compare_against_line"):
        monkeypatch.setattr(line_comparison, loop, getattr(line_comparison, loop).py_func)
    monkeypatch.setattr(line_comparison, "_compare_absolute", lambda *given: found.append(given[3]) or absolute(*given))
    return found


def test_a_line_that_is_hopeless_as_it_stands_is_not_fitted(drawn, tall, efforts):
    """The expensive fit is skipped for a line that is hopeless without it."""
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR * tall}, tall)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert set(efforts) == {NO_MOVES}
    picture, hypothesis = as_tower(drawn, {FRONT: COLOUR, BEHIND: COLOUR}, tall)
    split_lines(drawn.look(picture), hypothesis, hypothesis.updated)
    assert FIT_NATS in efforts


def test_a_tower_that_is_hopeless_as_it_stands_is_not_fitted(drawn, tall, efforts):
    """The expensive fit is skipped for a tower that is hopeless without it."""
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * 3, BEHIND: COLOUR}, (3, 1))
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert set(efforts) == {NO_MOVES}
    picture, hypothesis = as_line(drawn, {FRONT: COLOUR * tall}, (tall - 1, 1))
    join_lines(drawn.look(picture), hypothesis, may_be_of_tower(hypothesis))
    assert FIT_NATS in efforts


@pytest.fixture(scope="module")
def alike(drawn):
    """Return heights of a tower on the front cell, and of a stack on the rear one, whose faces are in one place."""
    count = len(drawn.geometry.configurations.all)
    front, behind = (
        drawn.geometry.faces.select(drawn.cell(cell) * count + np.arange(count)) for cell in (FRONT, BEHIND)
    )
    apart_mm = distances_mm(behind, front)
    towers, stacks = np.nonzero(apart_mm[1:] < ELSEWHERE_MM)
    return int(towers[0]) + 2, int(stacks[0]) + 1


def as_a_face_behind(drawn, table, stack, nats):
    """Return the picture of a table, and a hypothesis with nothing in front and a ``stack`` behind it.

    What may stand in front is less likely than nothing by so many ``nats``.
    """
    hypothesis = drawn.hypothesis(table)
    front, behind = np.array([drawn.cell(FRONT)]), np.array([drawn.cell(BEHIND)])
    state = drawn.state(COLOUR * stack)
    its, pale = np.full_like(hypothesis.scores[behind], -50), np.full_like(hypothesis.scores[front], -nats)
    its[0, 0], its[0, state], pale[0, 0] = 0, 20, 0
    for cell, scores, one in ((front, pale, 0), (behind, its, state)):
        hypothesis.set_scores(cell, scores)
        hypothesis.assign(int(cell[0]), one)
    return drawn.picture(table), hypothesis


@pytest.mark.parametrize(("nats", "is_raised"), [(12.0, True), (21.0, False)])
def test_a_face_behind_a_cell_that_seems_empty_may_be_that_of_a_tower_on_it(drawn, alike, nats, *, is_raised):
    """A tower that seems to be ground below the face of a stack behind is found by boundaries.

    Unless colours find it far less likely than ground.
    """
    tower, stack = alike
    picture, hypothesis = as_a_face_behind(drawn, {FRONT: COLOUR * tower}, stack, nats)
    raise_towers(drawn.look(picture), hypothesis)
    assert heights(drawn, hypothesis) == ([tower, 0] if is_raised else [0, stack])


def test_a_tower_that_is_likely_in_isolation_is_found_though_colours_have_only_scored_lower_stacks(drawn, alike):
    """A tower is asked about that was not scored since the stack behind has its face, unless it is unlikely alone."""
    tower, stack = alike
    picture, hypothesis = as_a_face_behind(drawn, {FRONT: COLOUR * tower}, stack, 12.0)
    front = np.array([drawn.cell(FRONT)])
    scores = hypothesis.scores[front]
    scores[0, drawn.state(COLOUR * 2) + hypothesis.colours :] = OUT_OF_REACH
    hypothesis.set_scores(front, scores)
    alone = hypothesis.isolated.scores[front].copy()
    hypothesis.isolated.scores[front] = -99
    raise_towers(drawn.look(picture), hypothesis)
    assert heights(drawn, hypothesis) == [0, stack]
    hypothesis.isolated.scores[front] = alone
    raise_towers(drawn.look(picture), hypothesis)
    assert heights(drawn, hypothesis) == [tower, 0]


def test_a_stack_behind_bare_ground_is_no_tower(drawn, alike):
    """A stack behind an empty cell stays where it is, though a tower there would have its face in the same place."""
    _, stack = alike
    picture, hypothesis = as_a_face_behind(drawn, {BEHIND: COLOUR * stack}, stack, 12.0)
    raise_towers(drawn.look(picture), hypothesis)
    assert heights(drawn, hypothesis) == [0, stack]
