"""Outlines of stacks of discs in the crops: where the upper face and the side are, column by column.

A disc's upper face is a circle; over its few centimetres the projection is as good as affine, so in the crop it is an
ellipse whose extent in any column has a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.crops import Crops
from vision.register import Points, Registration, project

PROBE_MM = 4.0
"""Half step of the central difference that gives the affine projection round a disc's middle."""

_ANGLES = np.linspace(0, 2 * np.pi, 24, endpoint=False)
CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
"""(24, 2) a unit circle."""


@dataclass(frozen=True, eq=False)
class DiscOutlines:
    """Upper faces of stacks of 0…h discs on every cell (n).

    Attributes:
        centre_mm: (n, h + 1, 2) crop coordinates of the face's middle; level 0 is the foot of the stack.
        affine: (n, h + 1, 2, 2) world x, y → crop, around the middle.
        far: (n, h + 1, columns) crop row of the face's far edge.
        near: (n, h + 1, columns) crop row of its near edge.
        covers: (n, h + 1, columns) bool, columns that the face reaches; far = near = the middle elsewhere.
        radius_mm: of the disc.
    """

    centre_mm: Points
    affine: Points
    far: Points
    near: Points
    covers: npt.NDArray[np.bool_]
    radius_mm: float


def disc_outlines(
    crops: Crops, pose: Registration, camera: Camera, radius_mm: float, rises_mm: tuple[float, ...]
) -> DiscOutlines:
    """Outlines of discs whose upper faces are ``rises_mm`` above the mat (the first is the foot, 0)."""
    cells, levels = len(crops.centres_mm), len(rises_mm)
    middles = np.repeat(crops.centres_mm[:, None], levels, axis=1)
    middles[:, :, 2] += np.array(rises_mm)
    everyone = np.arange(cells)

    def crop(points_mm: Points) -> Points:
        pixels = project(points_mm.reshape(-1, 3), pose, camera).reshape(cells, levels, 2)
        return crops.from_picture(everyone, pixels)

    steps = [np.array([PROBE_MM, 0, 0]), np.array([0, PROBE_MM, 0])]
    affine = np.stack([(crop(middles + step) - crop(middles - step)) / (2 * PROBE_MM) for step in steps], axis=3)
    centre = crop(middles)
    spread = radius_mm**2 * np.einsum("nlij,nlkj->nlik", affine, affine)  # the ellipse is x' spread^-1 x = 1
    beside = crops.u_mm - centre[:, :, 0, None]
    inside = 1 - beside**2 / spread[:, :, 0, 0, None]
    middle = centre[:, :, 1, None] + (spread[:, :, 0, 1] / spread[:, :, 0, 0])[..., None] * beside
    half = np.sqrt(np.linalg.det(spread) / spread[:, :, 0, 0])[..., None] * np.sqrt(np.maximum(inside, 0))
    return DiscOutlines(centre, affine, middle - half, middle + half, inside > 0, radius_mm)


def face_polygon(outlines: DiscOutlines, crops: Crops, cell: int, level: int, shift_mm: Points) -> Points:
    """(24, 2) picture px: the outline of a face, moved by ``shift_mm`` (2,) in the crop."""
    ring = outlines.centre_mm[cell, level] + CIRCLE @ (outlines.affine[cell, level].T * outlines.radius_mm) + shift_mm
    picture: Points = ring @ crops.to_picture[cell].T + crops.origin_px[cell]
    return picture
