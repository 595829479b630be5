"""Log-likelihood of a stack in a patch of the picture, given the segmentation into visible surfaces that it implies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.likelihood.boundaries import COLOUR_STRIDE, Patch
from vision.likelihood.memo import Memo, make_memo
from vision.likelihood.surroundings import TOPS, Surroundings, make_surroundings, pair_offsets
from vision.scene.configurations import PLACE_MM
from vision.scene.prisms import FIRST, PER_PIECE, Floats, Prisms, Surfaces, first_surface, span_stack
from vision.scene.runs import (
    BASE,
    Runs,
    Spans,
    clear,
    covered_px,
    fill_run,
    fill_unpainted,
    make_runs,
    make_spans,
    run_end,
)

Indices = npt.NDArray[np.intp]

MAX_UNITS = 4.0
"""Observations of colour that a surface of any size is worth at most: it deviates from its material as a whole."""

FLOOR_UNITS = 15.0
"""Observations of colour by which the ground's are weighted: as many as a part as large as a piece's face has."""

SEAM_ALIKE = 0.5
"""Probability that the sides of two stacked pieces are of one colour: any may be prisoners."""

WEIGHT = 0.3
"""Weight of the log-likelihood relative to the prior: errors of neighbouring boundaries are correlated."""

OFF_MM, TURN_RAD = 0.6, np.radians(5.0)
"""Standard deviations of a piece's offset from the one below it, along each axis, and of its turn."""

ROUND_SEAM = 0.5
"""Weight of the seam between two discs: their bevels show as lines, too, of which each side has some."""

CORNERS = 4
"""Corners of a cube's outline: unlike a disc it has separate sides, and a turn."""


class Scene(NamedTuple):
    """The surroundings of a stack, and work arrays.

    Attributes:
        patch: of the picture.
        prisms: of the pose.
        cell: on which the stack stands.
        rank: of the cell.
        around: what is visible without the stack.
        front: runs of what occludes the stack.
        spans: of the stack, overwritten.
        runs: of its visible part, overwritten.
        seams: (k + s,) overwritten: evidence of the seam under each surface, those of the stack coming last.
        areas: (k + s,) overwritten: observations of colour on each.
        sums: (k + s, colours) overwritten: their log-likelihoods in each colour.
        memo: log-likelihoods of configurations and places evaluated so far.
        key: (1 + 3 p,) work array: a key of the memo.
    """

    patch: Patch
    prisms: Prisms
    cell: int
    rank: int
    around: Surroundings
    front: Runs
    spans: Spans
    runs: Runs
    seams: Floats
    areas: Floats
    sums: Floats
    memo: Memo
    key: Floats


@compiled
def make_scene(
    patch: Patch, prisms: Prisms, which: tuple[int, int], painted: tuple[Surfaces, Surfaces], kinds: tuple[Indices, int]
) -> Scene:
    """The scene round a stack.

    Args:
        patch: of the picture.
        prisms: of the pose.
        which: the cell on which the stack stands, and its rank.
        painted: (height, width) surfaces of the patch without the stack, which are overwritten, and those that occlude
            it, -1 where none does.
        kinds: (s,) material of each surface, -1 for pieces; and number of colours of these.
    """
    (shown, front), (materials, colours), size, pieces = painted, kinds, painted[0].shape, prisms.kinds.shape[1]
    occluders = _runs_of(front)
    around = make_surroundings(patch, shown, materials, colours)
    most = len(around.surfaces) + pieces * PER_PIECE
    runs = make_runs(size, 2 * (pieces * PER_PIECE + occluders.starts.shape[1]) + 1)
    return Scene(
        patch,
        prisms,
        which[0],
        which[1],
        around,
        occluders,
        make_spans(patch.origin, size, pieces * PER_PIECE),
        runs,
        np.empty(most),
        np.empty(most),
        np.empty((most, colours)),
        make_memo(1 + 3 * pieces),
        np.empty(1 + 3 * pieces),
    )


@compiled
def _runs_of(front: Surfaces) -> Runs:
    """Runs of pixels (height, width) that are not -1, labelled 0."""
    height, width = front.shape
    runs, most = make_runs((height, width), width), 1
    counts, starts, labels = runs.counts, runs.starts, runs.labels
    for row in range(height):
        count, before = 0, False
        for column in range(width):
            is_open = front[row, column] < 0
            if column == 0 or is_open != before:
                starts[row, count], labels[row, count] = column, BASE if is_open else 0
                count += 1
            before = is_open
        counts[row], most = count, max(most, count)
    return Runs(counts, starts[:, :most].copy(), labels[:, :most].copy(), runs.painted, width)


