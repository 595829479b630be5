"""Likelihood of towers of pyramids at full resolution: each lateral face is even, and so is the ground round it.

Crops are for colours; a pyramid that another one covers is betrayed by a millimetre and a half of its outline, and one
of nearly the ground's colour by its edges alone.  So the pixels round a tower are examined more closely: what no face
covers is ground of its usual colour (or something else, such as shadow or print); the fit is weighted by what the tower
leaves unexplained (the residual variance is profiled out); and where faces meet the picture changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.compiled import compiled
from vision.likelihood.crop_faces import face_rows, project_pyramids
from vision.likelihood.hues import hue
from vision.likelihood.lateral_boundaries import Contrasts, make_contrasts
from vision.likelihood.lateral_fitting import fit, uncovered_sums
from vision.likelihood.lateral_runs import LateralFaces, make_lateral_faces
from vision.likelihood.lateral_views import (
    MIN_MM2,
    correct_by_board,
    ground_residuals,
    integrate,
    labels_round,
    observe,
    to_codes,
)
from vision.likelihood.observations import FLOOR
from vision.pose.projection import Registration
from vision.scene.configurations import Configurations
from vision.scene.crops import Crops, magnify
from vision.scene.label_buffer import MATERIAL_MASK, LabelBuffer
from vision.scene.solids import TIP_MM

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class Sampling(NamedTuple):
    """How finely a cell is examined.

    Attributes:
        per_mm: rows and columns per millimetre.
        step_mm: distance between two pixels that are compared to find boundaries.
    """

    per_mm: int
    step_mm: float


TOWERS = Sampling(3, 1.0)
"""For towers that are compared.  The collection's cameras have up to two pixels a millimetre; the notches by which a
tower differs from one pyramid are one pixel wide, which placements at every third of a millimetre meet better, and
pixels 2 mm apart hardly show.  Of 0.67, 1, 1.4 and 2 mm, 26 sets and four folders were read best with 1."""

BOUNDARIES = Sampling(2, 2.0)
"""For boundaries held against bare ground, as those of prisms are: with 1 mm a pale tower was read as none."""


class CellCloseUp(NamedTuple):
    """A finer crop of one cell, and the lateral faces of pyramids (w) in it.

    Attributes:
        crops: of that cell alone; a row or column is their unit of length.
        faces: the faces in it.
    """

    crops: Crops
    faces: LateralFaces


@dataclass(frozen=True, eq=False)
class CloseUp:
    """Finer crops of the cells (n) of one pose.

    Attributes:
        towers: see :class:`.crop_faces.CropFaces`.
        sides: (n, w, faces) intp, which side of its pyramid each face is; see :data:`.lateral_runs.LATERAL_FACES`.
        of: the close-up of the cell with this number at so many rows and columns per millimetre, made when it is first
            wanted: few are.
    """

    towers: Indices
    sides: Indices
    of: Callable[[int, int], CellCloseUp]


class CellGround(NamedTuple):
    """The ground round one cell.

    Attributes:
        gain: (3,) float32 display value relative to white paper that one code adds there, b g r.
        floor: (3,) float32 display values of bare floor, b g r.
        board: (3, rows, columns) float32 display values b g r that the bare board shows in the cell's crop, and
            (rows, columns) their variance, NaN where it is not known; None where its appearance was not learned.
    """

    gain: Array
    floor: Array
    board: tuple[Array, Array] | None = None


class TowerFits(NamedTuple):
    """The fits of all towers (f) to one cell, each of up to p pyramids, the uppermost first.

    Attributes:
        log_likelihood: (f,) float64, −inf for those that were not tried.
        means: (f, p, sides, 3) float64, mean display values of each face, b g r.
        area_mm2: (f, p, sides) float64, its visible area; 0 if too small.
    """

    log_likelihood: Floats
    means: Floats
    area_mm2: Floats


class BoundaryFits(NamedTuple):
    """The fits of the boundaries of all towers (f) to one cell, each in its likeliest placement.

    Attributes:
        log_ratio: (f,) float64 log-likelihood ratio against bare ground.
        hue: (2, f, 2) float64, difference in :func:`.hues.hue` between faces and the bare floor round them, and between
            faces and the usual floor; None on a learned board, which may be of many colours.
    """

    log_ratio: Floats
    hue: Floats | None


class _CloseLook(NamedTuple):
    """The pixels of a cell's crop (rows, columns), and what may stand there.

    Attributes:
        pixels: ``codes``, ``gain`` and ``squares`` of :func:`.lateral_views.observe`.
        is_floor: (rows, columns) bool, where bare floor is visible if nothing stands on the cell.
        contrasts: between those that are used.
        faces: of the pyramids that may stand there.
    """

    pixels: tuple[npt.NDArray[np.uint8], Array, Floats]
    is_floor: npt.NDArray[np.bool_]
    contrasts: Contrasts
    faces: LateralFaces


def make_close_up(
    crops: Crops, pose: Registration, camera: Camera, configurations: Configurations, towers: Indices
) -> CloseUp:
    """The close-up of all cells; ``towers``: see :class:`CloseUp`."""
    corners, facing = project_pyramids(crops, pose, camera, configurations, TIP_MM)

    @cache
    def of(cell: int, per_mm: int) -> CellCloseUp:
        fine, one = magnify(crops.only(cell), per_mm, camera), slice(cell, cell + 1)
        far, near = face_rows(per_mm * corners[one], facing[one], fine.u_mm, fine.v_mm)
        return CellCloseUp(fine, make_lateral_faces(far[0], near[0]))

    return CloseUp(towers, facing.argsort(axis=2), of)


def fit_towers(
    image: npt.NDArray[np.uint8],
    close_up: CloseUp,
    seen: tuple[int, int, LabelBuffer],
    ground: CellGround,
    tried: npt.NDArray[np.bool_],
) -> TowerFits:
    """The fits of towers to the pixels of a cell in a picture (height, width, 3) uint8 BGR.

    Args:
        image: as above.
        close_up: of the pose.
        seen: the cell, its rank, and (height, width) labels of what would be visible if nothing stood on it.
        ground: round that cell.
        tried: (f,) bool, the towers that are fitted.
    """
    shown, towers = _look(image, close_up, seen, ground, TOWERS), close_up.towers
    likely, sums, placements = fit(observe(*shown.pixels, shown.contrasts, TOWERS.per_mm), shown.faces, towers, tried)
    wireframes = np.take_along_axis(towers, placements[:, None, :, 0].astype(np.intp), axis=1)[:, 0]
    return TowerFits(likely, *by_side(sums, wireframes, close_up.sides[seen[0]], TOWERS.per_mm))


def fit_boundaries(
    image: npt.NDArray[np.uint8], close_up: CloseUp, seen: tuple[int, int, LabelBuffer], ground: CellGround
) -> BoundaryFits:
    """The fits of the boundaries of towers to the pixels of a cell; arguments as in :func:`fit_towers`."""
    shown, towers = _look(image, close_up, seen, ground, BOUNDARIES), close_up.towers
    view, faces = observe(*shown.pixels, shown.contrasts, BOUNDARIES.per_mm)._replace(weight=0.0), shown.faces
    likely, sums, placements = fit(view, faces, towers, np.ones(len(towers), np.bool_))
    hues = None if ground.board is not None else _hues(shown, sums.sum(axis=(1, 2)), (towers, placements), ground.floor)
    return BoundaryFits(likely, hues)


def _hues(shown: _CloseLook, inside: Floats, placed: tuple[Indices, Floats], usual: Array) -> Floats:
    """``hue`` of :class:`BoundaryFits`, for towers at the placements ``placed``, from their sums ``inside`` (f, SUMS).

    What is visible behind a tower that stands at the mat's edge, or before another one, tells nothing of the light
    here; where hardly any floor is visible, the ``usual`` one (3,) is assumed.
    """
    (codes, gain, squares), floor = shown.pixels, usual.astype(np.float64)
    integrals = integrate(codes, gain, np.where(shown.is_floor, squares, -1))[0]
    outside = uncovered_sums(integrals, shown.faces, *placed)[:, 1:4] + MIN_MM2 * BOUNDARIES.per_mm**2 * floor
    own = hue(inside[:, 1:4])
    return np.stack([own - hue(outside), own - hue(floor)])


def _look(
    image: npt.NDArray[np.uint8],
    close_up: CloseUp,
    seen: tuple[int, int, LabelBuffer],
    ground: CellGround,
    sampling: Sampling,
) -> _CloseLook:
    """The pixels of a cell, and the lateral faces that may be there; arguments as in :func:`fit_towers`."""
    (cell, rank, labels), per_mm = seen, sampling.per_mm
    crops, faces = close_up.of(cell, per_mm)
    x, y = crops.map_px[:, 0]
    remapped = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    codes = np.asarray(remapped, np.uint8)
    shown, is_seen = labels_round(labels.ravel(), rank, crops.flat_px[0], crops.outside[0], faces, per_mm)
    squares = ground_residuals(codes, ground.gain, shown, is_seen, ground.floor, per_mm)
    board, scale = None, (round(sampling.step_mm * per_mm), float(per_mm))
    if ground.board is not None:
        correct_by_board(squares, codes, ground.gain, shown, ground.board)
        board = to_codes(ground.board[0], ground.gain)
    contrasts = make_contrasts(codes, squares >= 0, scale, close_up.sides[cell], board)
    return _CloseLook((codes, ground.gain, squares), shown & MATERIAL_MASK == FLOOR, contrasts, faces)


@compiled
def by_side(sums: Floats, wireframes: Indices, sides: Indices, per_mm: int) -> tuple[Floats, Floats]:
    """``means`` and ``area_mm2`` of :class:`TowerFits` from ``sums`` (f, p, faces, SUMS) over faces.

    ``wireframes`` (f, p): whose these are; ``sides``: (w, faces), see :class:`CloseUp`; ``per_mm``: rows and columns
    per millimetre of what was summed.
    """
    towers, pyramids, faces, _ = sums.shape
    means, area_mm2 = np.zeros((towers, pyramids, faces, 3)), np.zeros((towers, pyramids, faces))
    for tower in range(towers):
        for pyramid in range(pyramids):
            for face in range(faces):
                side, part = sides[wireframes[tower, pyramid], face], sums[tower, pyramid, face]
                if part[0] > MIN_MM2 * per_mm**2:
                    area_mm2[tower, pyramid, side] = part[0] / per_mm**2
                for channel in range(3):
                    means[tower, pyramid, side, channel] = part[1 + channel] / max(part[0], 1)
    return means, area_mm2
