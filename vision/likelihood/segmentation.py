"""Log-likelihood of a stack in a patch of the picture, by the surfaces of all that is seen there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.boundaries import COLOUR_STRIDE, Patch
from vision.likelihood.memo import Memo, make_memo
from vision.likelihood.surroundings import TOPS, Surroundings, make_surroundings, ways
from vision.scene.configurations import PLACE_MM
from vision.scene.prisms import FIRST, PER_PIECE, Floats, Prisms, Surfaces, first_surface, span_stack
from vision.scene.runs import BASE, Runs, Spans, clear, covered_px, lay, lay_run, make_runs, make_spans, stop_of

Indices = npt.NDArray[np.intp]

MOST_UNITS = 4.0
"""Observations of colour that a surface of any size is worth at most: it is unlike its material as a whole."""

FLOOR_UNITS = 15.0
"""Observations of colour on a part of the ground as large as a piece's face, which is worth as much as that."""

SEAM_ALIKE = 0.5
"""Probability that the sides of two pieces on each other are of one colour: any may be prisoners."""

WEIGHT = 0.3
"""What the picture says counts so much: neighbouring boundaries err together."""

OFF_MM, TURN_RAD = 0.6, np.radians(5.0)
"""Standard deviations of a piece's place from the one below it, each way, and of its turn."""

ROUND_SEAM = 0.25
"""Share that the seam between two discs counts: their bevels show as lines, too, of which each side has some."""

CORNERS = 4
"""Corners of a cube's outline: it has sides of its own, and a turn."""


class Scene(NamedTuple):
    """What is round a stack, and work arrays.

    Attributes:
        patch: of the picture.
        prisms: of the pose.
        cell: on which the stack stands.
        rank: of the cell.
        around: what is seen without the stack.
        front: runs of what occludes the stack.
        spans: of the stack, is overwritten.
        runs: of what is seen of it, is overwritten.
        seams: (k + s,) is overwritten: evidence of the seam under each surface, those of the stack coming last.
        areas: (k + s,) is overwritten: observations of colour on each.
        sums: (k + s, colours) is overwritten: their log-likelihoods in each colour.
        memo: log-likelihoods of configurations and places that are known.
        key: (1 + 3 p,) work array: one of these.
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
        painted: (height, width) surfaces of the patch without the stack, and those that occlude it, -1 where none does.
        kinds: (s,) material of each surface, -1 of pieces; and number of colours of these.
    """
    (behind, front), (materials, colours), size, pieces = painted, kinds, painted[0].shape, prisms.kinds.shape[1]
    occluders = _runs_of(front)
    for row in range(size[0]):
        for column in range(size[1]):
            if front[row, column] >= 0:
                behind[row, column] = front[row, column]
    around = make_surroundings(patch, behind, materials, colours)
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
    most, (height, width) = 1, front.shape
    for row in range(height):
        changes = 1
        for column in range(1, width):
            changes += int((front[row, column] < 0) != (front[row, column - 1] < 0))
        most = max(most, changes)
    runs = make_runs((height, width), most)
    for row in range(height):
        count = 0
        for column in range(width):
            label = BASE if front[row, column] < 0 else 0
            if column == 0 or label != runs.labels[row, count - 1]:
                runs.starts[row, count], runs.labels[row, count] = column, label
                count += 1
        runs.counts[row] = count
    return runs


@compiled
def stack_log_likelihood(scene: Scene, configuration: int, places: Floats) -> float:
    """Log-likelihood, up to a constant, of a configuration (-1: none) whose pieces lie at ``places`` (p, 3).

    ``places``: see :func:`vision.scene.prisms.span_stack`.
    """
    prior = 0.0
    clear(scene.runs)
    if configuration >= 0:
        _lay_stack(scene, configuration, places)
        _occlude(scene)
        prior = _log_prior(places[: scene.prisms.counts[configuration]])
    return WEIGHT * (_boundary_log_ratio(scene) + _colour_log_ratio(scene)) + prior


@compiled
def seen_share(scene: Scene, configuration: int, places: Floats) -> float:
    """Share (0…1) of a configuration whose pieces lie at ``places`` (p, 3) that nothing in front occludes."""
    clear(scene.runs)
    _lay_stack(scene, configuration, places)
    all_px = covered_px(scene.runs)
    _occlude(scene)
    return covered_px(scene.runs) / max(all_px, 1)


@compiled
def _lay_stack(scene: Scene, configuration: int, places: Floats) -> None:
    span_stack(scene.spans, scene.prisms, (scene.cell, scene.rank, configuration), places)
    lay(scene.runs, scene.spans, first_surface(scene.rank))


@compiled
def _occlude(scene: Scene) -> None:
    """Take from the runs of the stack what is in front of it."""
    front = scene.front
    for row in range(len(front.counts)):
        if scene.runs.counts[row] > 1:
            for number in range(front.counts[row]):
                if front.labels[row, number] != BASE:
                    lay_run(scene.runs, row, (front.starts[row, number], stop_of(front, row, number)), BASE)


@compiled
def _log_prior(places: Floats) -> float:
    """Log prior of the places (p, 3) of a stack's pieces, the lowest first."""
    total = 0.0
    for piece in range(len(places)):
        for axis in range(2):
            off = places[piece, axis] if piece == 0 else places[piece, axis] - places[piece - 1, axis]
            total -= 0.5 * (off / (PLACE_MM if piece == 0 else OFF_MM)) ** 2
        total -= 0.5 * (places[piece, 2] / TURN_RAD) ** 2
    return total


