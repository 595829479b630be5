"""How high the pillars stand, from the picture alone: for when their sensors cannot say.

Pillars all have one colour, but each of their faces is evenly lit.  So levels are right when the edges of all faces lie
where the picture's are: then the colours within each face vary least (as in :mod:`vision.facets`).  Levels are found
one pillar after the other, given the others, until none changes (coordinate ascent of the likelihood).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, Pillars
from vision.columns import SUBPIXEL_BITS, Polygon, far_first, fixed
from vision.crops import INDEPENDENT_MM2
from vision.facets import UNEVEN
from vision.geometry import mat_corners
from vision.register import Registration, project
from vision.shapes import Solid, column, faces_towards, pieces

Array = npt.NDArray[np.float32]

SHRINK = 2
"""Faces are centimetres wide: half of the picture's size is fine enough, and costs a quarter."""

CUBE_NATS = 6.0
"""What a cube must gain to be believed in: with its faces anything is explained a little better."""

SWEEPS = 4
"""Most passes over all pillars; two mostly do."""

REGIONS = 5
"""Regions of a pillar: four sides and the upper face."""


@dataclass(frozen=True, eq=False)
class Face:
    """A face of a pillar in the small picture, and the number of the evenly lit region that it belongs to."""

    outline: Polygon
    region: int


@dataclass(frozen=True, eq=False)
class PillarViews:
    """Every pillar (n) at every level (l), with every size of cube on it, as one pose sees it in the small picture.

    Attributes:
        lowest: the first level.
        faces: n by l by sizes, the faces that can be seen of each; nothing stands on the pillar of size 0.
        boxes: (n, 4) int, left, top, right, bottom of what a pillar can cover at any level.
        far_first: (n,) the farthest first.
        ground: (height, width) uint8, regions where no pillar stands: the mat is 1, what lies beside it 0.
        pixel_mm2: area on the mat that a pixel of the small picture shows, about.
    """

    lowest: int
    faces: tuple[tuple[tuple[tuple[Face, ...], ...], ...], ...]
    boxes: npt.NDArray[np.int32]
    far_first: npt.NDArray[np.intp]
    ground: npt.NDArray[np.uint8]
    pixel_mm2: float


def make_views(kit: Kit, pillars: Pillars, pose: Registration, camera: Camera) -> PillarViews:
    """The views of a kit's pillars from ``pose``."""
    sizes = {kind.width_mm: kind.letter for kind in sorted(kit.pieces, key=lambda kind: kind.width_mm)}

    def seen(solid: Solid, first: int) -> tuple[Face, ...]:
        """Faces with the regions from ``first`` on: four sides, each with its bevel, and the upper face."""
        pixels = project(solid.points, pose, camera) / SHRINK
        shown = faces_towards(solid, pose.centre_mm)
        return tuple(
            Face(fixed(pixels[list(face)]), first + (4 if face == solid.top else side % 4))
            for side, (face, is_seen) in enumerate(zip(solid.faces, shown, strict=True))
            if is_seen
        )

    everything = []
    for number, cell in enumerate(kit.cells):
        first = 2 + 2 * REGIONS * number
        levels = []
        for level in range(pillars.lowest, pillars.highest + 1):
            solid = column(kit, cell, level)
            assert solid is not None, "a pillar stands above the mat"
            alone = seen(solid, first)
            cubes = (seen(pieces(kit, cell, letter, level)[0], first + REGIONS) for letter in sizes.values())
            levels.append((alone, *(alone + cube for cube in cubes)))
        everything.append(tuple(levels))
    corners = [np.concatenate([f.outline for level in own for size in level for f in size]) for own in everything]
    size = np.array([camera.width_px, camera.height_px]) // SHRINK
    boxes = [[*(points.min(axis=0) >> SUBPIXEL_BITS), *(points.max(axis=0) >> SUBPIXEL_BITS) + 2] for points in corners]
    ground = np.zeros(size[::-1], np.uint8)
    cv2.fillConvexPoly(ground, fixed(project(mat_corners(kit), pose, camera) / SHRINK), 1, shift=SUBPIXEL_BITS)
    middle = project(np.array([[0.0, 0, 0], [10.0, 0, 0], [0.0, 10, 0]]), pose, camera) / SHRINK
    return PillarViews(
        lowest=pillars.lowest,
        faces=tuple(everything),
        boxes=np.clip(boxes, 0, [*size, *size]).astype(np.int32),
        far_first=far_first(kit, pose),
        ground=ground,
        pixel_mm2=100 / abs(float(np.linalg.det(middle[1:] - middle[0]))),
    )


