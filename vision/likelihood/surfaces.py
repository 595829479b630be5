"""Likelihood ratio of configurations against bare ground, from how uniform each predicted surface is.

Where a piece has nearly the ground's colour, or a shadow has the piece's, colours carry no information.  But each
surface is evenly coloured: a configuration is right when its outlines lie where the picture changes, and bare ground
when it changes nowhere (piecewise smooth segmentation: Mumford and Shah, 1989; the number of surfaces is penalised by
the Bayesian information criterion: Schwarz, 1978).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.crop_faces import CropFaces
from vision.likelihood.observations import Observations
from vision.likelihood.surface_crop import CHANNELS, HIDDEN, ROW_STEP, SLOPE_SCALE_MM, SurfaceCrop, cut_crop
from vision.scene.configurations import LEAN_MM, PLACE_MM
from vision.scene.label_buffer import LabelBuffer
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int16]

INDEPENDENT_MM2 = 40.0
"""Area of a surface that counts as one independent observation, as for colours (:mod:`vision.scene.crops`)."""

OUTLIER = 0.15
"""Deviation at which a pixel's residual is clipped: print, seams, pieces that stand a little off."""

SURFACE_PARAMETERS = 2.0
"""Effective number of free parameters per surface and channel: its value is free, its slopes are small."""

MAX_SURFACES = 3
"""Surfaces of a stack that count as free: its face and two sides; the sides of its other pieces are lit alike."""

SLOPE_PRIOR = 4.0
"""Weight, in pixels, of the prior that brightness seldom changes much over :data:`SLOPE_SCALE_MM`."""

SHIFTS_MM = np.array([(across, along) for along in (-2, 0, 2) for across in (-2, 0, 2)], np.float64)
"""Shifts in the crop at which each configuration is tried."""

_DEVIATION_MM = float(np.hypot(PLACE_MM, LEAN_MM))


@compiled
def surface_log_ratio(
    observations: Observations,
    visibility: Visibility,
    labels: LabelBuffer,
    table: OutlineTable,
    which: tuple[int, Mask, Indices],
    crop_faces: CropFaces | None = None,
) -> Array:
    """(f,) log-likelihood ratio of configurations on a cell against an empty one, by how uniform all surfaces are.

    Args:
        observations: of the picture.
        visibility: of the pose.
        labels: what would be seen if the cell were empty.
        table: outlines of the configurations, standing straight; each is tried at :data:`SHIFTS_MM`.
        which: the cell; (f,) which configurations are evaluated, the others get 0; (f,) crop column of the edge between
            two visible upright sides, -1 where the side is round.
        crop_faces: lateral faces, if all pieces are pyramids; None for pieces with upper faces.
    """
    cell, tried, edges = which
    crop = cut_crop(observations, visibility, labels, table, (cell, tried))
    ratios = np.zeros(len(tried), np.float32)
    if crop.shown == 0:
        return ratios
    surfaces = crop.surfaces.copy()
    empty, of_lowest, of_tried = _log_likelihood(crop, surfaces, crop.grounds), 0.0, 0.0
    for number in range(len(tried)):
        best = -np.inf
        for k in range(len(SHIFTS_MM) if tried[number] or number == 0 else 0):
            across, along = SHIFTS_MM[k]
            if crop_faces is None:
                parts = _place(crop, table, (cell, number, edges[number]), (across, along), surfaces)
            else:
                parts = _place_pyramids(crop, crop_faces, (cell, number), (across, along), surfaces)
            off = across**2 + (along / table.foreshortening[cell]) ** 2
            gain = _log_likelihood(crop, surfaces, crop.grounds + parts) - empty
            colour = np.maximum(gain[1:], 0.0).sum()
            of_lowest = max(of_lowest, colour if number == 0 else 0.0)
            of_tried = max(of_tried, colour if tried[number] else 0.0)
            best = max(best, gain[0] - 0.5 * off / _DEVIATION_MM**2)
        if tried[number]:
            ratios[number] = best
    # A colour unlike the ground's, also where the lowest one would stand, is evidence that something stands there; its
    # height shows better in brightness.  As a piece may have the ground's colour, a match is no evidence either way.
    for number in range(len(tried)):
        if tried[number]:
            ratios[number] += min(of_lowest, of_tried)
    return ratios


