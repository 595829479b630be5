"""Coordinate ascent of the likelihood: each cell is explained given the hypothesised states of its neighbours.

What stands behind a cell is its background, what stands in front occludes it.  Cells whose crops do not overlap are
updated together, and a cell is updated again whenever a neighbour's state changes (Besag, On the statistical analysis
of dirty pictures, 1986: iterated conditional modes).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.evidence_weights import bound_log_ratios
from vision.inference.hypothesis import Hypothesis, IsolatedScores
from vision.likelihood import stacks
from vision.likelihood.column_integrals import CropColumns
from vision.likelihood.crop_faces import CropFaces, crop_face_log_likelihood
from vision.likelihood.edges import edge_log_ratio
from vision.likelihood.observations import Observations, background
from vision.scene.boxes import Boxes, group_boxes, overlaps
from vision.scene.label_buffer import LabelBuffer

SWEEPS = 4
"""Maximum number of sweeps over the board; a sweep updates only stale cells, and after two there are mostly none.
Chosen by eye."""

OCCLUDED_SHARE = 0.2
"""Occluded share of a crop above which missing evidence is not evidence of emptiness.  Chosen by eye."""

REFUTED_NATS = 10.0
"""An occluded stack that the visible pixels make less likely than an empty cell by more than this is given up all the
same.  Chosen by eye, with the hidden towers of ``tests/vision/test_towers.py``."""

PIECE_LIKE_SHARE = 0.15
"""Share of the smallest configuration's outline that must look more like a piece than like the background for a cell to
be active: even the most displaced piece still fills half of it.  Chosen by eye."""

NOISE_SHARE = 0.05
"""The same share, of the visible part of the outline, up to which no configuration is scored at all: noise, and the
edges of neighbours.  Chosen by eye."""

CUT_NATS = 8.0
"""Within this of the likeliest stack, the highest one that was scored counts as hardly less likely.  With 3 to 20 the
same squares of 100 pictures of ten boards were read."""

FIRST_MM = 40.0
"""Greatest height hypothesised before neighbours are considered: in isolation, what stands behind a cell is taken for
part of a tower on it.  Chosen by eye."""

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]


def initialise(hypothesis: Hypothesis, cells: Indices) -> None:
    """Hypothesise on ``cells`` (b,) what each seems to hold in isolation, against what it would show if empty."""
    isolated = _isolated_scores(hypothesis, cells)
    hypothesis.set_isolated(cells, isolated)
    configurations = hypothesis.geometry.configurations
    first = len(configurations.all)
    if configurations.is_single_size:
        first = max(1, int(FIRST_MM / configurations.all[0].size.height_mm))
    states = isolated.scores[:, : 1 + first * hypothesis.colours].argmax(axis=1)
    for cell, state in zip(cells.tolist(), states.tolist(), strict=True):
        hypothesis.assign(cell, state)


def reinitialise(hypothesis: Hypothesis, cells: Indices, observations: Observations) -> None:
    """Start afresh with ``cells`` (b,), which now show something else; the hypothesis on the other cells stays."""
    hypothesis.observe(cells, observations)
    before = hypothesis.state[cells]
    initialise(hypothesis, cells)
    sweep(hypothesis)
    # Neighbours need to know only of a state that differs from the one before, not of what was tried meanwhile.
    stale = cells[hypothesis.stale[cells]]
    hypothesis.clear_stale()
    hypothesis.invalidate(stale)
    for cell, state in zip(cells.tolist(), before.tolist(), strict=True):
        if hypothesis.state[cell] != state:
            hypothesis.invalidate_neighbours(cell, state)


def converge(hypothesis: Hypothesis) -> None:
    """Sweep until no cell is stale, :data:`SWEEPS` times at most."""
    for _ in range(SWEEPS):
        if not sweep(hypothesis):
            return


def sweep(hypothesis: Hypothesis) -> bool:
    """Update every stale cell that is not held, given the others; true when any such cell is stale afterwards."""
    for apart in _independent_groups(hypothesis, np.flatnonzero(hypothesis.stale & ~hypothesis.overrides_colours)):
        hypothesis.clear_stale(apart)
        update(hypothesis, apart)
    return bool((hypothesis.stale & ~hypothesis.overrides_colours).any())


def update(hypothesis: Hypothesis, cells: Indices) -> None:
    """Update ``cells`` (b,), no two of whose crops overlap, given the others."""
    count = hypothesis.scored_configurations(cells)
    scored = _score_configurations(hypothesis, cells, count, hypothesis.first_row(cells, count))
    hypothesis.set_scores(cells, with_empty(scored.scores))
    hypothesis.set_side_steps(cells, scored.sides)
    for k, cell in enumerate(cells.tolist()):
        _choose(hypothesis, cell, scored.shift[k], float(scored.occluded[k]))
    # Where the highest scored configuration is the best, one above it may be better still.
    is_highest = hypothesis.configuration_count(hypothesis.state[cells]) == count
    hypothesis.invalidate(cells[is_highest & (count < len(hypothesis.geometry.configurations.all))])


def all_scores(hypothesis: Hypothesis, cell: int) -> Array:
    """(configurations, colours) log-likelihood ratios of everything that may stand on a cell, given the others."""
    scored = _score_configurations(hypothesis, np.array([cell]), len(hypothesis.geometry.configurations.all), 0)
    scores: Array = scored.scores[0]
    return scores


def lacks_likeliest(hypothesis: Hypothesis) -> npt.NDArray[np.bool_]:
    """(n,) empty cells whose likeliest stack in isolation is higher than any that was scored there.

    Given the other cells, even a tower may have been scored only up to heights that its upper part refutes.
    """
    alone, is_scored = hypothesis.isolated.scores, hypothesis.scores > stacks.OUT_OF_REACH / 2
    lacks: npt.NDArray[np.bool_] = (hypothesis.state == 0) & ~is_scored[np.arange(len(alone)), alone.argmax(axis=1)]
    return lacks


def score_all(hypothesis: Hypothesis, cell: int) -> None:
    """Score everything that may stand on a cell, given the others."""
    hypothesis.set_scores(np.array([cell]), with_empty(all_scores(hypothesis, cell)[None]))


def complete(hypothesis: Hypothesis, cells: Indices) -> None:
    """Score everything that may stand on ``cells`` (b,), given the others, and hypothesise the likeliest states."""
    for cell in cells.tolist():
        score_all(hypothesis, cell)
        before, likeliest = int(hypothesis.state[cell]), int(hypothesis.scores[cell].argmax())
        if likeliest != before:
            hypothesis.assign(cell, likeliest)
            hypothesis.invalidate_neighbours(cell, before)
    converge(hypothesis)


def may_be_higher(hypothesis: Hypothesis) -> npt.NDArray[np.bool_]:
    """(n,) cells with a stack where the highest one that was scored is hardly less likely than the likeliest.

    A higher one may be likelier still: a tower whose foot is hidden may be only as likely as a single piece.
    """
    scores, cells = hypothesis.configuration_scores(), np.arange(len(hypothesis.state))
    highest = highest_scored(scores)
    is_near = scores[cells, highest] > scores.max(axis=1) - CUT_NATS
    is_higher: npt.NDArray[np.bool_] = (hypothesis.state > 0) & is_near & (highest + 1 < scores.shape[1])
    return is_higher & ~hypothesis.camouflaged


def highest_scored(scores: Array) -> Indices:
    """(b,) the highest configuration that was scored in each row of ``scores`` (b, f), by configuration."""
    highest: Indices = scores.shape[1] - 1 - (scores[:, ::-1] > stacks.OUT_OF_REACH / 2).argmax(axis=1)
    return highest


def update_around(hypothesis: Hypothesis, placed: Indices) -> Indices:
    """Update once the stale cells around the changed cells ``placed``, but not these; returns the stale cells (b,).

    Those that are held do not change yet.
    """
    hypothesis.clear_stale(placed)
    cells = np.flatnonzero(hypothesis.stale)
    for apart in _independent_groups(hypothesis, cells[~hypothesis.overrides_colours[cells]]):
        update(hypothesis, apart)
    hypothesis.clear_stale()
    return cells


class AllScores:
    """:func:`all_scores` of some cells: computed for many at once, and again for those that a change has touched."""

    def __init__(self, hypothesis: Hypothesis, cells: Indices) -> None:
        """Score ``cells`` (b,); those that cannot occlude each other are scored together."""
        self._hypothesis, self._boxes_px = hypothesis, hypothesis.geometry.outlines.boxes_px
        self._known: dict[int, Array] = {}
        count, groups = len(hypothesis.geometry.configurations.all), group_boxes(self._highest(cells))
        for number in range(groups.max(initial=-1) + 1):
            apart = cells[groups == number]
            scored = _score_configurations(hypothesis, apart, count, 0)
            self._known.update(zip(apart.tolist(), scored.scores, strict=True))

    def get(self, cell: int) -> Array:
        """(configurations, colours) scores of one cell."""
        return self._known[cell] if cell in self._known else all_scores(self._hypothesis, cell)

    def invalidate(self, cell: int, before: int) -> None:
        """Discard the scores of cells that a cell's present state, or its state ``before``, touches."""
        count = self._hypothesis.configuration_count(max(int(self._hypothesis.state[cell]), before))
        others = np.array(list(self._known), np.intp)
        for other in others[overlaps(self._boxes_px[cell, count - 1], self._highest(others))].tolist():
            del self._known[other]

    def _highest(self, cells: Indices) -> Boxes:
        """Bounding boxes of everything that may stand on ``cells`` (b,)."""
        boxes: Boxes = self._boxes_px[cells, -1]
        return boxes