def judge_levels(
    values: Array,
    views: PillarViews,
    stand: tuple[Sequence[int], Sequence[int]],
    unknown: Sequence[int],
    loose: Sequence[int],
) -> tuple[tuple[int, ...], Array]:
    """The levels that explain a picture best, and how likely each level of each pillar is.

    Args:
        values: (height, width, 3) display values of the small picture, relative to white paper in the same light.
        views: of the pose.
        stand: levels of all pillars, and the size of the cube on each (0 for none, then the smallest), as far as they
            are known: where the search begins.
        unknown: numbers of the pillars whose levels are to be judged.
        loose: numbers of those on which another cube may stand.

    Returns:
        (n,) levels; (n, l) log-likelihood, each row's logsumexp 0; rows of pillars that were not judged are even.
    """
    found = np.column_stack([np.array(stand[0]) - views.lowest, np.array(stand[1])])
    layers = np.concatenate([values, (values**2).sum(axis=2, keepdims=True)], axis=2, dtype=np.float64)
    layers = np.ascontiguousarray(layers.transpose(2, 0, 1))
    count, sizes = len(views.faces[0]), len(views.faces[0][0])
    fits = np.zeros((len(found), count))
    judged, searched = set(unknown), {*unknown, *loose}
    for _ in range(SWEEPS if judged else 0):
        before = found.copy()
        for pillar in (pillar for pillar in views.far_first[::-1] if pillar in searched):
            tried = range(count) if pillar in judged else (int(found[pillar, 0]),)
            rows = [[_fit(layers, views, found, int(pillar), (at, size)) for size in range(sizes)] for at in tried]
            which = int(np.argmax(rows))
            found[pillar] = tried[which // sizes], which % sizes
            if pillar in judged:
                fits[pillar] = np.max(rows, axis=1)
        if (found == before).all():
            break
    fits -= np.logaddexp.reduce(fits, axis=1, keepdims=True)
    return tuple(int(level) + views.lowest for level in found[:, 0]), fits.astype(np.float32)


def _fit(
    layers: npt.NDArray[np.float64],
    views: PillarViews,
    found: npt.NDArray[np.intp],
    pillar: int,
    state: tuple[int, int],
) -> float:
    """Log-likelihood of what lies in a pillar's reach if it stood in ``state`` (level from the lowest, size of cube).

    ``layers`` (4, height, width): the display values and the sum of their squares.
    """
    left, top, right, bottom = views.boxes[pillar]
    labels = views.ground[top:bottom, left:right].astype(np.int32)
    offset = np.array([left, top]) << SUBPIXEL_BITS
    boxes = views.boxes
    beside = ((boxes[:, :2] >= (right, bottom)) | (boxes[:, 2:] <= (left, top))).any(axis=1)
    for other in views.far_first[~np.asarray(beside)[views.far_first]]:
        level, size = state if other == pillar else found[other]
        for face in views.faces[other][level][size]:
            cv2.fillConvexPoly(labels, face.outline - offset, face.region, shift=SUBPIXEL_BITS)
    label, shown = labels.ravel(), layers[:, top:bottom, left:right].reshape(4, -1)
    area = np.maximum(np.bincount(label), 1)
    uneven = np.bincount(label, shown[3]).sum()
    uneven -= sum((np.bincount(label, channel) ** 2 / area).sum() for channel in shown[:3])
    cube = CUBE_NATS if state[1] else 0.0
    return float(-uneven / (2 * UNEVEN**2) * views.pixel_mm2 / INDEPENDENT_MM2) - cube
