"""Checks of one picture: lens, markers, room for stacks, light, focus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.heights import base_heights_mm
from calibration.kit import Kit
from companion.doctor.check import Check, fault, fault_from, fine, unused
from vision.appearance.illumination import measure_illumination
from vision.errors import VisionError
from vision.pose.blur import blur_mm, max_blur_mm
from vision.pose.diagnosis import BLURRED, MIN_SHARPNESS, sharpness
from vision.pose.projection import Points, Registration, project
from vision.pose.registration import register, to_gray
from vision.scene.solids import highest_floors_mm

Picture = npt.NDArray[np.uint8]

FOCUS = BLURRED.partition(": ")[2]

TOWER = 3
"""Height, in pieces of one size, of a tower that must fit into the picture."""

NAMED = 4
"""Number of squares named in a message."""

GOOD_REPROJECTION_PX = 0.5
"""Largest good reprojection error: a worse lens makes heights uncertain, which differ by a few pixels."""

DIM = 0.03
"""Linear level of white paper below which few codes remain for dark pieces."""

CLIPPED_CODE, CLIPPED_SHARE = 254, 0.05
"""A mat with more than this fraction of pixels at this code has lost colours; the brightest example has 0.3 %."""

UNEVEN = 4.0
"""If one corner of the mat is this many times brighter than another, the darkest pieces are lost in noise."""


def check_lens(camera: Camera) -> Check:
    """Check the lens's calibration."""
    found = (
        f"measured for {camera.width_px} x {camera.height_px} px, reprojection error {camera.reprojection_px:.2f} px"
    )
    if camera.reprojection_px > GOOD_REPROJECTION_PX:
        return fault("lens", found, "calibrate it again with sharp photographs of a flat board")
    return fine("lens", found)


def check_picture(image: Picture, kit: Kit, camera: Camera, levels: Sequence[int] = ()) -> Iterator[Check]:
    """Checks of markers, room, light and focus in a picture (height, width, 3) uint8 BGR.

    ``levels`` are those of the terrain, in the order of the kit's cells; empty: a flat board, or pillars.
    """
    gray = to_gray(image)
    try:
        pose = register(gray, kit, camera)
    except VisionError as error:
        yield fault_from("markers", error)
        yield unused("room", "is measured from the mat, which is not found")
        yield unused("light", "is measured on the mat, which is not found")
        yield check_focus(gray)
    else:
        yield _markers(pose, kit)
        yield _room(pose, kit, camera, levels)
        yield _light(image, kit, pose, camera)
        yield _focus(gray, kit, pose, camera)


def check_focus(gray: Picture) -> Check:
    """Check whether edges are steep in a picture (height, width) uint8 in which no markers' edges are known."""
    steepness = sharpness(gray)
    found = f"edges have {steepness:.2f} of the contrast, sharp ones 0.4 or more"
    return fault("focus", found, FOCUS) if steepness < MIN_SHARPNESS else fine("focus", found)


def _markers(pose: Registration, kit: Kit) -> Check:
    count, missing = len(kit.mat.markers), {marker.id for marker in kit.mat.markers} - set(pose.markers)
    found = f"{count - len(missing)} of {count} markers of {kit.name}, {pose.reprojection_px:.2f} px off"
    if missing:
        names = ", ".join(map(str, sorted(missing)))
        return fault("markers", found, f"show marker {names} too: nothing over it, no glare on it")
    return fine("markers", found)


def _focus(gray: Picture, kit: Kit, pose: Registration, camera: Camera) -> Check:
    """Check whether a picture (height, width) uint8 is sharp enough to count a kit's pieces."""
    spread_mm, most_mm = blur_mm(gray, kit, pose, camera), max_blur_mm(kit)
    if spread_mm == 0:
        return unused("focus", "is measured by the markers, none of which is wholly in the picture")
    found = f"markers are blurred by {spread_mm:.1f} mm (standard deviation), at most {most_mm:.1f} mm is sharp"
    return fault("focus", found, FOCUS) if spread_mm > most_mm else fine("focus", found)


def _room(pose: Registration, kit: Kit, camera: Camera, levels: Sequence[int]) -> Check:
    """Check whether a tower on any square is entirely in the picture; the height of one cut off is uncertain."""
    tower = _tower(kit)
    half = kit.piece(tower[-1]).width_mm / 2
    corners = np.array([[x, y] for x in (-half, half) for y in (-half, half)])
    ground = (np.array(kit.centres_mm)[:, None] + corners).reshape(-1, 2)
    top_mm = highest_floors_mm(kit, levels) + base_heights_mm(kit, tower)[-1] + kit.piece(tower[-1]).height_mm
    tops = np.column_stack([ground, top_mm.repeat(len(corners))])
    pixels = project(tops, pose, camera).reshape(len(kit.cells), -1)
    size = np.tile([camera.width_px, camera.height_px], len(corners))
    cut = [kit.cells[i] for i in np.flatnonzero(((pixels < 0) | (pixels >= size)).any(axis=1))]
    what = "a single piece" if len(tower) == 1 else f"a tower of {len(tower)} pieces"
    if not cut:
        return fine("room", f"{what} is whole in the picture on every square")
    names = ", ".join(cut[:NAMED]) + (", …" if len(cut) > NAMED else "")
    return fault("room", f"{what} on {names} would be cut off", "turn the camera that way, or move it away")


def _tower(kit: Kit) -> str:
    """The tallest common tower, bottom first: three pieces of one size, one of each size, or one on a pillar."""
    sizes = {kind.height_mm: kind.letter for kind in kit.pieces}
    tallest = "".join(sizes[height] for height in sorted(sizes, reverse=True))
    if kit.pillars is not None:
        return tallest[0]
    return tallest if len(tallest) > 1 else tallest * TOWER


def _light(image: Picture, kit: Kit, pose: Registration, camera: Camera) -> Check:
    corners = _corners(kit)
    try:
        levels = measure_illumination(image, kit, pose, camera).at(corners)
    except VisionError as error:
        return fault_from("light", error)
    low, high = float(levels.min()), min(1.0, float(levels.max()))
    found = f"white paper is at {low:.0%} to {high:.0%} of the camera's range"
    if _clipped(image, project(corners, pose, camera)) > CLIPPED_SHARE:
        return fault("light", found, "lower the exposure, or turn the lamp away")
    if low < DIM:
        return fault("light", found, "switch a lamp on, or lengthen the exposure")
    if high > UNEVEN * low:
        return fault("light", found, "light the table from both sides")
    return fine("light", found)


def _clipped(image: Picture, outline: Points) -> float:
    """Fraction of an area (outline (n, 2) px) of a picture in which some channel is clipped."""
    area = np.zeros(image.shape[:2], np.uint8)
    cv2.fillPoly(area, [np.round(outline).astype(np.int32)], 1)
    return float((image[area > 0].max(axis=1) >= CLIPPED_CODE).mean())


def _corners(kit: Kit) -> Points:
    """(4, 3) mm, the corners of the mat."""
    x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    return np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
