"""Everything about one camera pose that does not change from frame to frame."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.crops import Crops, make_crops
from vision.errors import VisionError
from vision.outlines import DiscOutlines, disc_outlines
from vision.register import Points, Registration, project

TALLEST = 10
"""Pieces in the tallest stack that is looked for: twice Domination's limit, which an unfinished turn can reach."""

ROUNDED_MM = 0.5
"""How far from its faces a turned or moulded piece is at its widest."""

SURROUND_STEP = 8
"""Every how many pixels what lies outside the mat is sampled."""

SAME_POSE_PX = 0.5
"""Poses that put the mat's corners this close together share their geometry: it is twice the measured repeatability."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Crops, outlines and masks of one pose; n cells, and crops of (rows, columns) pixels.

    Attributes:
        pose: the registration that it was made for.
        tops: number of piece kinds.
        crops: see :class:`vision.crops.Crops`.
        outlines: see :class:`vision.outlines.DiscOutlines`.
        far_row: (n, levels, k) float32, place in a cumulative sum along the crop's column where the face of each level
            begins: row i of the crop is what lies between i and i + 1.
        near_row: (n, levels, k) float32, where it ends.
        columns: (k,) intp, the crop columns that the outlines are sampled on.
        covers: (n, levels, k) bool, whether the face reaches the column.
        off_mat: (n, rows, columns) bool, crop pixels that show what lies outside the mat.
        far_first: (n,) cells from the farthest to the nearest to the camera.
        rank: (n,) place of each cell in ``far_first``, from 1.
        parties: cells in four groups; no two of a group are neighbours, so a group can be explained at once.
        boxes_px: (n, levels, 4) left, top, right, bottom in the picture of a stack of each height.
        mat_px: (4, 2) the mat's corners in the picture.
        surround_px: indices into the flattened picture, a sample of what lies outside the mat.
    """

    pose: Registration
    tops: int
    crops: Crops
    outlines: DiscOutlines
    far_row: npt.NDArray[np.float32]
    near_row: npt.NDArray[np.float32]
    columns: npt.NDArray[np.intp]
    covers: npt.NDArray[np.bool_]
    off_mat: npt.NDArray[np.bool_]
    far_first: npt.NDArray[np.intp]
    rank: npt.NDArray[np.int32]
    parties: tuple[npt.NDArray[np.intp], ...]
    boxes_px: npt.NDArray[np.float32]
    mat_px: Points
    surround_px: npt.NDArray[np.intp]


def mat_corners(kit: Kit) -> Points:
    """(4, 3) mm, the mat's corners."""
    x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    return np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])


def make_geometry(kit: Kit, pose: Registration, camera: Camera) -> Geometry:
    """The geometry of a kit of discs seen from ``pose``.  Raises VisionError for kits of other shapes."""
    kind = kit.pieces[0]
    if any((p.shape, p.width_mm, p.height_mm) != ("disc", kind.width_mm, kind.height_mm) for p in kit.pieces):
        raise VisionError(f"the kit {kit.name} has pieces other than discs of one size, which cannot be read yet")
    if len({(p.colour, p.glyph) for p in kit.pieces}) != len({p.colour for p in kit.pieces}):
        raise VisionError(f"the kit {kit.name} has pieces that differ by their characters, which cannot be read yet")
    # A rounded rim begins to curve in below the upper face and above the foot: that is where the outline is widest.
    rises = (ROUNDED_MM, *(kind.height_mm * level - ROUNDED_MM for level in range(1, TALLEST + 1)))
    crops = make_crops(kit, pose, camera, kind.width_mm, rises[-1])
    outlines = disc_outlines(crops, pose, camera, kind.width_mm / 2, rises)
    wide = np.flatnonzero(np.abs(crops.u_mm) <= kind.width_mm / 2)
    first = crops.v_mm[0] - 0.5
    distance = np.linalg.norm(crops.centres_mm - pose.centre_mm, axis=1)
    far_first = np.argsort(-distance)
    rank = np.empty(len(distance), np.int32)
    rank[far_first] = np.arange(1, len(distance) + 1)
    mat_px = project(mat_corners(kit), pose, camera)
    beside = np.ones((camera.height_px, camera.width_px), np.uint8)
    cv2.fillConvexPoly(beside, np.rint(mat_px).astype(np.int32), 0)
    sample = np.flatnonzero(beside[::SURROUND_STEP, ::SURROUND_STEP])
    step_rows, step_columns = np.divmod(sample, beside[::SURROUND_STEP, ::SURROUND_STEP].shape[1])
    return Geometry(
        pose=pose,
        tops=len(kit.pieces),
        crops=crops,
        outlines=outlines,
        far_row=(outlines.far[..., wide] - first).astype(np.float32),
        near_row=(outlines.near[..., wide] - first).astype(np.float32),
        columns=wide.astype(np.intp),
        covers=outlines.covers[..., wide],
        off_mat=beside.ravel()[crops.flat_px].astype(bool),
        far_first=far_first,
        rank=rank,
        parties=_parties(kit),
        boxes_px=_boxes(crops, outlines),
        mat_px=mat_px,
        surround_px=(step_rows * camera.width_px + step_columns) * SURROUND_STEP,
    )


def _boxes(crops: Crops, outlines: DiscOutlines) -> npt.NDArray[np.float32]:
    middle = np.einsum("nij,nlj->nli", crops.to_picture, outlines.centre_mm) + crops.origin_px[:, None]
    radius_px = outlines.radius_mm * np.linalg.norm(crops.to_picture[:, :, 0], axis=1)[:, None, None]
    low, high = np.minimum(middle, middle[:, :1]) - radius_px, np.maximum(middle, middle[:, :1]) + radius_px
    return np.concatenate([low, high], axis=2).astype(np.float32)


def _parties(kit: Kit) -> tuple[npt.NDArray[np.intp], ...]:
    places = np.array([kit.centre_mm(cell) for cell in kit.cells]) - kit.board.a1_mm
    odd = np.rint(places / kit.board.pitch_mm).astype(int) % 2
    groups = (np.flatnonzero((odd == (x, y)).all(axis=1)) for y in (0, 1) for x in (0, 1))
    return tuple(group for group in groups if len(group))


def same_pose(geometry: Geometry, kit: Kit, pose: Registration, camera: Camera) -> bool:
    """Whether ``pose`` sees the mat where ``geometry`` has it."""
    moved = project(mat_corners(kit), pose, camera) - geometry.mat_px
    return bool((np.abs(moved) < SAME_POSE_PX).all())
