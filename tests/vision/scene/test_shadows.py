"""Geometry of the shadows of stacks."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from vision.scene.configurations import kit_configurations
from vision.scene.shadows import occluded

RADIUS_MM = 10.0
STACK = np.array([[0.0, 0.0, 20.0]])
LAMP = np.array([[1000.0, 0.0, 1000.0]])
"""At an elevation of 45° a shadow is as long as its stack is high."""


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "is_hidden"),
    [(-29, 0, True), (-32, 0, False), (11, 0, False), (9, 0, True), (-20, 9.5, True), (-20, 10.5, False)],
)
def test_a_shadow_is_as_long_as_its_stack_is_high(x_mm, y_mm, is_hidden):
    """At a lamp elevation of 45° the shadow is as long as the stack is high, and as wide as the disc."""
    assert occluded(np.array([[x_mm, y_mm]], float), STACK, RADIUS_MM, LAMP)[0, 0] == is_hidden


def test_a_higher_lamp_casts_a_shorter_shadow():
    """A place in the shadow of the low lamp is lit by the high one."""
    place = np.array([[-25.0, 0.0]])
    lamps = np.vstack([LAMP, LAMP * (1, 1, 3)])
    assert occluded(place, STACK, RADIUS_MM, lamps).tolist() == [[True, False]]


def test_beneath_a_lamp_only_the_foot_is_hidden():
    """Under a vertical lamp only the footprint is in shadow."""
    places, above = np.array([[9.9, 0.0], [10.1, 0.0]]), np.array([[0.0, 0.0, 1e6]])
    assert occluded(places, STACK, RADIUS_MM, above)[:, 0].tolist() == [True, False]


def test_nothing_is_hidden_by_nothing():
    """Empty inputs give empty results."""
    assert not occluded(np.zeros((2, 2)), np.zeros((0, 3)), RADIUS_MM, LAMP).any()
    assert occluded(np.zeros((0, 2)), STACK, RADIUS_MM, LAMP).shape == (0, 1)


def test_shadows_of_discs_of_one_size_are_known_alone():
    """Only kits whose pieces are all discs of one size are supported."""
    domination = load_kit("domination")
    first, *others = domination.pieces
    several = replace(domination, pieces=(replace(first, width_mm=first.width_mm / 2), *others))
    kits = domination, load_kit("cheight"), several, load_kit("citadel"), load_kit("ziggurat")
    assert [kit_configurations(kit).are_discs for kit in kits] == [True, True, False, False, False]
