"""Errors of the companion.  Each message is one line that names the file, field or port at fault and what to do.

An illegal move is never an exception: it is data (:class:`companion.rules.game.Violation`).
"""

from __future__ import annotations


class CompanionError(Exception):
    """Root of every error that the companion raises on purpose."""


class BadText(CompanionError, ValueError):
    """A text that cannot be read as what it should be."""


class BadPositionText(BadText):
    """Not a position of the game that it names."""


class BadMoveText(BadText):
    """Not a move: it names no cell of the board, or is not written as docs/notation.md says."""


class UnknownGame(CompanionError, LookupError):
    """No such game, variant or number of players."""


class StoreError(CompanionError, OSError):
    """The match store cannot be opened, read or written."""


class RecordingError(CompanionError, OSError):
    """A recording cannot be written, or not be cut."""


class SourceError(CompanionError, OSError):
    """The camera, video or recording cannot be opened or read."""