@compiled
def _boundary_log_ratio(scene: Scene) -> float:
    """Log-likelihood ratio of the boundaries between surfaces, against a patch without any."""
    scene.seams[:] = 0
    total, height = 0.0, len(scene.runs.counts)
    for way in range(2):
        right, below, step, ratios = ways(scene.patch, way)
        for row in range(0, height - below, step):
            total += _along_row(scene, ratios, (right, below), way, row)
    share = 1.0 if scene.prisms.rings_mm.shape[1] == CORNERS else ROUND_SEAM
    for seam in scene.seams:
        if seam != 0:
            total += share * np.log(SEAM_ALIKE + (1 - SEAM_ALIKE) * np.exp(seam))
    return total


@compiled
def _along_row(scene: Scene, ratios: Floats, offset: tuple[int, int], way: int, row: int) -> float:
    """Evidence of the boundaries between a row's pixels and those beside or below them; that of seams is added up."""
    runs, around, (right, below), total = scene.runs, scene.around, offset, 0.0
    counts, starts, labels, other_row = runs.counts, runs.starts, runs.labels, row + below
    column, end, own, other = 0, runs.width - right, 0, 0
    while other + 1 < counts[other_row] and starts[other_row, other + 1] <= right:
        other += 1
    while column < end:
        stop = end
        if own + 1 < counts[row]:
            stop = min(stop, starts[row, own + 1])
        if other + 1 < counts[other_row]:
            stop = min(stop, starts[other_row, other + 1] - right)
        one, two = labels[row, own], labels[other_row, other]
        if one == BASE and two == BASE:
            total += around.boundaries[way, row, stop] - around.boundaries[way, row, column]
            for number in range(around.seams[way, row, 0], around.seams[way, row, 1]):
                if column <= around.seam_columns[number] < stop:
                    scene.seams[around.seam_numbers[number]] += around.seam_ratios[number]
        elif one != two:
            ratio = ratios[row, stop] - ratios[row, column]
            if one >= 0 and two >= 0 and one % PER_PIECE == two % PER_PIECE > 0:
                scene.seams[len(around.surfaces) + min(one, two)] += ratio
            else:
                total += ratio
        own += int(own + 1 < counts[row] and starts[row, own + 1] == stop)
        other += int(other + 1 < counts[other_row] and starts[other_row, other + 1] - right == stop)
        column = stop
    return total


@compiled
def _colour_log_ratio(scene: Scene) -> float:
    """Log-likelihood of the surfaces' colours, against the likeliest material of every pixel."""
    around, many, total = scene.around, len(scene.around.surfaces), 0.0
    _sum_colours(scene)
    for number in range(many):
        if around.kinds[number] > 0:
            units = FLOOR_UNITS if around.surfaces[number] < FIRST else scene.areas[number]
            total += _colour_weight(scene, number, units) * scene.sums[number, : around.kinds[number]].max()
    for first in range(many, len(scene.areas), PER_PIECE):
        total += _piece_colour(scene, first)
    return total


@compiled
def _piece_colour(scene: Scene, first: int) -> float:
    """Log-likelihood of the colour of one piece of the stack, which all its surfaces have; ``first``: its face."""
    best = -np.inf
    for colour in range(scene.sums.shape[1]):
        total = 0.0
        for number in range(first, first + PER_PIECE):
            total += _colour_weight(scene, number, scene.areas[number]) * scene.sums[number, colour]
        best = max(best, total)
    return best


@compiled
def _colour_weight(scene: Scene, number: int, units: float) -> float:
    """What the colours of a surface count, worth so many observations, a sum of log-likelihoods."""
    return scene.patch.area / (1 + units / MOST_UNITS) if scene.areas[number] > 0 else 0.0


@compiled
def _sum_colours(scene: Scene) -> None:
    """Add up ``areas`` and ``sums``: the surroundings', but where the stack is, and the stack's."""
    patch, around, runs, many = scene.patch, scene.around, scene.runs, len(scene.around.surfaces)
    colours, areas, sums = scene.sums.shape[1], scene.areas, scene.sums
    areas[:many], sums[:many], areas[many:], sums[many:] = around.areas, around.sums, 0, 0
    for row in range(patch.colours.shape[0]):
        at = COLOUR_STRIDE * row
        for number in range(runs.counts[at]):
            label = runs.labels[at, number]
            if label == BASE:
                continue
            own, first = many + label, TOPS if label % PER_PIECE == 0 else TOPS + colours
            begin = (runs.starts[at, number] + COLOUR_STRIDE - 1) // COLOUR_STRIDE
            for column in range(begin, (stop_of(runs, at, number) + COLOUR_STRIDE - 1) // COLOUR_STRIDE):
                covered = around.shown[at, COLOUR_STRIDE * column]
                areas[covered] -= patch.area
                areas[own] += patch.area
                for colour in range(around.kinds[covered]):
                    sums[covered, colour] -= patch.colours[row, column, around.first[covered] + colour]
                for colour in range(colours):
                    sums[own, colour] += patch.colours[row, column, first + colour]
