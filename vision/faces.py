"""Upper faces of round pieces in a picture: where their middles are, seen by what is printed round them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.looks import GLYPH_ANGLES
from vision.figures import LEAN_MM, PLACE_MM
from vision.geometry import Geometry
from vision.register import Points

Array = npt.NDArray[np.float32]

ANGLES = np.arange(GLYPH_ANGLES) * (2 * np.pi / GLYPH_ANGLES)

_BORDER = np.array([0.72, 0.80, 0.88, 0.95])
"""Radii, as a share of a face's own, of the circles by which its middle is found: printed rings are round."""

BORDER_PARTS = 24
"""Independent places on these circles: each is three or four millimetres long."""

LEAST_SEEN = 0.4
"""Share of these circles that must be seen: an arc of a circle has its middle almost anywhere."""

EVERY_ANGLE = 4
"""Every how many angles these circles are looked at."""

BLURS_PX = (5, 3)
"""Pictures are blurred by so much for coarse and fine steps: rings are thin, and dim pictures full of noise."""

LEAST_UNEVEN = 0.0015
"""Variance round a circle, of three channels as shares of their mean, below which it is noise and grain."""

PLACED_MM = float(np.hypot(PLACE_MM, LEAN_MM))
"""Standard deviation of a face's middle from the middle of its cell, each way."""

_COARSE_MM = np.array([(x, y) for x in range(-3, 4) for y in range(-3, 4)]) * 1.0
_FINE_MM = np.array([(x, y) for x in range(-2, 3) for y in range(-2, 3)]) * 0.5


@dataclass(frozen=True, eq=False)
class Face:
    """An upper face in a picture: its middle (2,) px, and (2, 2) mm in the world → px around it."""

    middle_px: Points
    to_picture: Points
    radius_mm: float
    rank: int


def face_of(geometry: Geometry, cell: int, figure: int) -> Face:
    """The upper face of a round figure that stands straight in the middle of ``cell``."""
    outlines, crops = geometry.outlines, geometry.crops
    shape = geometry.figures.all[figure]
    ring = outlines.corners_mm[figure][cell, : outlines.first[figure]]
    middle = ring.mean(axis=0)
    to_crop = np.linalg.lstsq(shape.parts[0].corners_mm[:, :2], ring - middle, rcond=None)[0].T
    to_picture = crops.to_picture[cell]
    return Face(
        to_picture @ middle + crops.origin_px[cell],
        to_picture @ to_crop,
        shape.size.width_mm / 2,
        int(geometry.rank[cell]),
    )


def centred(
    image: npt.NDArray[np.uint8], faces: Sequence[Face], ranks: npt.NDArray[np.uint8]
) -> tuple[list[Face], Array]:
    """Faces with their middles where what is printed round them is most alike all the way round.

    ``ranks`` as in :func:`compare`.  Returns the faces, and (f,) how much likelier these middles are than any other
    near by, as a log-likelihood ratio.
    """
    found = list(faces)
    usual: Points = np.zeros(len(faces))
    evidence: Points = np.zeros(len(faces))
    # A printed ring is thinner than the coarse steps are long: for them it is blurred.
    blurred, calmed = (np.asarray(cv2.blur(image, (px, px)), np.uint8) for px in BLURS_PX)
    for steps, picture in ((_COARSE_MM, blurred), (_FINE_MM, calmed), (_FINE_MM / 2, calmed)):
        at = places(found, steps, _BORDER)[..., ::EVERY_ANGLE]
        shown = seen(at, ranks, found)[..., None]
        values = sample(picture, at)
        count = np.maximum(shown.sum(axis=3, keepdims=True), 1)
        apart = (values - (values * shown).sum(axis=3, keepdims=True) / count) * shown
        level = (values * shown).sum(axis=(2, 3, 4)) / np.maximum(shown.sum(axis=(2, 3, 4)), 1)
        uneven = (apart**2).sum(axis=(2, 3, 4)) / np.maximum(shown.sum(axis=(2, 3, 4)), 1) / np.maximum(level, 1) ** 2
        uneven += LEAST_UNEVEN
        share = shown.mean(axis=(2, 3, 4)).max(axis=1)
        parts: Points = np.where(share > LEAST_SEEN, BORDER_PARTS * share, 0)
        best = (np.log(uneven) * parts[:, None] + (steps**2).sum(axis=1) / PLACED_MM**2).argmin(axis=1)
        if steps is _COARSE_MM:
            usual[:] = np.log(np.median(uneven, axis=1))
        evidence = parts / 2 * (usual - np.log(uneven[np.arange(len(found)), best]))
        found = [
            replace(face, middle_px=face.middle_px + face.to_picture @ steps[k])
            for face, k in zip(found, best, strict=True)
        ]
    return found, evidence.astype(np.float32)


def offset_mm(face: Face, other: Face) -> Points:
    """(2,) mm from the middle of ``face`` to that of ``other``, in its plane."""
    return np.asarray(np.linalg.solve(face.to_picture, other.middle_px - face.middle_px), np.float64)


def places(faces: Sequence[Face], steps_mm: Points, radii: Points) -> Array:
    """(2, f, s, radii, angles) float32, picture x and y of circles round the faces' middles moved by ``steps_mm``."""
    to_picture = np.array([face.to_picture for face in faces])
    reach = np.array([face.radius_mm for face in faces])
    circle = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    rings = np.einsum("fij,ja,f,r->ifra", to_picture, circle, reach, radii, optimize=True)
    middles = np.array([face.middle_px for face in faces])[:, None] + np.einsum("fij,sj->fsi", to_picture, steps_mm)
    around: Array = (middles.transpose(2, 0, 1)[..., None, None] + rings[:, :, None]).astype(np.float32)
    return around


def sample(image: npt.NDArray[np.uint8], places: Array) -> Array:
    """(…, 3) float32 BGR codes at places (2, …) px."""
    x, y = places.reshape(2, -1, places.shape[-1])
    shown = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(shown, np.float32).reshape(*places.shape[1:], 3)


def seen(places: Array, ranks: npt.NDArray[np.uint8], faces: Sequence[Face]) -> npt.NDArray[np.bool_]:
    """(f, s, radii, angles) whether nothing before a face hides the place."""
    height, width = ranks.shape
    x = np.clip(np.rint(places[0]), 0, width - 1).astype(np.intp)
    y = np.clip(np.rint(places[1]), 0, height - 1).astype(np.intp)
    seen: npt.NDArray[np.bool_] = ranks[y, x] <= np.array([face.rank for face in faces])[:, None, None, None]
    return seen
