"""Levels of pillars from the picture alone, for when their sensors cannot say.

Pillars all have one colour, and each of their faces is mostly evenly lit.  So levels are right when the projected edges
of all faces lie where the picture changes within two millimetres (:mod:`vision.likelihood.boundaries`), the variance of
colour within faces is small (as in :mod:`vision.likelihood.facets`), and each face has a colour that pillars, or the
pieces on them, can have.  Beside a single lamp shadows lie across faces, so that what colours say counts little beside
the edges.  A level is inferred jointly with what stands on it, since a pillar raised under a piece looks much like a
piece put under it.
Pillars are updated one after the other, given the others, until none changes (coordinate ascent of the likelihood).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, Pillars
from vision.appearance.colour_model import TOP_VALUE, bin_index, normalise
from vision.likelihood.boundaries import STEP_MM, contrasts_in, noise_of
from vision.likelihood.regions import FIRST, REGIONS, UPPER, Colours, Part, score_boundaries, score_faces
from vision.likelihood.segmentation import WEIGHT
from vision.pose.projection import Points, Registration, project
from vision.scene.configurations import PLACE_MM, stacks_of
from vision.scene.ground import mat_corners
from vision.scene.materials import Materials
from vision.scene.solids import Solid, column, faces_towards, pieces
from vision.scene.terrain import SUBPIXEL_BITS, Polygon, far_first, fixed

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int32]

SHRINK = 2
"""Downscaling of the picture: faces are centimetres wide, and half of the size costs a quarter."""

SWEEPS = 5
"""Most sweeps over all pillars; three mostly suffice.  The first infers only what stands on the pillars at their
initial levels, lest one seem high because of a piece behind it that is not hypothesised yet."""

FURTHER_PIECE = 1e-3
"""Prior odds of one piece more on a pillar: pieces of several sizes are seldom stacked.  Shared among all
configurations of so many pieces.  Where the pillar stands at another level than is expected that is one act more, as
rare again.  Chosen by eye."""

UNEXPECTED = 1e-4
"""Prior probability that a pillar whose level is expected stands at another.  Chosen by eye."""

TEMPERATURE = 8.0
"""By this what colours and evenness say is divided, since shadows and reflections are wrong on all of a face at once
(temperature scaling: Guo et al., On calibration of modern neural networks, 2017).  Of 1,500 pillars in 60 pictures, all
others being known, colours alone had 138 wrong, by up to 53 nats; boundaries alone 7; both, so weighted, 6
(2026-11-24)."""


@dataclass(frozen=True, eq=False)
class Face:
    """A face of a pillar, or of a piece on it, in the small picture.

    ``region``: index of the evenly lit region that it belongs to, among those of its pillar: the pillar's own, then
    those of each piece from below.
    """

    outline: Polygon
    region: int


@dataclass(frozen=True, eq=False)
class PillarViews:
    """Every pillar (n) at every level (l), with every configuration on it (s), in one pose.

    Attributes:
        lowest: the first level.
        faces: n by l by s, the visible faces of each; nothing stands on the pillar of the first, then come the
            configurations of :func:`vision.scene.configurations.kit_configurations`.
        boxes: (n, 4) int32, left, top, right, bottom of what a pillar can cover at any level, in the small picture.
        far_first: (n,) intp, the farthest first.
        ground: (height, width) int32, labels FLOOR and TABLE where no pillar stands.
        storeys: most solids on top of each other: the pillar and the tallest stack on it.
        further: (s,) how many pieces stand on the lowest one of each.
        log_prior: (s,) float64, of what stands on a pillar.
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
    weight: float
    px_per_mm: float
    mat_px: Points


def told_apart(pillars: Pillars) -> range:
    """The levels that a picture is asked about: one beyond the highest, too, where a pillar may be put."""
    return range(pillars.lowest, pillars.highest + 2)


