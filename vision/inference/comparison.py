"""What is hypothesised, painted over a part of the picture, for comparison head to head."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import View
from vision.likelihood.boundaries import Patch, make_patch
from vision.likelihood.fitting import can_be_turned, fit_stack, log_likelihood_at, place_stack, refine_stack
from vision.likelihood.ground_contrasts import SeenGround
from vision.likelihood.segmentation import Scene, make_scene, seen_share
from vision.scene.prisms import PER_PIECE, Floats, Prisms, Surfaces, span_column, span_stack
from vision.scene.runs import Spans, make_spans, paint

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

COLOUR_SHARE = 0.8
"""Share that the scores of colours count for beside the comparison: the same pixels speak twice.  Of 0 to 1.6, between
0.6 and 1 the truth was likeliest in the collection's pale cubes and discs."""

MISLED = 0.01
"""Probability that colours say nothing of a cell, as where a piece has the colour of what is behind it: no more than
that bounds their evidence.  Of 0.0001 to 0.1 the truth was likeliest with this in 1,729 comparisons of cubes and discs
in eighteen folders; before that bound colours preferred the wrong one by more than 12 nats in five, boundaries by 6 at
most."""

FIT_NATS = 12.0
"""An explanation is fitted if, before, it is not less likely than the best one by more than this: see
:data:`LEAST_PIECES`."""

BOUNDARY_SHARE, PIECE_NATS = 0.7, 0.5
"""Share that boundaries count for in heights of stacks of pieces of one size, and nats that each further piece costs,
since in a shadow boundaries more often have one more than one less: 14 to 7 of 4,807 stacks wrong on 51 sets of discs
and blocks, 36 to 29 nats; of 378 with characters on 57 sets and boards 7 to 4, 23 to 16 nats."""

REFINE_NATS = 3.0
"""Explanations that are fitted and less likely than the best one by no more than this are fitted more finely."""

PLACE_NATS = 20.0
"""One that is less likely by more than this before it is moved at all stays where it is.  Of 2,696 in 883 comparisons
of discs and cubes the first move gained 8 nats at most in 99 of 100; of 1,123 that had been behind by more than this
none came nearer than 15.  If that are all others, the best one stays where it is as well."""

LEAST_PIECES = 3
"""Pieces of a stack that is given the whole of these; a single disc is given half, two discs or a cube, which may also
be turned, three quarters, since there is less to fit.  In 1,487 stacks in 36 folders that were within 16 nats of the
best one fitting gained on it, in 99 of 100, 1.8 nats for single pieces, 4.8 for two, 7 for three and four, and 8 to 9
for higher ones."""

SEEN_SHARE = 0.25
"""Where less is seen of the largest piece or stack that is compared, an empty cell stays as colours have it."""

MARGIN_PX, NEAR_PX = 6, 60
"""Border of a patch round what is compared, and how far beyond it cells are painted whose columns may reach into it."""

MOST_OFF_MM = 2.5
"""Farthest that a stack is hypothesised off its cell's middle before its place is searched."""


class Stacks(NamedTuple):
    """What is hypothesised on n cells: (n,) configurations, -1 for none, and (n, p, 3) places of their pieces."""

    configurations: Indices
    places: Floats


