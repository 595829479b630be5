"""The upper faces of round pieces in a picture: circles in planes that are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.appearance import GLYPH_ANGLES
from vision.pose.projection import Points
from vision.scene.configurations import Configurations
from vision.scene.crops import Crops
from vision.scene.outlines import Outlines

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Picture = npt.NDArray[np.uint8]
FlatPicture = npt.NDArray[np.uint8]
FlatLabels = npt.NDArray[np.uint16]

FRACTION_BITS = 4
ONE_PX = 1 << FRACTION_BITS
"""A pixel in fixed point: 1/16 px is finer than the blur, and integer arithmetic is faster here than floating point."""

_ANGLES = np.arange(GLYPH_ANGLES) * (2 * np.pi / GLYPH_ANGLES)
DIRECTIONS = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
"""(angles, 2) float64 unit vectors, once round a face."""


class Faces(NamedTuple):
    """Upper faces (k) in a picture.

    Attributes:
        centres_px: (k, 2) float64, x and y.
        to_picture: (k, 2, 2) float64, mm in the plane of the face → px, around the middle.
        radii_mm: (k,) float64.
        ranks: (k,) intp, ranks of their cells from the farthest to the nearest, from 1.
    """

    centres_px: Points
    to_picture: Points
    radii_mm: Points
    ranks: Indices

    @property
    def px_per_mm(self) -> Points:
        """(k,) pixels that a millimetre of each face's plane is wide, in the mean of all directions."""
        scale: Points = np.sqrt(np.abs(np.linalg.det(self.to_picture)))
        return scale

    def of(self, numbers: Indices) -> Faces:
        """Those with these ``numbers`` (l,)."""
        return Faces(self.centres_px[numbers], self.to_picture[numbers], self.radii_mm[numbers], self.ranks[numbers])

    def put(self, numbers: Indices, faces: Faces) -> None:
        """Have ``faces`` (l) in place of those with these ``numbers`` (l,)."""
        for mine, other in zip(self, faces, strict=True):
            mine[numbers] = other

    def off_mm(self, places_px: Points) -> Points:
        """(k, 2) mm in each one's plane from its middle to a place of its own in the picture (k, 2) px."""
        away = (places_px - self.centres_px)[..., None]
        return np.asarray(np.linalg.solve(self.to_picture, away)[..., 0], np.float64)

    def moved(self, steps_mm: Points) -> Faces:
        """Each displaced by ``steps_mm`` (k, 2) in its plane."""
        return self._replace(centres_px=self.centres_px + np.einsum("kij,kj->ki", self.to_picture, steps_mm))


def upright_faces(
    crops: Crops, outlines: Outlines, configurations: Configurations, rank: npt.NDArray[np.int32]
) -> Faces:
    """The upper faces of all round configurations on all cells, undisplaced: all of one cell, then of the next one."""
    count = len(configurations.all)
    middles, to_crop = np.empty((len(rank), count, 2)), np.empty((len(rank), count, 2, 2))
    for number, (configuration, corners) in enumerate(zip(configurations.all, outlines.corners_mm, strict=True)):
        rings, around = corners[:, : outlines.first[number]], configuration.parts[0].corners_mm[:, :2]
        middles[:, number] = rings.mean(axis=1)
        # Least squares; the corners of a regular polygon are as wide one way as the other.
        apart = rings - middles[:, number, None]
        to_crop[:, number] = apart.transpose(0, 2, 1) @ around / ((around**2).sum() / 2)
    to_picture = crops.to_picture[:, None]
    centres_px = (to_picture @ middles[..., None])[..., 0] + crops.origin_px[:, None]
    radii = np.tile([configuration.size.width_mm / 2 for configuration in configurations.all], len(rank))
    ranks = np.repeat(rank, count).astype(np.intp)
    return Faces(centres_px.reshape(-1, 2), (to_picture @ to_crop).reshape(-1, 2, 2), radii, ranks)


def offsets_mm(faces: Faces, others: Faces) -> Points:
    """(k, l, 2) float64 mm from the middle of each of l ``faces`` to each of k ``others``', in the face's plane."""
    apart = others.centres_px[:, None] - faces.centres_px
    return np.asarray(np.einsum("lij,klj->kli", np.linalg.inv(faces.to_picture), apart), np.float64)
