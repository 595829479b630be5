"""Translates SQLite's errors into one line for people that names the file and what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from companion.errors import StoreError

NO_ROOM_BYTES = 65536
"""With less free space than this, SQLite cannot make its two side files, and reports that it cannot open the store."""

REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space on it",
    sqlite3.SQLITE_READONLY: "cannot be written; make the disk, the folder and the file writable, or give another FILE",
    sqlite3.SQLITE_BUSY: "another program is writing in it; close that one, or give another FILE",
    sqlite3.SQLITE_LOCKED: "another program is writing in it; close that one, or give another FILE",
    sqlite3.SQLITE_NOTADB: "is not a match store; give another FILE",
    sqlite3.SQLITE_CORRUPT: "is damaged; put it aside with its -wal file and give another FILE",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the folder exists and may be written, or give another FILE",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check the disk and the space on it, or give another FILE",
}
"""SQLite's primary error code -> what is wrong and what to do."""


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn every error of SQLite or the system about the store ``path`` into a StoreError."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); check it, or give another FILE") from error
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {explanation(path, error)}") from error
    except UnicodeDecodeError as error:
        # SQLite's message repeats the content of the file, which is not text.
        raise StoreError(f"{path}: {REMEDIES[sqlite3.SQLITE_CORRUPT]}") from error


def explanation(path: Path, error: sqlite3.Error) -> str:
    """What is wrong with ``path`` and what to do, in one line."""
    # The low byte is the primary code; errors that Python's own layer raises have none.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR) and has_no_room(path):
        code = sqlite3.SQLITE_FULL
    elif code == sqlite3.SQLITE_CANTOPEN and not os.access(path.parent, os.W_OK):
        code = sqlite3.SQLITE_READONLY
    return REMEDIES.get(code) or f"SQLite says {' '.join(str(error).split())!r}; put the file aside, give another FILE"


def has_no_room(path: Path) -> bool:
    """Whether the disk of ``path`` is practically full."""
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < NO_ROOM_BYTES
    return False
