"""Diagnosis of why the mat is not found in a picture, with advice on what to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, partial

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import MIN_MARKERS, Kit, available_kits, load_kit
from vision.errors import MatNotFound, VisionError
from vision.pose.blur import is_too_blurred
from vision.pose.markers import detect
from vision.pose.projection import Registration

Gray = npt.NDArray[np.uint8]

DARK_CODE, DARK_SPAN = 12, 16
"""A picture whose median code and whose range of codes are no larger is too dark for markers to be found."""

BRIGHT_CODE, BRIGHT_SHARE = 250, 0.5
"""A picture of which more than this share is this bright is overexposed."""

GLARE_SHARE = 0.005
"""Share of a picture that a mirrored lamp that hides a marker fills, about."""

BLANK_SPAN = 8
"""Range of codes due to noise alone."""

BLURRED = "the picture is blurred: focus the lens, and hold the camera still"

MIN_SHARPNESS = 0.22
"""Sharpness below which markers of the usual size are lost; the example pictures have 0.47 to 0.5, and blurred with a
standard deviation of 3 px, where the first markers are lost, 0.23."""

USUAL_DICTIONARIES = (
    "DICT_4X4_50",
    "DICT_5X5_100",
    "DICT_6X6_250",
    "DICT_7X7_250",
    "DICT_APRILTAG_36h11",
    "DICT_ARUCO_ORIGINAL",
)
"""Dictionaries of OpenCV whose markers are searched for where none of the kit's are detected."""

MIN_OTHER_MARKERS = 3
"""Number of different markers of a dictionary that are not false detections by chance; few mats have fewer."""

COLOURLESS_CODES = 8
"""Difference between channels that chroma subsampling leaves in a grey JPEG."""

COLOURLESS_SHARE, COLOUR_STRIDE = 0.01, 16
"""Share of coloured pixels below which a picture counts as colourless, and sampling stride in pixels on both axes."""


def missing_markers_error(gray: Gray, kit: Kit, found: Collection[int], strangers: Collection[int]) -> VisionError:
    """The error to raise for a picture (height, width) uint8 with too few of the kit's markers ``found``.

    ``strangers`` are ids of other markers of the kit's dictionary that were detected.
    """
    low, middle, high = np.percentile(gray[::4, ::4], [0.3, 50, 99.7])
    if middle <= DARK_CODE and high - low <= DARK_SPAN:
        return VisionError("the picture is too dark: switch a lamp on or lengthen the exposure")
    if not found and (gray[::4, ::4] >= BRIGHT_CODE).mean() > BRIGHT_SHARE:
        return VisionError("the picture is overexposed: lower the exposure, or turn the lamp away")
    return MatNotFound(partial(_why_not_found, gray, kit, found, strangers))


def too_few_markers_message(image: npt.NDArray[np.uint8], kit: Kit) -> str:
    """Why a picture (height, width, 3) uint8 BGR shows too few of the kit's markers; "" if it shows enough."""
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
    seen, wanted = set(detect(gray, kit.mat.dictionary)), {marker.id for marker in kit.mat.markers}
    if len(seen & wanted) >= MIN_MARKERS:
        return ""
    return str(missing_markers_error(gray, kit, seen & wanted, seen - wanted))


def _why_not_found(gray: Gray, kit: Kit, found: Collection[int], strangers: Collection[int]) -> str:
    """Why no mat is found in a picture that is neither dark nor overexposed, as for :func:`missing_markers_error`."""
    names = ", ".join(str(marker.id) for marker in kit.mat.markers)
    if not found and (other := _other_kit(gray, kit, strangers)):
        return f"another mat is in view ({other}); the kit {kit.name} has markers {names}: choose the kit of this mat"
    seen = f"only marker {min(found)}" if found else "none"
    what = f"the mat is not in view: {seen} of its markers {names} found; "
    low, high = np.percentile(gray[::4, ::4], [0.3, 99.7])
    if high - low < BLANK_SPAN:
        return what + "nothing at all is to be seen: is the lens covered?"
    if is_blurred(gray):
        return what + BLURRED
    if (gray[::4, ::4] >= BRIGHT_CODE).mean() > GLARE_SHARE:
        return what + "something glares in the picture: turn lamp or camera, and show the whole mat"
    return what + "show the whole mat, with nothing over its markers, in focus and in light"


def warning(image: npt.NDArray[np.uint8], kit: Kit, pose: Registration, camera: Camera) -> str:
    """What is wrong with a picture (height, width, 3) uint8 BGR that can be read, but only badly; or ""."""
    if is_colourless(image):
        return "the picture has no colours: pieces cannot be told by them"
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
    return BLURRED if is_too_blurred(gray, kit, pose, camera) else ""


def is_colourless(image: npt.NDArray[np.uint8]) -> bool:
    """Whether a picture (height, width, 3) uint8 BGR is grey all over."""
    blue, green, red = np.moveaxis(image[::COLOUR_STRIDE, ::COLOUR_STRIDE], 2, 0)
    span = np.maximum(np.maximum(blue, green), red) - np.minimum(np.minimum(blue, green), red)
    return bool((span > COLOURLESS_CODES).mean() < COLOURLESS_SHARE)


def is_blurred(gray: Gray) -> bool:
    """Whether a picture (height, width) uint8 is too blurred for its markers."""
    return sharpness(gray) < MIN_SHARPNESS


def sharpness(gray: Gray) -> float:
    """Slope of the steepest edges of a picture (height, width) uint8 over its contrast; 0 to about 0.5.

    It is measured at half resolution, where noise matters less.
    """
    small = cv2.resize(gray, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA).astype(np.float32)
    across, down = (cv2.Sobel(small, cv2.CV_32F, *way) / 8 for way in ((1, 0), (0, 1)))
    low, high = np.percentile(small, [1, 99])
    return float(np.percentile(np.hypot(across, down), 99.7) / max(high - low, 1.0))


def _other_kit(gray: Gray, kit: Kit, strangers: Collection[int]) -> str:
    """What other mat is in view: the kit that it belongs to, if known, and its markers; "" for none."""
    seen = {kit.mat.dictionary: set(strangers)}
    for name, (dictionary, ids) in _known().items():
        if dictionary not in seen:
            seen[dictionary] = set(detect(gray, dictionary))
        if name != kit.name and len(ids & seen[dictionary]) > 1:
            return f"that of {name}: markers {', '.join(map(str, sorted(ids & seen[dictionary])))}"
    if len(strangers) > 1:
        return f"markers {', '.join(map(str, sorted(strangers)))}"
    return markers_of_other(gray, kit.mat.dictionary)


def markers_of_other(gray: Gray, dictionary: str) -> str:
    """Markers in a picture (height, width) uint8 of a usual dictionary other than this, and its name; or ""."""
    for name in USUAL_DICTIONARIES:
        found = [] if name == dictionary else sorted(detect(gray, name))
        if len(found) >= MIN_OTHER_MARKERS:
            return f"markers {', '.join(map(str, found))} ({name})"
    return ""


@cache
def _known() -> Mapping[str, tuple[str, frozenset[int]]]:
    """Dictionary and ids of the markers of each kit that comes with the program."""
    mats = {name: load_kit(name).mat for name in available_kits()}
    return {name: (mat.dictionary, frozenset(marker.id for marker in mat.markers)) for name, mat in mats.items()}
