"""Pillar levels and the stacks on them in rendered pictures: one cube more is told from one level more."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.ground import start_levels
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, rearranged, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.table import enrol_picture
from companion.simulate.viewpoint import default_camera, default_pose
from vision import reader
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.inference import pillar_levels
from vision.inference.pillar_levels import _fit_place, estimate_levels
from vision.inference.pillar_views import SHRINK, UPPER, make_views
from vision.pose.projection import project
from vision.reader import Reader
from vision.scene.terrain import SUBPIXEL_BITS

KIT = load_kit("diamond")
CAMERA = default_camera()
LEVELS = start_levels(KIT)
TABLE = {"a5": "R", "e5": "B", "c5": "X", "d3": "X", "a3": "X", "e1": "G", "a1": "Y", "c1": "X", "b2": "X"}


def at(cell):
    """Return the index of a cell."""
    return KIT.cells.index(cell)


def changed_levels(**steps):
    """Return the start levels with some pillars raised or lowered."""
    return tuple(level + steps.get(cell, 0) for cell, level in zip(KIT.cells, LEVELS, strict=True))


def without(levels, *cells):
    """Return levels in which those of ``cells`` are unknown."""
    return tuple(None if cell in cells else level for cell, level in zip(KIT.cells, levels, strict=True))


@pytest.fixture(scope="module")
def appearance():
    """Enrol the set from a rendered picture."""
    return enrol(enrol_picture(KIT, levels=LEVELS), KIT, CAMERA, LEVELS)


class Board:
    """A rendered table of which pictures are read after changes."""

    def __init__(self, appearance):
        self.reader = Reader(KIT, CAMERA, appearance, LEVELS)
        self._renderer = Renderer(Scene(KIT, CAMERA, default_pose(KIT, CAMERA), WINDOW), 1)
        self._setup = set_up([TABLE.get(cell, "") for cell in KIT.cells], LEVELS, make_rng("pillars", 1))
        self.read(LEVELS, LEVELS)

    def put(self, cell, **place):
        """Place the stack on ``cell`` anew with these attributes of :class:`companion.simulate.standing.Standing`."""
        piles = list(self._setup.piles)
        piles[at(cell)] = tuple(replace(standing, **place) for standing in piles[at(cell)])
        self._setup = replace(self._setup, piles=tuple(piles))

    def read(self, levels, told, expected=None, **stacks):
        after = [stacks.get(cell, TABLE.get(cell, "")) for cell in KIT.cells]
        setup = rearranged(self._setup, after, levels, make_rng("pillars", 2))
        frame = Frame(self._renderer.picture(setup, 0), 0, 0.0)
        geometry = self.reader.geometry(self.reader.register(frame.image))
        return self.reader.read_at(frame, geometry, told, np.ones(len(KIT.cells), np.bool_), expected)


@pytest.fixture
def board(appearance):
    """Return a rendered table that has been read once."""
    return Board(appearance)


def sights(reading):
    """Return the (height, top) read on each occupied cell."""
    return {cell: reading.best(i)[0] for i, cell in enumerate(KIT.cells) if reading.best(i)[0][0]}


def expected_sights(**stacks):
    """Return the true (height, top) of each occupied cell of TABLE with some stacks replaced."""
    return {cell: (len(stack), stack[-1]) for cell, stack in (TABLE | stacks).items() if stack}


@pytest.mark.parametrize("stack", ["XG", "XX", "XB"])
def test_two_cubes_on_one_pillar_are_seen(board, stack):
    """A second cube on a big one is read."""
    reading = board.read(LEVELS, LEVELS, d3=stack)
    assert sights(reading) == expected_sights(d3=stack)


@pytest.mark.parametrize("stack", ["GX", "GR"])
def test_a_cube_on_a_small_one_is_seen(board, stack):
    """A cube on a small one is read."""
    reading = board.read(LEVELS, LEVELS, e1=stack)
    assert sights(reading) == expected_sights(e1=stack)


@pytest.mark.parametrize("stack", ["XX", "XG"])
def test_a_cube_put_on_another_does_not_raise_the_pillar(board, stack):
    """With the level unknown, a second cube is not read as a raised pillar."""
    reading = board.read(LEVELS, without(LEVELS, "d3", "c3"), d3=stack)
    assert reading.levels == LEVELS
    assert sights(reading) == expected_sights(d3=stack)


@pytest.mark.parametrize("cell", ["d3", "e1", "a5", "c1"])
@pytest.mark.parametrize("step", [1, -1])
def test_a_pillar_moved_under_a_cube_is_no_second_cube(board, cell, step):
    """A pillar moved by one level is not read as a change of the cube on it."""
    levels = changed_levels(**{cell: step})
    reading = board.read(levels, without(levels, cell))
    assert reading.levels == levels
    assert sights(reading) == expected_sights()


@pytest.mark.parametrize("off_mm", [(2.5, 2.5), (-2.5, 2.5), (2.5, -2.5), (-2.5, -2.5)])
@pytest.mark.parametrize("turn", [-1.0, 1.0])
def test_a_cube_that_is_off_its_pillars_middle_and_turned_hides_no_level(board, off_mm, turn):
    """For a displaced, rotated cube the true level stays within 2 nats of the likeliest."""
    levels = changed_levels(d3=-1)
    board.put("d3", off_mm=off_mm, turn=turn)
    likely = board.read(levels, without(levels, "d3")).level_log_likelihood[at("d3")]
    assert likely[levels[at("d3")]] > likely.max() - 2


@pytest.mark.parametrize("stack", ["X", "XX"])
def test_where_many_levels_are_asked_only_several_pieces_on_a_pillar_are_placed(board, monkeypatch, stack):
    """Single cubes are never fitted as several pieces, which are rare.

    A cube off the centre of its pillar was once mistaken for two on a pillar two levels lower, by 16 nats.
    """
    placed = set()

    def watched(shown, views, around, which):
        placed.add(which[0])
        return _fit_place(shown, views, around, which)

    monkeypatch.setattr(pillar_levels, "_fit_place", watched)
    reading = board.read(LEVELS, (None,) * len(KIT.cells), d3=stack)
    assert reading.levels == LEVELS
    assert sights(reading) == expected_sights(d3=stack)
    assert placed == ({at("d3")} if stack == "XX" else set())


@pytest.mark.parametrize("level", [0, 1])
def test_where_the_picture_shows_little_the_expected_level_holds(board, level):
    """Pillar d5 is hidden behind the highest pillar with a big cube on it: either expected level is kept."""
    levels = changed_levels(d4=6 - LEVELS[at("d4")], d5=-LEVELS[at("d5")])
    expected = tuple(level if cell == "d5" else other for cell, other in zip(KIT.cells, levels, strict=True))
    reading = board.read(levels, without(levels, "d5"), expected, d4="X")
    assert reading.levels[at("d5")] == level


def test_a_clear_picture_overrules_the_expected_level(board):
    """Clear evidence outweighs a wrong expected level."""
    wrong = changed_levels(d3=2)
    reading = board.read(LEVELS, without(LEVELS, "d3"), wrong)
    assert reading.levels == LEVELS
    likely = reading.level_log_likelihood[at("d3")]
    assert likely[wrong[at("d3")]] < likely[LEVELS[at("d3")]] - 10


def misled_on(cell, level, configuration, asked):
    """Return an ``estimate_levels`` that is wrong on a cell until it is told whether anything stands somewhere.

    It then takes the pillar to be at ``level``, with ``configuration`` on it, counted from 1; 0 for none.  ``asked``
    grows by what it is told each time.
    """

    def estimate(small, light, colours, views, question):
        asked.append(dict(question.occupied))
        levels, likely, supposed = estimate_levels(small, light, colours, views, question)
        if question.occupied:
            return levels, likely, supposed
        wrong, stands = (
            np.where(np.arange(len(KIT.cells)) == at(cell), *pair)
            for pair in ((level, levels), (configuration, supposed))
        )
        return tuple(wrong.tolist()), likely, stands

    return estimate


def test_a_level_that_was_judged_as_if_nothing_stood_there_is_judged_again(board, monkeypatch):
    """A level estimated as if a pillar were empty is estimated again where the colours are sure of a piece.

    A dark cube may look like the shaded side of a higher pillar.
    """
    asked = []
    monkeypatch.setattr("vision.level_estimator.estimate_levels", misled_on("d3", 4, 0, asked))
    assert LEVELS[at("d3")] != 4
    reading = board.read(LEVELS, without(LEVELS, "d3"))
    assert asked == [{}, {at("d3"): True}]
    assert reading.levels == LEVELS
    assert sights(reading) == expected_sights()


@pytest.mark.parametrize("is_expected", [True, False])
def test_a_cube_on_a_lower_pillar_than_expected_is_doubted_where_that_would_be_bare(board, monkeypatch, *, is_expected):
    """The edges of a shadow on a bare pillar may look like those of a cube: at the expected level nothing stands there.

    A cube was pushed from it, and a referee accused the player of having put another one on it.
    """
    asked, told, surplus = [], [], reader._surplus

    def unsure_at_first(reading):
        told.append(surplus(reading))
        return told[-1] * (len(told) > 1)

    monkeypatch.setattr("vision.level_estimator.estimate_levels", misled_on("b3", LEVELS[at("b3")] - 1, 2, asked))
    monkeypatch.setattr(reader, "_surplus", unsure_at_first)
    assert not TABLE.get("b3")
    reading = board.read(LEVELS, without(LEVELS, "b3"), LEVELS if is_expected else None)
    assert asked == ([{}, {at("b3"): False}] if is_expected else [{}])
    assert (reading.levels == LEVELS) is is_expected


def test_faces_lie_in_the_small_picture_where_they_are_seen_there():
    """Each pixel of the shrunk picture is the mean of 2 × 2 pixels, whose centre lies between them."""
    pose = default_pose(KIT, CAMERA)
    views = make_views(KIT, KIT.pillars, pose, CAMERA)
    for pillar in (at("a1"), at("c3"), at("e5")):
        top = next(face for face in views.faces[pillar][0][0] if face.region == UPPER)
        places_mm = top.around_mm + KIT.centre_mm(KIT.cells[pillar])
        middle_px = project(np.insert(places_mm, 2, KIT.pillars.base_mm, axis=1), pose, CAMERA).mean(axis=0)
        nearest_px = np.rint(middle_px).astype(int)
        image = np.zeros((CAMERA.height_px, CAMERA.width_px), np.float32)
        image[nearest_px[1], nearest_px[0]] = 1
        small = cv2.resize(image, None, fx=1 / SHRINK, fy=1 / SHRINK, interpolation=cv2.INTER_AREA)
        within = (nearest_px % SHRINK - 0.5 + middle_px - nearest_px) / SHRINK
        drawn_px = top.outline.mean(axis=0) / (1 << SUBPIXEL_BITS)
        np.testing.assert_allclose(drawn_px, np.argwhere(small)[0][::-1] + within, atol=0.05)
