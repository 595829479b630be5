"""Marker dictionaries by their ``cv2.aruco`` names."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from calibration.errors import ProfileError

if TYPE_CHECKING:
    import cv2

_COUNTS = {
    "dict_aruco_original": 1024,
    "dict_apriltag_16h5": 30,
    "dict_apriltag_25h9": 35,
    "dict_apriltag_36h10": 2320,
    "dict_apriltag_36h11": 587,
    "dict_aruco_mip_36h12": 250,
}
"""Number of markers in those dictionaries whose names do not end in it."""

_COUNTED = re.compile(r"dict_([4-7])x\1_(50|100|250|1000)")


def dictionary(name: str) -> cv2.aruco.Dictionary:
    """The predefined dictionary of that name (``DICT_APRILTAG_36h11``).  Raises ProfileError."""
    import cv2  # noqa: PLC0415 - takes 30 MB, which programs that only show boards from kits need not load

    known = [word for word in dir(cv2.aruco) if word.startswith("DICT_")]
    exact = next((word for word in known if word.lower() == name.lower()), None)
    if exact is None:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "names are those of cv2.aruco, such as DICT_APRILTAG_36h11"
        raise ProfileError(f"marker dictionary {name!r} is not known; {hint}")
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, exact))


def marker_count(name: str, where: str) -> int:
    """How many markers a dictionary has.  Raises ProfileError that begins with ``where``."""
    found = _COUNTED.fullmatch(name.lower())
    if found or name.lower() in _COUNTS:
        return int(found[2]) if found else _COUNTS[name.lower()]
    try:
        return len(dictionary(name).bytesList)
    except ProfileError as error:
        raise ProfileError(f"{where}: {error}") from None
