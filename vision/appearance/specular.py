"""What colour a piece has of its own: which of its faces say so, and how much of a lamp they mirror."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.kit import PieceKind
from calibration.looks import Reflectance
from vision.pose.projection import Points
from vision.scene.solids import Solid, faces_towards, moved, piece

SAMPLED_SHARE = 0.7
"""Share of a face's radius that is sampled: a piece may stand 1.5 mm off, and rims are in another light."""

SHADE = 0.02
"""Share of what white paper sends that may be missing in one channel of a side: noise, and the tint of what is near."""

UPRIGHT = 0.01
"""The normal of an upright face points up or down by less than this."""


def paleness(colour: Reflectance) -> float:
    """0…1: how much of a colour is white; a face that mirrors a lamp is paler than it is."""
    return min(colour) / max(*colour, 1e-6)


def mirrored(face: Reflectance, others: list[Reflectance]) -> float:
    """How much white of a lamp a face mirrors, if ``others`` are of the same colour.

    What is paler than they are is seen on them too, where a piece stands askew: the least pale one counts.
    """
    own = min((paleness(other) + SHADE / max(*other, SHADE) for other in others), default=1.0)
    return max(0.0, (min(face) - own * max(face)) / (1 - own)) if own < 1 else 0.0


def without(colour: Reflectance, white: float) -> Reflectance:
    """A colour less so much white."""
    red, green, blue = (max(channel - white, 0.0) for channel in colour)
    return red, green, blue


def faces_of(kind: PieceKind, floor_mm: Points, eye_mm: Points) -> list[Points]:
    """(k, 3) mm each: the inner part of the faces of a piece on a floor by which its colour is learned.

    Its upper face, or of a pyramid each flank that can be seen from ``eye_mm``.
    """
    solid = moved(piece(kind), floor_mm)
    return _inner(solid, faces_towards(solid, eye_mm) if kind.shape == "pyramid" else solid.is_top)


def sides_of(kind: PieceKind, floor_mm: Points, eye_mm: Points) -> list[Points]:
    """(k, 3) mm each: the inner part of the upright faces of a piece on a floor that can be seen from ``eye_mm``."""
    solid = moved(piece(kind), floor_mm)
    return _inner(solid, faces_towards(solid, eye_mm) & (np.abs(solid.normals[:, 2]) < UPRIGHT))


def _inner(solid: Solid, chosen: npt.NDArray[np.bool_]) -> list[Points]:
    """(k, 3) mm each: the inner part of ``chosen`` (faces,) faces of a body."""
    faces = []
    for number in np.flatnonzero(chosen):
        corners = solid.points[list(solid.faces[number])]
        middle = corners.mean(axis=0)
        shares = np.linspace(0, SAMPLED_SHARE, 6)[:, None, None]
        faces.append((middle + shares * (corners - middle)).reshape(-1, 3))
    return faces
