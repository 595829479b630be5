"""Machine code that is kept is that of the program as it is now."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from vision.compiled import compiled, fingerprint

BODY = """
def helper(x):
    return x + STEP

helper = compiled(helper)

def loop(pair: Pair) -> float:
    return helper(pair[0]) * LIMITS[1] + TABLE[0]
"""


def made(body: str = BODY, **around: object) -> Callable[..., float]:
    """The loop in a module of its own, with other things ``around`` it than usual."""

    class Pair(NamedTuple):
        first: float
        second: float

    module = {"compiled": compiled, "Pair": Pair, "STEP": 2, "LIMITS": (1.0, 3.0), "TABLE": np.arange(3.0), **around}
    exec(compile(body, "loops.py", "exec"), module)
    return module["loop"]  # type: ignore[return-value]


class Turned(NamedTuple):
    """The same fields, the other way round."""

    second: float
    first: float


CHANGES: dict[str, dict[str, object]] = {
    "its own body": {"body": BODY.replace("* LIMITS", "- LIMITS")},
    "a function that it calls": {"body": BODY.replace("x + STEP", "x - STEP")},
    "a constant of that": {"STEP": 3},
    "a number in a tuple": {"LIMITS": (1.0, 3.5)},
    "a table": {"TABLE": np.arange(1.0, 4.0)},
    "the fields of what it takes": {"Pair": Turned},
}


@pytest.mark.parametrize("change", CHANGES)
def test_code_is_kept_under_another_name_when_this_changes(change: str) -> None:
    assert fingerprint(made(**CHANGES[change])) != fingerprint(made())  # type: ignore[arg-type]


def test_it_is_found_again_when_nothing_changes() -> None:
    assert fingerprint(made()) == fingerprint(made())
