"""Everything that depends on one camera pose, and one setting of the pillars, but on no picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.glyphs.faces import Faces, upright_faces
from vision.likelihood.crop_faces import CropFaces, make_crop_faces
from vision.likelihood.lateral_faces import CloseUp, make_close_up
from vision.pose.projection import Points, Registration, project
from vision.pose.registration import marker_corners
from vision.scene.configurations import Configurations, kit_configurations
from vision.scene.crops import INDEPENDENT_MM2, Crops, make_crops
from vision.scene.ground import ground_labels, mat_corners
from vision.scene.label_buffer import LabelBuffer, fill_column
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.outlines import Outlines, in_picture, make_outlines
from vision.scene.prisms import Prisms, make_prisms
from vision.scene.terrain import Column, columns_of, far_first, floors_mm
from vision.scene.visibility import Visibility, visible_pixels

SURROUND_STEP = 8
"""Stride of the sample of pixels outside the mat."""

UPRIGHT_COLUMN_MM, SLANTED_COLUMN_MM = 2, 1
"""Width of a crop's columns: sides that are upright in the crop need no finer ones; pyramids' slanted edges do."""

COLOUR_WEIGHT = 0.5
"""Weight of colours where edges are scored too: a whole face is often darker than modelled.  Chosen by eye."""

COARSEST_MM = 1.25
"""Width of a pixel, on the board, up to which the picture is halved to compare stacks in it: boundaries are compared
between places 2 mm apart.  In pixels of 0.8 to 1.25 mm as many of 520 pictures of 52 own boards with discs, of 194 of
twenty sets with characters, and of 551 of 57 other sets were read as in those of 0.4 to 0.8 mm, and a comparison took
0.6 to 0.7 of the time; in pixels of 1.25 to 1.9 mm 15 fewer of the first."""

SAME_POSE_PX = 0.5
"""Poses that project the mat's corners this close together share their geometry: twice the measured repeatability."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Crops, outlines and masks of one pose; n cells, and crops of (rows, columns) pixels.

    Attributes:
        pose: the registration that it was made for.
        camera: its intrinsics.
        levels: of terrain or pillars, one per cell; empty on a flat board.
        configurations: what can stand on a cell.
        crops: see :class:`vision.scene.crops.Crops`.
        outlines: see :class:`vision.scene.outlines.Outlines`.
        outline_table: the outlines as flat arrays, see :class:`vision.scene.outline_table.OutlineTable`.
        visibility: which crop pixels can be seen, see :class:`vision.scene.visibility.Visibility`.
        crop_faces: the lateral faces of pyramids; None for pieces with upper faces.
        close_up: the same at the picture's own resolution, cell by cell; None likewise.
        prisms: what may stand, in a picture of no more pixels than are needed; None for pyramids.
        pillars: the columns under the pieces, one per cell.
        is_edged: whether edges are scored: colours do not distinguish pieces of several sizes that stand in pits.
        bare: label buffer of mat and columns alone.
        size: (height, width) of the picture.
        far_first: (n,) cells from the farthest to the nearest to the camera.
        radius_mm: half of the widest piece's width.
        mat_px: (4, 2) the mat's corners in the picture.
        surround_px: indices into the flattened picture, a sample of what lies outside the mat.
    """

    pose: Registration
    camera: Camera
    levels: tuple[int, ...]
    configurations: Configurations
    crops: Crops
    outlines: Outlines
    outline_table: OutlineTable
    visibility: Visibility
    crop_faces: CropFaces | None
    close_up: CloseUp | None
    prisms: Prisms | None
    pillars: tuple[Column | None, ...]
    is_edged: bool
    bare: LabelBuffer
    size: tuple[int, int]
    far_first: npt.NDArray[np.intp]
    radius_mm: float
    mat_px: Points
    surround_px: npt.NDArray[np.intp]

    @cached_property
    def faces(self) -> Faces:
        """The upper faces of all configurations, which must be round, on all cells."""
        return upright_faces(self.configurations, self.crops.centres_mm, self.rank, (self.pose, self.camera))

    @cached_property
    def side_edges(self) -> npt.NDArray[np.intp]:
        """(n, f) crop column of the upright edge between the two visible sides of cubes; -1 for discs."""
        configurations, crops = self.configurations, self.crops
        columns = np.full((len(self.rank), len(configurations.all)), -1, np.intp)
        for number, configuration in enumerate(configurations.all):
            if configuration.size.shape == "cube":
                foot = self.outlines.corners_mm[number][:, -4:]
                nearest = foot[np.arange(len(foot)), foot[..., 1].argmax(axis=1), 0]
                columns[:, number] = np.rint((nearest - crops.u_mm[0]) / crops.column_mm)
        return columns

    @property
    def rows_round(self) -> tuple[int, int]:
        """The first row of a crop that is near its cell's middle or its stack's foot, and the one after the last."""
        rows = np.flatnonzero(np.abs(self.crops.v_mm) <= self.radius_mm)
        return int(rows[0]), int(rows[-1]) + 1

    @property
    def rank(self) -> npt.NDArray[np.int32]:
        """(n,) place of each cell in ``far_first``, from 1."""
        return self.visibility.rank


def make_geometry(kit: Kit, levels: tuple[int, ...], pose: Registration, camera: Camera) -> Geometry:
    """The geometry of a kit whose terrain or pillars stand at ``levels`` (n, or empty), seen from ``pose``."""
    configurations = kit_configurations(kit)
    centres = floors_mm(kit, levels)
    width = max(kind.width_mm for kind in kit.pieces)
    height = max(
        float(part.corners_mm[:, 2].max()) for configuration in configurations.all for part in configuration.parts
    )
    crops = make_crops(
        centres, pose, camera, (width, height), UPRIGHT_COLUMN_MM if configurations.has_faces else SLANTED_COLUMN_MM
    )
    pixels = [in_picture(crops, pose, camera, wireframe.corners_mm) for wireframe in configurations.wireframes]
    outlines = make_outlines(crops, configurations, pixels)
    wide = np.flatnonzero(outlines.covers.any(axis=(0, 1)))
    # Stacks are shifted sideways by up to two columns when they are looked for.
    wide = wide[(wide >= 2) & (wide < len(crops.u_mm) - 2)]
    order = far_first(kit, pose)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(1, len(order) + 1)
    pillars = columns_of(kit, levels, pose, camera)
    is_edged = configurations.has_several_sizes and any(pillars)
    mat_px = project(mat_corners(kit), pose, camera)
    size = (camera.height_px, camera.width_px)
    bare = ground_labels(kit, pose, camera)
    view = pose, camera
    prisms = _prisms(kit, levels, view, crops, bare) if configurations.has_faces else None
    crop_faces = None if configurations.has_faces else make_crop_faces(crops, *view, configurations)
    for cell in order:
        fill_column(bare, pillars[cell], Materials(len(configurations.colours)), int(rank[cell]))
    step_rows, step_columns = np.nonzero(bare[::SURROUND_STEP, ::SURROUND_STEP] == Materials.TABLE)
    return Geometry(
        pose=pose,
        camera=camera,
        levels=levels,
        configurations=configurations,
        crops=crops,
        outlines=outlines,
        outline_table=OutlineTable(
            edges=np.ascontiguousarray(outlines.edges[..., wide]),
            covers=np.ascontiguousarray(outlines.covers[..., wide]),
            columns=wide.astype(np.intp),
            bands=configurations.parts - 1,
            allowed=configurations.allowed,
            has_faces=configurations.has_faces,
            column_mm=float(crops.column_mm),
            foreshortening=crops.foreshortening,
            weight=(COLOUR_WEIGHT if is_edged else 1) * crops.column_mm / INDEPENDENT_MM2,
        ),
        visibility=Visibility(
            flat_px=crops.flat_px,
            visible=visible_pixels(crops.flat_px, crops.outside, bare.ravel(), rank),
            rank=rank,
        ),
        crop_faces=crop_faces,
        close_up=None if crop_faces is None else make_close_up(crops, *view, configurations, crop_faces.towers),
        prisms=prisms,
        pillars=pillars,
        is_edged=is_edged,
        bare=bare,
        size=size,
        far_first=order,
        radius_mm=width / 2,
        mat_px=mat_px,
        surround_px=(step_rows * camera.width_px + step_columns) * SURROUND_STEP,
    )


def _prisms(
    kit: Kit, levels: tuple[int, ...], view: tuple[Registration, Camera], crops: Crops, ground: LabelBuffer
) -> Prisms:
    """The prisms of a pose, over the bare ``ground``, at the lowest resolution that is fine enough."""
    pixel_mm = float(np.median(np.linalg.norm(crops.to_crop[:, 0], axis=1)))
    # Halving a picture is five times as fast as making it a third as large.
    shrink = 2 ** max(0, int(np.log2(COARSEST_MM / pixel_mm)))
    return make_prisms(kit, levels, view, ground.astype(np.int16), shrink)


def same_pose(known: Registration, kit: Kit, pose: Registration, camera: Camera) -> bool:
    """Whether ``pose`` projects the mat to where the ``known`` one does."""
    corners = mat_corners(kit)
    moved = project(corners, pose, camera) - project(corners, known, camera)
    return bool((np.abs(moved) < SAME_POSE_PX).all())


def is_pushed(known: Registration, kit: Kit, pose: Registration, camera: Camera) -> bool:
    """Whether ``pose`` projects all of its markers, but for one at most, elsewhere than the ``known`` one does.

    Something at a single marker, such as the edge of an arm's shadow, turns the mat about the others, which stay.
    """
    corners = np.concatenate([marker_corners(kit.mat, number) for number in pose.markers])
    moved = project(corners, pose, camera) - project(corners, known, camera)
    n_moved = int((np.abs(moved) >= SAME_POSE_PX).reshape(len(pose.markers), -1).any(axis=1).sum())
    return n_moved >= max(1, len(pose.markers) - 1)
