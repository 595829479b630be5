"""Opening the store's file: for the single writer, and for read-only use."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from companion.errors import StoreError
from companion.recorder import schema
from companion.recorder.faults import store_errors

OPENING_TIMEOUT_S = 2.0
"""How long opening waits for another program, which may be recovering the store after a power cut."""

WRITING_TIMEOUT_MS = 200
"""How long a transaction waits for another writer: a verdict must not wait longer."""

MAGIC = b"SQLite format 3\x00"
"""The first bytes of every SQLite file."""


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open ``path``, created if need be, migrated to the newest version, and checked.  Raises StoreError."""
    with store_errors(path):
        _refuse_unfit_path(path)
        _make_private(path)
    with store_errors(path), _closed_on_failure(sqlite3.connect(path, OPENING_TIMEOUT_S, isolation_level=None)) as db:
        _refuse_unfit_content(path, db)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        schema.migrate(db)
        _refuse_damage(path, db)
        db.execute(f"PRAGMA busy_timeout = {WRITING_TIMEOUT_MS}")
        return db


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open ``path`` read-only, also on a read-only disk; an older version is migrated first.

    Raises StoreError.
    """
    with store_errors(path):
        _refuse_unfit_path(path)
        if not path.exists():
            raise StoreError(f"{path}: there is no such match store; a match makes it, or give another FILE")
    with store_errors(path), _closed_on_failure(_connect_to_read(path)) as db:
        db.execute("PRAGMA query_only = ON")
        _refuse_unfit_content(path, db)
        version = schema.version_of(db)
        if version == 0:
            raise StoreError(f"{path}: holds no match yet")
        if version == len(schema.MIGRATIONS):
            return db
    db.close()
    connect_writer(path).close()
    return connect_reader(path)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    # "rw" and not "ro": only then does SQLite tidy up its side files afterwards; it falls back to reading by itself.
    with _closed_on_failure(_connect(path, "mode=rw")) as db:
        try:
            schema.version_of(db)
        except sqlite3.OperationalError as error:
            # A store in WAL mode on a read-only disk: SQLite cannot make its side files, and needs none if the last
            # writer has closed it properly.
            is_left_open = path.with_name(path.name + "-wal").exists()
            if error.sqlite_errorname != "SQLITE_CANTOPEN" or is_left_open:
                raise
            db.close()
            return _connect(path, "immutable=1")
        return db


def _connect(path: Path, query: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{query}"
    return sqlite3.connect(uri, OPENING_TIMEOUT_S, isolation_level=None, uri=True)


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _refuse_unfit_path(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path}: is a folder; give the match store's FILE")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: there is no folder {path.parent}; make it, or give another FILE")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: is no regular file; give the match store's FILE")
    # SQLite would take a file that is shorter than its header for an empty one, and write over it.
    if path.exists() and _first_bytes(path) not in (b"", MAGIC):
        raise StoreError(f"{path}: is not a match store; give another FILE")


def _make_private(path: Path) -> None:
    """Create the file, if there is none, for its owner only; SQLite gives its side files the same permissions."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MAGIC))


def _refuse_unfit_content(path: Path, connection: sqlite3.Connection) -> None:
    if schema.is_foreign(connection):
        raise StoreError(f"{path}: is another program's SQLite file; give another FILE")
    if (version := schema.version_of(connection)) > len(schema.MIGRATIONS):
        raise StoreError(
            f"{path}: was written by a newer version of this program (store version {version}, "
            f"this one knows {len(schema.MIGRATIONS)}); update the program, or give another FILE"
        )


def _refuse_damage(path: Path, connection: sqlite3.Connection) -> None:
    # Not the pictures: reading half a gigabyte of them from an SD card takes longer than anybody waits for a table.
    checks = (connection.execute(f"PRAGMA quick_check({table})").fetchone()[0] for table in schema.RECORDS)
    if any(found != "ok" for found in checks):
        raise StoreError(f"{path}: is damaged; put it aside with its -wal file and give another FILE")