@allocation_free
def stack_log_likelihood(scene: Scene, configuration: int, places: Floats) -> float:
    """Log-posterior, up to a constant, of a configuration (-1: none) whose pieces lie at ``places`` (p, 3).

    ``places``: see :func:`vision.scene.prisms.span_stack`.
    """
    prior, pieces = 0.0, 0
    clear(scene.runs)
    if configuration >= 0:
        pieces = scene.prisms.counts[configuration]
        _lay_stack(scene, configuration, places)
        _occlude(scene)
        prior = _log_prior(places[:pieces])
    return WEIGHT * (_boundary_log_ratio(scene, pieces) + _colour_log_ratio(scene, pieces)) + prior


@allocation_free
def seen_share(scene: Scene, configuration: int, places: Floats) -> float:
    """Share (0…1) of a configuration whose pieces lie at ``places`` (p, 3) that nothing in front occludes."""
    clear(scene.runs)
    _lay_stack(scene, configuration, places)
    all_px = covered_px(scene.runs)
    _occlude(scene)
    return covered_px(scene.runs) / max(all_px, 1)


@allocation_free
def _lay_stack(scene: Scene, configuration: int, places: Floats) -> None:
    span_stack(scene.spans, scene.prisms, (scene.cell, scene.rank, configuration), places)
    fill_unpainted(scene.runs, scene.spans, first_surface(scene.rank))


@allocation_free
def _occlude(scene: Scene) -> None:
    """Remove from the runs of the stack what is occluded from the front."""
    front, runs = scene.front, scene.runs
    counts, starts, labels = runs.counts, runs.starts, runs.labels
    for row in range(runs.painted[0], runs.painted[1]):
        for number in range(front.counts[row]):
            if front.labels[row, number] != BASE:
                span = front.starts[row, number], run_end(front, row, number)
                counts[row] = fill_run(starts[row], labels[row], counts[row], runs.width, span, BASE)


@allocation_free
def _log_prior(places: Floats) -> float:
    """Log prior of the places (p, 3) of a stack's pieces, the lowest first."""
    total = 0.0
    for piece in range(len(places)):
        for axis in range(2):
            off = places[piece, axis] if piece == 0 else places[piece, axis] - places[piece - 1, axis]
            total -= 0.5 * (off / (PLACE_MM if piece == 0 else OFF_MM)) ** 2
        total -= 0.5 * (places[piece, 2] / TURN_RAD) ** 2
    return total


@allocation_free
def _boundary_log_ratio(scene: Scene, pieces: int) -> float:
    """Log-likelihood ratio of the boundaries between surfaces, against none; of a stack of so many ``pieces``."""
    total, many = 0.0, len(scene.around.surfaces)
    seams = scene.seams[: many + pieces * PER_PIECE]
    for number in range(len(seams)):
        seams[number] = scene.around.seams[number] if number < many else 0.0
    for way in range(2):
        total += _along_rows(scene, way)
    share = 1.0 if scene.prisms.rings_mm.shape[1] == CORNERS else ROUND_SEAM
    for seam in seams:
        if seam != 0:
            total += share * np.log(SEAM_ALIKE + (1 - SEAM_ALIKE) * np.exp(seam))
    return total


@allocation_free
def _along_rows(scene: Scene, way: int) -> float:
    """Evidence of the boundaries between all pixels and those beside or below them; that of seams goes to ``seams``.

    Rows that the stack does not touch are taken from the surroundings.  This is where comparison spends most of its
    time: one loop over all rows, since a function call per row would pass all arrays of the scene anew.
    """
    (right, below, step), ratios = (
        pair_offsets(scene.patch.step, way),
        scene.patch.across if way == 0 else scene.patch.down,
    )
    around, many, seams, width = scene.around, len(scene.around.surfaces), scene.seams, scene.runs.width - right
    boundaries, first_seam_runs, seam_runs = around.boundaries, around.first_seam_runs, around.seam_runs
    counts, starts, labels, height = scene.runs.counts, scene.runs.starts, scene.runs.labels, len(scene.runs.counts)
    first, end = max(scene.runs.painted[0] - below, 0), min(scene.runs.painted[1], height - below)
    if first >= end:
        return float(around.totals[way, height])
    total = around.totals[way, first] + around.totals[way, height] - around.totals[way, end]
    for row in range(first + first % step, end, step):
        column, own, other, other_row = 0, 0, 0, row + below
        last, other_last, seam_run, past = (
            counts[row],
            counts[other_row],
            first_seam_runs[way, row],
            first_seam_runs[way, row + 1],
        )
        while other + 1 < other_last and starts[other_row, other + 1] <= right:
            other += 1
        while column < width:
            own_stop = starts[row, own + 1] if own + 1 < last else width
            other_stop = starts[other_row, other + 1] - right if other + 1 < other_last else width
            stop = min(own_stop, other_stop, width)
            one, two = labels[row, own], labels[other_row, other]
            if one == BASE and two == BASE:
                total += boundaries[way, row, stop] - boundaries[way, row, column]
            else:
                if one != two:
                    ratio = ratios[row, stop] - ratios[row, column]
                    if one >= 0 and two >= 0 and one % PER_PIECE == two % PER_PIECE > 0:
                        seams[many + min(one, two)] += ratio
                    else:
                        total += ratio
                for number in range(seam_run, past):
                    begin, beyond = max(column, seam_runs[number, 0]), min(stop, seam_runs[number, 1])
                    if begin < beyond:
                        seams[seam_runs[number, 2]] -= ratios[row, beyond] - ratios[row, begin]
            own += int(own_stop == stop)
            other += int(other_stop == stop)
            column = stop
    return float(total)