def rescore_placed(hypothesis: Hypothesis, cells: Indices, configurations: Indices, shift_mm: Array) -> None:
    """Score ``configurations`` (b, l) on ``cells`` (b,) again, given the displacement (b, l, 2) of their faces.

    The likeliest one must be among them: all others keep their log-likelihood ratio to the best.
    """
    hypothesis.clear_stale()
    for apart in _independent_groups(hypothesis, cells):
        mine = np.flatnonzero(np.isin(cells, apart))
        scores = _placed_scores(hypothesis, cells[mine], configurations[mine], shift_mm[mine])
        columns = 1 + configurations[mine][..., None] * hypothesis.colours + np.arange(hypothesis.colours)
        rows = hypothesis.scores[cells[mine]]
        rows[:, 1:] += scores.max(axis=(1, 2))[:, None] - rows[:, 1:].max(axis=1, keepdims=True)
        np.put_along_axis(rows, columns.reshape(len(mine), -1), scores.reshape(len(mine), -1), axis=1)
        hypothesis.set_scores(cells[mine], rows)
        for cell, known, shifts in zip(cells[mine].tolist(), configurations[mine], shift_mm[mine], strict=True):
            before, best = int(hypothesis.state[cell]), int(hypothesis.scores[cell].argmax())
            own = shifts[known == hypothesis.configuration_count(best) - 1]
            hypothesis.assign(cell, best, own[0] if len(own) else 0.0)
            if best != before:
                hypothesis.invalidate_neighbours(cell, before)


