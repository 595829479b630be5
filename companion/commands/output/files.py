"""Writing of files that the user has named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibration.writing import write_whole
from companion.errors import CompanionError


@contextmanager
def writing(file: Path, option: str = "-o") -> Iterator[None]:
    """Context in which ``file``, named by ``option``, is being written.

    Raises:
        CompanionError: it cannot be written.
    """
    try:
        yield
    except CompanionError:
        # Some are OSErrors too: then the store or the recording has failed, and the message says so.
        raise
    except OSError as error:
        raise CompanionError(f"{file}: cannot be written ({error.strerror or error}); give another {option}") from error


def write_file(file: Path, data: bytes | str, option: str = "-o") -> None:
    """Write ``file``, named by ``option``, whole or not at all.  Raises CompanionError."""
    with writing(file, option):
        write_whole(file, data)
