"""Errors of the companion.  Each message is one line that names the file, field or port at fault and what to do.

An illegal move is never an exception: it is data (:class:`companion.rules.game.Violation`).
"""

from __future__ import annotations

import traceback
from pathlib import Path


class CompanionError(Exception):
    """Base class of every error that the companion raises on purpose."""


class BadText(CompanionError, ValueError):
    """A text that does not have the required form."""


class BadPositionText(BadText):
    """Not a position of the game that it names."""


class BadMoveText(BadText):
    """Not a move: it names no cell of the board, or is not written as docs/notation.md says."""


class UnknownGame(CompanionError, LookupError):
    """No such game, variant or number of players."""


class StoreError(CompanionError, OSError):
    """The match store cannot be opened, read or written."""


class RecordingError(CompanionError, OSError):
    """A recording cannot be written, or a clip cannot be cut from it."""


class SourceError(CompanionError, OSError):
    """The camera, video or recording cannot be opened or read."""


def fault_line(error: Exception) -> str:
    """One line about an unexpected exception: what it is, and in which line of which file."""
    *_, place = traceback.extract_tb(error.__traceback__) or [None]
    where = "" if place is None else f" in {Path(place.filename).name}, line {place.lineno}"
    what = " ".join(str(error).split())
    return f"a fault of this program, please report it: {type(error).__name__}{where}" + (f": {what}" if what else "")
