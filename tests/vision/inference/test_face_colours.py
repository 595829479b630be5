"""Piece colours that were learned wrongly from one photograph are corrected from faces read with certainty."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.board_appearance import BoardAppearance
from calibration.srgb import display, linear_light
from vision.inference.colours import Colours
from vision.inference.face_colours import MIN_FACES, face_change

TABLE = {"c4": "RRRR", "e5": "R", "b6": "GG", "g3": "BBB", "f7": "R", "c7": "YY", "d2": "Y"}
BOARD = BoardAppearance(np.full((300, 300, 3), 0.4, np.float32), *np.ones((2, 300, 300), np.uint8))


@pytest.fixture
def seen(drawn, on_board):
    """Return a function that infers a table on a learned board of uniform display value 0.5."""
    return lambda table: on_board(drawn.hypothesis(table), 0.5)


@pytest.fixture
def learned(drawn):
    """Return a function that builds colours of which some were learned as a share of their true reflectance."""

    def colours(board=BOARD, **shares):
        appearance = drawn.reader.appearance
        pieces = {
            letter: tuple(shares.get(letter, 1.0) * np.array(colour)) for letter, colour in appearance.pieces.items()
        }
        return Colours(drawn.reader.kit, replace(appearance, pieces=pieces, board=board), drawn.geometry.configurations)

    return colours


def number(drawn, letter):
    """Return the index of the colour group that contains a letter."""
    return [letter in letters for letters in drawn.geometry.configurations.colours].index(True)


def test_faces_show_how_much_too_bright_a_colour_was_learned(drawn, seen, learned):
    """The log change of each colour equals the factor by which it was learned too bright."""
    change = face_change(seen(TABLE), learned(R=2.0, Y=1.3).reflectances)
    assert change[number(drawn, "R")] == pytest.approx(-np.log(2.0), abs=0.05)
    assert change[number(drawn, "Y")] == pytest.approx(-np.log(1.3), abs=0.05)


def test_a_single_face_of_a_colour_tells_nothing(drawn, seen, learned):
    """Colours with fewer faces than FEW give no change."""
    assert list(TABLE.values()).count("GG") < MIN_FACES
    assert not face_change(seen(TABLE), learned(G=2.0).reflectances)[number(drawn, "G")].any()
    assert not face_change(seen({}), learned(G=2.0).reflectances).any()


def test_faces_that_mirror_a_lamp_are_not_the_colour(drawn, seen, learned):
    """One face with glare does not change the estimate."""
    hypothesis, red = seen(TABLE), number(drawn, "R")
    cell = drawn.cell("e5")
    hypothesis.observations.codes[cell] = np.minimum(hypothesis.observations.codes[cell] + 80.0, 255)
    assert face_change(hypothesis, learned(R=2.0).reflectances)[red] == pytest.approx(-np.log(2.0), abs=0.05)


def test_stacks_that_may_be_others_tell_nothing(drawn, seen, learned):
    """Uncertain stacks give no change."""
    hypothesis = seen(TABLE)
    hypothesis.scores[:] = 0.0
    assert not face_change(hypothesis, learned(R=2.0).reflectances).any()


def test_a_colour_that_was_learned_too_bright_is_followed_once_and_back(drawn, seen, learned):
    """A wrong colour is corrected once; small later changes are ignored, large ones followed."""
    colours, true, hypothesis = learned(R=2.0), learned().reflectances, seen(TABLE)
    before, red = colours.model, number(drawn, "R")
    assert colours.update_faces(hypothesis)
    assert colours.reflectances[red] == pytest.approx(true[red], rel=0.05)
    assert np.delete(colours.reflectances, red, axis=0) == pytest.approx(np.delete(true, red, axis=0))
    assert colours.model is not before
    assert not colours.update_faces(hypothesis)
    cells = [drawn.cell(name) for name in TABLE]
    for brighter, is_followed in ((1.15, False), (2.0, True)):
        light = linear_light(hypothesis.observations.codes[cells] / 255)
        hypothesis.observations.codes[cells] = np.minimum(np.rint(255 * display(brighter * light)), 255)
        assert colours.update_faces(hypothesis) is is_followed
    assert colours.reflectances[red] == pytest.approx(2 * true[red])


def test_a_colour_of_which_a_channel_was_learned_as_none_is_followed_in_the_others(drawn, seen, learned):
    """A colour channel learned as 0 stays 0, and the model stays finite."""
    colours, red = learned(R=np.array([2.0, 0.0, 2.0])), number(drawn, "R")
    assert colours.reflectances[red, 1] == 0
    assert not colours.update_faces(seen({"g3": "BBB"}))
    colours.update_faces(seen(TABLE))
    assert np.isfinite(colours.model).all()
    assert colours.reflectances[red, 1] == 0


def test_brighter_faces_than_were_learned_mirror_a_lamp(seen, learned):
    """Faces brighter than learned are attributed to specular light and not followed."""
    assert not learned(R=0.5).update_faces(seen(TABLE))


def test_without_a_learned_board_colours_stay(seen, learned):
    """Without a learned board, colours are not changed."""
    assert not learned(board=None, R=2.0).update_faces(seen(TABLE))
