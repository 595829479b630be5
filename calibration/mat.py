"""The printable mat of a kit: what lies where on the sheet, and whether it can lie there.

It is drawn by :mod:`calibration.sheets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import ProfileError
from calibration.kit import Kit, Marker
from calibration.markers import dictionary

Points = npt.NDArray[np.float64]

TOUCH_MM2 = 0.5
"""Parts that overlap by less than this only touch."""


@dataclass(frozen=True, eq=False)
class Part:
    """Something printed: its name, its corners (n, 2) mm, and how far from it all else must stay."""

    name: str
    corners: Points
    margin_mm: float = 0.0


def module_mm(kit: Kit, marker: Marker) -> float:
    """Side of a marker's module; that much paper round the marker is needed to find it."""
    a, b = np.array(marker.corners_mm[:2])
    return float(np.linalg.norm(b - a)) / (dictionary(kit.mat.dictionary).markerSize + 2)


def parts(kit: Kit) -> tuple[Part, ...]:
    """Everything on a kit's mat: markers, patches, squares."""
    markers = (Part(f"marker {m.id}", np.array(m.corners_mm), module_mm(kit, m)) for m in kit.mat.markers)
    patches = (
        Part(f"the patch at {x:g}, {y:g}", square(p.at_mm, p.size_mm)) for p in kit.mat.patches for x, y in [p.at_mm]
    )
    squares = (Part(f"square {cell}", rectangle(kit.centre_mm(cell), kit.board.pitch_mm)) for cell in kit.cells)
    return (*markers, *patches, *squares)


def check_layout(kit: Kit) -> None:
    """Raise ProfileError when parts of a kit's mat overlap or leave the sheet, or pieces are wider than squares."""
    for mistake in _mistakes(kit):
        raise ProfileError(f"kit {kit.name}: {mistake}")


def _mistakes(kit: Kit) -> Iterator[str]:
    width, height = kit.mat.width_mm, kit.mat.height_mm
    everything = parts(kit)
    for part in everything:
        if (np.abs(widened(part)) > np.array([width, height]) / 2 + 1e-6).any():
            yield f"{part.name} leaves the sheet of {width:g} x {height:g} mm{_why(part)}; move it or enlarge the mat"
    for i, part in enumerate(everything):
        for other in everything[i + 1 :]:
            if part.name.startswith("square") and other.name.startswith("square"):
                break
            if _overlap(part, other):
                yield f"{part.name} and {other.name} overlap{_why(part)}; move one of them"
    pitch = min(kit.board.pitch_mm)
    for kind in kit.pieces:
        if kind.width_mm > pitch:
            yield f"the piece {kind.letter} is {kind.width_mm:g} mm wide, a square only {pitch:g} mm"
    if kit.pillars is not None and kit.pillars.side_mm > pitch:
        yield f"pillars are {kit.pillars.side_mm:g} mm wide, squares only {pitch:g} mm"


def _why(part: Part) -> str:
    return f" (a marker needs {part.margin_mm:.1f} mm of paper round it)" if part.margin_mm else ""


def _overlap(part: Part, other: Part) -> bool:
    a, b = widened(part).astype(np.float32), widened(other).astype(np.float32)
    if (a.max(axis=0) <= b.min(axis=0)).any() or (b.max(axis=0) <= a.min(axis=0)).any():
        return False
    return bool(cv2.intersectConvexConvex(a, b)[0] > TOUCH_MM2)


def widened(part: Part) -> Points:
    """(n, 2) mm, a part's corners moved outward by its margin, along both edges that meet there."""
    before = part.corners - np.roll(part.corners, 1, axis=0)
    after = part.corners - np.roll(part.corners, -1, axis=0)
    outward = [edge / np.linalg.norm(edge, axis=1, keepdims=True) for edge in (before, after)]
    wide: Points = part.corners + part.margin_mm * (outward[0] + outward[1])
    return wide


def square(at_mm: tuple[float, float], side_mm: float) -> Points:
    """(4, 2) mm, the corners of an upright square, from its top left clockwise."""
    return rectangle(at_mm, (side_mm, side_mm))


def rectangle(at_mm: tuple[float, float], sides_mm: tuple[float, float]) -> Points:
    """(4, 2) mm, the corners of an upright rectangle with these sides, from its top left clockwise."""
    x, y = sides_mm[0] / 2, sides_mm[1] / 2
    corners: Points = np.array(at_mm) + np.array([(-x, y), (x, y), (x, -y), (-x, -y)])
    return corners
