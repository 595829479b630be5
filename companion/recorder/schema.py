"""The tables of the match store, version by version."""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x53475246
"""``SGRF`` in the file's header: distinguishes our stores from other programs' SQLite files."""

VERSION_1 = (
    """CREATE TABLE match (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        game TEXT NOT NULL,
        players TEXT NOT NULL,
        start TEXT NOT NULL,
        started_at TEXT NOT NULL,
        kit TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE event (
        match INTEGER NOT NULL REFERENCES match (id),
        n INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        evidence BLOB,
        hash BLOB NOT NULL,
        PRIMARY KEY (match, n)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE evidence (
        match INTEGER NOT NULL,
        n INTEGER NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (match, n),
        FOREIGN KEY (match, n) REFERENCES event (match, n)
    ) STRICT""",
    "CREATE TRIGGER event_is_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END",
    "CREATE TRIGGER event_is_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END",
    # INSERT OR REPLACE deletes without firing delete triggers: hence these two on insertion.
    """CREATE TRIGGER event_follows BEFORE INSERT ON event
        WHEN NEW.n IS NOT (SELECT coalesce(max(n), 0) + 1 FROM event WHERE match = NEW.match)
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    """CREATE TRIGGER match_is_new BEFORE INSERT ON match
        WHEN EXISTS (SELECT 1 FROM match WHERE id = NEW.id)
        BEGIN SELECT RAISE(ABORT, 'matches are append-only'); END""",
    "CREATE TRIGGER match_is_kept BEFORE DELETE ON match BEGIN SELECT RAISE(ABORT, 'matches are append-only'); END",
    "CREATE TRIGGER match_is_fixed BEFORE UPDATE ON match BEGIN SELECT RAISE(ABORT, 'matches are append-only'); END",
)

VERSION_2 = (
    """CREATE TABLE grounds (
        match INTEGER NOT NULL,
        n INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (match, n),
        FOREIGN KEY (match, n) REFERENCES event (match, n)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE recording (
        match INTEGER NOT NULL REFERENCES match (id),
        folder TEXT NOT NULL,
        from_s REAL NOT NULL
    ) STRICT""",
    """CREATE TRIGGER grounds_are_kept BEFORE DELETE ON grounds
        BEGIN SELECT RAISE(ABORT, 'grounds are append-only'); END""",
    """CREATE TRIGGER grounds_are_fixed BEFORE UPDATE ON grounds
        BEGIN SELECT RAISE(ABORT, 'grounds are append-only'); END""",
    """CREATE TRIGGER grounds_are_new BEFORE INSERT ON grounds
        WHEN EXISTS (SELECT 1 FROM grounds WHERE match = NEW.match AND n = NEW.n)
        BEGIN SELECT RAISE(ABORT, 'grounds are append-only'); END""",
)

VERSION_3 = (
    "ALTER TABLE recording ADD COLUMN hash BLOB",
    "CREATE TRIGGER recording_is_kept BEFORE DELETE ON recording BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER recording_is_fixed BEFORE UPDATE ON recording BEGIN SELECT RAISE(ABORT, 'append-only'); END",
)

VERSION_4 = ("ALTER TABLE match ADD COLUMN confirms INTEGER NOT NULL DEFAULT 0",)

RECORDS = ("match", "event", "grounds", "recording")
"""The tables on which the integrity of a match depends."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (VERSION_1, VERSION_2, VERSION_3, VERSION_4)
"""Statements that lead from version i to i + 1.  A published entry is never edited: a change is a new entry."""


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate a store, new or old, to the newest version: completely or, if anything fails, not at all.

    Raises:
        sqlite3.Error: the store could not be written.
    """
    if version_of(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    # Read again inside the transaction: another program may have been faster.
    for statements in MIGRATIONS[version_of(connection) :]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def version_of(connection: sqlite3.Connection) -> int:
    """The store's version; 0 while it has no tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether this is another program's SQLite file: it has tables but not our mark."""
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    return mark != APPLICATION_ID and connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
