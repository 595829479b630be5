"""The views of a kit's pillars at every level, with everything that may stand on them, painted as segmentations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.heights import floor_mm
from calibration.kit import Kit, Pillars
from vision.likelihood.regions import FIRST, REGIONS, UPPER
from vision.pose.projection import Points, Registration, project
from vision.scene.configurations import PLACE_MM, stacks_of
from vision.scene.ground import mat_corners
from vision.scene.materials import Materials
from vision.scene.prisms import downsample_points
from vision.scene.solids import Solid, column, faces_towards, pieces
from vision.scene.terrain import SUBPIXEL_BITS, Polygon, far_first, to_fixed_point

Labels = npt.NDArray[np.int32]

Place = tuple[float, ...]
"""Displacement of what stands on a pillar from its middle: mm to the right and up, and rotation in radians."""

SHRINK = 2
"""Downscaling factor of the picture: faces are centimetres wide, and half the size costs a quarter."""

FURTHER_PIECE_ODDS = 1e-3
"""Prior odds of one more piece on a pillar: pieces of several sizes are seldom stacked.  Shared among all
configurations of so many pieces.  Where the pillar stands at another level than expected, each is a further act, as
rare again.  Chosen by eye."""

IN_THE_MIDDLE: Place = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Face:
    """A face of a pillar, or of a piece on it, in the small picture.

    ``region``: index of the evenly lit region that it belongs to, among those of its pillar: the pillar's own, then
    those of each piece from below.  ``around_mm``: (k, 2) its corners relative to the middle of the cell.
    """

    outline: Polygon
    region: int
    around_mm: Points


@dataclass(frozen=True, eq=False)
class PillarViews:
    """Every pillar (n) at every level (l), with every configuration on it (s), in one pose.

    Attributes:
        lowest: the first level.
        faces: n by l by s, the visible faces of each; in the first nothing stands on the pillar, then come the
            configurations of :func:`vision.scene.configurations.kit_configurations`.
        boxes: (n, 4) int32, left, top, right, bottom of what a pillar can cover at any level, in the small picture.
        far_first: (n,) intp, the farthest first.
        ground: (height, width) int32, labels FLOOR and TABLE where no pillar stands.
        storeys: greatest number of solids on top of each other: the pillar and the tallest stack on it.
        further: (s,) how many pieces stand on the lowest one of each.
        log_prior: (s,) float64, of what stands on a pillar.
        per_mm: (n, l, 2, 2) float64, shift in the small picture of what stands on a pillar, in steps of a fixed-point
            outline, for each mm to the right and up.
        weight: independent observations per pixel: an edge that is slightly off is wrong along the whole pillar.
        px_per_mm: scale of the small picture in the middle of the mat.
        mat_px: (4, 2) the mat's corners in it.
    """

    lowest: int
    faces: tuple[tuple[tuple[tuple[Face, ...], ...], ...], ...]
    boxes: npt.NDArray[np.int32]
    far_first: npt.NDArray[np.intp]
    ground: Labels
    storeys: int
    further: npt.NDArray[np.intp]
    log_prior: npt.NDArray[np.float64]
    per_mm: npt.NDArray[np.float64]
    weight: float
    px_per_mm: float
    mat_px: Points


def candidate_levels(pillars: Pillars) -> range:
    """The levels that are compared in a picture: also one beyond the highest, where a pillar may be put."""
    return range(pillars.lowest, pillars.highest + 2)


def make_views(kit: Kit, pillars: Pillars, pose: Registration, camera: Camera) -> PillarViews:
    """The views of a kit's pillars from ``pose``."""
    stacks = ["", *("".join(kind.letter for kind in stack) for stack in stacks_of(kit.pieces))]

    def seen(solid: Solid, storey: int, cell: str) -> tuple[Face, ...]:
        """Visible faces with their regions: four sides, each with its bevel, and the upper face."""
        pixels, around = (
            downsample_points(project(solid.points, pose, camera), SHRINK),
            solid.points[:, :2] - kit.centre_mm(cell),
        )
        shown = faces_towards(solid, pose.centre_mm)
        return tuple(
            Face(
                to_fixed_point(pixels[list(face)]),
                REGIONS * storey + (UPPER if face == solid.top else side % UPPER),
                around[list(face)],
            )
            for side, (face, is_seen) in enumerate(zip(solid.faces, shown, strict=True))
            if is_seen
        )

    everything = []
    for cell in kit.cells:
        levels = []
        for level in candidate_levels(pillars):
            solid = column(kit, cell, level)
            assert solid is not None, "a pillar stands above the mat"
            known = {"": seen(solid, 0, cell)}
            for stack in stacks[1:]:
                # Shorter stacks come first, so that the faces of the pieces below are known.
                top = pieces(kit, cell, stack, level)[-1]
                known[stack] = known[stack[:-1]] + seen(top, len(stack), cell)
            levels.append(tuple(known.values()))
        everything.append(tuple(levels))
    corners = [np.concatenate([f.outline for level in own for stack in level for f in stack]) for own in everything]
    size = np.array([camera.width_px, camera.height_px]) // SHRINK
    boxes = [[*(points.min(axis=0) >> SUBPIXEL_BITS), *(points.max(axis=0) >> SUBPIXEL_BITS) + 2] for points in corners]
    ground = np.full(size[::-1], Materials.TABLE, np.int32)
    mat_px = downsample_points(project(mat_corners(kit), pose, camera), SHRINK)
    cv2.fillConvexPoly(ground, to_fixed_point(mat_px), Materials.FLOOR, shift=SUBPIXEL_BITS)
    middle = project(np.array([[0.0, 0, 0], [10.0, 0, 0], [0.0, 10, 0]]), pose, camera) / SHRINK
    pixel_mm2 = 100 / abs(float(np.linalg.det(middle[1:] - middle[0])))
    heights = np.array([len(stack) for stack in stacks])
    return PillarViews(
        lowest=pillars.lowest,
        faces=tuple(everything),
        boxes=np.clip(boxes, 0, [*size, *size]).astype(np.int32),
        far_first=far_first(kit, pose),
        ground=ground,
        storeys=1 + max(map(len, stacks)),
        further=np.maximum(heights - 1, 0),
        log_prior=_log_prior(heights),
        per_mm=np.array(
            [[_per_mm(kit, cell, level, (pose, camera)) for level in candidate_levels(pillars)] for cell in kit.cells]
        ),
        weight=pixel_mm2 / (2 * PLACE_MM * pillars.side_mm),
        px_per_mm=pixel_mm2**-0.5,
        mat_px=mat_px,
    )


