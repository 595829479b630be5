"""Inner loops as machine code: Numba compiles, on its first call, what touches every pixel several times."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

import numba
import numpy as np

Loop = TypeVar("Loop", bound=Callable[..., Any])

_kept: list[tuple[Path, str, str]] = []
"""For each loop the folder of its cache, its name there, and that name with its fingerprint."""


def compiled(loop: Loop) -> Loop:
    """``loop`` compiled to machine code, cached on disk where there is room.

    It takes arrays, numbers and named tuples of them, and raises nothing.
    """
    return _compiled(loop, counts_references=True)


def allocation_free(loop: Loop) -> Loop:
    """As :func:`compiled`, for a ``loop`` that makes no array and returns none; else it cannot be compiled.

    It calls no loop that returns arrays, and no array methods.  It counts no references to arrays.  Other loops do so
    at every call, for each array of each named tuple that they pass on, by two atomic additions: a third of the time of
    small loops that take many.
    """
    return _compiled(loop, counts_references=False)


def _compiled(loop: Loop, *, counts_references: bool) -> Loop:
    # A loop that does not say whether it counts references does as the one that calls it.
    # Nobody calls it from C: a wrapper for that takes a twentieth of the compilation time.
    options: dict[str, Any] = {
        "error_model": "numpy",
        "nogil": True,
        "no_cfunc_wrapper": True,
        "_nrt": counts_references,
    }
    # Numba names cache files after the function, and looks for changes only in the file that defines it.
    name = loop.__qualname__
    loop.__qualname__ = f"{name}-{fingerprint(loop)}"
    try:
        fast: Any = numba.njit(cache=True, **options)(loop)
        _tolerate_full_disk(fast)
        _discard_bitcode(fast)
        _kept.append((Path(fast.stats.cache_path), f"{loop.__module__.rpartition('.')[2]}.{name}", loop.__qualname__))
    except RuntimeError:  # neither the program's folder nor the user's cache can be written: compiled at every start
        fast = numba.njit(**options)(loop)
    _compile_once_for_all_constants(fast)
    return cast("Loop", fast)


def _tolerate_full_disk(fast: Any) -> None:
    """Ignore a full disk: what cannot be cached is compiled again at the next start."""
    save = fast._cache.save_overload  # noqa: SLF001 - Numba gives no other way to it

    def attempt(signature: Any, result: Any) -> None:
        with contextlib.suppress(OSError):
            save(signature, result)

    fast._cache.save_overload = attempt  # noqa: SLF001


def _discard_bitcode(fast: Any) -> None:
    """Free the bitcode of a loop that was loaded: 0.7 MB of memory each (57 loops read an own board).

    Numba keeps it for loops that call this one and are compiled later.  For them it is loaded again.
    """
    load = fast._cache.load_overload  # noqa: SLF001

    def lean(signature: Any, context: Any) -> Any:
        def again() -> Any:
            return load(signature, context).library._get_module_for_linking()  # noqa: SLF001

        result = load(signature, context)
        if result is not None:
            library = result.library
            library._shared_module = None  # noqa: SLF001
            library._get_module_for_linking = again  # noqa: SLF001
        return result

    fast._cache.load_overload = lean  # noqa: SLF001


def _compile_once_for_all_constants(fast: Any) -> None:
    """Compile a loop as for any number, where Numba would do so anew for each constant that another one passes."""
    types: Any = numba.types
    resolve = fast.get_call_template
    fast.get_call_template = lambda args, kws: resolve(
        tuple(map(types.unliteral, args)), {name: types.unliteral(arg) for name, arg in kws.items()}
    )


def delete_stale_caches() -> None:
    """Delete cached loops whose fingerprints have changed."""
    for folder, name, now in _kept:
        for file in folder.glob(f"{name}-*.nb?"):
            if now not in file.name:
                file.unlink(missing_ok=True)


def fingerprint(loop: Callable[..., Any]) -> str:
    """Twelve hexadecimal digits that change with a function's file, a loop that it calls, or a constant of either."""
    return hashlib.sha256("\n".join(_dependencies(loop)).encode()).hexdigest()[:12]


def _dependencies(loop: Callable[..., Any]) -> Iterator[str]:
    yield from _instructions(loop.__code__)
    yield repr(loop.__annotations__)
    # It may call loops that its module defines farther down, which only its source shows yet.
    yield _source(Path(loop.__code__.co_filename))
    # And so it may depend on anything that the module knows.
    for name, value in sorted(loop.__globals__.items()):
        if hasattr(value, "py_func"):
            yield f"{name} {value.py_func.__qualname__}"
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {value.tobytes()!r}"
        elif isinstance(value, type):
            yield f"{name} {getattr(value, '_fields', ())} {[*filter(_is_plain, vars(value).items())]}"
        elif _is_plain((name, value)):
            yield f"{name} {value!r}"


def _instructions(code: CodeType) -> Iterator[str]:
    """The bytecode of a function and of its comprehensions, without their addresses, which differ by process."""
    constants = [part for part in code.co_consts if not isinstance(part, CodeType)]
    yield f"{code.co_code!r} {constants!r} {code.co_names!r}"
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _instructions(part)


@cache
def _source(file: Path) -> str:
    """A module's text, or "" where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""


def _is_plain(member: tuple[str, object]) -> bool:
    """Whether a name is not special, and its value a number or a tuple of numbers."""
    name, value = member
    values = value if isinstance(value, tuple) else (value,)
    return not name.startswith("__") and all(isinstance(one, (int, float, np.generic)) for one in values)
