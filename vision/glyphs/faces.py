"""The upper faces of round pieces in a picture: circles in known planes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.appearance import GLYPH_ANGLES
from calibration.camera import Camera
from vision.compiled import compiled
from vision.pose.projection import Points, Registration, project
from vision.scene.configurations import Configurations

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
        to_picture: (k, 2, 2) float64, mm in the plane of the face → px, about the centre.
        radii_mm: (k,) float64.
        ranks: (k,) intp, ranks of their cells from the farthest to the nearest, from 1.
    """

    centres_px: Points
    to_picture: Points
    radii_mm: Points
    ranks: Indices

    @property
    def px_per_mm(self) -> Points:
        """(k,) pixels per millimetre of each face's plane: geometric mean of the two principal scales."""
        scale: Points = np.sqrt(np.abs(np.linalg.det(self.to_picture)))
        return scale

    def select(self, numbers: Indices) -> Faces:
        """Those with these ``numbers`` (l,)."""
        return Faces(self.centres_px[numbers], self.to_picture[numbers], self.radii_mm[numbers], self.ranks[numbers])

    def put(self, numbers: Indices, faces: Faces) -> None:
        """Replace those with these ``numbers`` (l,) by ``faces`` (l)."""
        for mine, other in zip(self, faces, strict=True):
            mine[numbers] = other

    def offset_mm(self, places_px: Points) -> Points:
        """(k, 2) mm, offset of a point in the picture (k, 2) px, one for each face, from its centre in its plane."""
        away = (places_px - self.centres_px)[..., None]
        return np.asarray(np.linalg.solve(self.to_picture, away)[..., 0], np.float64)

    def displaced(self, steps_mm: Points) -> Faces:
        """Each displaced by ``steps_mm`` (k, 2) in its plane."""
        return self._replace(centres_px=self.centres_px + np.einsum("kij,kj->ki", self.to_picture, steps_mm))


def upright_faces(
    configurations: Configurations,
    floors_mm: Points,
    rank: npt.NDArray[np.int32],
    view: tuple[Registration, Camera],
) -> Faces:
    """The upper faces of all round configurations on all cells, undisplaced: all of one cell, then of the next one.

    Each is the affine map that best agrees with perspective on the circle that halves its area, as what is printed on
    a face lies on both sides of it.

    Args:
        configurations: of the kit.
        floors_mm: (n, 3) centres of the cells' floors.
        rank: (n,) ranks of the cells from the farthest to the nearest, from 1.
        view: pose and camera.
    """
    radii = np.array([configuration.size.width_mm / 2 for configuration in configurations.all])
    heights = np.array([configuration.face_mm for configuration in configurations.all])
    around = np.zeros((len(radii), 4, 3))
    around[..., :2] = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)]) * (radii / np.sqrt(2))[:, None, None]
    around[..., 2] = heights[:, None]
    places = (floors_mm[:, None, None] + around).reshape(-1, 3)
    seen = project(places, *view).reshape(-1, 4, 2)
    across_px = np.stack([seen[:, 0] - seen[:, 1], seen[:, 2] - seen[:, 3]], axis=2)
    radii = np.tile(radii, len(rank))
    ranks = np.repeat(rank, len(configurations.all)).astype(np.intp)
    return Faces(seen.mean(axis=1), across_px / (np.sqrt(2) * radii)[:, None, None], radii, ranks)


@compiled
def offsets_mm(faces: Faces, others: Faces) -> Points:
    """(k, l, 2) float64 mm from the centre of each of l ``faces`` to those of k ``others``, in the face's plane."""
    offsets = np.empty((len(others.ranks), len(faces.ranks), 2))
    for one in range(len(faces.ranks)):
        to_picture = faces.to_picture[one]
        size = to_picture[0, 0] * to_picture[1, 1] - to_picture[0, 1] * to_picture[1, 0]
        for other in range(len(others.ranks)):
            x_px = others.centres_px[other, 0] - faces.centres_px[one, 0]
            y_px = others.centres_px[other, 1] - faces.centres_px[one, 1]
            offsets[other, one, 0] = (to_picture[1, 1] * x_px - to_picture[0, 1] * y_px) / size
            offsets[other, one, 1] = (to_picture[0, 0] * y_px - to_picture[1, 0] * x_px) / size
    return offsets


@compiled
def distances_mm(faces: Faces, others: Faces) -> Points:
    """(k, l) float64 mm, lengths of the :func:`offsets_mm`."""
    offsets = offsets_mm(faces, others)
    return np.hypot(offsets[..., 0], offsets[..., 1])
