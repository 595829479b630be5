"""A low lamp, which lights the sides of pieces more than their faces, is told by all stacks of a board together."""

import sys

import pytest

from vision.inference.colours import Colours
from vision.inference.lamp import FEW, is_low

TABLE = {"c4": "RRRR", "e5": "R", "b6": "GG", "g3": "BBB", "f7": "R"}
BRIGHT = 1.5


@pytest.fixture
def colours(drawn):
    reader = drawn.reader
    return Colours(reader.kit, reader.appearance, drawn.geometry.configurations)


@pytest.fixture
def beside_low_lamp(drawn, monkeypatch):
    monkeypatch.setattr(sys.modules[type(drawn).__module__], "SIDE_SHARE", BRIGHT)


def test_a_usual_lamp_is_not_low(drawn, colours):
    hypothesis, before = drawn.hypothesis(TABLE), colours.model
    assert not is_low(hypothesis, colours.reflectances)
    assert not colours.follow_lamp(hypothesis)
    assert colours.model is before


@pytest.mark.usefixtures("beside_low_lamp")
def test_beside_a_low_lamp_bright_sides_are_no_faces(drawn, colours, monkeypatch):
    hypothesis, usual = drawn.hypothesis(TABLE), colours.model
    assert colours.follow_lamp(hypothesis)
    monkeypatch.setattr(drawn.reader, "_colours", colours)
    again = drawn.hypothesis(TABLE)
    assert {name: int(again.state[drawn.cell(name)]) for name in TABLE} == {
        name: drawn.state(stack) for name, stack in TABLE.items()
    }
    colours.expect_usual_lamp()
    assert colours.model is usual


@pytest.mark.usefixtures("beside_low_lamp")
def test_one_bright_stack_or_two_tell_no_lamp(drawn, colours):
    for count in range(FEW):
        few = dict(list(TABLE.items())[:count])
        assert not is_low(drawn.hypothesis(few), colours.reflectances)
