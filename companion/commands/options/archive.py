"""The stored matches for a table's page: listed from the store, and exported in a separate process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from companion.errors import CompanionError
from companion.recorder.place import open_store
from companion.recorder.summary import summaries
from companion.web.archive import Kept

EXPORTED_S = 600
"""Timeout for an export: a film of a long match takes minutes on a small computer."""


@dataclass(frozen=True)
class StoreArchive:
    """The matches of the store at ``path``; None: the user's own."""

    path: Path | None
    _turn: Lock

    def matches(self) -> tuple[Kept, ...]:
        """All matches that were begun, newest first.  Raises StoreError."""
        with open_store(self.path) as store:
            rows = tuple(summaries(store))
        return tuple(
            Kept(
                match=row.match,
                game=row.info.game,
                players=row.info.players,
                names=row.info.names,
                started_at=row.info.started_at.isoformat(),
                moves=row.moves,
                rule="" if row.result is None else row.result.rule,
                winner=None if row.result is None else row.result.winner,
            )
            for row in reversed(rows)
            if row.info is not None
        )

    def exported(self, match: int, form: str) -> bytes:
        """A match in one of the formats; one export at a time, in a separate process, so that the referee never waits.

        Raises CompanionError.
        """
        with self._turn, tempfile.TemporaryDirectory(prefix="export-") as folder:
            file = Path(folder) / f"match.{form}"
            words = ["export", str(match), "-o", str(file), *(["--store", str(self.path)] if self.path else [])]
            command = ["nice", sys.executable, "-m", "companion.cli", *words]
            try:
                done = subprocess.run(  # noqa: S603 - words of our own
                    command, capture_output=True, text=True, timeout=EXPORTED_S, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise CompanionError(f"match {match} cannot be exported ({error})") from error
            if done.returncode or not file.is_file():
                said = done.stderr.strip().splitlines() or ["no reason was given"]
                raise CompanionError(said[-1].removeprefix("companion export: ").replace(str(file), file.name))
            return file.read_bytes()


def archive_of(path: Path | None) -> StoreArchive:
    """The archive of the store at ``path``; None: the user's own."""
    return StoreArchive(path, Lock())
