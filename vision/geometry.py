"""Everything about one camera pose, and one setting of the pillars, that does not change from frame to frame."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.columns import SUBPIXEL_BITS, Column, columns_of, floors_mm
from vision.crops import Crops, make_crops
from vision.facets import Facets, make_facets
from vision.figures import Figures, kit_figures
from vision.outlines import Outlines, make_outlines
from vision.palette import Materials
from vision.register import Points, Registration, project

SURROUND_STEP = 8
"""Every how many pixels what lies outside the mat is sampled."""

UPRIGHT_COLUMN_MM, SLANTED_COLUMN_MM = 2, 1
"""Width of a crop's columns: sides that are upright in the crop need no finer ones; pyramids' sizes show across it."""

SAME_POSE_PX = 0.5
"""Poses that put the mat's corners this close together share their geometry: it is twice the measured repeatability."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Crops, outlines and masks of one pose; n cells, and crops of (rows, columns) pixels.

    Attributes:
        pose: the registration that it was made for.
        levels: of terrain or pillars, a cell; empty on a flat board.
        figures: what can stand on a cell.
        crops: see :class:`vision.crops.Crops`.
        outlines: see :class:`vision.outlines.Outlines`.
        edges: (n, figures, e, k) float32, ``outlines.edges`` as places in a cumulative sum along the crop's column:
            row i of the crop is what lies between i and i + 1.
        covers: (n, figures, k) bool, whether the figure reaches the column.
        facets: the flanks of pyramids; None for pieces with upper faces.
        columns: (k,) intp, the crop columns that the outlines are sampled on.
        ground: (n, rows, columns) uint8, the material that each crop pixel shows when no piece stands anywhere.
        hidden: (n, rows, columns) bool, crop pixels in which a nearer column hides whatever stands on the cell.
        pillars: the columns under the pieces, a cell.
        far_first: (n,) cells from the farthest to the nearest to the camera.
        rank: (n,) place of each cell in ``far_first``, from 1.
        parties: cells in four groups; no two of a group are neighbours, so a group can be explained at once.
        radius_mm: half of the widest piece's width.
        mat_px: (4, 2) the mat's corners in the picture.
        surround_px: indices into the flattened picture, a sample of what lies outside the mat.
    """

    pose: Registration
    levels: tuple[int, ...]
    figures: Figures
    crops: Crops
    outlines: Outlines
    edges: npt.NDArray[np.float32]
    covers: npt.NDArray[np.bool_]
    facets: Facets | None
    columns: npt.NDArray[np.intp]
    ground: npt.NDArray[np.uint8]
    hidden: npt.NDArray[np.bool_]
    pillars: tuple[Column | None, ...]
    far_first: npt.NDArray[np.intp]
    rank: npt.NDArray[np.int32]
    parties: tuple[npt.NDArray[np.intp], ...]
    radius_mm: float
    mat_px: Points
    surround_px: npt.NDArray[np.intp]


def mat_corners(kit: Kit) -> Points:
    """(4, 3) mm, the mat's corners."""
    x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    return np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])


def make_geometry(kit: Kit, levels: tuple[int, ...], pose: Registration, camera: Camera) -> Geometry:
    """The geometry of a kit whose terrain or pillars stand at ``levels`` (n, or empty), seen from ``pose``."""
    figures = kit_figures(kit)
    centres = floors_mm(kit, levels)
    width = max(kind.width_mm for kind in kit.pieces)
    height = max(float(part.corners_mm[:, 2].max()) for figure in figures.all for part in figure.parts)
    crops = make_crops(
        centres, pose, camera, (width, height), UPRIGHT_COLUMN_MM if figures.faced else SLANTED_COLUMN_MM
    )
    outlines = make_outlines(crops, pose, camera, figures)
    wide = np.flatnonzero(outlines.covers.any(axis=(0, 1)))
    # Stacks are shifted sideways by up to two columns when they are looked for.
    wide = wide[(wide >= 2) & (wide < len(crops.u_mm) - 2)]
    distance = np.linalg.norm(centres[:, :2] - pose.centre_mm[:2], axis=1)
    far_first = np.argsort(-distance)
    rank = np.empty(len(distance), np.int32)
    rank[far_first] = np.arange(1, len(distance) + 1)
    pillars = columns_of(kit, levels, pose, camera)
    mat_px = project(mat_corners(kit), pose, camera)
    size = (camera.height_px, camera.width_px)
    ground = np.full(size, Materials.TABLE, np.uint8)
    cv2.fillConvexPoly(ground, np.rint(mat_px).astype(np.int32), Materials.FLOOR)
    nearest = np.zeros(size, np.uint8)
    for cell in far_first:
        paint_column(ground, nearest, pillars[cell], Materials(len(figures.colours)), int(rank[cell]))
    beside = ground[::SURROUND_STEP, ::SURROUND_STEP] == Materials.TABLE
    step_rows, step_columns = np.nonzero(beside)
    return Geometry(
        pose=pose,
        levels=levels,
        figures=figures,
        crops=crops,
        outlines=outlines,
        edges=np.ascontiguousarray(outlines.edges[..., wide] - (crops.v_mm[0] - 0.5), np.float32),
        covers=outlines.covers[..., wide],
        facets=None if figures.faced else make_facets(crops, pose, camera, figures),
        columns=wide.astype(np.intp),
        ground=ground.ravel()[crops.flat_px],
        hidden=nearest.ravel()[crops.flat_px] > rank[:, None, None],
        pillars=pillars,
        far_first=far_first,
        rank=rank,
        parties=_parties(kit),
        radius_mm=width / 2,
        mat_px=mat_px,
        surround_px=(step_rows * camera.width_px + step_columns) * SURROUND_STEP,
    )


def paint_column(
    labels: npt.NDArray[np.uint8],
    ranks: npt.NDArray[np.uint8],
    column: Column | None,
    materials: Materials,
    rank: int,
) -> None:
    """Paint the column of a cell over what is behind it: materials into ``labels``, ``rank`` into ``ranks``."""
    if column is None:
        return
    cv2.fillConvexPoly(labels, column.outline, materials.column_side, shift=SUBPIXEL_BITS)
    cv2.fillConvexPoly(labels, column.top, materials.column_top, shift=SUBPIXEL_BITS)
    cv2.fillConvexPoly(ranks, column.outline, rank, shift=SUBPIXEL_BITS)


def _parties(kit: Kit) -> tuple[npt.NDArray[np.intp], ...]:
    places = np.array([kit.centre_mm(cell) for cell in kit.cells]) - kit.board.a1_mm
    odd = np.rint(places / kit.board.pitch_mm).astype(int) % 2
    groups = (np.flatnonzero((odd == (x, y)).all(axis=1)) for y in (0, 1) for x in (0, 1))
    return tuple(group for group in groups if len(group))


def same_pose(geometry: Geometry, kit: Kit, pose: Registration, camera: Camera) -> bool:
    """Whether ``pose`` sees the mat where ``geometry`` has it."""
    moved = project(mat_corners(kit), pose, camera) - geometry.mat_px
    return bool((np.abs(moved) < SAME_POSE_PX).all())
