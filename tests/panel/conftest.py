"""A clock that only the test advances."""

from dataclasses import dataclass

import pytest


@dataclass
class Clock:
    """A clock that stands still until it is set."""

    t: float = 0.0

    def __call__(self) -> float:
        return self.t


@pytest.fixture
def clock() -> Clock:
    return Clock()
