"""Rises of stacked pieces."""

from __future__ import annotations

import pytest

from calibration.heights import base_heights_mm, shows_top
from calibration.kit import load_kit


@pytest.mark.parametrize(
    ("stack", "rises"),
    [("QDW", (0, 15, 30)), ("dQ", (0, 0)), ("Qq", (0, 15)), ("qDd", (0, 15, 30))],
)
def test_a_pyramid_stands_above_a_larger_one_and_above_its_like_and_hides_a_smaller_one(stack, rises) -> None:
    """A pyramid rises above larger and equal ones; on a smaller one it rises by nothing and hides it."""
    assert base_heights_mm(load_kit("ziggurat"), stack) == rises


@pytest.mark.parametrize(
    ("kit", "stack", "is_seen"),
    [
        ("ziggurat", "Qw", False),
        ("ziggurat", "Qd", True),
        ("ziggurat", "dW", True),
        ("ziggurat", "Ww", True),
        ("ziggurat", "dQ", True),
        ("ziggurat", "w", True),
        ("ziggurat", "", True),
        ("domination", "RG", True),
    ],
)
def test_of_the_smallest_pyramid_on_the_largest_nothing_is_seen(kit, stack, is_seen) -> None:
    """Only the smallest pyramid on the largest has an invisible top."""
    assert shows_top(load_kit(kit), stack) is is_seen
