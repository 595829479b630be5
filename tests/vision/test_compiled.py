"""The cache of compiled loops: machine code is reused only while the source code and constants are unchanged."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

import vision
from vision.compiled import allocation_free, compiled, delete_stale_caches, fingerprint

BODY = """
def helper(x):
    return x + STEP

helper = compiled(helper)

def loop(pair: Pair) -> float:
    return helper(pair[0]) * LIMITS[1] + TABLE[0]
"""


def made(body: str = BODY, **around: object) -> Callable[..., float]:
    """Return the loop of ``body``, compiled in a module of its own; ``around`` overrides its other names."""

    class Pair(NamedTuple):
        first: float
        second: float

    module = {"compiled": compiled, "Pair": Pair, "STEP": 2, "LIMITS": (1.0, 3.0), "TABLE": np.arange(3.0), **around}
    exec(compile(body, "loops.py", "exec"), module)
    return module["loop"]  # type: ignore[return-value]


class Turned(NamedTuple):
    """The same fields in reverse order."""

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
    """Each of these changes alters the fingerprint of the loop."""
    assert fingerprint(made(**CHANGES[change])) != fingerprint(made())  # type: ignore[arg-type]


AHEAD = """
def loop(x):
    return helper(x)

loop = compiled(loop)

def helper(x):
    return x + STEP

helper = compiled(helper)
"""


def test_it_is_kept_under_another_name_when_a_constant_of_a_loop_farther_down_changes() -> None:
    """A constant used by a loop defined later is part of the name."""
    names = [made(AHEAD, STEP=step).py_func.__qualname__ for step in (2, 2, 3)]  # type: ignore[attr-defined]
    assert names[0] == names[1] != names[2]


def test_it_is_kept_under_another_name_when_a_loop_farther_down_changes(tmp_path: Path) -> None:
    """The body of a loop defined later is part of the name."""

    def name(body: str) -> str:
        folder = tmp_path / str(len(body))
        folder.mkdir(exist_ok=True)
        (folder / "loops.py").write_text(body)
        module: dict[str, object] = {"compiled": compiled, "STEP": 2, "__name__": "loops"}
        exec(compile(body, folder / "loops.py", "exec"), module)
        return module["loop"].py_func.__qualname__  # type: ignore[attr-defined, no-any-return]

    assert name(AHEAD) == name(AHEAD) != name(AHEAD.replace("x + STEP", "x + 2 * STEP"))


CALLS = """
def helper(x, y):
    return x + y

helper = compiled(helper)

def loop(pair: Pair) -> float:
    return helper(pair[0], 1) + helper(pair[0], 2) + helper(pair[0], y=int(pair[1]))
"""


def test_a_loop_is_compiled_once_for_all_constants_that_it_is_called_with() -> None:
    """Calls with different constants compile the helper only once."""
    loop = compiled(made(CALLS))
    assert loop((1.0, 2.0)) == 8.0
    helper = loop.py_func.__globals__["helper"]  # type: ignore[attr-defined]
    assert len(helper.signatures) == 1


NO_ARRAY = re.compile(r"(None|bool|int|float|tuple|[\[\], ])+")
"""Return types allowed for loops compiled without reference counting."""


def test_loops_that_count_no_references_call_none_that_return_arrays_and_no_methods() -> None:
    """Without reference counting nobody would free such arrays.

    Whether Numba compiles the methods of an array would also depend on what was compiled before.
    """
    names = [module.name for module in pkgutil.walk_packages(vision.__path__, "vision.")]
    loops = {
        value.py_func: value.targetoptions["_nrt"]
        for name in names
        for value in vars(importlib.import_module(name)).values()
        if hasattr(value, "py_func")
    }
    free = [loop for loop, counts_references in loops.items() if not counts_references]
    assert len(free) > 50
    for loop in free:
        (tree,) = ast.parse(inspect.getsource(loop)).body
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        methods = [ast.unparse(one) for one in calls if isinstance(one, ast.Attribute)]
        assert all(method.startswith("np.") for method in methods), (loop.__qualname__, methods)
        called = [loop.__globals__.get(name) for name in loop.__code__.co_names]
        for one in [loop, *(other.py_func for other in called if hasattr(other, "py_func"))]:
            assert NO_ARRAY.fullmatch(one.__annotations__["return"]), (loop.__qualname__, one.__qualname__)


MAKES = """
def loop(x):
    return np.zeros(3)[0] + x
