"""Marker dictionaries by their ``cv2.aruco`` names."""

from __future__ import annotations

import difflib

import cv2

from calibration.errors import ProfileError


def dictionary(name: str) -> cv2.aruco.Dictionary:
    """The predefined dictionary of that name (``DICT_APRILTAG_36h11``).  Raises ProfileError."""
    known = [word for word in dir(cv2.aruco) if word.startswith("DICT_")]
    exact = next((word for word in known if word.lower() == name.lower()), None)
    if exact is None:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "names are those of cv2.aruco, such as DICT_APRILTAG_36h11"
        raise ProfileError(f"marker dictionary {name!r} is not known; {hint}")
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, exact))


def marker_count(name: str, where: str) -> int:
    """How many markers a dictionary has.  Raises ProfileError that begins with ``where``."""
    try:
        return len(dictionary(name).bytesList)
    except ProfileError as error:
        raise ProfileError(f"{where}: {error}") from None
