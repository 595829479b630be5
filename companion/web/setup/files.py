"""The files that the set-up writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from calibration.writing import write_whole
from companion.web.setup.latest_frame import SetupError

QUALITY = 95
"""JPEG quality of pictures used for learning: as good as those of a camera."""


def write_picture(path: Path, image: npt.NDArray[np.uint8]) -> None:
    """Write a picture (height, width, 3) uint8 BGR as a JPEG.  Raises SetupError."""
    write(path, cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes())


def write_table(path: Path, keys: Mapping[str, str]) -> None:
    """Write a table.toml file; ``keys``: TOML text by key.  Raises SetupError."""
    head = "# One table, made by `companion setup`; docs/table.md tells of every key.\n"
    write(path, (head + "".join(f"{key} = {value}\n" for key, value in keys.items())).encode())


def write(path: Path, data: bytes) -> None:
    """Write a file, and make its folder if need be.  Raises SetupError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise SetupError(f"{path}: cannot be written ({error.strerror}); give another folder with -o") from error
