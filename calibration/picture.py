"""Reading picture files."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import ProfileError

TRAILER_BYTES = 4096
"""Some cameras write a few bytes after a JPEG's end marker."""


def load_picture(path: Path) -> npt.NDArray[np.uint8]:
    """The picture of a file as (height, width, 3) uint8, BGR.  Raises ProfileError when it cannot be read."""
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not data.size:
        raise ProfileError(f"{path}: is empty; take or copy the picture again")
    if _is_cut_short(data.tobytes()):
        raise ProfileError(f"{path}: is cut short; take or copy the picture again")
    try:
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    except cv2.error:  # more pixels than OpenCV takes
        picture = None
    if picture is None:
        raise ProfileError(f"{path}: is not a picture that can be read; give a JPEG or PNG file")
    return np.asarray(picture, np.uint8)


def _is_cut_short(data: bytes) -> bool:
    """Whether a JPEG or PNG lacks its end: decoders fill the missing part with gray, or complain by themselves."""
    end = data[-TRAILER_BYTES:]
    return (data.startswith(b"\xff\xd8") and b"\xff\xd9" not in end) or (
        data.startswith(b"\x89PNG") and b"IEND" not in end
    )
