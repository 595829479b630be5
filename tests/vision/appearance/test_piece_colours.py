"""The colours of pyramids, whose faces are seen under many angles, and small ones beside what is round them."""

from dataclasses import dataclass

import numpy as np
import pytest

from calibration.appearance import linear
from calibration.kit import load_kit
from vision.appearance.piece_colours import learn_pieces, weighted_median, wood
from vision.appearance.specular import faces_of

KIT = load_kit("ziggurat")
GROUND = (0.6, 0.6, 0.3)
LAYOUT = KIT.enrol
FLOORS = {cell: np.array([*KIT.centre_mm(cell), 0.0]) for cell in LAYOUT}


@dataclass
class Eye:
    """Where a camera is."""

    centre_mm: np.ndarray


@dataclass
class Shown:
    """A photograph of a set in its own colours, in which some letters' faces are missed."""

    pose: Eye
    missed: str

    def reflectance(self, points_mm, percentile=50.0):
        """The colour of the piece that is nearest, or the ground's."""
        del percentile
        cell = min(FLOORS, key=lambda name: np.linalg.norm(FLOORS[name][:2] - points_mm[:, :2].mean(axis=0)))
        letter = LAYOUT[cell][-1]
        return GROUND if letter in self.missed else linear(KIT.piece(letter).colour)


def learned(missed=""):
    eye = Eye(np.array([100.0, -400.0, 500.0]))
    return learn_pieces(Shown(eye, missed), KIT, LAYOUT, FLOORS).pieces


def test_each_pyramid_has_its_own_colour():
    for letter, colour in learned().items():
        assert colour == pytest.approx(linear(KIT.piece(letter).colour))


def test_a_small_pyramid_that_was_missed_has_the_colour_of_those_of_its_set():
    kind = min(KIT.pieces, key=lambda kind: (kind.width_mm, sum(linear(kind.colour))))
    assert learned(kind.letter)[kind.letter] == pytest.approx(linear(kind.colour))


def test_half_of_the_weights_is_reached_by_the_median():
    colours = np.array([(0.1, 0.1, 0.1), (0.5, 0.5, 0.5), (0.3, 0.3, 0.3)])
    assert weighted_median(colours, np.array([1.0, 1.0, 1.0])) == (0.3, 0.3, 0.3)
    assert weighted_median(colours, np.array([1.0, 3.0, 1.0])) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("x_mm", "count"), [(0.0, 1), (60.0, 1), (400.0, 2)])
def test_a_face_seen_edge_on_tells_no_colour(x_mm, count):
    """From the front the faces to the left and right are turned away, and from a little aside edge-on."""
    assert len(faces_of(KIT.pieces[0], np.zeros(3), np.array([x_mm, -400.0, 120.0]))) == count


def test_a_face_seen_edge_on_tells_a_colour_where_there_is_no_other():
    above = np.array([0.0, 0.0, 1e5])
    assert faces_of(KIT.pieces[0], np.zeros(3), above)


def test_halos_along_the_strokes_of_a_character_are_no_wood():
    """A webcam that sharpens shows wood brighter and paler there."""
    own, halo, ink = (0.8, 0.7, 0.3), (1.1, 1.0, 0.8), (0.05, 0.05, 0.05)
    seen = np.array([own] * 45 + [halo] * 25 + [ink] * 30)
    assert wood(seen, has_halos=True) == pytest.approx(own, abs=0.05)
    without = np.array([own] * 70 + [ink] * 30)
    assert wood(without, has_halos=False) == pytest.approx(own, abs=0.01)
