"""Inner loops as machine code: what touches every pixel several times is compiled by Numba when it is first needed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
import numpy as np

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """``loop`` as machine code, kept on disk for the next time where there is room for it.

    It takes arrays, numbers and named tuples of them, and raises nothing.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True}
    # Files are named after the function, and Numba looks only at the one that it is written in for changes.
    loop.__qualname__ = f"{loop.__qualname__}-{fingerprint(loop)}"
    try:
        fast: Loop = numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # neither the program's folder nor the user's cache can be written: compiled at every start
        fast = numba.njit(**options)(loop)
    return fast


def fingerprint(loop: Callable[..., Any]) -> str:
    """Twelve digits that are others when a function, one that it calls, or a constant that either uses is another."""
    return hashlib.sha256("\n".join(_made_of(loop)).encode()).hexdigest()[:12]


def _made_of(loop: Callable[..., Any]) -> Iterator[str]:
    code, around = loop.__code__, loop.__globals__
    yield f"{code.co_code!r} {code.co_consts!r} {code.co_names!r} {loop.__annotations__!r}"
    types = re.findall(r"\w+", " ".join(map(str, loop.__annotations__.values())))
    for name in (*code.co_names, *types):
        value: Any = around.get(name)
        if hasattr(value, "py_func"):
            yield from _made_of(value.py_func)
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {value.tobytes()!r}"
        elif isinstance(value, type):
            members = {key: member for key, member in vars(value).items() if isinstance(member, (int, float, tuple))}
            yield f"{name} {members}"
        elif isinstance(value, (int, float, tuple)):
            yield f"{name} {value!r}"
