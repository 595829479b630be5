"""Explain a whole board: every cell against the picture that its neighbours would give without it.

What stands behind a cell is its background, what stands before it hides its pixels.  Cells that are no neighbours are
explained together, and cells are looked at again while their neighbours change (coordinate ascent of the likelihood).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from vision import stacks, stands
from vision.contrast import edges_seen
from vision.evidence import Backdrop, Evidence, backdrop, renew
from vision.facets import Facets, judge_facets
from vision.geometry import Box, Geometry, overlap
from vision.painting import Canvas, ranks_of, repaint, shown_px
from vision.palette import Materials
from vision.register import Points
from vision.shapes import hull
from vision.silhouettes import Silhouettes, draw, is_before, no_silhouettes
from vision.sums import Sums, sum_columns

SWEEPS = 4
"""Most passes over the board; a pass looks only at cells whose neighbours have changed, and two mostly do."""

MOSTLY_HIDDEN = 0.2
"""Share of a crop that nearer stacks hide from which on its silence does not mean that the cell is empty."""

LEAST_VISIBLE = 0.15
"""Share of the smallest figure's outline that must look more like a piece than like the floor for a cell to be looked
into: a piece as far askew as any still fills half of it."""

NOT_VISIBLE = 0.05
"""Share of what is seen of it up to which no figure at all is tried: noise, and the edges of what stands near."""

FIRST_MM = 40.0
"""Heights believed in at first sight: a tower seems to be made of what stands behind it, which must have its say."""

MOSTLY_COVERED = 0.6
"""A stack of whose outline less than this share is visible may be a phantom of the stack before it."""

ASKEW_NATS = 400.0
"""A tower may explain so much less, pixel by pixel, while it is taken to stand straight: one that is a millimetre off
is seen on one side of its outline, and not on the other, on a hundred pixels in all."""

HIGHER = 2
"""Heights so far above the highest one believed in are looked at; the next pass may look higher."""

TRIED = 6
"""Figures that are tried askew where they are no ladder of heights: those that suit best standing straight, and no more
than half of all."""

OUT_OF_REACH = -1e3
"""Log-likelihood ratio of heights that were not looked at."""

ROOM_ROWS = 7
"""Crop rows above the highest face that its leaning may need."""

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Belief:
    """What is believed of some cells, and which cells are to be looked at again."""

    best: npt.NDArray[np.intp]
    shift: Array
    scores: Array
    silhouettes: Silhouettes
    materials: npt.NDArray[np.intp]
    stale: npt.NDArray[np.bool_]


class _Looked(NamedTuple):
    """Cells (b,) that are looked into, sums over their crops, and (b, figures) how well what edges are seen suits."""

    cells: npt.NDArray[np.intp]
    sums: Sums
    edges: Array

    def of(self, numbers: npt.NDArray[np.intp]) -> _Looked:
        """Some of them, by their numbers."""
        return _Looked(self.cells[numbers], Sums(self.sums.down[numbers], self.sums.first_row), self.edges[numbers])


class _Found(NamedTuple):
    """The likeliest figures (b,) of some cells, the shifts (b, 2) of their faces, and the shading of their sides."""

    best: npt.NDArray[np.intp]
    shift: Array
    sides: list[Array]


class Board:
    """The explanation of a whole board while it is being found.

    Attributes:
        scores: (n, 1 + figures * colours) log-likelihood ratio of every state against an empty cell.
        best: (n,) the best state of each cell.
        explained: (n,) bool, the cells that were looked at since the picture was shown.
        sides: of each cell that was looked into, the shading of its best stack's side (:func:`stacks.score_askew`).
    """

    def __init__(self, shown: Evidence, rim: Array, geometry: Geometry) -> None:
        self.evidence, self.rim, self.geometry = shown, rim, geometry
        self.sides: dict[int, Array] = {}
        n, self.colours = len(shown.bins), len(geometry.figures.colours)
        self.scores = np.zeros((n, 1 + len(geometry.figures.all) * self.colours), np.float32)
        self.active, self.may_be_single, self.stale = (np.zeros(n, np.bool_) for _ in range(3))
        self.single, self.best = np.zeros(n, np.intp), np.zeros(n, np.intp)
        self.alone = np.zeros_like(self.scores)
        self.shift = np.zeros((n, 2), np.float32)
        self.silhouettes = no_silhouettes(n, geometry.size[0])
        self._materials = np.zeros(n, np.intp)
        self._canvas, self._painted = geometry.bare.copy(), np.zeros((n, 4), np.int32)
        self.explained = np.ones(n, np.bool_)
        self._look_first(np.arange(n))

    def show(self, cells: npt.NDArray[np.intp], shown: Evidence) -> None:
        """Begin anew with ``cells`` (b,), which look different now; what is believed of the others stays."""
        renew(self.evidence, cells, shown)
        self.explained[:] = False
        self.explained[cells] = True
        known = self.best[cells]
        self._look_first(cells)
        for apart in self._apart(np.flatnonzero(self.stale)):
            self._explain(apart)
        # Neighbours need to know only of what is other than it was, not of what was believed meanwhile.
        self.stale[:] = False
        for cell, state in zip(cells, known, strict=True):
            if self.best[cell] != state:
                self._tell_neighbours(int(cell), int(state))

    def _look_first(self, cells: npt.NDArray[np.intp]) -> None:
        """Believe of ``cells`` what each seems to hold alone, against what it would show if it were empty."""
        figures, shapes = self.geometry.figures, self.geometry.shapes
        behind = self._behind(cells, 0)
        # Where hardly anything looks more like a piece than like the floor no piece stands, whatever the neighbours.
        share, in_sight = stacks.share_of_smallest(self.evidence, behind, shapes, cells)
        upright = np.full((len(cells), *shapes.allowed.shape), stacks.IMPOSSIBLE)
        looked = np.flatnonzero((share > NOT_VISIBLE * in_sight) | (in_sight < LEAST_VISIBLE))
        sums = sum_columns(self.evidence, behind.of(looked), cells[looked], 1 + self.colours)
        upright[looked] = stacks.score_upright(Sums(sums, 0), shapes, cells[looked])
        upright[looked] += self._edges(cells[looked], upright.shape[1])[..., None]
        self.alone[cells, 1:] = self.scores[cells, 1:] = upright.reshape(len(cells), -1)
        self.active[cells] = (share > LEAST_VISIBLE) | (upright.max(axis=(1, 2)) > 0)
        # The best single piece of each cell and whether it is better than none, as if the cell stood alone.
        self.single[cells] = upright[:, 0].argmax(axis=1) + 1
        self.may_be_single[cells] = upright[:, 0].max(axis=1) > 0
        first = max(1, int(FIRST_MM / figures.all[0].size.height_mm)) if figures.ladder else len(figures.all)
        for cell, state in zip(cells, self.scores[cells, : 1 + first * self.colours].argmax(axis=1), strict=True):
            self.best[cell], self.shift[cell] = state, 0
            self._outline(int(cell))
        self.stale[cells] = self.active[cells]

    def sweep(self) -> bool:
        """Explain every cell whose neighbours have changed, given the others; true when more is to be done."""
        for apart in self._apart(np.flatnonzero(self.stale)):
            self.stale[apart] = False
            self._explain(apart)
        return bool(self.stale.any())

    def split_towers(self) -> bool:
        """Take towers apart that explain worse than lower stacks in a line would; true when one was.

        Stacks of one colour in a line away from the camera can look like the top, the side and the foot of a tower.
        No cell alone can leave that explanation: the pieces behind are hidden by the tower while it is believed.
        """
        split = False
        towers = np.flatnonzero((self.best > self.colours) & self.explained)
        for cell in towers if self.geometry.figures.ladder else ():
            behind = self._hidden_singles(int(cell))
            tower = int(self.best[cell])
            if len(behind) and self._is_better_split(int(cell), behind):
                self._tell_neighbours(int(cell), tower)
                self.stale[cell] = split = True
        return split

    def join_towers(self) -> bool:
        """Put stacks in a line together that explain worse than a tower on the nearer one would; true when some were.

        The foot of a tower can look like a lower stack, and its top like one behind that: neither can leave that
        explanation while the other stands.
        """
        joined = False
        stacks_on = np.flatnonzero((self.best > 0) & self.explained)
        for cell in stacks_on if self.geometry.figures.ladder else ():
            first = 1 + self._height(int(self.best[cell])) * self.colours
            if first == self.scores.shape[1]:
                continue
            tower = first + int(self.alone[cell, first:].argmax())
            for behind in self._behind_tower(int(cell), tower):
                before = int(self.best[cell]), int(self.best[behind])
                if self._is_better_joined(int(cell), tower, behind):
                    self._tell_neighbours(int(cell), before[0])
                    self._tell_neighbours(behind, before[1])
                    self.stale[behind] = joined = True
                    break
        return joined

    def _behind_tower(self, cell: int, tower: int) -> list[int]:
        """Cells whose face a ``tower`` on ``cell`` would hide, that alone explains more than either stack does."""
        geometry = self.geometry
        outline = hull(geometry.outlines.corners_px(geometry.crops, cell, self._height(tower) - 1, np.zeros(2)))
        explained = np.maximum(self.scores.max(axis=1), self.scores[cell].max())
        likely = (self.best > 0) & (geometry.rank < geometry.rank[cell]) & (explained < self.alone[cell, tower])
        return [int(j) for j in np.flatnonzero(likely) if _is_inside(self.silhouettes.middles_px[j], outline)]

    def _is_better_joined(self, cell: int, tower: int, behind: int) -> bool:
        """Try a ``tower`` in place of the stack on ``cell`` and that ``behind``; leave it if higher and likelier."""
        cells = np.array([cell, behind])
        first_row = self._first_row(cells, self._height(tower))
        before, kept = self._likelihood(cells, first_row), self._believed(cells)
        self.best[cells], self.shift[cell] = (tower, 0), 0
        self._outline(behind)
        self._outline(cell)
        if self._likelihood(cells, first_row) > before - ASKEW_NATS:
            self._explain(cells[:1])
            is_higher = self._height(int(self.best[cell])) > self._height(int(kept.best[0]))
            if is_higher and self._likelihood(cells, first_row) > before:
                return True
        self._believe(cells, kept)
        return False

    def drop_phantoms(self) -> bool:
        """Take away hidden stacks whose visible rest is better explained by the stack before them; true when one was.

        The far edge of a tall stack looks like a piece behind it to whoever believes the stack one piece too low.
        """
        dropped = False
        everything = np.arange(len(self.best))
        by_rank_px = shown_px(self._paint(everything), self.silhouettes)
        own_px = by_rank_px[everything, self.geometry.rank]
        covered = (own_px < MOSTLY_COVERED * by_rank_px.sum(axis=1)) & (self.best > 0) & self.explained
        for cell in np.flatnonzero(covered):
            if self._is_better_without(int(cell), by_rank_px[cell]):
                dropped = True
        return dropped

    def _is_better_without(self, cell: int, by_rank_px: npt.NDArray[np.int32]) -> bool:
        """Try the stack that hides ``cell`` most, with ``cell`` empty; leave it so if that is likelier.

        ``by_rank_px`` (n + 1,): see :func:`vision.painting.shown_px`.
        """
        rank = self.geometry.rank[cell]
        front = int(self.geometry.far_first[rank + by_rank_px[rank + 1 :].argmax()])
        cells = np.array([cell, front])
        first_row = self._first_row(cells, self._reach(cells))
        before, kept = self._likelihood(cells, first_row), self._believed(cells)
        self.best[cell] = 0
        self._outline(cell)
        self._explain(np.array([front]))
        if self._likelihood(cells, first_row) > before:
            self.stale[cell] = True
            return True
        self._believe(cells, kept)
        return False

    def _hidden_singles(self, cell: int) -> npt.NDArray[np.intp]:
        """Cells behind ``cell`` whose middle its stack hides and on which something seems to stand."""
        geometry = self.geometry
        near = np.flatnonzero((geometry.rank < geometry.rank[cell]) & self.may_be_single)
        hidden = (is_before(self.silhouettes, cell, geometry.crops.origin_px[j]) for j in near)
        return near[np.fromiter(hidden, np.bool_, len(near))]

    def _is_better_split(self, cell: int, behind: npt.NDArray[np.intp]) -> bool:
        """Try a single piece on ``cell`` and what then shows ``behind`` in place of the tower; leave it if likelier."""
        cells = np.array([cell, *behind])
        first_row = self._first_row(cells, self._reach(cells))
        before, kept = self._likelihood(cells, first_row), self._believed(cells)
        for j in cells:
            self.best[j], self.shift[j] = self.single[j], 0
            self._outline(int(j))
        if self._likelihood(cells, first_row) > before:
            return True
        for j in (*behind[np.argsort(-self.geometry.rank[behind])], cell):
            self._explain(np.array([j]))
        if self._likelihood(cells, first_row) > before:
            return True
        self._believe(cells, kept)
        return False

    def _believed(self, cells: npt.NDArray[np.intp]) -> _Belief:
        """What is believed of ``cells``, to go back to after a trial."""
        silhouettes, stale = self.silhouettes.of(cells), self.stale.copy()
        return _Belief(
            self.best[cells], self.shift[cells], self.scores[cells], silhouettes, self._materials[cells], stale
        )

    def _believe(self, cells: npt.NDArray[np.intp], belief: _Belief) -> None:
        """Go back to an earlier belief of ``cells``."""
        self.best[cells], self.shift[cells], self.scores[cells] = belief.best, belief.shift, belief.scores
        self.stale, self._materials[cells] = belief.stale, belief.materials
        self.silhouettes.put(cells, belief.silhouettes)

    def _likelihood(self, cells: npt.NDArray[np.intp], first_row: int) -> float:
        """Log-likelihood of the pixels in the crops of ``cells``, each under what is believed to be in front there."""
        shown = backdrop(self.evidence, self.geometry.scene, self._paint(cells), cells, first_row)
        return float(np.vdot(shown.base, self.geometry.scene.visible[cells, first_row:]))

    def figure(self, cell: int) -> int:
        """Number of the figure that is believed on a cell where something stands."""
        return (int(self.best[cell]) - 1) // self.colours

    def ranks(self) -> npt.NDArray[np.uint8]:
        """(height, width) the rank of the cell whose figure or column is nearest in each pixel; 0 for none."""
        return ranks_of(self._paint(np.arange(len(self.best))))

    def place_faces(self, cells: npt.NDArray[np.intp], figures: npt.NDArray[np.intp], shift_mm: Array) -> None:
        """Score ``figures`` (b, l) on ``cells`` (b,) again, whose faces are off by ``shift_mm`` (b, l, 2).

        The likeliest one must be among them: the others stay as much less likely than the best as they were.
        """
        self.stale[:] = False
        for apart in self._apart(cells):
            mine = np.flatnonzero(np.isin(cells, apart))
            sums, _ = self._sums(cells[mine], 0)
            shapes, colour = self.geometry.shapes, (self.best[cells[mine]] - 1) % self.colours
            stand = stands.known_face(sums, shapes, cells[mine], figures[mine], colour, shift_mm[mine])
            scores, _, _ = stacks.score_askew(sums, self.rim, shapes, cells[mine], figures[mine], stand)
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
            self.best[cell], self.shift[cell] = best, 0
            self._outline(cell)
            self._tell_neighbours(cell, before)

    def explain_round(self, placed: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Explain again what is touched by a change of the ``placed`` cells, which stay as they are; these cells."""
        self.stale[placed] = False
        cells = np.flatnonzero(self.stale)
        for apart in self._apart(cells):
            self._explain(apart)
        self.stale[:] = False
        return cells

    def judge_sizes(self, facets: Facets) -> None:
        """Tell figures of one colour apart by the edges of their facets; what stands there is decided by then."""
        for cells in self._apart(np.flatnonzero((self.best > 0) & self.explained)):
            behind = self._behind(cells, 0)
            fits = judge_facets(self.evidence, behind, facets, cells, self.shift[cells])
            scores = self.scores[cells, 1:].reshape(*fits.shape, self.colours)
            peak = scores.max(axis=(1, 2), keepdims=True)
            scores = peak + fits[..., None] + scores - scores.max(axis=2, keepdims=True)
            self.scores[cells, 1:] = scores.reshape(len(cells), -1)

    def _apart(self, cells: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
        """``cells`` in groups that can be explained at once: no two of a group reach into each other's picture."""
        low, high = self._boxes()
        boxes = low[cells], high[cells]
        touch = overlap(boxes, boxes)
        groups: list[list[int]] = []
        for number in range(len(cells)):
            free = next((group for group in groups if not touch[number, group].any()), None)
            if free is None:
                groups.append([number])
            else:
                free.append(number)
        return [cells[group] for group in groups]

    def _boxes(self) -> Box:
        """The boxes of all that is looked at on each cell (n), given what is believed."""
        highest = len(self.geometry.figures.all)
        reach = np.minimum((self.best - 1) // self.colours + 1 + HIGHER, highest)
        boxes = self.geometry.outlines.boxes_px[np.arange(len(reach)), reach - 1]
        return boxes[:, :2], boxes[:, 2:]

    def _explain(self, cells: npt.NDArray[np.intp]) -> None:
        reach = self._reach(cells)
        shapes = self.geometry.shapes
        first_row = self._first_row(cells, reach)
        self.explained[cells] = True
        sums, hidden = self._sums(cells, first_row)
        looked = _Looked(cells, sums, self._edges(cells, reach))
        upright = stacks.score_upright(sums, shapes, cells) + looked.edges[..., None]
        upright[:, reach:] = OUT_OF_REACH
        tried = self._tried(upright, reach)
        found = self._score_askew(looked, tried, upright)
        if self.geometry.figures.ladder:
            self._look_beyond(looked, 2 * found.best - tried[:, 1], upright[:, :reach], found)
        self.scores[cells, 1:] = upright.reshape(len(cells), -1)
        best = self.scores[cells].argmax(axis=1)
        for k, cell in enumerate(cells.tolist()):
            self.sides[cell] = found.sides[k]
            self._settle(cell, int(best[k]), found.shift[k], float(hidden[k]))

    def _edges(self, cells: npt.NDArray[np.intp], reach: int) -> Array:
        """(b, figures) how well the edges that are seen suit the lower figures on ``cells`` (b,).

        They must stand on terrain or pillars; the board must be painted without them, by :meth:`_behind`.
        """
        geometry = self.geometry
        if not any(geometry.pillars):
            return np.zeros((len(cells), len(geometry.figures.all)), np.float32)
        return edges_seen(self.evidence, geometry.scene, self._canvas, geometry.shapes, (cells, reach))

    def _score_askew(self, looked: _Looked, tried: npt.NDArray[np.intp], scores: Array) -> _Found:
        """Score ``tried`` figures (b, l) on some cells askew, for their ``scores`` (b, figures, colours)."""
        shapes, (cells, sums, edges) = self.geometry.shapes, looked
        stand = stands.search_stand(sums, shapes, cells, tried, scores.max(axis=1).argmax(axis=1))
        askew, shift, steps = stacks.score_askew(sums, self.rim, shapes, cells, tried, stand)
        askew += np.take_along_axis(edges, tried, axis=1)[..., None]
        np.put_along_axis(scores, tried[..., None], askew, axis=1)
        rows, which = np.arange(len(cells)), askew.max(axis=2).argmax(axis=1)
        return _Found(tried[rows, which], shift[rows, which], list(steps[rows, which]))

    def _look_beyond(self, looked: _Looked, further: npt.NDArray[np.intp], scores: Array, found: _Found) -> None:
        """Score figures ``further`` (b,) too, where there are such and they are not the best ones ``found``.

        Stacks that lean mislead by more than one piece while they are believed to stand straight.
        """
        on = np.flatnonzero((further != found.best) & (further >= 0) & (further < scores.shape[1]))
        if not len(on):
            return
        some = scores[on]
        there = self._score_askew(looked.of(on), further[on, None], some)
        scores[on] = some
        for k, row in enumerate(on):
            if some[k, further[row]].max() > some[k, found.best[row]].max():
                found.shift[row], found.sides[row] = there.shift[k], there.sides[k]

    def _sums(self, cells: npt.NDArray[np.intp], first_row: int) -> tuple[Sums, Array]:
        """Sums over the crops of ``cells`` (b,) from ``first_row`` on, and (b,) the share of them that is hidden."""
        behind = self._behind(cells, first_row)
        sums = sum_columns(self.evidence, behind, cells, 1 + 2 * self.colours)
        return Sums(sums, first_row), 1 - behind.seen.mean(axis=(1, 2), dtype=np.float32)

    def _first_row(self, cells: npt.NDArray[np.intp], reach: int) -> int:
        """The first row of the crops of ``cells`` (b,) that so many figures can touch."""
        if not self.geometry.figures.ladder:
            return 0
        return max(0, int(self.geometry.shapes.edges[cells, reach - 1, 0].min()) - ROOM_ROWS)

    def _reach(self, cells: npt.NDArray[np.intp]) -> int:
        """How many figures are looked at: all, or of a ladder those little higher than what is believed."""
        count = len(self.geometry.figures.all)
        return min(count, self._height(int(self.best[cells].max())) + HIGHER) if self.geometry.figures.ladder else count

    def _tried(self, upright: Array, reach: int) -> npt.NDArray[np.intp]:
        """(b, l) figures to be tried askew, given the scores (b, figures, colours) of those that stand straight."""
        fits = upright.max(axis=2)
        likeliest = np.ascontiguousarray(np.argsort(-fits, axis=1)[:, : min(TRIED, (fits.shape[1] + 1) // 2)])
        is_ladder = self.geometry.figures.ladder
        return np.clip(likeliest[:, :1] + (-1, 0, 1), 0, reach - 1) if is_ladder else likeliest

    def _settle(self, cell: int, best: int, shift: Array, hidden: float) -> None:
        """Take over a cell's ``best`` state and tell its neighbours, unless most of what was believed there is hidden.

        A stack wrongly believed in front must not wipe out the one behind, whose colours would then seem to be its own.
        """
        if best == 0 and self.best[cell] and hidden > MOSTLY_HIDDEN:
            return
        is_other = best != self.best[cell]
        if is_other:
            self._tell_neighbours(cell, best)
        if is_other or np.abs(shift - self.shift[cell]).max() > 1:
            self.best[cell], self.shift[cell] = best, shift
            self._outline(cell)

    def _tell_neighbours(self, cell: int, state: int) -> None:
        """Have those cells looked at again whose pixels a change of ``cell`` from or to ``state`` touches."""
        boxes = self.geometry.outlines.boxes_px
        changed = boxes[cell, self._height(max(int(self.best[cell]), state)) - 1]
        touched = overlap((changed[None, :2], changed[None, 2:]), self._boxes())[0]
        touched[cell] = False
        self.stale |= touched & self.active

    def _height(self, state: int) -> int:
        """Number of a state's figure from 1: of a ladder, its pieces; 0 for the empty cell."""
        return (state - 1) // self.colours + 1

    def _outline(self, cell: int) -> None:
        """Have the silhouettes of what is believed on a cell."""
        state, geometry = int(self.best[cell]), self.geometry
        self.silhouettes.rows[cell], self._materials[cell] = 0, 0
        if state:
            figure, colour = divmod(state - 1, self.colours)
            outlines, crops = geometry.outlines, geometry.crops
            place = crops.to_picture[cell], crops.origin_px[cell], self.shift[cell]
            corners_mm = outlines.corners_mm[figure][cell]
            draw(self.silhouettes, cell, corners_mm, outlines.first[figure], place, geometry.size[1])
            self._materials[cell] = Materials.TOPS + colour

    def _behind(self, cells: npt.NDArray[np.intp], first_row: int) -> Backdrop:
        """What the crops of ``cells`` (b,) would show from ``first_row`` on if nothing stood on them."""
        canvas = self._paint(cells, bare=True)
        return backdrop(self.evidence, self.geometry.scene, canvas, cells, first_row)

    def _paint(self, cells: npt.NDArray[np.intp], *, bare: bool = False) -> Canvas:
        """What may be seen in the crops of ``cells`` (b,); with ``bare``, if nothing stood on them.

        It is painted over when this is called again.
        """
        materials = self._materials.copy()
        if bare:
            materials[cells] = 0
        geometry = self.geometry
        repaint(
            (self._canvas, geometry.bare, self._painted),
            self.silhouettes,
            geometry.far_first,
            materials,
            (*geometry.crop_boxes_px, cells),
        )
        return self._canvas


def _is_inside(point_px: Points, hull_px: Points) -> bool:
    """Whether a point (2,) is in a convex polygon (k, 2)."""
    return cv2.pointPolygonTest(hull_px.astype(np.float32), point_px.tolist(), measureDist=False) > 0


def explain(shown: Evidence, rim: Array, geometry: Geometry) -> Board:
    """The explanation of a whole board, neighbours considered.

    Args:
        shown: what the picture shows.
        rim: shading of a piece's side, see :class:`calibration.looks.SetLook`.
        geometry: of the pose.
    """
    board = Board(shown, rim, geometry)
    _explain(board)
    return board


def explain_again(board: Board, cells: npt.NDArray[np.intp], shown: Evidence) -> None:
    """Explain a board again of which ``cells`` (b,) look different; ``board.explained`` says what was looked at."""
    board.show(cells, shown)
    _explain(board)


def _explain(board: Board) -> None:
    _settle_down(board)
    if board.split_towers():
        _settle_down(board)
    if board.join_towers():
        _settle_down(board)
    if board.drop_phantoms():
        _settle_down(board)
    if board.geometry.facets is not None:
        board.judge_sizes(board.geometry.facets)


def _settle_down(board: Board) -> None:
    for _ in range(SWEEPS):
        if not board.sweep():
            return
