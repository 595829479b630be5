"""Translates the system's errors about a recording into one line for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from companion.errors import RecordingError


@contextmanager
def recording_errors(path: Path) -> Iterator[None]:
    """Turn every error of the system about ``path`` into a RecordingError."""
    try:
        yield
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}; check the disk and the folder, or give another") from error