@compiled
def _place(
    crop: SurfaceCrop,
    table: OutlineTable,
    which: tuple[int, int, int],
    shift_mm: tuple[float, float],
    surfaces: Numbers,
) -> int:
    """Fill ``surfaces`` (columns, rows) with those seen if a configuration stands there; returns how many are its own.

    ``which``: cell, number of the configuration, and column of the edge between two of its sides.
    """
    (cell, number, edge), (across, along) = which, shift_mm
    move, bands = int(np.rint(across / crop.column_mm)), table.bands[number]
    surfaces[:] = crop.surfaces
    sides = 2 if edge >= 0 else 1
    for i in range(len(table.columns)):
        column = table.columns[i] + move
        if not table.covers[cell, number, i] or not 0 <= column < len(surfaces):
            continue
        is_right = int(edge >= 0 and column >= edge + move)
        for part in range(bands + 1):
            begin = int(np.rint((table.edges[cell, number, part, i] + along - crop.first) / ROW_STEP))
            end = int(np.rint((table.edges[cell, number, part + 1, i] + along - crop.first) / ROW_STEP))
            own = crop.grounds + (0 if part == 0 else 1 + (part - 1) * sides + is_right)
            for row in range(max(begin, 0), min(end, surfaces.shape[1])):
                if surfaces[column, row] != HIDDEN:
                    surfaces[column, row] = own
    return int(1 + bands * sides)