def make_views(kit: Kit, pillars: Pillars, pose: Registration, camera: Camera) -> PillarViews:
    """The views of a kit's pillars from ``pose``."""
    stacks = ["", *("".join(kind.letter for kind in stack) for stack in stacks_of(kit.pieces))]

    def seen(solid: Solid, storey: int) -> tuple[Face, ...]:
        """Visible faces with their regions: four sides, each with its bevel, and the upper face."""
        pixels = project(solid.points, pose, camera) / SHRINK
        shown = faces_towards(solid, pose.centre_mm)
        return tuple(
            Face(fixed(pixels[list(face)]), REGIONS * storey + (UPPER if face == solid.top else side % UPPER))
            for side, (face, is_seen) in enumerate(zip(solid.faces, shown, strict=True))
            if is_seen
        )

    everything = []
    for cell in kit.cells:
        levels = []
        for level in told_apart(pillars):
            solid = column(kit, cell, level)
            assert solid is not None, "a pillar stands above the mat"
            known = {"": seen(solid, 0)}
            for stack in stacks[1:]:
                # Shorter stacks come first, so that the faces of the pieces below are known.
                top = pieces(kit, cell, stack, level)[-1]
                known[stack] = known[stack[:-1]] + seen(top, len(stack))
            levels.append(tuple(known.values()))
        everything.append(tuple(levels))
    corners = [np.concatenate([f.outline for level in own for stack in level for f in stack]) for own in everything]
    size = np.array([camera.width_px, camera.height_px]) // SHRINK
    boxes = [[*(points.min(axis=0) >> SUBPIXEL_BITS), *(points.max(axis=0) >> SUBPIXEL_BITS) + 2] for points in corners]
    ground = np.full(size[::-1], Materials.TABLE, np.int32)
    mat = fixed(project(mat_corners(kit), pose, camera) / SHRINK)
    cv2.fillConvexPoly(ground, mat, Materials.FLOOR, shift=SUBPIXEL_BITS)
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
        weight=pixel_mm2 / (2 * PLACE_MM * pillars.side_mm),
        px_per_mm=pixel_mm2**-0.5,
        mat_px=project(mat_corners(kit), pose, camera) / SHRINK,
    )


