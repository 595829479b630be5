"""Pyramids of nearly the same colour as the ground."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from companion.simulate.light import WINDOW, to_linear
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.capture.frames import Frame
from vision.enrolment import learn_empty_board
from vision.inference.pale_pyramids import (
    INVISIBLE_PROBABILITY,
    SHADOW_EDGES,
    bounded_boundary_log_ratio,
    find_pale_pyramids,
    hue_log_ratio,
    unlike_shares,
)
from vision.reader import Reader

PALE = dict.fromkeys("QDW", (214, 200, 182))
UNDECIDED = -2.0
"""Nats by which the colours prefer a pyramid to an empty cell: slightly negative everywhere."""

GLARING, HARDLY = 15.0, 3.0
"""Nats for a pyramid on bare ground in the glare of a lamp: by the colours, and at most after the search.

The search leaves some where the table behind gives no hue.
"""

STACKS = {"b2": "Q", "c4": "D", "e3": "W", "d5": "Q"}


@pytest.fixture(scope="module")
def shown():
    """Return a reader of a set with one pale side, and a picture of some of its pieces."""
    kit = load_kit("ziggurat")
    kinds = tuple(replace(kind, colour=PALE.get(kind.letter, kind.colour)) for kind in kit.pieces)
    kit = replace(kit, pieces=kinds)
    camera = default_camera()
    scene = Scene(kit, camera, default_pose(kit), WINDOW)
    setup = set_up([STACKS.get(cell, "") for cell in kit.cells], None, make_rng("pale", 1))
    appearance = nominal_appearance(kit)
    pieces = {kind.letter: tuple(to_linear(kind.colour).tolist()) for kind in kinds}
    return Reader(kit, camera, replace(appearance, pieces=pieces)), Renderer(scene).picture(setup, 1)


def test_they_are_found_by_their_edges_and_bare_cells_are_not_taken_for_any(shown):
    """All pale pyramids are read, and no bare cell is taken for one."""
    reader, picture = shown
    reading = reader.read(Frame(picture, 0, 0.0))
    for row, cell in enumerate(reading.cells):
        (height, top), likely = reading.best(row)
        assert (height == 0) is (cell not in STACKS), cell
        assert likely > 0.5
        assert top in (STACKS.get(cell), None)


def test_without_that_look_some_are_missed(shown, monkeypatch):
    """Without the search for pale pyramids some stay undetected."""
    reader, picture = shown
    monkeypatch.setattr("vision.reader.find_pale_pyramids", lambda *_: None)
    assert standing(reader, picture) < set(STACKS)


@pytest.mark.parametrize(
    ("piece", "share"), [((150, 160, 170), 0.0), ((132, 142, 152), 0.4), ((160, 160, 160), 0.4), ((153, 160, 168), 0.0)]
)
def test_what_differs_from_its_surroundings_in_brightness_or_hue_is_unlike_them(piece, share):
    """A darker piece, and a gray one as bright as yellowish ground; one a little grayer is not, nor is ground."""
    codes = np.full((2, 10, 10, 3), (150, 160, 170), np.uint8)
    codes[1, 2:6] = piece
    assert unlike_shares(codes, np.array([1, 0]), (0, 10)).tolist() == pytest.approx([share, 0.0])


@pytest.mark.parametrize("changed", [*({cell} for cell in STACKS), set(STACKS)])
def test_where_all_that_changed_holds_pieces_nothing_is_looked_for(shown, changed):
    """If all altered cells hold pieces, they are still read as occupied."""
    reader, picture = shown
    reader.read(Frame(picture, 0, 0.0))
    altered = np.array([cell in changed for cell in reader.kit.cells])
    reading = reader.read_at(Frame(picture, 0, 0.0), reader.visible_crop_pixels()[0], changed=altered)
    assert all(reading.best(row)[0][0] != 0 for row in np.flatnonzero(altered))


def test_on_a_learned_board_boundaries_tell_what_colours_do_not(shown, monkeypatch):
    """On a learned board the pyramids are found by boundaries if the colours are undecided."""
    reader, picture = shown
    bare = Scene(reader.kit, reader.camera, default_pose(reader.kit), WINDOW)
    empty = Renderer(bare).picture(set_up([""] * len(reader.kit.cells), None, make_rng("pale", 1)), 1)
    learned = replace(reader.appearance, board=learn_empty_board([empty], reader.kit, reader.camera))

    def as_if_empty(image, hypothesis, *more):
        hypothesis.state[:], hypothesis.scores[:, 0], hypothesis.scores[:, 1:] = 0, 0, UNDECIDED
        find_pale_pyramids(image, hypothesis, *more)

    def undecided(hypothesis, _):
        return np.tile(UNDECIDED + hypothesis.geometry.configurations.log_prior[:, None], hypothesis.colours)

    monkeypatch.setattr("vision.reader.find_pale_pyramids", as_if_empty)
    monkeypatch.setattr("vision.inference.pale_pyramids.UNLIKE_SHARE", -1)
    monkeypatch.setattr("vision.inference.pale_pyramids.all_scores", undecided)
    assert standing(Reader(reader.kit, reader.camera, learned), picture) == set(STACKS)


def surely_found(shown, monkeypatch, nats):
    """Return the cells that surely hold pyramids where colours find one on every cell, with a lead of ``nats``."""
    reader, picture = shown
    found = []

    def as_if_everywhere(image, hypothesis, *more):
        hypothesis.scores[:, 0], hypothesis.scores[:, 1:] = 0, nats
        for cell in np.flatnonzero(hypothesis.state == 0).tolist():
            hypothesis.assign(cell, 1)
        find_pale_pyramids(image, hypothesis, *more)
        found.extend(np.flatnonzero(hypothesis.scores[:, 1:].max(axis=1) > HARDLY).tolist())

    def everywhere(hypothesis, _):
        return np.tile(nats + hypothesis.geometry.configurations.log_prior[:, None], hypothesis.colours)

    monkeypatch.setattr("vision.reader.find_pale_pyramids", as_if_everywhere)
    monkeypatch.setattr("vision.inference.pale_pyramids.UNLIKE_SHARE", 1)
    monkeypatch.setattr("vision.inference.pale_pyramids.all_scores", everywhere)
    reader.read(Frame(picture, 0, 0.0))
    return {reader.kit.cells[cell] for cell in found}


def test_ground_that_colours_take_for_pyramids_is_hardly_any_where_no_edges_are(shown, monkeypatch):
    """In glare the colours find a pyramid on every cell, with a lead of ``GLARING`` nats."""
    assert surely_found(shown, monkeypatch, GLARING) == set(STACKS)


def test_pyramids_that_colours_hardly_find_are_surer_by_their_edges(shown, monkeypatch):
    """The lead of colours alone would not be enough."""
    assert surely_found(shown, monkeypatch, 2.0) == set(STACKS)


def standing(reader, picture):
    """Return the names of the cells on which a stack is read."""
    reading = reader.read(Frame(picture, 0, 0.0))
    return {cell for row, cell in enumerate(reading.cells) if reading.best(row)[0][0] != 0}


def test_a_hue_that_a_colour_differs_by_speaks_for_that_colour():
    """Each hue difference is evidence for the colour with that difference, the ground's hue against all."""
    expected = np.array([[0.06, 0.01], [-0.1, 0.1]])
    shown = np.array([[0.055, 0.0], [-0.09, 0.11], [0.0, -0.005], [0.3, -0.4]])
    pink, blue, ground, stray = hue_log_ratio(shown, expected)
    assert pink[0] > 5
    assert blue[1] > 5
    assert max(pink[1], blue[0]) < 0.1
    assert ground.max() < -3
    assert np.abs(stray).max() < 0.1


