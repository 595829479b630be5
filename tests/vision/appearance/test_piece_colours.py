"""Learning piece colours: pyramids, whose faces are seen at many angles, and pieces with characters."""

from dataclasses import dataclass

import numpy as np
import pytest

from calibration.appearance import linear
from calibration.kit import load_kit
from vision.appearance.piece_colours import in_one_light, learn_pieces, weighted_median, wood_reflectance
from vision.appearance.specular import faces_of

KIT = load_kit("ziggurat")
GROUND = (0.6, 0.6, 0.3)
LAYOUT = KIT.enrol
FLOORS = {cell: np.array([*KIT.centre_mm(cell), 0.0]) for cell in LAYOUT}


@dataclass
class Eye:
    """A camera position."""

    centre_mm: np.ndarray


@dataclass
class Shown:
    """A photograph of a set in its nominal colours, in which the faces of some letters are missed."""

    pose: Eye
    missed: str

    def reflectance(self, points_mm, percentile=50.0):
        """Return the colour of the nearest piece, or of the ground if that piece is missed."""
        del percentile
        cell = min(FLOORS, key=lambda name: np.linalg.norm(FLOORS[name][:2] - points_mm[:, :2].mean(axis=0)))
        letter = LAYOUT[cell][-1]
        return GROUND if letter in self.missed else linear(KIT.piece(letter).colour)


def learned(missed=""):
    """Learn the colours of all pieces, seen from the front right; the faces of letters in ``missed`` are not found."""
    eye = Eye(np.array([100.0, -400.0, 500.0]))
    return learn_pieces(Shown(eye, missed), KIT, LAYOUT, FLOORS).pieces


def test_each_pyramid_has_its_own_colour():
    for letter, colour in learned().items():
        assert colour == pytest.approx(linear(KIT.piece(letter).colour))


def test_a_small_pyramid_that_was_missed_has_the_colour_of_those_of_its_set():
    """A missed small pyramid gets the mean colour of its set instead of the ground's."""
    kind = min(KIT.pieces, key=lambda kind: (kind.width_mm, sum(linear(kind.colour))))
    assert learned(kind.letter)[kind.letter] == pytest.approx(linear(kind.colour))


@dataclass
class LitFromTheRight(Shown):
    """Right sides get three times the light.

    Right sides of capital letters reflect something white, and so do the other sides of small letters.
    """

    def reflectance(self, points_mm, percentile=50.0):
        """Return a green as it is lit, half as bright for small letters."""
        del percentile
        cell = min(FLOORS, key=lambda name: np.linalg.norm(FLOORS[name][:2] - points_mm[:, :2].mean(axis=0)))
        is_right, is_bright = points_mm[:, 0].mean() > FLOORS[cell][0] + 1, LAYOUT[cell][-1].isupper()
        green = np.array((0.15, 0.2, 0.05)) * (1 + is_bright) * (1 + 2 * is_right)
        return tuple((green + 0.02 * (is_right == is_bright)).tolist())


def test_pyramids_of_both_colours_are_learned_as_if_all_were_seen_in_the_light_on_the_darkest_side():
    """The purest side is the shaded one of bright pieces but the lit one of dark pieces, which would seem brighter."""
    eye = Eye(np.array([400.0, -400.0, 500.0]))
    pieces = learn_pieces(LitFromTheRight(eye, ""), KIT, LAYOUT, FLOORS).pieces
    for letter in "QDW":
        assert np.divide(pieces[letter], pieces[letter.lower()]) == pytest.approx(2, rel=0.3)
        assert pieces[letter] == pytest.approx((0.3, 0.4, 0.1))


def test_half_of_the_weights_is_reached_by_the_median():
    """The weighted median is the colour at which half of the weight is reached."""
    colours = np.array([(0.1, 0.1, 0.1), (0.5, 0.5, 0.5), (0.3, 0.3, 0.3)])
    assert weighted_median(colours, np.array([1.0, 1.0, 1.0])) == (0.3, 0.3, 0.3)
    assert weighted_median(colours, np.array([1.0, 3.0, 1.0])) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("x_mm", "count"), [(0.0, 1), (60.0, 1), (400.0, 2)])
def test_a_face_seen_edge_on_tells_no_colour(x_mm, count):
    """From the front, the left and right faces point away from the camera; slightly aside, one is seen edge-on."""
    assert len(faces_of(KIT.pieces[0], np.zeros(3), np.array([x_mm, -400.0, 120.0]))) == count


def test_a_face_seen_edge_on_tells_a_colour_where_there_is_no_other():
    """From directly above all lateral faces are seen almost edge-on, but are used because there are no others."""
    above = np.array([0.0, 0.0, 1e5])
    assert faces_of(KIT.pieces[0], np.zeros(3), above)


def test_light_on_a_side_that_not_all_pyramids_show_follows_from_those_that_do():
    """Three pieces show different sides, the least pale of which is each time another one, in light of another tint."""
    green, gray, light = np.array((0.1, 0.5, 0.1)), np.array((0.2, 0.2, 0.2)), np.array((2.0, 1.5, 1.0))
    shown = in_one_light([{1: tuple(green), 2: tuple(green * light)}, {1: tuple(gray)}, {2: tuple(gray * light)}])
    assert np.array(shown) == pytest.approx(np.array([green, gray, gray]))


def test_a_side_that_mirrors_something_on_one_pyramid_does_not_darken_others():
    """One of four pieces mirrors a window on its right side."""
    green, window = np.array((0.1, 0.5, 0.1)), 0.4
    both = {1: tuple(green), 2: tuple(2 * green)}
    shown = in_one_light([both, both, {1: tuple(green), 2: tuple(2 * green + window)}, {2: tuple(2 * green)}])
    assert np.array(shown) == pytest.approx(np.array([green] * 4))


def test_halos_along_the_strokes_of_a_character_are_no_wood():
    """A webcam with sharpening shows the wood along the strokes brighter and paler."""
    own, halo, ink = (0.8, 0.7, 0.3), (1.1, 1.0, 0.8), (0.05, 0.05, 0.05)
    seen = np.array([own] * 45 + [halo] * 25 + [ink] * 30)
    assert wood_reflectance(seen, has_halos=True) == pytest.approx(own, abs=0.05)
    without = np.array([own] * 70 + [ink] * 30)
    assert wood_reflectance(without, has_halos=False) == pytest.approx(own, abs=0.01)