def stacks_of(hypothesis: Hypothesis, prisms: Prisms) -> Stacks:
    """What is hypothesised, every stack standing straight where its face is."""
    standing, crops = hypothesis.state > 0, hypothesis.geometry.crops
    configurations = np.where(standing, (hypothesis.state - 1) // hypothesis.colours, -1)
    places, cells = np.zeros((len(standing), prisms.kinds.shape[1], 3)), np.flatnonzero(standing)
    off_px = crops.to_picture[cells] @ hypothesis.shift_mm[cells, :, None] / prisms.shrink
    faces = prisms.faces[configurations[cells], prisms.counts[configurations[cells]] - 1]
    off_mm = np.linalg.solve(prisms.maps[cells, faces, :, :2], off_px)[..., 0]
    places[cells, :, :2] = np.clip(off_mm, -MOST_OFF_MM, MOST_OFF_MM)[:, None]
    return Stacks(configurations, places)


def make_patch_of(hypothesis: Hypothesis, view: View, cells: Indices, configurations: Indices) -> Patch:
    """The patch that ``configurations`` (k,) on ``cells`` (k,) cover, in the light on the first of these."""
    observations, cell = hypothesis.observations, int(cells[0])
    left, top, right, bottom = _box_round(view.boxes, cells, configurations, view.image.shape[:2])
    scale, box = (view.step, float(view.px_per_mm[cell])), (left, top, right, bottom)
    colours = observations.rows[cell], observations.colour_model
    ground = SeenGround(view.ground, view.bare, observations.gain[cell])
    return make_patch(view.image, box, scale, view.dissimilarity, *colours, ground)


@compiled
def _box_round(
    boxes: Floats, cells: Indices, configurations: Indices, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a patch with a margin; see :func:`make_patch_of`, and :attr:`View.boxes`.

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
def scene_round(patch: Patch, prisms: Prisms, view: View, stacks: Stacks, cell: int) -> Scene:
    """The scene round a cell."""
    (left, top), height, width = patch.origin, patch.across.shape[0], patch.across.shape[1] - 1
    spans = make_spans(patch.origin, (height, width), prisms.kinds.shape[1] * PER_PIECE)
    shown = view.ground[top : top + height, left : left + width].copy()
    front, is_behind = np.full_like(shown, -1), True
    boxes, most = view.boxes, view.boxes.shape[1] - 1
    for other in view.far_first:
        if (
            boxes[other, most, 0] > left + width + NEAR_PX
            or boxes[other, most, 1] > top + height + NEAR_PX
            or boxes[other, most, 2] < left - NEAR_PX
            or boxes[other, most, 3] < top - NEAR_PX
        ):
            continue
        rank = int(view.rank[other])
        span_column(spans, prisms, other, rank)
        _paint_on(shown, front, spans, is_behind)
        if other == cell:
            is_behind = False
        elif stacks.configurations[other] >= 0:
            span_stack(spans, prisms, (other, rank, stacks.configurations[other]), stacks.places[other])
            _paint_on(shown, front, spans, is_behind)
    which, kinds = (cell, int(view.rank[cell])), (view.materials, view.colours)
    return make_scene(patch, prisms, which, (shown, front), kinds)


@allocation_free
def _paint_on(shown: Surfaces, front: Surfaces, spans: Spans, is_behind: bool) -> None:  # noqa: FBT001
    """Paint polygons over what is shown, and over what is in front unless they are behind."""
    paint(shown, spans)
    if not is_behind:
        paint(front, spans)


@compiled
def compared(
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
        stacks: what is hypothesised; of the cell itself where the search for its place begins.
        cell: number of the cell.
        given: (1 + f,) what is known of each besides, which is added; -inf of those that are not compared.
        fit_nats: by how much less likely than the best one those are, at most, that are fitted; others are moved only
            once to each side, or where they are hopeless, not at all.  Negative: nothing is moved.
        is_absolute: whether scores are held against those of other comparisons: the best one is moved and fitted then
            even where no other is in doubt.
    """
    return compared_in(scene_round(patch, prisms, view, stacks, cell), stacks, given, fit_nats, is_absolute)


@compiled
def compared_in(
    scene: Scene,
    stacks: Stacks,
    given: Floats,
    fit_nats: float,
    is_absolute: bool,  # noqa: FBT001
) -> tuple[Floats, Floats]:
    """See :func:`compared`; in the ``scene`` round the cell, which remembers what was evaluated in it."""
    scores, places = given.copy(), np.zeros((len(given), scene.prisms.kinds.shape[1], 3))
    if not _score_unmoved(scene, scores, places, given, stacks) or fit_nats < 0:
        return scores, places
    is_alone = is_absolute or (given > -np.inf).sum() == 1
    shares = _shares(scene, len(given))
    near = scores > scores.max() - shares * PLACE_NATS
    if near.sum() == 1 and not is_alone:
        return scores, places
    for number in range(len(given)):
        if near[number]:
            scores[number] = given[number] + place_stack(scene, number - 1, places[number])
    if is_alone or (scores > scores.max() - shares * fit_nats).sum() > 1:
        _fit(scene, scores, places, given, shares * fit_nats)
    return scores, places


@compiled
def _score_unmoved(scene: Scene, scores: Floats, places: Floats, given: Floats, stacks: Stacks) -> bool:
    """Score explanations where they would stand before any is moved; whether enough of a stack would be seen for that.

    ``scores`` and ``places`` are changed, see :func:`compared`.
    """
    before = stacks.configurations[scene.cell]
    if before >= 0:
        places[1 + before] = stacks.places[scene.cell]
    elif seen_share(scene, np.flatnonzero(given[1:] > -np.inf)[-1], places[0]) < SEEN_SHARE:
        return False
    for number in range(len(given)):
        if given[number] > -np.inf:
            scores[number] += log_likelihood_at(scene, number - 1, places[number])
    if before >= 0:
        _begin_at_face(scene, scores, places, given, before)
    return True


@compiled
def _begin_at_face(scene: Scene, scores: Floats, places: Floats, given: Floats, before: int) -> None:
    """Place other stacks where the face of configuration ``before`` is, unless they are likelier where they are."""
    for number in range(1, len(given)):
        if given[number] > -np.inf and number != 1 + before:
            elsewhere = _with_face_of(scene.prisms, (scene.cell, before, number - 1), places[1 + before])
            score = given[number] + log_likelihood_at(scene, number - 1, elsewhere)
            if score > scores[number]:
                scores[number], places[number] = score, elsewhere


@compiled
def _with_face_of(prisms: Prisms, which: tuple[int, int, int], places: Floats) -> Floats:
    """(p, 3) places of a stack whose upper face is seen where that of another one is, as far as it may stand aside.

    ``which``: the cell, the configuration of that one, whose pieces lie at ``places`` (p, 3), and its own.
    """
    cell, other, own = which
    top, moved = prisms.counts[other] - 1, np.zeros_like(places)
    theirs = prisms.maps[cell, prisms.faces[other, top]]
    a = prisms.maps[cell, prisms.faces[own, prisms.counts[own] - 1]]
    x_mm, y_mm = places[top, 0], places[top, 1]
    x_px = theirs[0, 0] * x_mm + theirs[0, 1] * y_mm + theirs[0, 2] - a[0, 2]
    y_px = theirs[1, 0] * x_mm + theirs[1, 1] * y_mm + theirs[1, 2] - a[1, 2]
    size = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    moved[:, 0] = min(max((a[1, 1] * x_px - a[0, 1] * y_px) / size, -MOST_OFF_MM), MOST_OFF_MM)
    moved[:, 1] = min(max((a[0, 0] * y_px - a[1, 0] * x_px) / size, -MOST_OFF_MM), MOST_OFF_MM)
    return moved


@compiled
def _shares(scene: Scene, count: int) -> Floats:
    """(``count``,) what of these bounds an empty cell and each configuration is given: see :data:`LEAST_PIECES`."""
    shares, counts, turns = np.ones(count), scene.prisms.counts, int(can_be_turned(scene))
    # Beside an empty cell the best one is what there is to fit.
    for number in range(1, count):
        shares[number] = min((1 + counts[number - 1] + turns) / (1 + LEAST_PIECES), 1.0)
    return shares


@compiled
def _fit(scene: Scene, scores: Floats, places: Floats, given: Floats, most_nats: Floats) -> None:
    """Fit the explanations that are in doubt, see :func:`compared`; ``scores`` and ``places`` are changed.

    ``most_nats`` (1 + f,): by which each of those is less likely than the best one, at most.
    """
    for number in np.argsort(-scores):
        if scores[number] > scores.max() - most_nats[number]:
            scores[number] = given[number] + fit_stack(scene, int(number) - 1, places[number])
    are_close = scores > scores.max() - REFINE_NATS
    if are_close.sum() > 1:
        for number in np.flatnonzero(are_close):
            scores[number] = given[number] + refine_stack(scene, int(number) - 1, places[number])


def compare_on(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, which: tuple[int, Floats]
) -> tuple[Floats, Floats]:
    """See :func:`compared`; ``which``: the cell, and what is given on it."""
    cell, given = which
    tried = np.maximum(np.flatnonzero(np.isfinite(given)) - 1, 0)
    patch = make_patch_of(hypothesis, view, np.full(len(tried), cell), tried)
    scores, places = compared(patch, prisms, view, stacks, cell, given, FIT_NATS, False)  # noqa: FBT003
    return scores, places


def compare_beside_colours(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, which: tuple[int, Array, Mask]
) -> tuple[Floats, Floats]:
    """See :func:`compared`; ``which``: the cell, (1 + f,) scores by colours, and which of these are compared."""
    cell, heights, tried = which
    given = np.where(tried, by_colours(heights - heights.max()), -np.inf)
    given[0] -= max(hypothesis.hue_log_ratio[cell], 0.0)
    return compare_on(view, prisms, hypothesis, stacks, (cell, given))


def among_heights(compared: Floats, heights: Floats, tried: Mask) -> Floats:
    """(1 + f,) what was ``compared`` of stacks of pieces of one size, with their shares for heights among each other.

    Whether anything stands is as likely as before.  ``heights`` (1 + f,): scores by colours; ``tried`` (1 + f,): which
    were compared.
    """
    weighed: Floats = _among_heights(compared, by_colours(heights - heights.max()), tried)
    return weighed


@compiled
def _among_heights(compared: Floats, given: Floats, tried: Mask) -> Floats:
    """See :func:`among_heights`; ``given`` (1 + f,): what colours give beside the comparison."""
    likeliest, most = -np.inf, -np.inf
    shared = given + BOUNDARY_SHARE * (compared - given)
    for pieces in range(1, len(given)):
        shared[pieces] -= PIECE_NATS * pieces
        if tried[pieces]:
            likeliest, most = max(likeliest, compared[pieces]), max(most, shared[pieces])
    weighed = compared.copy()
    for pieces in range(1, len(given)):
        if tried[pieces]:
            weighed[pieces] = shared[pieces] + likeliest - most
    return weighed


def by_colours(log_ratios: Floats) -> Floats:
    """(k,) what the scores of colours, against the best one, give beside the comparison."""
    given: Floats = np.log(MISLED + np.exp(COLOUR_SHARE * log_ratios))
    return given


@compiled
def rescored(by_colour: Array, heights: Floats, both: Floats, tried: Mask) -> Array:
    """(states,) scores: of those ``tried`` (1 + f,) ``both``, the others stay as much less likely than the best.

    ``by_colour`` (f, colours), and of these the ``heights`` (1 + f,).
    """
    colours, scores, best, likeliest = by_colour.shape[1], np.empty(len(both)), -np.inf, heights.max()
    for number in range(len(both)):
        best = max(best, both[number] if tried[number] else -np.inf)
    for number in range(len(both)):
        scores[number] = both[number] if tried[number] else best + heights[number] - likeliest
    states = np.zeros(1 + by_colour.size, np.float32)
    for number in range(len(by_colour)):
        for colour in range(colours):
            relative = by_colour[number, colour] - heights[1 + number] + scores[1 + number]
            states[1 + number * colours + colour] = relative - scores[0]
    return states
