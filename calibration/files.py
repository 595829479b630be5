"""Reading untrusted files: only regular ones of bounded size, and only finite numbers."""

from __future__ import annotations

import errno
import os
import stat
from math import isfinite
from pathlib import Path

MAX_TEXT_BYTES = 32 * 2**20
"""Largest size of a kit, a list of frames, a score sheet: the times of the frames of a whole day take 20 MB."""

MAX_PICTURE_BYTES = 64 * 2**20
"""Largest size of a picture: one of 20 megapixels without compression takes 60 MB."""

MAX_PX = 25_000_000
"""Most pixels of a picture: twice those of a Raspberry Pi's High Quality Camera.  A progressive JPEG of this size takes
nine bytes per pixel while it is decoded."""

LARGEST_NUMBER = 1e9
"""Largest length, time or size in a file: a kilometre in micrometres, thirty years in seconds."""


def read_bytes(path: Path, most: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a regular file.

    Raises OSError, with its reason in ``strerror``, also for what is no regular file (a pipe would wait for ever, a
    device never ends) and for what is larger than ``most`` bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a NUL") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            why = os.strerror(errno.EISDIR) if stat.S_ISDIR(status.st_mode) else "it is no regular file"
            raise OSError(errno.EINVAL, why)
        # A file of /proc says that it is empty: read one byte more than is allowed, and no further.
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 2**20:.0f} MB")
    return data


def read_text(path: Path) -> str:
    """The text of a UTF-8 file.  Raises OSError as :func:`read_bytes` does, and UnicodeDecodeError."""
    return read_bytes(path).decode("utf-8")


def number(text: str) -> float:
    """The finite number of a field.  Raises ValueError, also for numbers that make no sense in our files."""
    value = float(text)
    if not is_number(value):
        raise ValueError(f"{text[:40]!r} is out of range")
    return value


def is_number(value: object) -> bool:
    """Whether ``value``, as a parser of TOML or CSV gives it, is a finite number that makes sense in our files."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= LARGEST_NUMBER and isfinite(value)
