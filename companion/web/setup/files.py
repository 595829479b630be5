"""The files that the set-up writes."""

from __future__ import annotations

from pathlib import Path

from calibration.writing import write_whole
from companion.web.setup.newest import SetupError


def write(path: Path, data: bytes) -> None:
    """Write a file, its folder made if need be.  Raises SetupError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise SetupError(f"{path}: cannot be written ({error.strerror}); give another folder with -o") from error
