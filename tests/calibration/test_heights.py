"""How high pieces stand on each other."""

from __future__ import annotations

import pytest

from calibration.heights import rises_mm
from calibration.kit import load_kit


@pytest.mark.parametrize(
    ("stack", "rises"),
    [("QDW", (0, 15, 30)), ("dQ", (0, 0)), ("Qq", (0, 15)), ("qDd", (0, 15, 30))],
)
def test_a_pyramid_stands_above_a_larger_one_and_above_its_like_and_hides_a_smaller_one(stack, rises) -> None:
    assert rises_mm(load_kit("ziggurat"), stack) == rises
