"""Terrain and pillars: columns of known height as wide as their cells, on which pieces stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.heights import floor_mm
from calibration.kit import Kit
from vision.compiled import compiled
from vision.pose.projection import Points, Registration, project
from vision.scene.solids import column, hull

SUBPIXEL_BITS = 4
"""Fractional bits of the fixed-point coordinates that ``cv2.fillConvexPoly`` takes: 1/16 px."""

SKY_SLICES = 32
"""Number of azimuths at which the horizon is evaluated for the sky view factor."""

Polygon = npt.NDArray[np.int32]
"""(k, 2) int32, fixed-point corners in order round a convex polygon."""


@dataclass(frozen=True, eq=False)
class Column:
    """The projection of one cell's column: its outline, its upper face, and the latter's sky view factor (0…1)."""

    outline: Polygon
    top: Polygon
    sky_view_factor: float


def floors_mm(kit: Kit, levels: tuple[int, ...]) -> Points:
    """(n, 3) float64 mm, centres of the cells' floors; ``levels`` of terrain or pillars, empty: all at the lowest."""
    heights = (floor_mm(kit, level) for level in levels or (None,) * len(kit.cells))
    return np.array([(*centre, z) for centre, z in zip(kit.centres_mm, heights, strict=True)])


def far_first(kit: Kit, pose: Registration) -> npt.NDArray[np.intp]:
    """(n,) intp, cells sorted from the farthest to the nearest to the camera: nearer ones occlude farther ones."""
    return np.argsort(-np.linalg.norm(np.array(kit.centres_mm) - pose.centre_mm[:2], axis=1))


def columns_of(kit: Kit, levels: tuple[int, ...], pose: Registration, camera: Camera) -> tuple[Column | None, ...]:
    """The projected columns of all cells; None where pieces stand on the mat."""
    seen: list[Column | None] = []
    shares = sky_view_factors(floors_mm(kit, levels), min(kit.board.pitch_mm)).tolist()
    for cell, level, share in zip(kit.cells, levels or (None,) * len(kit.cells), shares, strict=True):
        solid = column(kit, cell, level)
        if solid is None:
            seen.append(None)
            continue
        pixels = project(solid.points, pose, camera)
        seen.append(Column(to_fixed_point(hull(pixels)), to_fixed_point(pixels[list(solid.top)]), share))
    return tuple(seen)


@compiled
def sky_view_factors(floors_mm: Points, pitch_mm: float) -> Points:
    """(n,) float64, sky view factor at the centre of each floor (n, 3): the share of a uniform sky's light it receives.

    Directions are weighted by the cosine of their slope: of each slice of the sky above a horizon of tangent t,
    1 / (1 + t²) is left (Steyn, The calculation of view factors from fisheye-lens photographs, 1980).
    """
    shares = np.zeros(len(floors_mm))
    for floor in range(len(floors_mm)):
        for number in range(SKY_SLICES):
            angle = 2 * np.pi * (number + 0.5) / SKY_SLICES
            horizon = 0.0
            for other in range(len(floors_mm)):
                rise = floors_mm[other, 2] - floors_mm[floor, 2]
                if rise > 0:
                    x, y = floors_mm[other, 0] - floors_mm[floor, 0], floors_mm[other, 1] - floors_mm[floor, 1]
                    horizon = max(horizon, rise / _distance((x, y), (np.cos(angle), np.sin(angle)), pitch_mm / 2))
            shares[floor] += 1 / (1 + horizon**2) / SKY_SLICES
    return shares


@compiled
def _distance(middle_mm: tuple[float, float], direction: tuple[float, float], half_mm: float) -> float:
    """Distance along a ray to a square round ``middle_mm``; inf where the ray misses it."""
    first, last = 0.0, np.inf
    for axis in range(2):
        # No ray of the slices is parallel to an axis.
        one, other = (middle_mm[axis] - half_mm) / direction[axis], (middle_mm[axis] + half_mm) / direction[axis]
        first, last = max(first, min(one, other)), min(last, max(one, other))
    return first if first < last else np.inf


def to_fixed_point(points_px: npt.NDArray[np.floating]) -> Polygon:
    """Points (…, 2) px as fixed-point corners (k, 2) int32."""
    corners: Polygon = np.rint(points_px.reshape(-1, 2) * (1 << SUBPIXEL_BITS)).astype(np.int32)
    return corners