def _per_mm(kit: Kit, cell: str, level: int, view: tuple[Registration, Camera]) -> npt.NDArray[np.float64]:
    """(2, 2) see :attr:`PillarViews.per_mm`."""
    foot = np.array([*kit.centre_mm(cell), floor_mm(kit, level)])
    origin, right, up = project(foot + np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 1, 0]]), *view) / SHRINK
    return np.column_stack([right - origin, up - origin]) * (1 << SUBPIXEL_BITS)


def _log_prior(heights: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """(s,) float64 log prior of stacks of so many pieces each."""
    log_prior: npt.NDArray[np.float64] = np.maximum(heights - 1, 0) * np.log(FURTHER_PIECE_ODDS)
    return log_prior - np.log(np.bincount(heights)[heights])


def visible_reach(views: PillarViews, pillar: int) -> tuple[slice, slice]:
    """The rows and columns of the small picture that a pillar can cover."""
    left, top, right, bottom = views.boxes[pillar]
    return slice(top, bottom), slice(left, right)


def is_near(views: PillarViews, pillar: int) -> npt.NDArray[np.bool_]:
    """(n,) the other pillars that may be visible in a pillar's reach."""
    left, top, right, bottom = views.boxes[pillar]
    beside = (views.boxes[:, :2] >= (right, bottom)) | (views.boxes[:, 2:] <= (left, top))
    near = np.asarray(~beside.any(axis=1))
    near[pillar] = False
    return near


def paint_pillar(
    labels: Labels, views: PillarViews, pillar: int, state: tuple[int, int], of: int | None = None
) -> None:
    """Render a pillar in its ``state``, level and configuration, on the ``labels`` of the box of the pillar ``of``.

    Of its own box if that is None.
    """
    box, (level, configuration) = pillar if of is None else of, state
    faces = views.faces[pillar][level][configuration]
    _paint(labels, views, (pillar, box), ((face.outline, face.region) for face in faces))


def paint_pieces(labels: Labels, views: PillarViews, pillar: int, state: tuple[int, int], place: Place) -> None:
    """Render what stands on a pillar in this ``state``, at this ``place``, on the ``labels`` of its box.

    It is moved in the picture as its foot is: cubes are so small that perspective makes no difference.
    """
    (level, configuration), (*off_mm, turn_rad) = state, place
    turn = np.array([[np.cos(turn_rad) - 1, np.sin(turn_rad)], [-np.sin(turn_rad), np.cos(turn_rad) - 1]])
    per_mm, faces = views.per_mm[pillar, level].T, views.faces[pillar][level][configuration]
    _paint(
        labels,
        views,
        (pillar, pillar),
        (
            (face.outline + np.rint((face.around_mm @ turn + off_mm) @ per_mm).astype(np.int32), face.region)
            for face in faces
            if face.region >= REGIONS
        ),
    )


def _paint(labels: Labels, views: PillarViews, which: tuple[int, int], faces: Iterator[tuple[Polygon, int]]) -> None:
    """Render ``faces``, outlines and regions; ``which``: the pillar they belong to, and the one whose box it is."""
    pillar, box = which
    offset = views.boxes[box, :2] << SUBPIXEL_BITS
    first = FIRST + REGIONS * views.storeys * pillar
    for outline, region in faces:
        cv2.fillConvexPoly(labels, outline - offset, first + region, shift=SUBPIXEL_BITS)
