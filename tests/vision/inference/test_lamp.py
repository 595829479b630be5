"""Whether the lamp is low or behind the board is inferred from the light on the sides of all stacks together."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from calibration.board_appearance import BoardAppearance
from calibration.srgb import display
from tests.vision.inference.conftest import PAPER
from vision.appearance import colour_model
from vision.appearance.colour_model import BINS, OUTLIER_LOG, Lamp
from vision.appearance.illumination import Illumination
from vision.capture.frames import Frame
from vision.inference.colours import Colours
from vision.inference.lamp import LOW_LAMP_SHARE, MIN_STACKS, ON_LEARNED_BOARD, estimate_lamp
from vision.inference.search import infer
from vision.reader import Reader
from vision.scene.materials import Materials

TABLE = {"c4": "RRRR", "e5": "R", "b6": "GG", "g3": "BBB", "f7": "R"}
SHARES = {Lamp.LOW: 1.5, Lamp.BEHIND: 0.15}
BEHIND = pytest.mark.parametrize("lamp", [Lamp.BEHIND], indirect=True)


@pytest.fixture
def colours(drawn):
    """Return the colours of the rendered set."""
    reader = drawn.reader
    return Colours(reader.kit, reader.appearance, drawn.geometry.configurations)


@pytest.fixture(params=SHARES)
def lamp(request, drawn, monkeypatch):
    """Render the sides as bright as under an unusual lamp (low, or behind the board); return that lamp."""
    monkeypatch.setattr(sys.modules[type(drawn).__module__], "SIDE_SHARE", SHARES[request.param])
    return request.param


def test_a_usual_lamp_changes_nothing(drawn, colours):
    """Under the usual lamp the colour model is unchanged."""
    hypothesis, before = drawn.hypothesis(TABLE), colours.model
    assert estimate_lamp(hypothesis, colours.reflectances) is Lamp.USUAL
    assert not colours.update_lamp(hypothesis)
    assert colours.model is before


def test_sides_are_no_faces_in_whatever_light(drawn, colours, lamp, monkeypatch):
    """Under each unusual lamp all stacks are read after the colour model has followed it."""
    hypothesis, usual = drawn.hypothesis(TABLE), colours.model
    assert estimate_lamp(hypothesis, colours.reflectances) is lamp
    assert colours.update_lamp(hypothesis)
    monkeypatch.setattr(drawn.reader, "_colours", colours)
    again = drawn.hypothesis(TABLE)
    assert {name: int(again.state[drawn.cell(name)]) for name in TABLE} == {
        name: drawn.state(stack) for name, stack in TABLE.items()
    }
    assert not colours.reset_refuted_lamp(again)
    assert not colours.update_lamp(again)
    assert colours.model is not usual


def test_on_a_mat_a_lamp_counts_as_low_sooner_than_on_a_learned_board(drawn, colours, monkeypatch):
    """Sides with a share of light between both limits show a low lamp on a printed mat only."""
    between = (LOW_LAMP_SHARE + ON_LEARNED_BOARD) / 2
    monkeypatch.setattr(sys.modules[type(drawn).__module__], "SIDE_SHARE", between)
    hypothesis = drawn.hypothesis(TABLE)
    assert estimate_lamp(hypothesis, colours.reflectances) is Lamp.LOW
    monkeypatch.setattr(type(hypothesis), "is_on_learned_board", True)
    assert estimate_lamp(hypothesis, colours.reflectances) is Lamp.USUAL


@pytest.mark.usefixtures("lamp")
def test_a_lamp_is_assumed_until_a_picture_refutes_it(drawn, colours, monkeypatch):
    """The colour model of an unusual lamp stays until sides are lit as usual again; then the usual one is back."""
    usual = colours.model
    assert colours.update_lamp(drawn.hypothesis(TABLE))
    monkeypatch.undo()
    lit_as_usual = drawn.hypothesis(TABLE)
    assert colours.reset_refuted_lamp(lit_as_usual)
    assert colours.model is usual
    assert not colours.update_lamp(lit_as_usual)


@pytest.mark.usefixtures("lamp")
def test_a_picture_of_the_same_lamp_is_explained_once(drawn, monkeypatch):
    """A second whole reading begins with the lamp of the first one, and reads the same."""
    reader = Reader(drawn.reader.kit, drawn.reader.camera, drawn.reader.appearance)
    frame, explained = Frame(drawn.picture(TABLE), 0, 0.0), []
    monkeypatch.setattr("vision.reader.infer", lambda *given: explained.append(1) or infer(*given))
    first, second = (reader.read_at(frame, drawn.geometry) for _ in range(2))
    assert explained == [1, 1, 1]
    np.testing.assert_array_equal(first.log_likelihood, second.log_likelihood)


@pytest.mark.usefixtures("lamp")
@BEHIND
def test_behind_the_board_a_lamp_lights_no_side_like_a_face(drawn, colours):
    """With the lamp behind the board, sides as bright as faces become less likely."""
    hypothesis, usual = drawn.hypothesis(TABLE), colours.model
    assert colours.update_lamp(hypothesis)
    face = usual[:, Materials.TOPS].argmax()
    assert colours.model[face, Materials.STANDING] < usual[face, Materials.STANDING] - 2.5


@pytest.mark.usefixtures("lamp")
@BEHIND
def test_before_a_lamp_behind_the_board_plain_faces_are_paler(drawn, colours):
    """With the lamp behind the board, faces are expected to be paler."""
    usual = np.exp(colours.model[:, Materials.TOPS])
    assert colours.update_lamp(drawn.hypothesis(TABLE))
    mirroring, bright = np.exp(colours.model[:, Materials.TOPS]), brightness(np.ones_like(usual))
    assert np.average(bright, weights=mirroring) > np.average(bright, weights=usual) + 1


def test_beside_a_usual_lamp_the_sides_of_black_pieces_are_dark_as_well(drawn):
    """Dark display values are not proportional to the root of linear light, so black pieces must not look backlit."""
    black = dict.fromkeys(drawn.reader.appearance.pieces, (0.017, 0.017, 0.017))
    reader = Reader(drawn.reader.kit, drawn.reader.camera, replace(drawn.reader.appearance, pieces=black))
    dark = replace(drawn, reader=reader)
    colours = Colours(reader.kit, reader.appearance, drawn.geometry.configurations)
    assert estimate_lamp(dark.hypothesis(TABLE), colours.reflectances) is Lamp.USUAL


@pytest.mark.usefixtures("lamp")
def test_what_lies_round_the_mat_is_as_likely_as_a_piece_of_its_colour_whatever_the_lamp(drawn, colours):
    """A table of the colour of sides in this light is no likelier a tower: both have one shade."""
    light = Illumination(np.log(PAPER) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))
    assert colours.update_lamp(drawn.hypothesis(TABLE))
    side = colours.reflectances[0] * sys.modules[type(drawn).__module__].SIDE_SHARE * PAPER
    image = np.full((*drawn.geometry.size, 3), 255 * display(side)[::-1], np.uint8)
    colours.learn_surroundings(image, drawn.geometry, light)
    row = colour_model.rows_at(image, np.zeros(1, np.intp), np.full(3, PAPER))[0]
    of_pieces = colours.model[row, Materials.TOPS : Materials(drawn.hypothesis({}).colours).column_side]
    assert colours.model[row, Materials.TABLE] == pytest.approx(of_pieces.max())


@pytest.mark.usefixtures("lamp")
def test_one_stack_or_two_tell_no_lamp(drawn, colours):
    """Fewer than FEW stacks are taken to be under the usual lamp."""
    for count in range(MIN_STACKS):
        few = dict(list(TABLE.items())[:count])
        assert estimate_lamp(drawn.hypothesis(few), colours.reflectances) is Lamp.USUAL


def test_on_a_learned_board_sides_may_be_brighter_than_faces_but_are_as_dark_as_they_were(drawn, lamp):
    """On a learned board the range of sides is extended for a low lamp, and still includes the dark ones."""
    board = BoardAppearance(np.full((300, 300, 3), 0.4, np.float32), *np.ones((2, 300, 300), np.uint8))
    appearance = replace(drawn.reader.appearance, board=board)
    colours = Colours(drawn.reader.kit, appearance, drawn.geometry.configurations)
    usual = brightness(colours.model[:, Materials.STANDING] > OUTLIER_LOG)
    assert colours.update_lamp(drawn.hypothesis(TABLE)) is (lamp is Lamp.LOW)
    followed = brightness(colours.model[:, Materials.STANDING] > OUTLIER_LOG)
    assert followed.min() <= usual.min() + 1
    assert (followed.mean() > usual.mean() + 1) == (lamp is Lamp.LOW)


def brightness(colours):
    """Return the sum of the bin indices of all entries that are set in ``colours`` (BINS³,): their total brightness."""
    return sum(np.unravel_index(np.flatnonzero(colours), (BINS,) * 3))
