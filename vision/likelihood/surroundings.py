"""What is seen of a patch of the picture without the stack that is compared in it, added up once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.boundaries import COLOUR_STRIDE, Patch
from vision.scene.materials import Materials
from vision.scene.prisms import FIRST, LINE, PER_CELL, PER_PIECE, PIECES, Floats, Surfaces

Indices = npt.NDArray[np.intp]

TOPS = int(Materials.TOPS)


class Surroundings(NamedTuple):
    """What is seen of a patch without the stack: k surfaces, and what they add up to.

    Attributes:
        shown: (height, width) number of the surface in each pixel.
        surfaces: (k,) as :mod:`vision.scene.prisms` numbers them.
        first, kinds: (k,) column of the first colour in :attr:`Patch.colours` that each may have, and how many.
        areas: (k,) observations of colour on each, and…
        sums: (k, colours) …their log-likelihoods in each colour.
        boundaries: (2, height, width + 1) sums, along each row, of the evidence of boundaries but seams: between pixels
            side by side, and one above the other.
        seams: (2, height, 2) of each row the first of the seams' pixels, and the one past its last.
        seam_columns, seam_numbers, seam_ratios: (q,) of each such pixel its column, the lower number of the two
            surfaces, and its evidence.
    """

    shown: Surfaces
    surfaces: Indices
    first: Indices
    kinds: Indices
    areas: Floats
    sums: Floats
    boundaries: Floats
    seams: Indices
    seam_columns: Indices
    seam_numbers: Indices
    seam_ratios: Floats


@compiled
def make_surroundings(patch: Patch, shown: Surfaces, materials: Indices, colours: int) -> Surroundings:
    """The surroundings where ``shown`` (height, width), which are overwritten, are the surfaces that are seen."""
    numbers, surfaces, count = np.full(len(materials), -1, np.int16), np.empty(len(materials), np.intp), 0
    for row in range(shown.shape[0]):
        for column in range(shown.shape[1]):
            surface = shown[row, column]
            if numbers[surface] < 0:
                numbers[surface], surfaces[count] = count, surface
                count += 1
            shown[row, column] = numbers[surface]
    surfaces = surfaces[:count].copy()
    first, kinds = np.empty(count, np.intp), np.empty(count, np.intp)
    for number in range(count):
        material = materials[surfaces[number]]
        is_face = (surfaces[number] - FIRST) % PER_CELL % PER_PIECE == PIECES % PER_PIECE
        first[number] = material if material >= 0 else TOPS if is_face else TOPS + colours
        kinds[number] = 0 if surfaces[number] == LINE else 1 if material >= 0 else colours
    areas, sums = np.zeros(count), np.zeros((count, colours))
    for row in range(patch.colours.shape[0]):
        for column in range(patch.colours.shape[1]):
            number = shown[COLOUR_STRIDE * row, COLOUR_STRIDE * column]
            areas[number] += patch.area
            for colour in range(kinds[number]):
                sums[number, colour] += patch.colours[row, column, first[number] + colour]
    boundaries, seams, (columns, at, ratios) = _boundaries(patch, shown, surfaces)
    return Surroundings(shown, surfaces, first, kinds, areas, sums, boundaries, seams, columns, at, ratios)


@compiled
def _boundaries(
    patch: Patch, shown: Surfaces, surfaces: Indices
) -> tuple[Floats, Indices, tuple[Indices, Indices, Floats]]:
    """``boundaries``, ``seams``, and seams' pixels of :class:`Surroundings`."""
    height, width = shown.shape
    boundaries, seams, count = np.zeros((2, height, width + 1)), np.zeros((2, height, 2), np.intp), 0
    columns, numbers, ratios = (
        np.empty(height * width, np.intp),
        np.empty(height * width, np.intp),
        np.empty(height * width),
    )
    for way in range(2):
        right, below, step, sums = ways(patch, way)
        for row in range(0, height - below, step):
            seams[way, row, 0] = count
            for column in range(width - right):
                own, other, total = shown[row, column], shown[row + below, column + right], boundaries[way, row, column]
                if own != other:
                    ratio = sums[row, column + 1] - sums[row, column]
                    if not _is_seam(surfaces[own], surfaces[other]):
                        total += ratio
                    elif ratio != 0:
                        columns[count], ratios[count] = column, ratio
                        numbers[count] = own if surfaces[own] < surfaces[other] else other
                        count += 1
                boundaries[way, row, column + 1] = total
            seams[way, row, 1] = count
    return boundaries, seams, (columns[:count].copy(), numbers[:count].copy(), ratios[:count].copy())


@compiled
def ways(patch: Patch, way: int) -> tuple[int, int, int, Floats]:
    """How far to the right and below the other pixel is, every how many rows; and evidence of boundaries there."""
    return (patch.step, 0, 2, patch.across) if way == 0 else (0, patch.step, 1, patch.down)


@compiled
def _is_seam(one: int, other: int) -> bool:
    """Whether two surfaces are sides that face one way, of pieces of one stack."""
    if one < FIRST or other < FIRST or (one - FIRST) // PER_CELL != (other - FIRST) // PER_CELL:
        return False
    a, b = (one - FIRST) % PER_CELL - PIECES, (other - FIRST) % PER_CELL - PIECES
    return a >= 0 and b >= 0 and a % PER_PIECE == b % PER_PIECE and a % PER_PIECE > 0
