"""Renders hypotheses over a patch of the picture and compares them head to head."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.inference.evidence_weights import HEIGHTS_COLOUR_WEIGHT, bounded_colour_evidence, reweighted
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import View
from vision.likelihood.boundaries import Patch, make_patch
from vision.likelihood.fitting import fit_stack, is_rotation_observable, log_likelihood_at, place_stack, refine_stack
from vision.likelihood.ground_contrasts import SeenGround
from vision.likelihood.observations import Observations
from vision.likelihood.segmentation import Scene, make_scene, seen_share
from vision.likelihood.stacks import OUT_OF_REACH
from vision.scene.prisms import PER_PIECE, Floats, Prisms, Surfaces, span_column, span_stack
from vision.scene.runs import Spans, make_spans, paint

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

FIT_NATS = 12.0
"""An explanation is fitted if, before fitting, it is behind the best one by no more than this: see
:data:`MIN_PIECES`."""

REFINE_NATS = 3.0
"""Fitted explanations that are behind the best one by no more than this are refined in finer steps."""

PLACE_NATS = 20.0
"""An explanation that is behind by more than this before any move is not moved.  Of 2,696 in 883 comparisons of discs
and cubes the first move gained 8 nats at most in 99 of 100; of 1,123 that had been behind by more than this none came
nearer than 15.  If this holds for all others, the best one is not moved either."""

MIN_PIECES = 3
"""Pieces of a stack for which :data:`FIT_NATS` and :data:`PLACE_NATS` hold in full; for a single disc half of them, for
two discs or a cube, which may also be rotated, three quarters, since there is less to fit.  In 1,487 stacks in 36
folders that were within 16 nats of the best one, fitting gained on it, in 99 of 100, 1.8 nats for single pieces, 4.8
for two, 7 for three and four, and 8 to 9 for higher ones."""

MIN_VISIBLE_SHARE = 0.25
"""Where less than this share of the largest piece or stack compared would be visible, an empty cell keeps its colour
scores."""

MARGIN_PX, NEAR_PX = 6, 15
"""Border of a patch round what is compared, and distance beyond it up to which stacks that stand straight in the middle
of their cells are painted, as they may lean into it."""

MAX_OFFSET_MM = 2.5
"""Largest offset of a stack from its cell's centre, in x and in y, where the search for its place begins."""


class Stacks(NamedTuple):
    """The hypothesis on n cells: (n,) configurations, -1 for none, and (n, p, 3) places of their pieces."""

    configurations: Indices
    places: Floats


