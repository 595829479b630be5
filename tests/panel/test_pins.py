"""Which GPIO pins may be used."""

import re
from dataclasses import astuple, replace

import pytest

from companion.errors import BadText
from companion.panel.pins import Pins


def test_the_defaults_are_all_different_and_leave_the_buses_alone() -> None:
    red, green, blue, players, *others = astuple(Pins())
    used = [red, green, blue, *players, *others]
    assert len(set(used)) == len(used) == 11
    assert not set(used) & {0, 1, 2, 3, 14, 15}


@pytest.mark.parametrize("pin", [0, 1, 2, 3, 14, 15, -1, 28, 100])
def test_a_pin_that_is_not_for_us_is_named(pin: int) -> None:
    with pytest.raises(BadText, match=rf"panel pin {pin} .*; write one of 4-13 or 16-27"):
        replace(Pins(), blue=pin)
    with pytest.raises(BadText, match=f"panel pin {pin} "):
        replace(Pins(), players=(5, pin))


def test_a_pin_for_two_purposes_is_named() -> None:
    message = "panel pin 12 is used twice; give each part a pin of its own"
    with pytest.raises(BadText, match=re.escape(message)):
        replace(Pins(), players=(5, 12))
    with pytest.raises(BadText, match="panel pin 17 is used twice"):
        replace(Pins(), undo=17)
