"""What a referee holds of memory, kept small once every loop has been compiled or loaded (Linux; elsewhere nothing)."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

MAPS = Path("/proc/self/maps")
"""What is mapped, a line each: addresses, rights, place in the file, device, inode, file (proc(5))."""

COMPILER = "libllvmlite"
"""The library that links loops, of which 70 MB were read; nobody calls it again until one is to be compiled."""

DONT_NEED, PAGE_OUT = 4, 21
"""Advice to madvise(2): drop pages, and reclaim those that nobody else uses, which spares what was written to."""

MMAP_THRESHOLD, LARGE_BYTES = -3, 1 << 18
"""Parameter of mallopt(3), and from where on freed memory goes back at once: a picture has 2.8 MB.  By itself the limit
grows to the largest array that was freed, and then pictures leave holes."""


def keep_small() -> None:
    """Give back what compiling took, and from now on what pictures take as soon as they are let go.

    What is there now stays: a search of all of it for what may be let go would stop a match for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError):  # another system's library has none of these
        libc = ctypes.CDLL(None)
        libc.mallopt(MMAP_THRESHOLD, LARGE_BYTES)
        libc.malloc_trim(0)
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for begin, end, rights in compiler_pages():
            libc.madvise(begin, end - begin, DONT_NEED if "x" in rights else PAGE_OUT)


def compiler_pages() -> Iterator[tuple[int, int, str]]:
    """First and last address and rights of what is mapped of the compiler and is only read.  Raises OSError."""
    for line in MAPS.read_text(encoding="utf-8", errors="replace").splitlines():
        addresses, rights, *_ = line.split(maxsplit=2)
        if COMPILER in line and "w" not in rights:
            begin, end = (int(address, 16) for address in addresses.split("-"))
            yield begin, end, rights
