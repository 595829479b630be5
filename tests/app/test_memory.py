"""Freeing the compiler's memory, and garbage collection during a match."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from companion.app import memory
from vision.compiled import compiled


@compiled
def _sum(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@numba.njit
def _never_called_before(value: int) -> int:
    return value + 1


def test_loops_run_and_are_compiled_after_the_compilers_pages_were_given_back() -> None:
    """Compiled loops still run, and new ones are compiled, after the compiler's pages have been released."""
    assert _sum(np.ones(3)) == 3
    memory.keep_small()
    assert _sum(np.ones(4)) == 4
    assert _never_called_before(1) == 2


def test_what_was_there_before_a_match_is_not_searched_during_it() -> None:
    """All modules and compiled loops amount to some 170,000 objects."""
    try:
        memory.keep_small()
        assert len(gc.get_objects()) < gc.get_freeze_count() / 10
    finally:
        gc.unfreeze()


def test_what_was_written_to_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only unwritten pages of files are listed: no tables that were filled while loading, no memory without a file."""
    mappings = tmp_path / "smaps"
    counts = "Size: {size} kB\nRss: 64 kB\nAnonymous:             {own} kB\nAnonHugePages:         0 kB\n"
    mappings.write_text(
        "7f00-7f10 r-xp 00000000 08:01 11 /site packages/libllvmlite.so\n"
        + counts.format(size=64, own=0)
        + "7f10-7f20 r--p 00010000 08:01 11 /site packages/libllvmlite.so\n"
        + counts.format(size=64, own=64)
        + "7f20-7f30 rw-p 00020000 08:01 11 /site packages/libllvmlite.so\n"
        + counts.format(size=64, own=0)
        + "7f30-7f40 r--s 00000000 08:01 13 /shared\n"
        + counts.format(size=64, own=0)
        + "7f40-7f50 r-xp 00000000 00:00 0\n"
        + counts.format(size=64, own=0)
        + "7f50-7f60 r--p 00000000 08:01 12 /lib/libc.so.6\n"
        + counts.format(size=64, own=0)
    )
    monkeypatch.setattr(memory, "MAPPINGS", mappings)
    assert list(memory.unwritten_mappings()) == [(0x7F00, 0x7F10), (0x7F50, 0x7F60)]


def test_the_process_ends_as_always() -> None:
    """Its exit code is kept, functions that are to run at its end run, and what was printed comes out."""
    program = """
import atexit
from companion.app.memory import keep_small
atexit.register(print, "last")
keep_small()
keep_small()
print("first")
raise SystemExit(7)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "first\nlast\n", "")


def test_another_system_has_nothing_to_give_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a system without memory maps nothing happens."""
    monkeypatch.setattr(memory, "MAPPINGS", tmp_path / "missing")
    memory.keep_small()
