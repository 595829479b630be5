"""Inner loops as machine code: what touches every pixel several times is compiled by Numba when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """``loop`` as machine code, kept on disk for the next time where there is room for it.

    It takes arrays, numbers and named tuples of them, and raises nothing.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True}
    try:
        fast: Loop = numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # neither the program's folder nor the user's cache can be written: compiled at every start
        fast = numba.njit(**options)(loop)
    return fast
