"""Keeps a referee's memory use small once every loop has been compiled or loaded (Linux; elsewhere does nothing)."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

MAPS = Path("/proc/self/maps")
"""The mappings, one a line: addresses, permissions, offset in the file, device, inode, file (proc(5))."""

COMPILER = "libllvmlite"
"""The library that links loops, of which 70 MB were read; it is not called again until a loop is to be compiled."""

DONT_NEED, PAGE_OUT = 4, 21
"""Advice to madvise(2): drop pages, and reclaim those that nobody else uses, which spares pages written to."""

MMAP_THRESHOLD, LARGE_BYTES = -3, 1 << 20
"""Parameter of mallopt(3), and the size above which freed memory is returned at once: a picture has 2.8 MB.  By default
the limit grows to the largest array that was freed, and then pictures leave holes.  Smaller arrays stay mapped: with
256 kB a reading faulted in up to 2,000 pages more, which took 1 to 4 ms, for 2 to 4 MB less."""

TRIM_THRESHOLD, TRIM_BYTES = -1, 1 << 21
"""Parameter of mallopt(3), and how much free memory at the end of the heap is kept.  As :data:`MMAP_THRESHOLD` is set,
it is 128 kB otherwise."""


def keep_small() -> None:
    """Return the memory that compiling took, and from now on that of pictures as soon as they are released.

    What exists now is kept: searching all of it for garbage would stop a match for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError):  # the C library of another system has none of these
        libc = ctypes.CDLL(None)
        libc.mallopt(MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(TRIM_THRESHOLD, TRIM_BYTES)
        libc.malloc_trim(0)
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for begin, end, rights in compiler_pages():
            libc.madvise(begin, end - begin, DONT_NEED if "x" in rights else PAGE_OUT)


def compiler_pages() -> Iterator[tuple[int, int, str]]:
    """First and last address and permissions of the compiler's mappings that are not writable.  Raises OSError."""
    for line in MAPS.read_text(encoding="utf-8", errors="replace").splitlines():
        addresses, rights, *_ = line.split(maxsplit=2)
        if COMPILER in line and "w" not in rights:
            begin, end = (int(address, 16) for address in addresses.split("-"))
            yield begin, end, rights
