"""What is visible in a patch of the picture without the stack under comparison, with its sums computed once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.boundaries import COLOUR_STRIDE, Patch
from vision.scene.materials import Materials
from vision.scene.prisms import FIRST, LINE, PER_CELL, PER_PIECE, PIECES, Floats, Surfaces

Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.int32]

TOPS = int(Materials.TOPS)


class Surroundings(NamedTuple):
    """What is visible in a patch without the stack: k surfaces, and sums over them.

    Attributes:
        shown: (height, width) number of the surface in each pixel.
        surfaces: (k,) as :mod:`vision.scene.prisms` numbers them.
        first, kinds: (k,) column of the first colour in :attr:`Patch.colours` that each may have, and how many.
        areas: (k,) observations of colour on each, and…
        sums: (k, colours) …their log-likelihoods in each colour.
        boundaries: (2, height, width + 1) cumulative sums, along each row, of the evidence of boundaries other than
            seams, and of contrasts on the ground: between horizontal and vertical pairs of pixels.
        totals: (2, height + 1) cumulative sums of these over whole rows, from the first one on.
        seams: (k,) evidence of the seams of which each surface has the lower number.
        first_seam_runs: (2, height + 1) number of each row's first run of a seam's pixels.
        seam_runs: (q, 3) of each such run its first column, the one past its last, and the surface of the lower number.
    """

    shown: Surfaces
    surfaces: Indices
    first: Indices
    kinds: Indices
    areas: Floats
    sums: Floats
    boundaries: Floats
    totals: Floats
    seams: Floats
    first_seam_runs: Numbers
    seam_runs: Numbers


@compiled
def make_surroundings(patch: Patch, shown: Surfaces, materials: Indices, colours: int) -> Surroundings:
    """The surroundings with the visible surfaces ``shown`` (height, width), which are overwritten."""
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
    boundaries, totals, runs = _boundaries(patch, shown, surfaces)
    seams = _seams(patch, *runs, count)
    return Surroundings(shown, surfaces, first, kinds, areas, sums, boundaries, totals, seams, *runs)


@compiled
def _boundaries(patch: Patch, shown: Surfaces, surfaces: Indices) -> tuple[Floats, Floats, tuple[Numbers, Numbers]]:
    """``boundaries``, ``totals`` and the seams' runs of :class:`Surroundings`."""
    (height, width), are_seams, count = shown.shape, _seams_between(surfaces), 0
    boundaries, totals = np.zeros((2, height, width + 1)), np.zeros((2, height + 1))
    first_runs, runs = np.zeros((2, height + 1), np.int32), np.empty((height * width, 3), np.int32)
    for way in range(2):
        right, below, step = pair_offsets(patch.step, way)
        sums = patch.across if way == 0 else patch.down
        on_ground = patch.ground_across if way == 0 else patch.ground_down
        for row in range(height):
            first_runs[way, row], total, last = count, 0.0, -1
            for column in range(width - right if row % step == 0 and row < height - below else 0):
                own, other = shown[row, column], shown[row + below, column + right]
                lower = -1
                if own != other:
                    if are_seams[own, other]:
                        lower = own if surfaces[own] < surfaces[other] else other
                    else:
                        total += sums[row, column + 1] - sums[row, column]
                elif surfaces[own] < LINE:
                    total += on_ground[row, column + 1] - on_ground[row, column]
                if lower >= 0 and lower != last:
                    runs[count, 0], runs[count, 2] = column, lower
                    count += 1
                if lower >= 0:
                    runs[count - 1, 1] = column + 1
                boundaries[way, row, column + 1], last = total, lower
            totals[way, row + 1] = totals[way, row] + total
        first_runs[way, height] = count
    return boundaries, totals, (first_runs, runs[:count].copy())


@compiled
def _seams(patch: Patch, first_runs: Numbers, runs: Numbers, count: int) -> Floats:
    """See :attr:`Surroundings.seams`; ``count``: number of surfaces."""
    seams = np.zeros(count)
    for way in range(2):
        sums = patch.across if way == 0 else patch.down
        for row in range(len(sums)):
            for number in range(first_runs[way, row], first_runs[way, row + 1]):
                seams[runs[number, 2]] += sums[row, runs[number, 1]] - sums[row, runs[number, 0]]
    return seams


@compiled
def _seams_between(surfaces: Indices) -> npt.NDArray[np.bool_]:
    """(k, k) which pairs of surfaces (k,) meet in a seam."""
    count = len(surfaces)
    are_seams = np.empty((count, count), np.bool_)
    for one in range(count):
        for other in range(count):
            are_seams[one, other] = _is_seam(surfaces[one], surfaces[other])
    return are_seams


@allocation_free
def pair_offsets(step: int, way: int) -> tuple[int, int, int]:
    """Offset to the right and down of the other pixel of a pair, ``step`` pixels off; and the row stride."""
    return (step, 0, 2) if way == 0 else (0, step, 1)


@compiled
def _is_seam(one: int, other: int) -> bool:
    """Whether two surfaces are equally oriented sides of pieces of one stack."""
    if one < FIRST or other < FIRST or (one - FIRST) // PER_CELL != (other - FIRST) // PER_CELL:
        return False
    a, b = (one - FIRST) % PER_CELL - PIECES, (other - FIRST) % PER_CELL - PIECES
    return a >= 0 and b >= 0 and a % PER_PIECE == b % PER_PIECE and a % PER_PIECE > 0
