"""Likelihood of towers of pyramids: every lateral face that a configuration predicts should show one even colour.

Colour alone cannot tell a large pyramid from a smaller one of the same colour put over it, and a face may mirror a lamp
and look like the floor.  But each face is evenly lit: the colours within each vary least when the predicted edges
coincide with the picture's (piecewise constant segmentation: Mumford and Shah, 1989; Chan and Vese, 2001; here with the
few contours that geometry allows).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.appearance.colour_model import BINS, OUTLIER_SHARE
from vision.appearance.tone_curve import BLACK_CODES, OFFSET
from vision.compiled import allocation_free, compiled
from vision.likelihood.lateral_runs import (
    LATERAL_FACES,
    SUMS,
    LateralFaces,
    Walk,
    add_sums,
    gradient_residual,
    make_lateral_faces,
    make_walk,
    move_pyramids,
    placement_distance2,
    pyramids_of,
    visible_runs,
)
from vision.likelihood.memo import Memo, find, make_memo, put
from vision.likelihood.observations import Background, Observations
from vision.pose.projection import Points, Registration
from vision.scene.configurations import SEAT_MM, TURNS_DEG, Configurations, Wireframe
from vision.scene.crops import INDEPENDENT_MM2, Crops
from vision.scene.outlines import in_picture, widen

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

UNEXPLAINED_LOG = float(np.log(OUTLIER_SHARE / BINS**3)) + 1
"""Log-likelihood below which a pixel is not bare ground: e times as likely as an outlier.  Chosen by eye."""

FACE_DEVIATION = 0.08
"""Standard deviation of display values within a face: light falling off along it, texture, misplaced edges.
Chosen by eye."""

START_FRACTIONS = (0.0, 0.5, 1.0)
"""Starting points of the placement search, as fractions of the way from the cell's centre to the placement found by
colour alone.  Chosen by eye."""

STEPS = np.array(
    [
        *[(0, sideways, along) for sideways in (-1, 0, 1) for along in (-1, 0, 1) if sideways or along],
        *[(0, 0, -0.5), (0, 0, 0.5), (-1, 0, 0), (1, 0, 0)],
    ],
    np.float32,
)
"""(s, 3) float32 search steps of a pyramid and all above it: rotation index; mm right and down in the crop.
Chosen by eye."""

TRANSLATIONS = 8
"""The first of these steps are the eight translations by a millimetre; the last two are the rotations."""

LOG_PLACEMENTS = float(np.log(2 * np.pi * SEAT_MM**2 * len(TURNS_DEG)))
"""Logarithm of the effective number of placements of a pyramid on another: effective area, mm², of its normal
distribution, times rotations."""

ROUNDS = 4
"""Maximum number of rounds of these steps; two or three are mostly enough.  Chosen by eye."""

REFINED_TURNS = 3
"""Number of rotations of a tower that are refined: the likeliest ones of the coarse search.  Chosen by eye."""

CLOSE_NATS = 20.0
"""A tower that trails the likeliest by more than this after its first refinement is given up.  Chosen by eye."""

HOPELESS_NATS = 40.0
"""A tower that trails the likeliest by more than this after a round of steps is not refined further.  Readings
of 708 pictures of pyramids were the same with it."""

SEARCH_STEP = 2
"""Column stride in a crop during the placement search: neighbouring columns are nearly redundant.  On 40 sets of
pyramids (708 pictures, 25,488 squares) 54 squares were wrong with every column, 48 with every second, 64 with every
third one."""

REJECTED_TURN = np.float32(-1e3)
"""Log-likelihood ratio of all rotations of a tower but its likeliest: below all others.  Chosen by eye."""


class CropFaces(NamedTuple):
    """Lateral faces of the pyramids (w) that towers are made of, each in every rotation, on every cell (n).

    Attributes:
        far: (n, w, faces, k) float32, row of the crop in which each visible face begins in each of all its k columns;
            hidden faces come first, then the one seen most obliquely; inf where there is none.
        near: (n, w, faces, k) float32, row in which it ends; −inf where there is none.
        towers: (f, t, p) intp, the pyramids of each tower in each rotation, in the order of the configurations; the
            uppermost first, −1 after the last.
    """

    far: Array
    near: Array
    towers: Indices


class CropFaceFits(NamedTuple):
    """How well towers (f) fit the pixels of some cells (b).

    Attributes:
        log_ratio: (b, configurations) float32 log-likelihood ratio of each against the likeliest one.
        sums: (b, p, faces, SUMS) float32 sums over each face of the pyramids of the likeliest tower, see
            :func:`_sum_values`.
        wireframes: (b, p) intp, these pyramids, the uppermost first, −1 after the last.
    """

    log_ratio: Array
    sums: Array
    wireframes: Indices


def make_crop_faces(crops: Crops, pose: Registration, camera: Camera, configurations: Configurations) -> CropFaces:
    """Lateral faces of pyramids on all cells, seen from ``pose``."""
    towers = np.full((len(configurations.all), int(configurations.parts.max())), -1, np.intp)
    for tower, wireframes in zip(towers, configurations.wireframe_numbers, strict=True):
        tower[: len(wireframes)] = wireframes
    corners, facing = project_pyramids(crops, pose, camera, configurations, 0.0)
    far, near = face_rows(corners, facing, crops.u_mm, crops.v_mm)
    return CropFaces(far, near, towers.reshape(-1, len(TURNS_DEG), towers.shape[1]))


def project_pyramids(
    crops: Crops, pose: Registration, camera: Camera, configurations: Configurations, tip_mm: float
) -> tuple[Points, Points]:
    """Pyramids with blunt tips ``tip_mm`` wide on all cells, seen from ``pose``.

    Returns:
        (n, w, 9, 2) crop coordinates of their corners, as :data:`LATERAL_FACES` numbers them; and (n, w, faces) cosine
        between the faces' normals and the line of sight, negative for hidden ones.
    """
    corners_mm = np.array([_blunted(wireframe, tip_mm) for wireframe in configurations.wireframes])
    places = crops.from_picture(in_picture(crops, pose, camera, corners_mm.reshape(-1, 3)))
    a, b, tip = (corners_mm[:, which] for which in np.array(LATERAL_FACES).T[:3])
    normals = np.cross(b - a, tip - a)
    eye = pose.centre_mm - (crops.centres_mm[:, None, None] + (a + b + tip) / 3)
    lengths = np.linalg.norm(eye, axis=3) * np.linalg.norm(normals, axis=2)
    return places.reshape(len(places), *corners_mm.shape[:2], 2), np.einsum("nwfi,wfi->nwf", eye, normals) / lengths


def _blunted(pyramid: Wireframe, tip_mm: float) -> Points:
    """(9, 3) mm corners of a pyramid with a tip ``tip_mm`` wide, as :data:`LATERAL_FACES` numbers them."""
    base, tip = pyramid.corners_mm[:4], pyramid.corners_mm[4:]
    arms = (base - tip) * (1, 1, 0)
    return np.vstack([base, tip + arms * (tip_mm / np.linalg.norm(base[1] - base[0])), tip])


@compiled
def face_rows(
    corners: Points, facing: Points, u: npt.NDArray[np.int32], v: npt.NDArray[np.int32]
) -> tuple[Array, Array]:
    """``far`` and ``near`` of :class:`CropFaces` in crops with columns ``u`` and rows ``v``, from projected pyramids.

    ``corners`` and ``facing``: see :func:`project_pyramids`.
    """
    shape = (*facing.shape, len(u))
    far, near = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    above = np.array([0.0, v[0] - 0.5])
    for cell in range(len(corners)):
        for pyramid in range(corners.shape[1]):
            order, places = np.argsort(facing[cell, pyramid]), corners[cell, pyramid] - above
            for number in range(len(LATERAL_FACES)):
                face = order[number]
                if facing[cell, pyramid, face] > 0:
                    around = LATERAL_FACES[face]
                    for corner in range(len(around)):
                        begin, end = places[around[corner - 1]], places[around[corner]]
                        widen(begin, end, u, far[cell, pyramid, number], near[cell, pyramid, number])
    return far, near


def crop_face_log_likelihood(
    observations: Observations, background: Background, crop_faces: CropFaces, cells: Indices, placement: Array
) -> CropFaceFits:
    """Log-likelihood ratio of every configuration, each in its likeliest placement.

    Args:
        observations: of all cells.
        background: of ``cells``.
        crop_faces: of the pose.
        cells: (b,) intp, the cells to score.
        placement: (b, 2) float32 mm, displacement in the crop by colour alone, towards which the search starts: right,
            down.
    """
    integrals = _sum_values(observations, background, cells)
    found, places = _search(integrals, crop_faces, cells, placement)
    ratios = np.full((*found.shape, len(TURNS_DEG)), REJECTED_TURN, np.float32)
    np.put_along_axis(ratios, places[:, :, 0, 0].astype(np.intp)[..., None], 0, axis=2)
    ratios += (found - found.max(axis=1, keepdims=True))[..., None]
    return CropFaceFits(ratios.reshape(len(cells), -1), *_likeliest(integrals, crop_faces, cells, found, places))


@compiled
def _sum_values(observations: Observations, background: Background, cells: Indices) -> Array:
    """Column integrals of ``cells`` (b,) over visible pixels: (b, columns, rows + 1, SUMS) float32.

    How well they fit bare ground is the log-likelihood of the background less its mean in the crop.
    """
    codes, gain, base, visible = observations.codes, observations.gain, background.base, background.visible
    _, rows, columns = base.shape
    integrals = np.zeros((len(cells), columns, rows + 1, SUMS), np.float32)
    for k in range(len(cells)):
        likely = base[k], _usual(base[k], visible[k])
        for column in range(columns):
            _sum_column(integrals[k, column], column, (codes[cells[k]], gain[cells[k]]), likely, visible[k])
    return integrals


@allocation_free
def _sum_column(
    integrals: Array,
    column: int,
    shown: tuple[npt.NDArray[np.uint8], Array],
    likely: tuple[Array, float],
    visible: npt.NDArray[np.bool_],
) -> None:
    """Fill in the zeroed ``integrals`` (rows + 1, SUMS) of a column of a crop.

    Args:
        integrals: as above.
        column: its number.
        shown: codes of the crop (rows, columns, 3), and the gain (3,) of its light.
        likely: log-likelihood (rows, columns) of the background, and its mean.
        visible: (rows, columns) which pixels are visible.
    """
    (codes, gain), (base, usual), rows = shown, likely, len(visible)
    for row in range(rows):
        above, sums = integrals[row], integrals[row + 1]
        for number in range(SUMS):
            sums[number] = above[number]
        if visible[row, column]:
            from_middle = np.float32(row - rows // 2)
            sums[0] += 1
            for channel in range(3):
                value = (np.float32(codes[row, column, channel]) + BLACK_CODES) * gain[channel] - OFFSET
                sums[1 + channel] += value
                sums[4] += value**2
                sums[8] += from_middle * value
            sums[5] += base[row, column] - usual
            sums[6] += from_middle
            sums[7] += from_middle**2


@compiled
def _usual(base: Array, visible: npt.NDArray[np.bool_]) -> float:
    """Mean of the log-likelihood ``base`` (rows, columns) over ``visible`` pixels that show bare ground."""
    total, count = 0.0, 0
    for bare, is_visible in zip(base.ravel(), visible.ravel()):  # noqa: B905 - Numba knows no strict=
        if is_visible and bare > UNEXPLAINED_LOG:
            total += float(bare)
            count += 1
    return total / max(count, 1)


@compiled
def _search(integrals: Array, crop_faces: CropFaces, cells: Indices, placement: Array) -> tuple[Array, Array]:
    """(b, f) float32 log-likelihood of each tower in its likeliest placement, and that placement, (b, f, p, 3) float32.

    ``integrals``: from :func:`_sum_values`; ``placement`` (b, 2) float32 mm.
    """
    towers = crop_faces.towers
    likely = np.full((len(cells), len(towers)), -np.inf, np.float32)
    places = np.zeros((len(cells), len(towers), towers.shape[2], 3), np.float32)
    walk = make_walk(towers.shape[2], integrals.shape[1])
    for k in range(len(cells)):
        faces = make_lateral_faces(crop_faces.far[cells[k]], crop_faces.near[cells[k]])
        order, begins = _first_placements(integrals[k], faces, walk, towers, placement[k])
        memos = [make_memo(3 * pyramids_of(tower).shape[1]) for tower in towers]
        for trial in range(REFINED_TURNS):
            least = likely[k].max() - CLOSE_NATS
            for number in range(len(towers)):
                if likely[k, number] >= least or trial == 0:
                    tower = pyramids_of(towers[number])
                    at = np.zeros((tower.shape[1], 3), np.float32)
                    at[:] = begins[number, order[number, trial]]
                    hopeless = likely[k].max() - HOPELESS_NATS
                    total = _climb(integrals[k], faces, walk, tower, at, memos[number], hopeless)
                    if total > likely[k, number]:
                        likely[k, number], places[k, number, : len(at)] = total, at
    return likely, places


@compiled
def _likeliest(
    integrals: Array, crop_faces: CropFaces, cells: Indices, likely: Array, places: Array
) -> tuple[Array, Indices]:
    """``sums`` and ``wireframes`` of :class:`CropFaceFits`; ``likely`` and ``places`` from :func:`_search`."""
    most = crop_faces.towers.shape[2]
    sums = np.zeros((len(cells), most, len(LATERAL_FACES), SUMS), np.float32)
    wireframes = np.full((len(cells), most), -1)
    walk = make_walk(most, integrals.shape[1])
    for k in range(len(cells)):
        best = likely[k].argmax()
        tower = pyramids_of(crop_faces.towers[best])
        faces, count = make_lateral_faces(crop_faces.far[cells[k]], crop_faces.near[cells[k]]), tower.shape[1]
        at, parts = places[k, best, :count], sums[k].reshape(-1, SUMS)
        _log_likelihood(integrals[k], faces, walk, tower, at, parts, 1)
        for pyramid in range(count):
            wireframes[k, pyramid] = tower[int(at[pyramid, 0]), pyramid]
    return sums, wireframes


@compiled
def _first_placements(
    integrals: Array, faces: LateralFaces, walk: Walk, towers: Indices, placement: Array
) -> tuple[Indices, Array]:
    """(f, t) intp rotations of each tower, the likeliest first; (f, t, 3) float32 its likeliest placement in each.

    All pyramids of a tower share one placement here: index of the rotation, mm right, mm down.
    """
    order, begins = np.zeros(towers.shape[:2], np.intp), np.zeros((*towers.shape[:2], 3), np.float32)
    for number in range(len(towers)):
        tower = pyramids_of(towers[number])
        at = np.zeros((tower.shape[1], 3), np.float32)
        parts = np.zeros((tower.shape[1] * len(LATERAL_FACES), SUMS), np.float32)
        likely = np.full(len(tower), -np.inf, np.float32)
        for turn in range(len(tower)):
            for share in START_FRACTIONS:
                at[:, 0], at[:, 1], at[:, 2] = turn, np.rint(share * placement[0]), share * placement[1]
                total = _log_likelihood(integrals, faces, walk, tower, at, parts, SEARCH_STEP)
                if total > likely[turn]:
                    likely[turn], begins[number, turn] = total, at[0]
        order[number] = np.argsort(-likely)
    return order, begins


@compiled
def _climb(
    integrals: Array, faces: LateralFaces, walk: Walk, tower: Indices, at: Array, memo: Memo, least: float
) -> float:
    """Log-likelihood of a tower, marginalised over placements; ``at`` is replaced by the likeliest one found from it.

    Towers of more pyramids have more freedom to agree by chance.  So the likelihood is averaged over all placements:
    that of the best one, times the share of placements that are nearly as likely (Laplace's method, on the steps around
    the best).

    Args:
        integrals: (columns, rows + 1, SUMS) float32.
        faces: of the cell.
        walk: work space.
        tower: (t, p) intp.
        at: (p, 3) float32, see :func:`_log_likelihood`.
        memo: log-likelihoods of the tower's placements evaluated so far.
        least: log-likelihood below which a tower is given up after a round of steps.
    """
    parts = np.zeros((len(at) * len(LATERAL_FACES), SUMS), np.float32)
    tried = np.zeros((len(at), len(STEPS)), np.float32)
    best, trial = _log_likelihood(integrals, faces, walk, tower, at, parts, SEARCH_STEP), np.empty_like(at)
    for _ in range(ROUNDS):
        before = best
        for lowest in range(len(at) - 1, -1, -1):
            for number in range(len(STEPS)):
                tried[lowest, number] = -np.inf
                if move_pyramids(trial, at, (0, lowest), STEPS[number], len(tower)):
                    slot = find(memo, trial)
                    if not memo.is_used[slot]:
                        total = _log_likelihood(integrals, faces, walk, tower, trial, parts, SEARCH_STEP)
                        put(memo, slot, trial, total)
                    total = memo.values[slot]
                    tried[lowest, number] = total
                    if total > best:
                        best = total
                        move_pyramids(at, at, (0, lowest), STEPS[number], len(tower))
        if best == before or best < least:
            break
    spread = np.exp(tried - best)
    placements = (1 + spread[:, :TRANSLATIONS].sum(axis=1)) * (1 + spread[:, -2:].sum(axis=1))
    return float(best + np.log(placements).sum() - LOG_PLACEMENTS * (len(at) - 1))


@allocation_free
def _log_likelihood(
    integrals: Array, faces: LateralFaces, walk: Walk, tower: Indices, at: Array, parts: Array, step: int
) -> float:
    """Log-posterior of a tower in a placement, up to a constant per cell.

    Args:
        integrals: (columns, rows + 1, SUMS) float32 of the cell, see :func:`_sum_values`.
        faces: of the cell.
        walk: work space.
        tower: (t, p) intp its pyramids in each rotation, the uppermost first.
        at: (p, 3) float32 placement of each: index of its rotation, mm right, mm down.
        parts: (p · faces, SUMS) float32 work array.
        step: column stride.
    """
    parts[:] = 0
    count = visible_runs(walk, faces, tower, at, integrals.shape[1] - 1, step)
    add_sums(integrals, walk.runs[:count], parts)
    uneven, bare = 0.0, 0.0
    for part in parts:
        uneven += gradient_residual(part, 1.0)
        bare += part[5]
    return float((-uneven / (2 * FACE_DEVIATION**2) - bare) * (step / INDEPENDENT_MM2) - 0.5 * placement_distance2(at))