def _log_prior(heights: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """(s,) float64 log prior of stacks of so many pieces each."""
    log_prior: npt.NDArray[np.float64] = np.maximum(heights - 1, 0) * np.log(FURTHER_PIECE)
    return log_prior - np.log(np.bincount(heights)[heights])


@dataclass(frozen=True, slots=True)
class LevelQuestion:
    """What is given of the pillars (n), and what is asked.

    Attributes:
        levels: of all: where the search begins.
        configurations: what stands on each: 0 for nothing, then the configurations from 1.
        unknown: indices of the pillars whose levels are to be estimated.
        expected: indices of those of them that are expected to stand at their ``levels``.
        loose: indices of those on which something else may stand.
    """

    levels: Sequence[int]
    configurations: Sequence[int]
    unknown: Collection[int]
    expected: Collection[int]
    loose: Collection[int]


class _Shown(NamedTuple):
    """What is seen.

    Attributes:
        image: (height, width, 3) uint8 BGR, the small picture.
        light: (n, 3) float32 at each pillar, r g b, linear.
        noise: of its pixels, see :func:`vision.likelihood.boundaries.noise_of`.
        colours: that can be visible.
        step: pixels between two places that are compared.
    """

    image: Picture
    light: Array
    noise: Array
    colours: Colours
    step: int


def estimate_levels(
    small: Picture, light: Array, colours: Colours, views: PillarViews, question: LevelQuestion
) -> tuple[tuple[int, ...], Array]:
    """The likeliest levels, and the log-likelihood of each level of each pillar by the picture alone.

    Args:
        small: (height, width, 3) uint8 BGR, the downscaled picture.
        light: (n, 3) float32 at each pillar, r g b, linear.
        colours: that can be visible.
        views: of the pose.
        question: what is given of the pillars.

    Returns:
        (n,) levels; (n, l) float32 log-likelihood, each row's logsumexp 0; uniform for pillars that were not asked.
    """
    step = max(1, round(STEP_MM * views.px_per_mm))
    shown = _Shown(small, light, noise_of(small, step, views.mat_px), colours, step)
    found = np.column_stack([np.array(question.levels) - views.lowest, np.array(question.configurations)])
    prior, standing = _priors(views, found[:, 0], question.expected)
    count, fits = prior.shape[1], np.zeros(prior.shape)
    searched = {*question.unknown, *question.loose}
    known: dict[tuple[int, tuple[int, ...], bytes], npt.NDArray[np.float64]] = {}
    for sweep in range(SWEEPS if question.unknown else 0):
        before = found.copy()
        for pillar in (int(pillar) for pillar in views.far_first[::-1] if pillar in searched):
            tried = range(count) if sweep and pillar in question.unknown else (int(found[pillar, 0]),)
            # Of most pillars nothing has changed in sight since they were fitted last.
            seen = pillar, tuple(tried), found[_is_near(views, pillar)].tobytes()
            if seen not in known:
                known[seen] = _fits(shown, views, found, pillar, tried)
            rows = known[seen] + standing[pillar, tried]
            best = int((rows + prior[pillar, tried, None]).argmax())
            found[pillar] = tried[best // rows.shape[1]], best % rows.shape[1]
            if len(tried) == count:
                fits[pillar] = np.logaddexp.reduce(rows, axis=1)
        if sweep and (found == before).all():
            break
    fits -= np.logaddexp.reduce(fits, axis=1, keepdims=True)
    return tuple(int(level) + views.lowest for level in found[:, 0]), fits.astype(np.float32)


def _priors(
    views: PillarViews, begun: npt.NDArray[np.intp], expected: Collection[int]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(n, l) log prior of each level, and (n, l, s) of what stands on each pillar at that level.

    ``begun`` (n,) are the indices of the levels where the search begins; the pillars of ``expected`` should be there.
    """
    count = len(views.faces[0])
    levels = np.zeros((len(begun), count))
    standing = np.tile(views.log_prior, (len(begun), count, 1))
    for pillar in expected:
        levels[pillar] = np.log(UNEXPECTED / (count - 1))
        levels[pillar, begun[pillar]] = np.log(1 - UNEXPECTED)
        standing[pillar] += views.further * np.log(FURTHER_PIECE)
        standing[pillar, begun[pillar]] = views.log_prior
    return levels, standing


def _fits(
    shown: _Shown, views: PillarViews, found: npt.NDArray[np.intp], pillar: int, tried: Sequence[int]
) -> npt.NDArray[np.float64]:
    """(levels, s) log-likelihood of the picture in a pillar's reach if it stood at each of the levels ``tried``."""
    reach = _reach(views, pillar)
    behind = views.ground[reach].copy()
    hidden = np.zeros_like(behind)
    labels = behind
    near = _is_near(views, pillar)
    for other in views.far_first:
        if other == pillar:
            labels = hidden
        elif near[other]:
            level, configuration = found[other]
            _paint(labels, views, pillar, int(other), views.faces[other][level][configuration])
    image = np.ascontiguousarray(shown.image[reach])
    values = normalise(image, shown.light[pillar])
    part = Part(values, bin_index(np.clip(values, 0, TOP_VALUE)), hidden > 0, views.weight)
    contrasts = contrasts_in(image, (shown.step, views.px_per_mm), shown.noise)
    rows = np.empty((len(tried), len(views.log_prior)))
    for (i, level), configuration in itertools.product(enumerate(tried), range(rows.shape[1])):
        labels = behind.copy()
        _paint(labels, views, pillar, pillar, views.faces[pillar][level][configuration])
        faces = score_faces(labels, part, shown.colours, views.storeys, len(found) * views.storeys)
        rows[i, configuration] = faces / TEMPERATURE + WEIGHT * score_boundaries(labels, part.hidden, contrasts)
    return rows


def _reach(views: PillarViews, pillar: int) -> tuple[slice, slice]:
    """The rows and columns of the small picture that a pillar can cover."""
    left, top, right, bottom = views.boxes[pillar]
    return slice(top, bottom), slice(left, right)


def _is_near(views: PillarViews, pillar: int) -> npt.NDArray[np.bool_]:
    """(n,) the other pillars that may be seen in a pillar's reach."""
    left, top, right, bottom = views.boxes[pillar]
    beside = (views.boxes[:, :2] >= (right, bottom)) | (views.boxes[:, 2:] <= (left, top))
    near = np.asarray(~beside.any(axis=1))
    near[pillar] = False
    return near


def _paint(labels: Labels, views: PillarViews, pillar: int, other: int, faces: tuple[Face, ...]) -> None:
    """Render the ``faces`` of the pillar ``other`` on the ``labels`` of a pillar's box."""
    offset = views.boxes[pillar, :2] << SUBPIXEL_BITS
    first = FIRST + REGIONS * views.storeys * other
    for face in faces:
        cv2.fillConvexPoly(labels, face.outline - offset, first + face.region, shift=SUBPIXEL_BITS)