"""


def test_a_loop_that_makes_an_array_counts_references() -> None:
    """A loop that allocates an array is compiled with reference counting."""
    loop = made(MAKES, np=np)
    with pytest.raises(TypingError, match="empty"):
        allocation_free(loop)(1.0)
    assert compiled(loop)(1.0) == 1.0


FULL = """
import resource
import loops
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(loops.loop(20))
"""


def test_a_full_disk_keeps_nothing_and_stops_nobody(tmp_path: Path) -> None:
    """The file size limit of 0 simulates a full disk."""
    (tmp_path / "loops.py").write_text(
        "from vision.compiled import compiled\n\ndef loop(x):\n    return x + 1\n\nloop = compiled(loop)\n"
    )
    paths = os.pathsep.join((str(tmp_path), str(Path(__file__).parents[2])))
    surroundings = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", FULL]
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=surroundings)
    assert (run.returncode, run.stdout) == (0, "21\n"), run.stderr
    assert not list((tmp_path / "cache").rglob("*.nbc"))


LOADED = """
import loops
loops.helper(1)
(result,) = loops.helper.overloads.values()
print(sum(loops.helper.stats.cache_hits.values()), result.library._shared_module, loops.loop(20))
"""


def test_what_was_loaded_is_held_as_machine_code_alone_and_can_still_be_called_by_what_is_compiled(
    tmp_path: Path,
) -> None:
    """A loop loaded from the cache keeps no compiler module, and can be called by newly compiled loops."""
    helper = "from vision.compiled import compiled\n\ndef helper(x):\n    return x + 1\n\nhelper = compiled(helper)\n"
    caller = "\ndef loop(x):\n    return 2 * helper(x)\n\nloop = compiled(loop)\n"
    (tmp_path / "loops.py").write_text(helper + caller)
    paths = os.pathsep.join((str(tmp_path), str(Path(__file__).parents[2])))
    surroundings = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    told = [
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=surroundings
        ).stdout
        for script in ("import loops; loops.helper(1)", LOADED, LOADED)
    ]
    assert told[1:] == ["1 None 42\n"] * 2


NAMES = """
import importlib, pkgutil, vision
modules = [module.name for module in pkgutil.walk_packages(vision.__path__, "vision.")]
values = [value for name in modules for value in vars(importlib.import_module(name)).values()]
print(*sorted({value.py_func.__qualname__ for value in values if hasattr(value, "py_func")}))
"""


def test_it_is_found_again_when_nothing_changes() -> None:
    """The fingerprints are the same in every process, whatever the hash seed and memory layout."""
    assert fingerprint(made()) == fingerprint(made())
    names = [
        subprocess.run(
            [sys.executable, "-c", NAMES], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    ]
    assert b"fit_lines-" in names[0]
    assert len(names[0].split()) > 200
    assert names[0] == names[1]


def test_what_is_kept_of_other_loops_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache files of earlier versions of the same loop are deleted, those of others are kept."""
    now, before, another = (tmp_path / name for name in ("a.loop-11-5.nbi", "a.loop-22-5.1.nbc", "a.looped-33-5.nbi"))
    for file in (now, before, another):
        file.touch()
    monkeypatch.setattr("vision.compiled._kept", [(tmp_path, "a.loop", "loop-11")])
    delete_stale_caches()
    assert sorted(tmp_path.iterdir()) == sorted((now, another))
