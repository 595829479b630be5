"""A board while it is being explained: every cell against the picture that its neighbours would give without it.

What stands behind a cell is its background, what stands before it hides its pixels.  Cells that are no neighbours are
explained together, and cells are looked at again while their neighbours change (coordinate ascent of the likelihood).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.geometry import Box, Geometry, grouped, touching
from vision.inference.hypothesis import Belief
from vision.likelihood import stacks
from vision.likelihood.column_integrals import Sums, sum_columns
from vision.likelihood.edges import edges_seen
from vision.likelihood.facets import Facets, judge_facets
from vision.likelihood.observations import Evidence, backdrop, renew
from vision.scene.label_buffer import Canvas

MOSTLY_HIDDEN = 0.2
"""Share of a crop that nearer stacks hide from which on its silence does not mean that the cell is empty."""

REFUTED = 10.0
"""But what is seen of it may say so: a stack less likely than none by so many nats does not stand there."""

LEAST_VISIBLE = 0.15
"""Share of the smallest figure's outline that must look more like a piece than like the floor for a cell to be looked
into: a piece as far askew as any still fills half of it."""

NOT_VISIBLE = 0.05
"""Share of what is seen of it up to which no figure at all is tried: noise, and the edges of what stands near."""

FIRST_MM = 40.0
"""Heights believed in at first sight: a tower seems to be made of what stands behind it, which must have its say."""

HIGHER = 2
"""Heights so far above the highest one believed in are looked at; the next pass may look higher."""

ROOM_ROWS = 7
"""Crop rows above the highest face that its leaning may need."""

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]


class Board:
    """The explanation of a whole board while it is being found.

    Attributes:
        belief: what is believed to stand on each cell.
        scores: (n, 1 + figures * colours) log-likelihood ratio of every state against an empty cell.
        alone: (n, states) the same at first sight, as if nothing else stood on the board.
        single: (n,) state of the best single piece of each cell, at first sight.
        may_be_single: (n,) bool, whether that explains more than an empty cell.
        stale: (n,) bool, the cells that are to be looked into again.
        explained: (n,) bool, the cells that were looked at since the picture was shown.
        sides: of each cell that was looked into, the shading of its best stack's side (:func:`stacks.score_askew`).
        written: (n,) log-likelihood ratio of the characters that are seen on each cell, where colours left it in doubt.
    """

    def __init__(self, shown: Evidence, rim: Array, geometry: Geometry) -> None:
        self.evidence, self.rim, self.geometry = shown, rim, geometry
        self.sides: dict[int, Array] = {}
        self.belief = Belief(geometry)
        n, self.colours = len(shown.bins), self.belief.colours
        self.scores = np.zeros((n, 1 + len(geometry.figures.all) * self.colours), np.float32)
        self.active, self.may_be_single, self.stale = (np.zeros(n, np.bool_) for _ in range(3))
        self.single, self.alone = np.zeros(n, np.intp), np.zeros_like(self.scores)
        self.explained, self.written = np.ones(n, np.bool_), np.zeros(n, np.float32)
        self._look_first(np.arange(n))

    @property
    def best(self) -> Indices:
        """(n,) the best state of each cell."""
        return self.belief.best

    def show(self, cells: Indices, shown: Evidence) -> None:
        """Begin anew with ``cells`` (b,), which look different now; what is believed of the others stays."""
        renew(self.evidence, cells, shown)
        self.explained[:] = False
        self.explained[cells], self.written[cells] = True, 0
        known = self.best[cells]
        self._look_first(cells)
        self.sweep()
        # Neighbours need to know only of what is other than it was, not of what was believed meanwhile.
        stale = self.stale[cells]
        self.stale[:] = False
        self.stale[cells] = stale
        for cell, state in zip(cells, known, strict=True):
            if self.best[cell] != state:
                self.tell_neighbours(int(cell), int(state))

    def _look_first(self, cells: Indices) -> None:
        """Believe of ``cells`` what each seems to hold alone, against what it would show if it were empty."""
        figures, shapes = self.geometry.figures, self.geometry.shapes
        scene, canvas = self.geometry.scene, self.belief.paint(cells, bare=True)
        # Where hardly anything looks more like a piece than like the floor no piece stands, whatever the neighbours.
        share, in_sight = stacks.share_of_smallest(self.evidence, scene, canvas, shapes, cells)
        upright = np.full((len(cells), *shapes.allowed.shape), stacks.IMPOSSIBLE)
        looked = np.flatnonzero((share > NOT_VISIBLE * in_sight) | (in_sight < LEAST_VISIBLE))
        sums, _ = sum_columns(self.evidence, scene, canvas, (cells[looked], 0), 1 + self.colours)
        besides = self._besides(cells[looked], upright.shape[1], canvas)
        upright[looked] = stacks.score_upright(sums, shapes, cells[looked], besides)
        self.alone[cells, 1:] = self.scores[cells, 1:] = upright.reshape(len(cells), -1)
        self.active[cells] = (share > LEAST_VISIBLE) | (upright.max(axis=(1, 2)) > 0)
        # The best single piece of each cell and whether it is better than none, as if the cell stood alone.
        self.single[cells] = upright[:, 0].argmax(axis=1) + 1
        self.may_be_single[cells] = upright[:, 0].max(axis=1) > 0
        first = max(1, int(FIRST_MM / figures.all[0].size.height_mm)) if figures.ladder else len(figures.all)
        for cell, state in zip(cells, self.scores[cells, : 1 + first * self.colours].argmax(axis=1), strict=True):
            self.belief.put(int(cell), int(state))
        self.stale[cells] = self.active[cells]

    def sweep(self) -> bool:
        """Explain every cell whose neighbours have changed, given the others; true when more is to be done."""
        for apart in self._apart(np.flatnonzero(self.stale)):
            self.stale[apart] = False
            self.look_into(apart)
        return bool(self.stale.any())

    def place_faces(self, cells: Indices, figures: Indices, shift_mm: Array) -> None:
        """Score ``figures`` (b, l) on ``cells`` (b,) again, whose faces are off by ``shift_mm`` (b, l, 2).

        The likeliest one must be among them: the others stay as much less likely than the best as they were.
        """
        self.stale[:] = False
        for apart in self._apart(cells):
            mine = np.flatnonzero(np.isin(cells, apart))
            canvas = self.belief.paint(cells[mine], bare=True)
            sums, _ = self._sums(canvas, cells[mine], self.first_row(cells[mine], int(figures[mine].max()) + 1))
            placed, colour = (cells[mine], figures[mine], shift_mm[mine]), (self.best[cells[mine]] - 1) % self.colours
            scores = stacks.score_placed(sums, self.rim, self.geometry.shapes, placed, colour)
            besides = self._besides(cells[mine], len(self.geometry.figures.all), canvas)
            scores += np.take_along_axis(besides, figures[mine], axis=1)[..., None]
            columns = 1 + figures[mine][..., None] * self.colours + np.arange(self.colours)
            rows = self.scores[cells[mine]]
            rows[:, 1:] += scores.max(axis=(1, 2))[:, None] - rows[:, 1:].max(axis=1, keepdims=True)
            np.put_along_axis(rows, columns.reshape(len(mine), -1), scores.reshape(len(mine), -1), axis=1)
            self.scores[cells[mine]] = rows
            for cell in cells[mine]:
                self._believe_highest(int(cell))

    def _believe_highest(self, cell: int) -> None:
        """Believe what has the highest score on a cell, standing straight if that is another figure than before."""
        before, best = int(self.best[cell]), int(self.scores[cell].argmax())
        if best != before:
            self.belief.put(cell, best)
            self.tell_neighbours(cell, before)

    def explain_round(self, placed: Indices) -> Indices:
        """Explain again what is touched by a change of the ``placed`` cells, which stay as they are; these cells."""
        self.stale[placed] = False
        cells = np.flatnonzero(self.stale)
        for apart in self._apart(cells):
            self.look_into(apart)
        self.stale[:] = False
        return cells

    def judge_sizes(self, facets: Facets) -> None:
        """Tell figures of one colour apart by the edges of their facets; what stands there is decided by then."""
        for cells in self._apart(np.flatnonzero((self.best > 0) & self.explained)):
            behind = backdrop(self.evidence, self.geometry.scene, self.belief.paint(cells, bare=True), cells)
            fits = judge_facets(self.evidence, behind, facets, cells, self.belief.shift[cells])
            scores = self.scores[cells, 1:].reshape(*fits.shape, self.colours)
            peak = scores.max(axis=(1, 2), keepdims=True)
            scores = peak + fits[..., None] + scores - scores.max(axis=2, keepdims=True)
            self.scores[cells, 1:] = scores.reshape(len(cells), -1)

    def _apart(self, cells: Indices) -> list[Indices]:
        """``cells`` in groups that can be explained at once: no two of a group reach into each other's picture."""
        low, high = self._boxes()
        groups = grouped((low[cells], high[cells]))
        return [cells[groups == number] for number in range(groups.max() + 1)] if len(cells) else []

    def _boxes(self) -> Box:
        """The boxes of all that is looked at on each cell (n), given what is believed."""
        highest = len(self.geometry.figures.all)
        reach = np.minimum(self.belief.height(self.best) + HIGHER, highest)
        boxes = self.geometry.outlines.boxes_px[np.arange(len(reach)), reach - 1]
        return boxes[:, :2], boxes[:, 2:]

    def look_into(self, cells: Indices) -> None:
        """Explain ``cells`` (b,), no two of which reach into each other's picture, given the others."""
        reach, is_ladder = self.reach(cells), self.geometry.figures.ladder
        self.explained[cells] = True
        canvas = self.belief.paint(cells, bare=True)
        sums, hidden = self._sums(canvas, cells, self.first_row(cells, reach))
        looked = cells, self._besides(cells, reach, canvas)
        scored = stacks.score_cells(sums, self.rim, self.geometry.shapes, looked, is_ladder)
        self.scores[cells, 1:] = scored.scores.reshape(len(cells), -1)
        best = self.scores[cells].argmax(axis=1)
        for k, cell in enumerate(cells.tolist()):
            self.sides[cell] = scored.sides[k]
            self._settle(cell, int(best[k]), scored.shift[k], float(hidden[k]))
        # The next figure may be the one: it is looked at in the next pass.
        is_highest = self.belief.height(self.best[cells]) == reach
        self.stale[cells] |= is_highest & (reach < len(self.geometry.figures.all))

    def _besides(self, cells: Indices, reach: int, canvas: Canvas) -> Array:
        """(b, reach) log-likelihood ratio of the lower figures on ``cells`` (b,) by all but the colours."""
        geometry = self.geometry
        prior = geometry.figures.log_prior[:reach] + self.written[cells, None]
        if not geometry.is_edged:
            return prior
        return prior + edges_seen(self.evidence, geometry.scene, canvas, geometry.shapes, (cells, reach))

    def _sums(self, canvas: Canvas, cells: Indices, first_row: int) -> tuple[Sums, Array]:
        """Sums over the crops of ``cells`` (b,) from ``first_row`` on, and what share of them is hidden."""
        return sum_columns(self.evidence, self.geometry.scene, canvas, (cells, first_row), 1 + 2 * self.colours)

    def first_row(self, cells: Indices, reach: int) -> int:
        """The first row of the crops of ``cells`` (b,) that so many figures can touch."""
        if not self.geometry.figures.ladder:
            return 0
        return max(0, int(self.geometry.shapes.edges[cells, reach - 1, 0].min()) - ROOM_ROWS)

    def reach(self, cells: Indices) -> int:
        """How many figures are looked at: all, or of a ladder those little higher than what is believed."""
        count = len(self.geometry.figures.all)
        highest = self.belief.height(int(self.best[cells].max()))
        return min(count, highest + HIGHER) if self.geometry.figures.ladder else count

    def _settle(self, cell: int, best: int, shift: Array, hidden: float) -> None:
        """Take over a cell's ``best`` state and tell its neighbours.

        But a stack wrongly believed in front must not wipe out the one behind, whose colours would then seem to be its
        own: one that is mostly hidden stays unless what is seen of it refutes it.
        """
        believed = self.scores[cell, self.best[cell]]
        if best == 0 and self.best[cell] and hidden > MOSTLY_HIDDEN and believed > -REFUTED:
            return
        is_other = best != self.best[cell]
        if is_other:
            self.tell_neighbours(cell, best)
        if is_other or np.abs(shift - self.belief.shift[cell]).max() > 1:
            self.belief.put(cell, best, shift)

    def tell_neighbours(self, cell: int, state: int) -> None:
        """Have those cells looked at again whose pixels a change of ``cell`` from or to ``state`` touches."""
        changed = self.geometry.outlines.boxes_px[cell, self.belief.height(max(int(self.best[cell]), state)) - 1]
        touched = touching(changed, self._boxes())
        touched[cell] = False
        self.stale |= touched & self.active
