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
from vision.likelihood.column_integrals import ColumnIntegrals, integrate_columns
from vision.likelihood.edges import edge_log_ratio
from vision.likelihood.facets import Facets, facet_log_likelihood
from vision.likelihood.observations import Observations, backdrop, renew
from vision.scene.label_buffer import LabelBuffer

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

    def __init__(self, shown: Observations, rim: Array, geometry: Geometry) -> None:
        self.observations, self.rim, self.geometry = shown, rim, geometry
        self.sides: dict[int, Array] = {}
        self.belief = Belief(geometry)
        n, self.colours = len(shown.bins), self.belief.colours
        self.scores = np.zeros((n, 1 + len(geometry.configurations.all) * self.colours), np.float32)
        self.active, self.may_be_single, self.stale = (np.zeros(n, np.bool_) for _ in range(3))
        self.single, self.alone = np.zeros(n, np.intp), np.zeros_like(self.scores)
        self.explained, self.written = np.ones(n, np.bool_), np.zeros(n, np.float32)
        self.initialise(np.arange(n))

    @property
    def best(self) -> Indices:
        """(n,) the best state of each cell."""
        return self.belief.best

    def show(self, cells: Indices, shown: Observations) -> None:
        """Begin anew with ``cells`` (b,), which look different now; what is believed of the others stays."""
        renew(self.observations, cells, shown)
        self.explained[:] = False
        self.explained[cells], self.written[cells] = True, 0
        known = self.best[cells]
        self.initialise(cells)
        self.sweep()
        # Neighbours need to know only of what is other than it was, not of what was believed meanwhile.
        stale = self.stale[cells]
        self.stale[:] = False
        self.stale[cells] = stale
        for cell, state in zip(cells, known, strict=True):
            if self.best[cell] != state:
                self.invalidate_neighbours(int(cell), int(state))

    def initialise(self, cells: Indices) -> None:
        """Believe of ``cells`` what each seems to hold alone, against what it would show if it were empty."""
        configurations, table = self.geometry.configurations, self.geometry.outline_table
        visibility, labels = self.geometry.visibility, self.belief.render(cells, bare=True)
        # Where hardly anything looks more like a piece than like the floor no piece stands, whatever the neighbours.
        share, in_sight = stacks.piece_like_share(self.observations, visibility, labels, table, cells)
        upright = np.full((len(cells), *table.allowed.shape), stacks.IMPOSSIBLE)
        looked = np.flatnonzero((share > NOT_VISIBLE * in_sight) | (in_sight < LEAST_VISIBLE))
        integrals, _ = integrate_columns(self.observations, visibility, labels, (cells[looked], 0), 1 + self.colours)
        log_prior = self._log_prior(cells[looked], upright.shape[1], labels)
        upright[looked] = stacks.score_upright(integrals, table, cells[looked], log_prior)
        self.alone[cells, 1:] = self.scores[cells, 1:] = upright.reshape(len(cells), -1)
        self.active[cells] = (share > LEAST_VISIBLE) | (upright.max(axis=(1, 2)) > 0)
        # The best single piece of each cell and whether it is better than none, as if the cell stood alone.
        self.single[cells] = upright[:, 0].argmax(axis=1) + 1
        self.may_be_single[cells] = upright[:, 0].max(axis=1) > 0
        first = (
            max(1, int(FIRST_MM / configurations.all[0].size.height_mm))
            if configurations.is_single_size
            else len(configurations.all)
        )
        for cell, state in zip(cells, self.scores[cells, : 1 + first * self.colours].argmax(axis=1), strict=True):
            self.belief.put(int(cell), int(state))
        self.stale[cells] = self.active[cells]

    def sweep(self) -> bool:
        """Explain every cell whose neighbours have changed, given the others; true when more is to be done."""
        for apart in self._apart(np.flatnonzero(self.stale)):
            self.stale[apart] = False
            self.update(apart)
        return bool(self.stale.any())

    def rescore_placed(self, cells: Indices, configurations: Indices, shift_mm: Array) -> None:
        """Score ``configurations`` (b, l) on ``cells`` (b,) again, whose faces are off by ``shift_mm`` (b, l, 2).

        The likeliest one must be among them: the others stay as much less likely than the best as they were.
        """
        self.stale[:] = False
        for apart in self._apart(cells):
            mine = np.flatnonzero(np.isin(cells, apart))
            labels = self.belief.render(cells[mine], bare=True)
            integrals, _ = self._integrals(
                labels, cells[mine], self.first_row(cells[mine], int(configurations[mine].max()) + 1)
            )
            placed, colour = (
                (cells[mine], configurations[mine], shift_mm[mine]),
                (self.best[cells[mine]] - 1) % self.colours,
            )
            scores = stacks.score_placed(integrals, self.rim, self.geometry.outline_table, placed, colour)
            log_prior = self._log_prior(cells[mine], len(self.geometry.configurations.all), labels)
            scores += np.take_along_axis(log_prior, configurations[mine], axis=1)[..., None]
            columns = 1 + configurations[mine][..., None] * self.colours + np.arange(self.colours)
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
            self.invalidate_neighbours(cell, before)

    def update_around(self, placed: Indices) -> Indices:
        """Explain again what is touched by a change of the ``placed`` cells, which stay as they are; these cells."""
        self.stale[placed] = False
        cells = np.flatnonzero(self.stale)
        for apart in self._apart(cells):
            self.update(apart)
        self.stale[:] = False
        return cells

    def rescore_by_facets(self, facets: Facets) -> None:
        """Tell figures of one colour apart by the edges of their facets; what stands there is decided by then."""
        for cells in self._apart(np.flatnonzero((self.best > 0) & self.explained)):
            behind = backdrop(self.observations, self.geometry.visibility, self.belief.render(cells, bare=True), cells)
            fits = facet_log_likelihood(self.observations, behind, facets, cells, self.belief.shift[cells])
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
        highest = len(self.geometry.configurations.all)
        reach = np.minimum(self.belief.height(self.best) + HIGHER, highest)
        boxes = self.geometry.outlines.boxes_px[np.arange(len(reach)), reach - 1]
        return boxes[:, :2], boxes[:, 2:]

    def update(self, cells: Indices) -> None:
        """Explain ``cells`` (b,), no two of which reach into each other's picture, given the others."""
        reach, is_single_size = self.reach(cells), self.geometry.configurations.is_single_size
        self.explained[cells] = True
        labels = self.belief.render(cells, bare=True)
        integrals, hidden = self._integrals(labels, cells, self.first_row(cells, reach))
        looked = cells, self._log_prior(cells, reach, labels)
        scored = stacks.score_cells(integrals, self.rim, self.geometry.outline_table, looked, is_single_size)
        self.scores[cells, 1:] = scored.scores.reshape(len(cells), -1)
        best = self.scores[cells].argmax(axis=1)
        for k, cell in enumerate(cells.tolist()):
            self.sides[cell] = scored.sides[k]
            self._settle(cell, int(best[k]), scored.shift[k], float(hidden[k]))
        # The next figure may be the one: it is looked at in the next pass.
        is_highest = self.belief.height(self.best[cells]) == reach
        self.stale[cells] |= is_highest & (reach < len(self.geometry.configurations.all))

    def _log_prior(self, cells: Indices, reach: int, labels: LabelBuffer) -> Array:
        """(b, reach) log-likelihood ratio of the lower figures on ``cells`` (b,) by all but the colours."""
        geometry = self.geometry
        prior = geometry.configurations.log_prior[:reach] + self.written[cells, None]
        if not geometry.is_edged:
            return prior
        return prior + edge_log_ratio(
            self.observations, geometry.visibility, labels, geometry.outline_table, (cells, reach)
        )

    def _integrals(self, labels: LabelBuffer, cells: Indices, first_row: int) -> tuple[ColumnIntegrals, Array]:
        """Sums over the crops of ``cells`` (b,) from ``first_row`` on, and what share of them is hidden."""
        return integrate_columns(
            self.observations, self.geometry.visibility, labels, (cells, first_row), 1 + 2 * self.colours
        )

    def first_row(self, cells: Indices, reach: int) -> int:
        """The first row of the crops of ``cells`` (b,) that so many figures can touch."""
        if not self.geometry.configurations.is_single_size:
            return 0
        return max(0, int(self.geometry.outline_table.edges[cells, reach - 1, 0].min()) - ROOM_ROWS)

    def reach(self, cells: Indices) -> int:
        """How many figures are looked at: all, or of a ladder those little higher than what is believed."""
        count = len(self.geometry.configurations.all)
        highest = self.belief.height(int(self.best[cells].max()))
        return min(count, highest + HIGHER) if self.geometry.configurations.is_single_size else count

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
            self.invalidate_neighbours(cell, best)
        if is_other or np.abs(shift - self.belief.shift[cell]).max() > 1:
            self.belief.put(cell, best, shift)

    def invalidate_neighbours(self, cell: int, state: int) -> None:
        """Have those cells looked at again whose pixels a change of ``cell`` from or to ``state`` touches."""
        changed = self.geometry.outlines.boxes_px[cell, self.belief.height(max(int(self.best[cell]), state)) - 1]
        touched = touching(changed, self._boxes())
        touched[cell] = False
        self.stale |= touched & self.active
