"""Files that a user has named to be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibration.writing import write_whole
from companion.errors import CompanionError


@contextmanager
def writing(file: Path, option: str = "-o") -> Iterator[None]:
    """While ``file``, which ``option`` has named, is being written.

    Raises:
        CompanionError: it cannot be.
    """
    try:
        yield
    except CompanionError:
        # Some are OSErrors too: it is the store or the recording that has failed, and they have said so.
        raise
    except OSError as error:
        raise CompanionError(f"{file}: cannot be written ({error.strerror or error}); give another {option}") from error


def write_file(file: Path, data: bytes | str, option: str = "-o") -> None:
    """Write ``file``, which ``option`` has named, whole or not at all.  Raises CompanionError."""
    with writing(file, option):
        write_whole(file, data)
