"""Reading picture files: their size is checked before they are decoded, and decoders are kept silent."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import cv2
import numpy as np
import numpy.typing as npt
from PIL.BmpImagePlugin import BmpImageFile
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile

from calibration.errors import ProfileError
from calibration.files import MAX_PICTURE_BYTES, MAX_PX, read_bytes

TRAILER_BYTES = 4096
"""Some cameras write a few bytes after a JPEG's end marker."""

HEADERS: Mapping[bytes, Callable[[io.BytesIO], ImageFile]] = {
    b"\xff\xd8": JpegImageFile,
    b"\x89P": PngImageFile,
    b"BM": BmpImageFile,
    b"II": TiffImageFile,
    b"MM": TiffImageFile,
}
"""By the first two bytes: what reads the size of a picture without decoding it."""

_decoding = Lock()


def load_picture(path: Path) -> npt.NDArray[np.uint8]:
    """The picture of a file as (height, width, 3) uint8, BGR.  Raises ProfileError when it cannot be read."""
    try:
        data = read_bytes(path, MAX_PICTURE_BYTES)
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not data:
        raise ProfileError(f"{path}: is empty; take or copy the picture again")
    if _is_cut_short(data):
        raise ProfileError(f"{path}: is cut short; take or copy the picture again")
    width, height = picture_size(data)
    if width * height > MAX_PX:
        what = f"is {width} x {height} px; pictures of up to {MAX_PX / 1e6:.0f} megapixels are read"
        raise ProfileError(f"{path}: {what}; take it smaller")
    picture = unpacked(data)
    if picture is None:
        raise ProfileError(f"{path}: is not a picture that can be read; give a JPEG or PNG file")
    return picture


def unpacked(data: bytes, flags: int = cv2.IMREAD_COLOR) -> npt.NDArray[np.uint8] | None:
    """The picture as (height, width, 3) uint8, BGR; None if ``data`` is no picture, or one of more than MAX_PX pixels.

    ``flags`` are those of ``cv2.imdecode``: with ``cv2.IMREAD_REDUCED_COLOR_2`` the picture has half the size, with
    ``cv2.IMREAD_GRAYSCALE`` it is (height, width).
    """
    width, height = picture_size(data)
    if not 0 < width * height <= MAX_PX:
        return None
    try:
        with _silent():
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error:
        return None
    return None if picture is None else np.asarray(picture, np.uint8)


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height, px, from the header; zeros where it is not that of a picture."""
    kind = HEADERS.get(data[:2])
    if kind is None:
        return 0, 0
    try:
        return kind(io.BytesIO(data)).size
    except (SyntaxError, OSError, ValueError, OverflowError, EOFError):
        return 0, 0


@contextmanager
def _silent() -> Iterator[None]:
    """Keep standard error silent: libjpeg and libpng themselves write there what they think of a file.

    What another thread writes there meanwhile is lost too, so this lasts only while one picture is decoded.
    """
    with _decoding:
        sys.stderr.flush()
        try:
            kept = os.dup(2)
        except OSError:  # It is closed: nobody would read it.
            yield
            return
        try:
            with open(os.devnull, "wb") as nothing:  # noqa: PTH123 — a device, not a path of ours
                os.dup2(nothing.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _is_cut_short(data: bytes) -> bool:
    """Whether a JPEG or PNG lacks its end: decoders fill the missing part with grey, or complain by themselves."""
    end = data[-TRAILER_BYTES:]
    return (data.startswith(b"\xff\xd8") and b"\xff\xd9" not in end) or (
        data.startswith(b"\x89PNG") and b"IEND" not in end
    )