@compiled
def _place_pyramids(
    crop: SurfaceCrop, crop_faces: CropFaces, which: tuple[int, int], shift_mm: tuple[float, float], surfaces: Numbers
) -> int:
    """Fill ``surfaces`` (columns, rows) with the lateral faces seen if a tower stands there; returns how many it has.

    ``which``: cell, and number of the configuration.
    """
    (cell, number), (across, along) = which, shift_mm
    turns = crop_faces.towers.shape[1]
    tower, move = crop_faces.towers[number // turns, number % turns], int(np.rint(across / crop.column_mm))
    surfaces[:] = crop.surfaces
    free = surfaces.copy()
    for pyramid in range(np.count_nonzero(tower >= 0)):
        far, near = crop_faces.far[cell, tower[pyramid]], crop_faces.near[cell, tower[pyramid]]
        for face in range(len(far)):
            own = crop.grounds + pyramid * len(far) + face
            for i in range(far.shape[1]):
                if not 0 <= i + move < len(surfaces) or near[face, i] <= far[face, i]:
                    continue
                begin = int(np.rint((far[face, i] + along - crop.first) / ROW_STEP))
                end = int(np.rint((near[face, i] + along - crop.first) / ROW_STEP))
                for row in range(max(begin, 0), min(end, surfaces.shape[1])):
                    if surfaces[i + move, row] != HIDDEN and surfaces[i + move, row] == free[i + move, row]:
                        surfaces[i + move, row] = own
    return len(crop_faces.far[0, 0]) * int(np.count_nonzero(tower >= 0))


@compiled
def _log_likelihood(crop: SurfaceCrop, surfaces: Numbers, count: int) -> Floats:
    """(channels,) log-likelihood of a crop's values if each of ``count`` surfaces (columns, rows) is a plane.

    Up to a constant.
    """
    planes, free = _fit(crop, surfaces, count)
    total = np.zeros(CHANNELS)
    _add_squares(crop, surfaces, planes, total)
    seen = crop.shown * crop.column_mm * ROW_STEP / INDEPENDENT_MM2
    unexplained: Floats = np.log(total / crop.shown + crop.variance)
    likely: Floats = -0.5 * seen * unexplained - 0.5 * SURFACE_PARAMETERS * free * np.log(max(seen, 2.0))
    return likely


@allocation_free
def _run_end(surfaces: Numbers, column: int, begin: int) -> int:
    """The row after a run of one surface that starts at row ``begin`` of a ``column``; ``surfaces`` (columns, rows)."""
    end = begin + 1
    while end < surfaces.shape[1] and surfaces[column, end] == surfaces[column, begin]:
        end += 1
    return end


@allocation_free
def _add_squares(crop: SurfaceCrop, surfaces: Numbers, planes: Floats, total: Floats) -> None:
    """Add to ``total`` (channels,) the clipped squared residuals of values from the planes of their ``surfaces``."""
    most, per_row = OUTLIER**2, ROW_STEP / SLOPE_SCALE_MM
    brightness, first, second = 0.0, 0.0, 0.0
    for column in range(surfaces.shape[0]):
        x, begin = column * crop.column_mm / SLOPE_SCALE_MM, 0
        while begin < surfaces.shape[1]:
            surface, end = surfaces[column, begin], _run_end(surfaces, column, begin)
            if surface >= 0:
                values, (a, b, c) = crop.values[int(surface < crop.grounds), column], planes[surface]
                at_a, at_b, at_c = a[0] + a[1] * x, b[0] + b[1] * x, c[0] + c[1] * x
                slope_a, slope_b, slope_c = a[2] * per_row, b[2] * per_row, c[2] * per_row
                for row in range(begin, end):
                    off_a = values[row, 0] - at_a - slope_a * row
                    off_b = values[row, 1] - at_b - slope_b * row
                    off_c = values[row, 2] - at_c - slope_c * row
                    brightness += min(off_a * off_a, most)
                    first += min(off_b * off_b, most)
                    second += min(off_c * off_c, most)
            begin = end
    total[0], total[1], total[2] = total[0] + brightness, total[1] + first, total[2] + second


@compiled
def _fit(crop: SurfaceCrop, surfaces: Numbers, count: int) -> tuple[Floats, int]:
    """(count, channels, 3) plane of each surface (ridge regression), and how many surfaces count as free."""
    normal, right = np.zeros((count, 3, 3)), np.zeros((count, CHANNELS, 3))
    _add_moments(crop, surfaces, normal, right)
    planes, free = np.zeros((count, CHANNELS, 3)), 0
    for surface in range(count):
        m = normal[surface]
        if m[0, 0] > 0:
            free += int(surface < crop.grounds + MAX_SURFACES)
            m[1, 1], m[2, 2] = m[1, 1] + SLOPE_PRIOR, m[2, 2] + SLOPE_PRIOR
            for channel in range(CHANNELS):
                _solve(m, right[surface, channel], planes[surface, channel])
    return planes, free


@allocation_free
def _add_moments(crop: SurfaceCrop, surfaces: Numbers, normal: Floats, right: Floats) -> None:
    """Add each surface's moments to its normal equations, ``normal`` (count, 3, 3) and ``right`` (count, channels, 3).

    Of ``normal`` only the upper triangle is filled.
    """
    for column in range(surfaces.shape[0]):
        x, begin = column * crop.column_mm / SLOPE_SCALE_MM, 0
        while begin < surfaces.shape[1]:
            surface, end = surfaces[column, begin], _run_end(surfaces, column, begin)
            if surface >= 0:
                sums, m = crop.sums[int(surface < crop.grounds), column], normal[surface]
                until, before = sums[end], sums[begin]
                n, y = until[0] - before[0], until[1] - before[1]
                m[0, 0], m[0, 1], m[0, 2] = m[0, 0] + n, m[0, 1] + n * x, m[0, 2] + y
                m[1, 1], m[1, 2], m[2, 2] = m[1, 1] + n * x * x, m[1, 2] + x * y, m[2, 2] + until[2] - before[2]
                for channel in range(CHANNELS):
                    value = until[3 + 2 * channel] - before[3 + 2 * channel]
                    along = until[4 + 2 * channel] - before[4 + 2 * channel]
                    target = right[surface, channel]
                    target[0], target[1], target[2] = target[0] + value, target[1] + value * x, target[2] + along
            begin = end


@allocation_free
def _solve(m: Floats, b: Floats, x: Floats) -> None:
    """Solve a symmetric system for ``x`` (3,) by Cholesky decomposition; uses the upper triangle of ``m`` (3, 3)."""
    l11 = np.sqrt(m[0, 0])
    l21, l31 = m[0, 1] / l11, m[0, 2] / l11
    l22 = np.sqrt(max(m[1, 1] - l21 * l21, 1e-9))
    l32 = (m[1, 2] - l31 * l21) / l22
    l33 = np.sqrt(max(m[2, 2] - l31 * l31 - l32 * l32, 1e-9))
    y1 = b[0] / l11
    y2 = (b[1] - l21 * y1) / l22
    y3 = (b[2] - l31 * y1 - l32 * y2) / l33
    x[2] = y3 / l33
    x[1] = (y2 - l32 * x[2]) / l22
    x[0] = (y1 - l21 * x[1] - l31 * x[2]) / l11
