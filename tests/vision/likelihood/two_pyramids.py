"""A large pyramid, and a tower of it and a small one, seen along an edge: two flanks of each meet in the middle."""

import numpy as np

from vision.likelihood.facets import Facets
from vision.likelihood.flank_runs import FLANKS
from vision.scene.configurations import TURNS_DEG

ALONE, TOWER = 0, 1
"""The towers of :func:`two_pyramids`."""


def pair_of_flanks(pyramid, columns):
    """(flanks, k) rows in which flanks that meet in the middle begin and end; the other two are hidden.

    ``pyramid``: first and last row, and half of the width in columns, of which there are so many.
    """
    (first, last, half), middle = pyramid, columns // 2
    far, near = np.full((len(FLANKS), columns), np.inf), np.full((len(FLANKS), columns), -np.inf)
    for flank, shown in ((0, slice(middle - half, middle)), (1, slice(middle, middle + half))):
        far[flank, shown], near[flank, shown] = first, last
    return far, near


def two_pyramids(large, small, columns):
    """Facets of one cell, the same in all rotations."""
    pairs = [pair_of_flanks(pyramid, columns) for pyramid in (large, small)]
    far, near = np.array(pairs, np.float32).transpose(1, 0, 2, 3)[:, None]
    towers = np.array([[[0, -1]], [[1, 0]]]).repeat(len(TURNS_DEG), axis=1)
    return Facets(np.ascontiguousarray(far), np.ascontiguousarray(near), towers)
