"""Log-likelihood of every configuration and colour on a cell: analysis by synthesis, maximised over its placement.

A stack of h discs covers, in its crop, an ellipse (its upper face, in the top piece's colour) and below it h bands (the
discs' sides, each in some piece's colour); other configurations have other parts
(:mod:`vision.scene.configurations`).  The score of a state is the log-likelihood ratio of the pixels that it covers
against the background, that is what they would show without it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import OUTLIER_LOG
from vision.compiled import allocation_free, compiled
from vision.likelihood.column_integrals import (
    ColumnIntegrals,
    CropColumns,
    Lines,
    empty_integrals,
    integrate_columns,
    lines_of,
    shift_lines,
    sum_line,
)
from vision.likelihood.observations import Observations
from vision.likelihood.placement import (
    Placement,
    Trellis,
    fit_lines,
    make_trellis,
    placement_under_face,
    search_placement,
)
from vision.likelihood.rim_shading import measure_sides, rim_log_ratio
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS, LabelBuffer
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float64]

FLOOR, STANDING, TOPS = Materials.FLOOR, Materials.STANDING, Materials.TOPS

IMPOSSIBLE = np.float32(-1e4)
"""Log-likelihood ratio of a piece that the kit does not have: below all others.  Chosen by eye."""

OUT_OF_REACH = np.float32(-1e3)
"""Log-likelihood ratio of configurations that were not scored: below all that were.  Chosen by eye."""

MAX_DISPLACED = 6
"""Maximum number of configurations, other than stacks of one size, whose placement is searched: those likeliest when
undisplaced, and no more than half of all.  Chosen by eye."""


class StackScores(NamedTuple):
    """Scores of all states on some cells (b), and the placement of the likeliest configuration on each.

    Attributes:
        scores: (b, configurations, colours) float32 log-likelihood ratio against an empty cell.
        shift: (b, 2) float32 mm, displacement of its face in the crop: right, down.
        sides: (b, parts, steps, 2) float32 sums of log brightness and of pixels over each step of each of its sides,
            from above, see :func:`vision.likelihood.rim_shading.measure_sides`.
        occluded: (b,) float32 share of each crop, 0…1, that is occluded or outside the picture.
    """

    scores: Array
    shift: Array
    sides: Array
    occluded: Array


class _Search(NamedTuple):
    """What all placement searches of some cells share.

    Attributes:
        integrals: of the present cell.
        rim: (steps,) float32 shading of a piece's side.
        table: of the pose.
        trellis: work arrays.
    """

    integrals: ColumnIntegrals
    rim: Array
    table: OutlineTable
    trellis: Trellis


@compiled
def score_upright(columns: CropColumns, table: OutlineTable, cells: Indices, log_prior: Array) -> Array:
    """Scores of all configurations as if undisplaced: at the centre of the cell, every piece exactly on the one below.

    Args:
        columns: of the crops; configurations that reach beyond its first row cannot be scored.
        table: of the pose.
        cells: (b,) intp.
        log_prior: (b, f) float32 log-prior offset of the first f configurations; only these are scored.

    Returns:
        (b, configurations, colours) float32 log-likelihood ratio against an empty cell, with the prior;
        :data:`IMPOSSIBLE` where there is no such piece, :data:`OUT_OF_REACH` beyond f.
    """
    scores, integrals = _unscored(len(cells), table), empty_integrals(columns, table.has_faces)
    for k in range(len(cells)):
        integrate_columns(columns, cells[k], integrals)
        _score_upright(integrals, table, cells[k], log_prior[k], scores[k])
    return scores


@compiled
def _unscored(count: int, table: OutlineTable) -> Array:
    """(count, configurations, colours) float32 :data:`OUT_OF_REACH`."""
    return np.full((count, *table.allowed.shape), OUT_OF_REACH)


@compiled
def _score_upright(integrals: ColumnIntegrals, table: OutlineTable, cell: int, log_prior: Array, scores: Array) -> None:
    """Put the scores of :func:`score_upright` of one cell into ``scores`` (configurations, colours)."""
    colours = table.allowed.shape[1]
    far, near, foot = np.zeros(1 + colours), np.zeros(1 + colours), np.zeros(1)
    for configuration in range(len(log_prior)):
        lines = lines_of(integrals, table, cell, configuration)
        sum_line(lines, 0, 0.0, 0.0, 0, far)
        sum_line(lines, 1, 0.0, 0.0, 0, near)
        sum_line(lines, 1 + table.bands[configuration], 0.0, 0.0, 0, foot)
        for colour in range(colours):
            ratio = (near[1 + colour] - far[1 + colour] + foot[0] - near[0]) * table.weight
            score = ratio if table.allowed[configuration, colour] else IMPOSSIBLE
            scores[configuration, colour] = score + log_prior[configuration]


@compiled
def piece_like_share(
    observations: Observations, visibility: Visibility, labels: LabelBuffer, table: OutlineTable, cells: Indices
) -> tuple[Array, Array]:
    """Share of the smallest configuration's silhouette that looks more like a piece than like the background.

    Pixels that neither explains count as a piece: nothing else is as dark as some sides, or as bright as a mirrored
    lamp.

    Args:
        observations: of all cells.
        visibility: of the pose.
        labels: (height, width) uint16, rendered with nothing on ``cells``.
        table: of the pose.
        cells: (b,) intp.

    Returns:
        (b,) float32 0…1, that share; and (b,) float32 0…1, the share of the silhouette that is visible.
    """
    like_piece, in_sight = np.zeros(len(cells), np.float32), np.zeros(len(cells), np.float32)
    for k in range(len(cells)):
        like_piece[k], in_sight[k] = _shares_of(observations, visibility, labels.reshape(-1), table, cells[k])
    return like_piece, in_sight


@allocation_free
def _shares_of(
    observations: Observations,
    visibility: Visibility,
    labels: npt.NDArray[np.uint16],
    table: OutlineTable,
    cell: int,
) -> tuple[float, float]:
    """See :func:`piece_like_share`; of one cell, given the labels of all pixels, row by row."""
    edges, columns, last = table.edges[cell, 0], table.columns, observations.bins.shape[1] - 1
    area, like_piece, in_sight = 1e-6, np.float32(0), np.float32(0)
    for i in range(len(columns)):
        far, foot, x = edges[0, i], edges[-1, i], columns[i]
        for row in range(max(int(far), 0), min(int(foot), last) + 1):
            covered = min(foot, row + 1) - max(far, row)
            area += covered
            nearest = labels[visibility.flat_px[cell, row, x]]
            if visibility.visible[cell, row, x] and nearest >> RANK_BITS <= visibility.rank[cell]:
                in_sight += covered
                likely = observations.colour_model[observations.bins[cell, row, x]]
                material = nearest & MATERIAL_MASK
                background = observations.floor[cell, row, x] if material == FLOOR else likely[material]
                is_like = likely[STANDING] > background or background < OUTLIER_LOG
                for colour in range(table.allowed.shape[1]):
                    is_like |= likely[TOPS + colour] > background
                like_piece += covered * is_like
    return float(like_piece / area), float(in_sight / area)


@compiled
def score_cells(
    columns: CropColumns,
    rim: Array,
    table: OutlineTable,
    cells: Indices,
    log_prior: Array,
    is_single_size: bool,  # noqa: FBT001
) -> StackScores:
    """Scores on some cells; the placement of the likeliest configurations is searched, the others are undisplaced.

    Args:
        columns: of the crops, with each colour's side.
        rim: (steps,) float32 shading of a piece's side (:class:`calibration.appearance.SetAppearance`).
        table: of the pose.
        cells: (b,) intp.
        log_prior: (b, f) float32, see :func:`score_upright`.
        is_single_size: whether each configuration is the one before it with one more piece.
    """
    count, reach, integrals = len(cells), log_prior.shape[1], empty_integrals(columns, table.has_faces)
    shift, sides, occluded = np.zeros((count, 2), np.float32), _no_sides(count, table, rim), np.empty(count, np.float32)
    scores = _unscored(count, table)
    search, scored = _Search(integrals, rim, table, make_trellis(table)), StackScores(scores, shift, sides, occluded)
    for k in range(len(cells)):
        occluded[k] = integrate_columns(columns, cells[k], integrals)
        _score_upright(integrals, table, cells[k], log_prior[k], scores[k])
        candidates, best, likeliest = _candidates(scores[k, :reach], is_single_size), -np.inf, 0
        colour = _likeliest_colour(scores[k])
        for configuration in candidates:
            prior = log_prior[k, configuration]
            score = _score_displaced(search, k, cells[k], configuration, colour, prior, best, scored)
            if score > best:
                best, likeliest = score, configuration
        # The height of a leaning stack can be off by more than one piece when it is scored undisplaced.
        further = 2 * likeliest - candidates[0]
        if is_single_size and further != likeliest and 0 <= further < reach:
            colour = _likeliest_colour(scores[k])
            _score_displaced(search, k, cells[k], further, colour, log_prior[k, further], best, scored)
    return scored


@compiled
def score_placed(
    columns: CropColumns,
    rim: Array,
    table: OutlineTable,
    cells: Indices,
    configurations: Indices,
    shift_mm: Array,
    colours: Indices,
) -> Array:
    """Scores of configurations whose faces have a known placement.

    Args:
        columns: of the crops, with each colour's side.
        rim: (steps,) float32 shading of a piece's side.
        table: of the pose.
        cells: (b,) intp.
        configurations: (b, l) intp, on each cell.
        shift_mm: (b, l, 2) float32, displacement of their faces in the crop: right, down.
        colours: (b,) intp, likeliest colour on each cell.

    Returns:
        (b, l, colours) float32 log-likelihood ratios against an empty cell.
    """
    trellis, sides, integrals = (
        make_trellis(table),
        _no_sides(1, table, rim)[0],
        empty_integrals(columns, table.has_faces),
    )
    scores = np.empty((*configurations.shape, table.allowed.shape[1]), np.float32)
    for k in range(len(cells)):
        integrate_columns(columns, cells[k], integrals)
        for number, configuration in enumerate(configurations[k]):
            lines = lines_of(integrals, table, cells[k], configuration)
            shift = shift_mm[k, number]
            placement = placement_under_face(lines, table, cells[k], configuration, colours[k], shift)
            scores[k, number] = _score_placement(lines, rim, table, trellis, cells[k], configuration, placement, sides)
    return scores


@compiled
def _candidates(scores: Array, is_single_size: bool) -> Indices:  # noqa: FBT001
    """Configurations whose placement is searched, the likeliest first.

    Of stacks of one size these are the likeliest, and those that are a piece lower and higher.  ``scores``
    (configurations, colours) float32 are those of undisplaced ones.
    """
    cost = np.empty(len(scores), np.float32)
    for configuration in range(len(scores)):
        cost[configuration] = -scores[configuration].max()
    if not is_single_size:
        return np.argsort(cost, kind="mergesort")[: min(MAX_DISPLACED, (len(cost) + 1) // 2)]
    likeliest = cost.argmin()
    candidates, count = np.array([likeliest, likeliest - 1, likeliest + 1]), 1
    for configuration in candidates[1:]:
        if 0 <= configuration < len(cost):
            candidates[count] = configuration
            count += 1
    return candidates[:count]


@allocation_free
def _likeliest_colour(scores: Array) -> int:
    """The colour of the likeliest state: scores are (configurations, colours)."""
    best, colour = scores[0, 0], 0
    for configuration in range(scores.shape[0]):
        for number in range(scores.shape[1]):
            if scores[configuration, number] > best:
                best, colour = scores[configuration, number], number
    return colour


@compiled
def _no_sides(cells: int, table: OutlineTable, rim: Array) -> Array:
    """Zeros for :attr:`StackScores.sides`."""
    return np.zeros((cells, table.bands.max(), len(rim), 2), np.float32)


@compiled
def _score_displaced(
    search: _Search,
    k: int,
    cell: int,
    configuration: int,
    colour: int,
    log_prior: float,
    best: float,
    scored: StackScores,
) -> float:
    """The score of the likeliest colour of a configuration in its likeliest placement; all colours' go into ``scored``.

    So do placement and sides if the score is better than ``best``, the best on the cell so far.

    Args:
        search: shared by all searches.
        k: number of the cell in ``search`` and ``scored``.
        cell: number of the cell.
        configuration: number of the configuration.
        colour: likeliest colour so far.
        log_prior: log-prior offset of the configuration.
        best: as above.
        scored: as above.
    """
    table, trellis = search.table, search.trellis
    lines, sides = lines_of(search.integrals, table, cell, configuration), np.empty_like(scored.sides[k])
    placement = search_placement(lines, table, cell, configuration, colour)
    scores = scored.scores[k, configuration]
    scores[:] = _score_placement(lines, search.rim, table, trellis, cell, configuration, placement, sides)
    scores += log_prior
    if scores.max() > best:
        scored.shift[k, 0], scored.shift[k, 1] = placement.columns * table.column_mm, trellis.best_shifts[0]
        scored.sides[k] = sides
    return float(scores.max())


@compiled
def _score_placement(
    lines: Lines,
    rim: Array,
    table: OutlineTable,
    trellis: Trellis,
    cell: int,
    configuration: int,
    placement: Placement,
    sides: Array,
) -> Scores:
    """(colours,) float64 scores of a configuration about a placement.

    Args:
        lines: of the configuration, undisplaced.
        rim: (steps,) float32 shading of a piece's side.
        table: of the pose.
        trellis: work arrays; the best path is left in it.
        cell: number of the cell.
        configuration: number of the configuration.
        placement: about which lines are displaced.
        sides: (parts, steps, 2) float32, is overwritten, see :attr:`StackScores.sides`.
    """
    scores: Scores = np.empty(table.allowed.shape[1])
    lines = shift_lines(lines, placement.columns)
    fit_lines(lines, table, cell, configuration, placement, trellis, scores)
    measure_sides(lines, table.bands[configuration], trellis.best_shifts, sides)
    gain = rim_log_ratio(sides[: table.bands[configuration]], rim, table.column_mm)
    for colour in range(len(scores)):
        scores[colour] = scores[colour] + gain if table.allowed[configuration, colour] else IMPOSSIBLE
    return scores
