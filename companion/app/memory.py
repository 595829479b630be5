"""Keeps a referee's memory use small once every loop has been compiled or loaded (Linux; elsewhere does nothing)."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
from collections.abc import Iterator
from pathlib import Path

MAPPINGS = Path("/proc/self/smaps")
"""The mappings: a line as in ``/proc/self/maps``, and some that count its pages (proc_pid_smaps(5))."""

UNWRITTEN = re.compile(r"^(\w+)-(\w+) .-.p \w+ \S+ [1-9].*\n(?:\w+:.*\n)*?Anonymous: +0 kB", re.MULTILINE)
"""A private mapping of a file that cannot be written to, nor ever was.  Most are libraries, of whose pages 105 MB are
the compiler's, which is not called again until a loop is to be compiled, and 50 MB others', half of them of use only
while the program starts."""

DONT_NEED = 4
"""Advice to madvise(2): drop pages.  They come back from the file, mostly by 16 at once and from the system's cache."""

MMAP_THRESHOLD, LARGE_BYTES = -3, 1 << 20
"""Parameter of mallopt(3), and the size above which freed memory is returned at once: a picture has 2.8 MB.  By default
the limit grows to the largest array that was freed, and then pictures leave holes.  Smaller arrays stay mapped: with
256 kB a reading faulted in up to 2,000 pages more, which took 1 to 4 ms, for 2 to 4 MB less."""

TRIM_THRESHOLD, TRIM_BYTES = -1, 1 << 21
"""Parameter of mallopt(3), and how much free memory at the end of the heap is kept.  As :data:`MMAP_THRESHOLD` is set,
it is 128 kB otherwise."""

ARENA_MAX = -8
"""Parameter of mallopt(3): into how many heaps threads are divided.  One keeps fewer holes; most hold Python's lock."""


def keep_small() -> None:
    """Return the memory that starting and compiling took, and from now on pictures' as soon as they are released.

    What exists now is kept: searching all of it for garbage would stop a match for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError):  # the C library of another system has none of these
        libc = ctypes.CDLL(None)
        libc.mallopt(MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(TRIM_THRESHOLD, TRIM_BYTES)
        libc.mallopt(ARENA_MAX, 1)
        libc.malloc_trim(0)
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for begin, end in unwritten_mappings():
            libc.madvise(begin, end - begin, DONT_NEED)
        # Once Python has ended, so does the process (on_exit(3)), without destructors: 75 MB of the compiler are read
        # for its own.
        libc.on_exit(libc["_exit"], None)


def unwritten_mappings() -> Iterator[tuple[int, int]]:
    """First and last address of each mapping whose pages are all as in its file.  Raises OSError."""
    text = MAPPINGS.read_text(encoding="utf-8", errors="replace")
    return ((int(each[1], 16), int(each[2], 16)) for each in UNWRITTEN.finditer(text))
