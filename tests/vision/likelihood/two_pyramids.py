"""A large pyramid alone, and a tower of it and a small one, viewed towards an edge.

Two visible faces of each pyramid meet in the middle column.
"""

import numpy as np

from vision.likelihood.crop_faces import CropFaces
from vision.likelihood.lateral_runs import LATERAL_FACES
from vision.scene.configurations import TURNS_DEG

ALONE, TOWER = 0, 1
"""Indices of the towers of :func:`two_pyramids`."""


def pair_of_faces(pyramid, columns):
    """Return two (faces, columns) arrays of the rows where faces begin and end; the other two faces are hidden.

    ``pyramid``: first row, last row, and half of the width in columns; ``columns``: width of the crop.
    """
    (first, last, half), middle = pyramid, columns // 2
    far, near = np.full((len(LATERAL_FACES), columns), np.inf), np.full((len(LATERAL_FACES), columns), -np.inf)
    for face, shown in ((0, slice(middle - half, middle)), (1, slice(middle, middle + half))):
        far[face, shown], near[face, shown] = first, last
    return far, near


def two_pyramids(large, small, columns):
    """Return the CropFaces of one cell, the same in all rotations."""
    pairs = [pair_of_faces(pyramid, columns) for pyramid in (large, small)]
    far, near = np.array(pairs, np.float32).transpose(1, 0, 2, 3)[:, None]
    towers = np.array([[[0, -1]], [[1, 0]]]).repeat(len(TURNS_DEG), axis=1)
    return CropFaces(np.ascontiguousarray(far), np.ascontiguousarray(near), towers)