def rescore_by_crop_faces(hypothesis: Hypothesis, crop_faces: CropFaces) -> None:
    """Distinguish configurations of one colour by the edges of lateral faces, on cells where something stands.

    Camouflaged pieces have already been decided by their surfaces.
    """
    standing = (hypothesis.state > 0) & hypothesis.updated & ~hypothesis.camouflaged
    for cells in _independent_groups(hypothesis, np.flatnonzero(standing)):
        labels = hypothesis.labels(bare=cells)
        behind = background(hypothesis.observations, hypothesis.geometry.visibility, labels, cells)
        fits = crop_face_log_likelihood(hypothesis.observations, behind, crop_faces, cells, hypothesis.shift_mm[cells])
        ratio = fits.log_ratio + hypothesis.geometry.configurations.log_prior
        ratio -= ratio.max(axis=1, keepdims=True)
        scores = hypothesis.scores[cells, 1:].reshape(*ratio.shape, hypothesis.colours)
        peak = scores.max(axis=(1, 2), keepdims=True)
        scores = peak + ratio[..., None] + scores - scores.max(axis=2, keepdims=True)
        hypothesis.set_lateral_sums(cells, fits.sums, fits.wireframes)
        hypothesis.set_scores(cells, np.column_stack([hypothesis.scores[cells, 0], scores.reshape(len(cells), -1)]))


def _isolated_scores(hypothesis: Hypothesis, cells: Indices) -> IsolatedScores:
    """Scores of all states on ``cells`` (b,) as if nothing else stood on the board, and every stack stood straight."""
    geometry, table = hypothesis.geometry, hypothesis.geometry.outline_table
    labels = hypothesis.labels(bare=cells)
    share, in_sight = stacks.piece_like_share(hypothesis.observations, geometry.visibility, labels, table, cells)
    upright = np.full((len(cells), *table.allowed.shape), stacks.IMPOSSIBLE)
    # Where a piece has the board's colour, only its upper part stands out, against another colour; on a pillar it may
    # stand out by its edges alone.
    is_open = hypothesis.is_on_learned_board | geometry.is_edged | (share > NOISE_SHARE * in_sight)
    looked = np.flatnonzero(is_open | (in_sight < PIECE_LIKE_SHARE))
    kinds = 1 + hypothesis.colours
    columns = CropColumns(hypothesis.observations, geometry.visibility, labels, 0, kinds)
    log_prior = _log_prior(hypothesis, cells[looked], upright.shape[1], labels)
    upright[looked] = stacks.score_upright(columns, table, cells[looked], log_prior)
    return IsolatedScores(
        scores=with_empty(upright),
        single=upright[:, 0].argmax(axis=1) + 1,
        may_be_single=upright[:, 0].max(axis=1) > 0,
        is_active=(share > PIECE_LIKE_SHARE) | (upright.max(axis=(1, 2)) > 0),
    )