def test_a_paler_hue_speaks_for_a_colour_as_well_but_less():
    """Faces may have been enrolled in deep, tinted shade, or now reflect white light."""
    expected = np.array([[0.0, 0.15], [-0.1, 0.1]])
    own, paler, beside, other = hue_log_ratio(
        np.array([[0.0, 0.15], [0.0, 0.08], [0.08, 0.08], [0.0, -0.08]]), expected
    )
    assert own[0] - 1 > paler[0] > 3
    assert max(beside[0], other[0], paler[1]) < 1


def test_white_on_white_says_little():
    """A white piece on white gives hardly any evidence."""
    assert np.abs(hue_log_ratio(np.array([[0.003, -0.004]]), np.array([[0.0, 0.0]]))).max() < 1.1


def test_edges_as_of_a_hard_shadow_do_not_outweigh_the_hue_of_ground():
    """The edges of a shadow do not outweigh the hue of bare ground."""
    colours = np.array([[0.06, 0.01]])
    edges, as_ground = bounded_boundary_log_ratio(np.array([16.0])), hue_log_ratio(np.array([[0.004, 0.0]]), colours)
    assert 2 < edges[0] < -as_ground[0, 0]


def test_neither_edges_nor_none_alone_tell_more_than_they_may_mislead():
    """Evidence from boundaries is bounded on both sides."""
    none, even, clear = bounded_boundary_log_ratio(np.array([-800.0, 0.0, 800.0]))
    assert none == pytest.approx(np.log(INVISIBLE_PROBABILITY))
    assert abs(even) < 0.1
    assert clear == pytest.approx(-np.log(SHADOW_EDGES))
