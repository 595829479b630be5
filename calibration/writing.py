"""Files that are written whole or not at all: what had the name before stays until the new file is on the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A path beside ``file`` to write to; when that is done, it is flushed to the disk and renamed to ``file``.

    After a failure ``file`` is what it was.  One that is replaced keeps its owner and permissions, a link its target.
    What is no regular file (a pipe, a device) is written to directly.

    Raises OSError.
    """
    try:
        target = Path(os.path.realpath(file))
        before = target.stat() if target.exists() else None
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a NUL") from None
    if before is not None and not stat.S_ISREG(before.st_mode):
        yield target
        return
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        if before is not None:
            with contextlib.suppress(PermissionError):
                os.chown(part, before.st_uid, before.st_gid)
            part.chmod(stat.S_IMODE(before.st_mode))
        _flush(part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the file is whole; some file systems cannot flush a folder
        _flush(target.parent)


def write_whole(file: Path, data: bytes | str) -> None:
    """Write bytes, or text as UTF-8, as :func:`whole_file` does.  Raises OSError."""
    with whole_file(file) as part:
        part.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