def stacks_of(hypothesis: Hypothesis, prisms: Prisms) -> Stacks:
    """The hypothesised stacks, each standing straight below its face."""
    standing, crops = hypothesis.state > 0, hypothesis.geometry.crops
    configurations = np.where(standing, (hypothesis.state - 1) // hypothesis.colours, -1)
    places, cells = np.zeros((len(standing), prisms.kinds.shape[1], 3)), np.flatnonzero(standing)
    off_px = crops.to_picture[cells] @ hypothesis.shift_mm[cells, :, None] / prisms.shrink
    faces = prisms.faces[configurations[cells], prisms.counts[configurations[cells]] - 1]
    off_mm = np.linalg.solve(prisms.maps[cells, faces, :, :2], off_px)[..., 0]
    places[cells, :, :2] = np.clip(off_mm, -MAX_OFFSET_MM, MAX_OFFSET_MM)[:, None]
    return Stacks(configurations, places)


@compiled
def make_patch_of(observations: Observations, view: View, cells: Indices, configurations: Indices) -> Patch:
    """The patch that ``configurations`` (k,) on ``cells`` (k,) cover, under the illumination at the first cell."""
    cell, size = cells[0], (view.image.shape[0], view.image.shape[1])
    box, scale = _box_round(view.boxes, cells, configurations, size), (view.step, view.px_per_mm[cell])
    ground = SeenGround(view.ground, view.bare, observations.gain[cell])
    table, colour_model = observations.rows[cell], observations.colour_model
    return make_patch(view.image, box, scale, view.dissimilarity, table, colour_model, ground)


@compiled
def _box_round(
    boxes: Floats, cells: Indices, configurations: Indices, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a patch with its border; see :func:`make_patch_of`, and :attr:`View.boxes`.

    ``size``: height and width of the picture.
    """
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    for k in range(len(cells)):
        box = boxes[cells[k], configurations[k]]
        left, top, right, bottom = min(left, box[0]), min(top, box[1]), max(right, box[2]), max(bottom, box[3])
    (height, width), border = size, MARGIN_PX
    first = int(max(left - border, 0.0)), int(max(top - border, 0.0))
    return *first, int(min(right + border + 1, float(width))), int(min(bottom + border + 1, float(height)))


@compiled
def make_scene_at(patch: Patch, prisms: Prisms, view: View, stacks: Stacks, cell: int) -> Scene:
    """The scene round a cell: everything rendered behind it and in front of it."""
    (left, top), height, width = patch.origin, patch.across.shape[0], patch.across.shape[1] - 1
    spans = make_spans(patch.origin, (height, width), prisms.kinds.shape[1] * PER_PIECE)
    shown = view.ground[top : top + height, left : left + width].copy()
    front, is_behind = np.full_like(shown, -1), True
    box = left, top, left + width, top + height
    for other in view.far_first:
        rank, configuration = int(view.rank[other]), stacks.configurations[other]
        if prisms.has_column[other] and _reaches(_bounds(prisms.columns_px[other]), box, 0):
            span_column(spans, prisms, other, rank)
            _paint_on(shown, front, spans, is_behind)
        if other == cell:
            is_behind = False
        elif configuration >= 0 and _reaches(_box_of(view.boxes, other, configuration), box, NEAR_PX):
            span_stack(spans, prisms, (other, rank, configuration), stacks.places[other])
            _paint_on(shown, front, spans, is_behind)
    which, kinds = (cell, int(view.rank[cell])), (view.materials, view.colours)
    return make_scene(patch, prisms, which, (shown, front), kinds)


@allocation_free
def _box_of(boxes: Floats, cell: int, configuration: int) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of a configuration on a cell, see :attr:`View.boxes`."""
    box = boxes[cell, configuration]
    return box[0], box[1], box[2], box[3]


@allocation_free
def _bounds(points_px: Floats) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of points (k, 2)."""
    left, top, right, bottom = points_px[0, 0], points_px[0, 1], points_px[0, 0], points_px[0, 1]
    for i in range(1, len(points_px)):
        left, right = min(left, points_px[i, 0]), max(right, points_px[i, 0])
        top, bottom = min(top, points_px[i, 1]), max(bottom, points_px[i, 1])
    return left, top, right, bottom


@allocation_free
def _reaches(box: tuple[float, float, float, float], patch: tuple[int, int, int, int], margin_px: int) -> bool:
    """Whether a box is no farther than that from a patch; both are left, top, right, bottom."""
    across = box[0] <= patch[2] + margin_px and box[2] >= patch[0] - margin_px
    return bool(across and box[1] <= patch[3] + margin_px and box[3] >= patch[1] - margin_px)


@allocation_free
def _paint_on(shown: Surfaces, front: Surfaces, spans: Spans, is_behind: bool) -> None:  # noqa: FBT001
    """Paint polygons into ``shown``, and also into ``front`` unless they are behind the cell."""
    paint(shown, spans)
    if not is_behind:
        paint(front, spans)


@compiled
def compare_configurations(
    patch: Patch,
    prisms: Prisms,
    view: View,
    stacks: Stacks,
    cell: int,
    given: Floats,
    fit_nats: float,
    is_absolute: bool,  # noqa: FBT001
) -> tuple[Floats, Floats]:
    """(1 + f,) log-likelihoods of an empty cell and its configurations, and (1 + f, p, 3) places of their pieces.

    Args:
        patch: of the picture, round the cell.
        prisms: of the pose.
        view: of the picture.
        stacks: the hypothesis; for the cell itself, where the search for its place begins.
        cell: number of the cell.
        given: (1 + f,) other evidence in nats, which is added; -inf for those that are not compared.
        fit_nats: explanations behind the best one by no more than this are fitted; others are moved only once to each
            side or, where they are hopeless, not at all.  Negative: nothing is moved.
        is_absolute: whether scores are compared with those of other comparisons: then the best one is moved and fitted
            even if it has no rival.
    """
    return compare_in_scene(make_scene_at(patch, prisms, view, stacks, cell), stacks, given, fit_nats, is_absolute)


@compiled
def compare_in_scene(
    scene: Scene,
    stacks: Stacks,
    given: Floats,
    fit_nats: float,
    is_absolute: bool,  # noqa: FBT001
) -> tuple[Floats, Floats]:
    """See :func:`compare_configurations`; in the ``scene`` round the cell, which caches what was evaluated in it."""
    scores, places = given.copy(), np.zeros((len(given), scene.prisms.kinds.shape[1], 3))
    if not _score_at_begin(scene, scores, places, given, stacks, fit_nats >= 0) or fit_nats < 0:
        return scores, places
    is_alone = is_absolute or (given > -np.inf).sum() == 1
    shares = _shares(scene, len(given))
    # What is given may speak against the very one that is farthest from its place.
    alone = np.where(given > -np.inf, scores - given, -np.inf)
    near = alone > alone.max() - shares * PLACE_NATS
    if near.sum() == 1 and not is_alone:
        return scores, places
    for number in range(len(given)):
        if near[number]:
            scores[number] = given[number] + place_stack(scene, number - 1, places[number])
    if is_alone or (scores > scores.max() - shares * fit_nats).sum() > 1:
        _fit(scene, scores, places, given, shares * fit_nats)
    return scores, places


@compiled
def _score_at_begin(
    scene: Scene,
    scores: Floats,
    places: Floats,
    given: Floats,
    stacks: Stacks,
    is_moved: bool,  # noqa: FBT001
) -> bool:
    """Score explanations at their initial places; False, without scores, if too little of a stack would be visible.

    The one that is believed ``is_moved`` first: its place may never have been looked for, and the others begin there.
    ``scores`` and ``places`` are changed, see :func:`compare_configurations`.
    """
    before, stands = stacks.configurations[scene.cell], np.flatnonzero(given[1:] > -np.inf)
    if before >= 0:
        places[1 + before] = stacks.places[scene.cell]
    elif len(stands) > 0 and seen_share(scene, stands[-1], places[0]) < MIN_VISIBLE_SHARE:
        return False
    for number in range(len(given)):
        if given[number] > -np.inf:
            scores[number] += log_likelihood_at(scene, number - 1, places[number])
    if before >= 0:
        if is_moved and given[1 + before] > -np.inf:
            scores[1 + before] = given[1 + before] + place_stack(scene, before, places[1 + before])
        _begin_at_face(scene, scores, places, given, before)
    return True


@compiled
def _begin_at_face(scene: Scene, scores: Floats, places: Floats, given: Floats, before: int) -> None:
    """Move other stacks to where the face of configuration ``before`` is, if that makes them likelier."""
    for number in range(1, len(given)):
        if given[number] > -np.inf and number != 1 + before:
            elsewhere = _align_face(scene.prisms, (scene.cell, before, number - 1), places[1 + before])
            score = given[number] + log_likelihood_at(scene, number - 1, elsewhere)
            if score > scores[number]:
                scores[number], places[number] = score, elsewhere


@compiled
def _align_face(prisms: Prisms, which: tuple[int, int, int], places: Floats) -> Floats:
    """(p, 3) places of a stack whose upper face projects to that of another one, within :data:`MAX_OFFSET_MM`.

    ``which``: the cell, the configuration of the other one, whose pieces lie at ``places`` (p, 3), and its own.
    """
    cell, other, own = which
    top, moved = prisms.counts[other] - 1, np.zeros_like(places)
    theirs = prisms.maps[cell, prisms.faces[other, top]]
    a = prisms.maps[cell, prisms.faces[own, prisms.counts[own] - 1]]
    x_mm, y_mm = places[top, 0], places[top, 1]
    x_px = theirs[0, 0] * x_mm + theirs[0, 1] * y_mm + theirs[0, 2] - a[0, 2]
    y_px = theirs[1, 0] * x_mm + theirs[1, 1] * y_mm + theirs[1, 2] - a[1, 2]
    size = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    moved[:, 0] = min(max((a[1, 1] * x_px - a[0, 1] * y_px) / size, -MAX_OFFSET_MM), MAX_OFFSET_MM)
    moved[:, 1] = min(max((a[0, 0] * y_px - a[1, 0] * x_px) / size, -MAX_OFFSET_MM), MAX_OFFSET_MM)
    return moved


@compiled
def _shares(scene: Scene, count: int) -> Floats:
    """(``count``,) share of the bounds that an empty cell and each configuration get: see :data:`MIN_PIECES`."""
    shares, counts, turns = np.ones(count), scene.prisms.counts, int(is_rotation_observable(scene))
    # An empty cell is not fitted, but the best one beside it is: its bounds hold in full.
    for number in range(1, count):
        shares[number] = min((1 + counts[number - 1] + turns) / (1 + MIN_PIECES), 1.0)
    return shares


@compiled
def _fit(scene: Scene, scores: Floats, places: Floats, given: Floats, most_nats: Floats) -> None:
    """Fit the explanations that are in doubt, see :func:`compare_configurations`.

    ``scores`` and ``places`` are changed; ``most_nats`` (1 + f,): how far behind the best one each may be to be
    fitted.
    """
    for number in np.argsort(-scores):
        if scores[number] > scores.max() - most_nats[number]:
            scores[number] = given[number] + fit_stack(scene, int(number) - 1, places[number])
    are_close = scores > scores.max() - REFINE_NATS
    if are_close.sum() > 1:
        for number in np.flatnonzero(are_close):
            scores[number] = given[number] + refine_stack(scene, int(number) - 1, places[number])


def compare_on_cell(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, which: tuple[int, Floats]
) -> tuple[Floats, Floats]:
    """See :func:`compare_configurations`; ``which``: the cell, and what is given on it."""
    scores, places = compare_observed(hypothesis.observations, prisms, view, stacks, *which)
    return scores, places


@compiled
def compare_observed(
    observations: Observations, prisms: Prisms, view: View, stacks: Stacks, cell: int, given: Floats
) -> tuple[Floats, Floats]:
    """See :func:`compare_configurations`, in a patch that contains all that are compared."""
    tried = np.maximum(np.flatnonzero(given > -np.inf) - 1, 0)
    patch = make_patch_of(observations, view, np.full(len(tried), cell), tried)
    return compare_configurations(patch, prisms, view, stacks, cell, given, FIT_NATS, False)  # noqa: FBT003


def compare_with_colours(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, which: tuple[int, Array, Mask]
) -> tuple[Floats, Floats]:
    """See :func:`compare_configurations`, with the evidence of colours as well.

    ``which``: the cell, (1 + f,) colour scores, and (1 + f,) which of these are compared.
    """
    cell, heights, tried = which
    given = np.where(tried, _colour_evidence(hypothesis, cell, heights), -np.inf)
    return compare_on_cell(view, prisms, hypothesis, stacks, (cell, given))


def _colour_evidence(hypothesis: Hypothesis, cell: int, heights: Array | Floats) -> Floats:
    """(1 + f,) evidence of the colour scores ``heights`` (1 + f,); a hue off the ground's counts against none."""
    given = bounded_colour_evidence(heights - heights.max())
    given[0] -= max(hypothesis.hue_log_ratio[cell], 0.0)
    return given


def compare_in_doubt(
    view: View,
    prisms: Prisms,
    hypothesis: Hypothesis,
    stacks: Stacks,
    which: tuple[int, Floats, Mask],
    doubt_nats: float,
) -> tuple[Floats, Floats]:
    """As :func:`compare_with_colours`, together with whatever is in doubt beside the likeliest one.

    One chosen against colours is itself in doubt, also against heights that they had ruled out, and against the next
    one whatever they say of it: to colours, a piece of the ground's colour is no likelier there than none.  Stacks are
    reweighted, see :func:`.evidence_weights.reweighted`.

    Args:
        view: of the picture.
        prisms: of the pose.
        hypothesis: of the whole board.
        stacks: the hypothesis on all cells.
        which: the cell, (1 + f,) colour scores, and (1 + f,) which of these are compared; others are added to these.
        doubt_nats: by how much colours may make an explanation less likely than the one that is chosen.
    """
    cell, heights, tried = which
    seen, by_colour = hypothesis.observations, (heights, _colour_evidence(hypothesis, cell, heights))
    compared, places = _compare_in_doubt(seen, prisms, view, stacks, cell, by_colour, tried, doubt_nats)
    return compared, places


@compiled
def _compare_in_doubt(
    observations: Observations,
    prisms: Prisms,
    view: View,
    stacks: Stacks,
    cell: int,
    by_colour: tuple[Floats, Floats],
    tried: Mask,
    doubt_nats: float,
) -> tuple[Floats, Floats]:
    """See :func:`compare_in_doubt`.

    ``by_colour``: (1 + f,) colour scores, and the evidence that they are.
    """
    (heights, evidence), asked = by_colour, tried.copy()
    compared, places = compare_observed(observations, prisms, view, stacks, cell, np.where(asked, evidence, -np.inf))
    while True:
        best, likeliest, count = int(compared.argmax()), int(heights.argmax()), 0
        for number in range(len(heights)):
            is_next = number == best + 1 and best != likeliest and heights[number] > OUT_OF_REACH / 2
            asked[number] = (heights[number] >= heights[best] - doubt_nats or is_next) and not tried[number]
            count += asked[number]
        if count == 0:
            break
        # In a patch of their own, together with the likeliest one so far.
        asked[best] = True
        against = np.where(asked, evidence, -np.inf)
        further, places_of_further = compare_observed(observations, prisms, view, stacks, cell, against)
        for number in range(len(heights)):
            if asked[number] and number != best:
                compared[number] = further[number] + compared[best] - further[best]
                places[number], tried[number] = places_of_further[number], True
    return reweighted(compared, evidence, tried, prisms.counts, HEIGHTS_COLOUR_WEIGHT), places