def _score_configurations(hypothesis: Hypothesis, cells: Indices, count: int, first_row: int) -> stacks.StackScores:
    """Scores of the first ``count`` configurations on ``cells`` (b,), given the others.

    ``first_row``: the first crop row that they can touch.  Colours that are in doubt rule out no piece, beside what
    faces say of it.
    """
    configurations, table = hypothesis.geometry.configurations, hypothesis.geometry.outline_table
    labels = hypothesis.labels(bare=cells)
    columns, log_prior = _columns(hypothesis, labels, first_row), _log_prior(hypothesis, cells, count, labels)
    scored = stacks.score_cells(columns, hypothesis.rim, table, cells, log_prior, configurations.is_single_size)
    bound_doubtful(hypothesis, cells, hypothesis.glyph_log_ratio[cells], scored.scores)
    return scored


def bound_doubtful(hypothesis: Hypothesis, cells: Indices, by_face: Array, scores: Array) -> None:
    """Bound ``scores`` (b, l, colours) in place on those of ``cells`` (b,) where colours are in doubt.

    But not the part of them that faces say, ``by_face`` (b, l).
    """
    for k in np.flatnonzero(hypothesis.doubts_colours[cells]).tolist():
        scores[k] = bound_log_ratios(scores[k] - by_face[k, :, None]) + by_face[k, :, None]


def _placed_scores(hypothesis: Hypothesis, cells: Indices, configurations: Indices, shift_mm: Array) -> Array:
    """(b, l, colours) log-likelihood ratios of configurations, given the displacement ``shift_mm`` of their faces."""
    geometry, labels = hypothesis.geometry, hypothesis.labels(bare=cells)
    first_row = hypothesis.first_row(cells, int(configurations.max()) + 1)
    columns = _columns(hypothesis, labels, first_row)
    colour = (hypothesis.state[cells] - 1) % hypothesis.colours
    table = geometry.outline_table
    scores = stacks.score_placed(columns, hypothesis.rim, table, cells, configurations, shift_mm, colour)
    log_prior = _log_prior(hypothesis, cells, len(geometry.configurations.all), labels)
    scores += np.take_along_axis(log_prior, configurations, axis=1)[..., None]
    by_face = np.take_along_axis(hypothesis.glyph_log_ratio[cells], configurations, axis=1)
    bound_doubtful(hypothesis, cells, by_face, scores)
    return scores


def with_empty(scores: Array) -> Array:
    """(b, states) log-likelihood ratios from those of (b, configurations, colours); the empty cell gets 0."""
    rows = scores.reshape(len(scores), scores.shape[1] * scores.shape[2])
    return np.column_stack([np.zeros(len(scores), np.float32), rows])


def _independent_groups(hypothesis: Hypothesis, cells: Indices) -> list[Indices]:
    """``cells`` in groups that can be updated at once: no two of a group reach into each other's crop."""
    groups = group_boxes(hypothesis.boxes_px()[cells])
    return [cells[groups == number] for number in range(groups.max() + 1)] if len(cells) else []


def _log_prior(hypothesis: Hypothesis, cells: Indices, count: int, labels: LabelBuffer) -> Array:
    """(b, count) log-prior offset of the first configurations on ``cells`` (b,): everything but colours."""
    geometry = hypothesis.geometry
    prior = geometry.configurations.log_prior[:count] + hypothesis.glyph_log_ratio[cells, :count]
    if not geometry.is_edged:
        return prior
    observations, visibility = hypothesis.observations, geometry.visibility
    return prior + edge_log_ratio(observations, visibility, labels, geometry.outline_table, cells, count)


def _columns(hypothesis: Hypothesis, labels: LabelBuffer, first_row: int) -> CropColumns:
    """The columns of crops from ``first_row`` on, with each colour's side."""
    kinds = 1 + 2 * hypothesis.colours
    return CropColumns(hypothesis.observations, hypothesis.geometry.visibility, labels, first_row, kinds)


def _choose(hypothesis: Hypothesis, cell: int, shift_mm: Array, occluded: float) -> None:
    """Hypothesise the best state of a cell and invalidate its neighbours if that is a different one.

    But a stack wrongly hypothesised in front must not wipe out the one behind, whose colours would then seem to be its
    own: an occluded stack (:data:`OCCLUDED_SHARE`) stays unless the visible pixels refute it.
    """
    before, best = int(hypothesis.state[cell]), int(hypothesis.scores[cell].argmax())
    if best == 0 and before and occluded > OCCLUDED_SHARE and hypothesis.scores[cell, before] > -REFUTED_NATS:
        return
    if best != before:
        hypothesis.invalidate_neighbours(cell, best)
    if best != before or np.abs(shift_mm - hypothesis.shift_mm[cell]).max() > 1:
        hypothesis.assign(cell, best, shift_mm)