@allocation_free
def _colour_log_ratio(scene: Scene, pieces: int) -> float:
    """Log-likelihood ratio of the surfaces' colours, against the likeliest material of every pixel.

    ``pieces``: how many the stack has.
    """
    around, many, total = scene.around, len(scene.around.surfaces), 0.0
    kinds, surfaces, areas, sums, area = around.kinds, around.surfaces, scene.areas, scene.sums, scene.patch.area
    _sum_colours(scene, pieces)
    for number in range(many):
        if kinds[number] > 0 and areas[number] > 0:
            best = -np.inf
            for colour in range(kinds[number]):
                best = max(best, sums[number, colour])
            units = FLOOR_UNITS if surfaces[number] < FIRST else areas[number]
            total += _colour_weight(area, units) * best
    for piece in range(pieces):
        total += _piece_colour(areas, sums, area, many + piece * PER_PIECE)
    return total


@allocation_free
def _piece_colour(areas: Floats, sums: Floats, area: float, first: int) -> float:
    """Log-likelihood of the colour shared by all surfaces of one piece of the stack; ``first``: number of its face."""
    best = -np.inf
    for colour in range(sums.shape[1]):
        total = 0.0
        for number in range(first, first + PER_PIECE):
            if areas[number] > 0:
                total += _colour_weight(area, areas[number]) * sums[number, colour]
        best = max(best, total)
    return best


@allocation_free
def _colour_weight(area: float, units: float) -> float:
    """Weight of the sum of log-likelihoods of colours on a surface that is worth so many observations, ``units``."""
    return area / (1 + units / MAX_UNITS)


@allocation_free
def _sum_colours(scene: Scene, pieces: int) -> None:
    """Fill in ``areas`` and ``sums``: of the surroundings, less what the stack covers, and of the stack itself."""
    around, many, colours = scene.around, len(scene.around.surfaces), scene.sums.shape[1]
    areas, sums = scene.areas, scene.sums
    for number in range(many + pieces * PER_PIECE):
        areas[number] = around.areas[number] if number < many else 0.0
        for colour in range(colours):
            sums[number, colour] = around.sums[number, colour] if number < many else 0.0
    counts, starts, labels, painted = scene.runs.counts, scene.runs.starts, scene.runs.labels, scene.runs.painted
    likely, area, shown, first, kinds = scene.patch.colours, scene.patch.area, around.shown, around.first, around.kinds
    for row in range(
        (painted[0] + COLOUR_STRIDE - 1) // COLOUR_STRIDE, (painted[1] + COLOUR_STRIDE - 1) // COLOUR_STRIDE
    ):
        at = COLOUR_STRIDE * row
        for number in range(counts[at]):
            label = labels[at, number]
            if label == BASE:
                continue
            stop = starts[at, number + 1] if number + 1 < counts[at] else scene.runs.width
            own, of_piece = many + label, TOPS if label % PER_PIECE == 0 else TOPS + colours
            for column in range(-(-starts[at, number] // COLOUR_STRIDE), -(-stop // COLOUR_STRIDE)):
                covered = shown[at, COLOUR_STRIDE * column]
                areas[covered] -= area
                areas[own] += area
                for colour in range(kinds[covered]):
                    sums[covered, colour] -= likely[row, column, first[covered] + colour]
                for colour in range(colours):
                    sums[own, colour] += likely[row, column, of_piece + colour]
