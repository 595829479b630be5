"""Explain a whole board: every cell against the picture that its neighbours would give without it.

What stands behind a cell is its background, what stands before it hides its pixels.  Cells that are no neighbours are
explained together, and cells are looked at again while their neighbours change (coordinate ascent of the likelihood).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision import palette, stacks
from vision.geometry import TALLEST, Geometry
from vision.outlines import face_polygon

SWEEPS = 4
"""Most passes over the board; a pass looks only at cells whose neighbours have changed, and two mostly do."""

MOSTLY_HIDDEN = 0.2
"""Share of a crop that nearer stacks hide from which on its silence does not mean that the cell is empty."""

LEAST_VISIBLE = 0.15
"""Share of a single piece's outline that must look more like a piece than like the floor for a cell to be looked into:
a piece as far askew as any still fills half of it."""

FIRST_HEIGHTS = 5
"""Heights believed in at first sight: a tower seems to be made of what stands behind it, which must have its say."""

MOSTLY_COVERED = 0.6
"""A stack of whose outline less than this share is visible may be a phantom of the stack before it."""

HIGHER = 2
"""Heights so far above the highest one believed in are looked at; the next pass may look higher."""

OUT_OF_REACH = -1e3
"""Log-likelihood ratio of heights that were not looked at."""

ROOM_ROWS = 7
"""Crop rows above the highest face that its leaning may need."""

SUBPIXEL_BITS = 4
"""Binary digits of a pixel's fraction in polygons, as ``cv2.fillConvexPoly`` takes them."""

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the pixels of every crop show.

    Attributes:
        likelihood: (n, rows, columns, materials) log-likelihood of the palette's materials.
        values: (n, rows, columns, 3) display values r g b relative to white paper.
        foreign: (n,) share of the pixels round each cell's middle that no material explains.
    """

    likelihood: Array
    values: Array
    foreign: Array


Outline = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
"""Hull and face of a believed stack, polygons in fixed point."""


@dataclass(frozen=True, eq=False)
class _Belief:
    """What is believed of some cells, and which cells are to be looked at again."""

    best: npt.NDArray[np.intp]
    shift: Array
    scores: Array
    outlines: list[Outline | None]
    stale: npt.NDArray[np.bool_]


class Board:
    """The explanation of a whole board while it is being found.

    Attributes:
        scores: (n, 1 + heights * tops) log-likelihood ratio of every state against an empty cell.
        best: (n,) the best state of each cell.
        sides: of each cell that was looked into, the shading of its best stack's side (:func:`stacks.score_askew`).
    """

    def __init__(self, shown: Evidence, rim: Array, geometry: Geometry, size: tuple[int, int]) -> None:
        evidence = shown.likelihood
        self.evidence, self.values, self.rim, self.geometry, self.size = evidence, shown.values, rim, geometry, size
        self.sides: dict[int, Array] = {}
        n = len(evidence)
        floor = evidence[..., palette.FLOOR]
        self.bare = floor.copy()
        beside = evidence[geometry.off_mat]
        self.bare[geometry.off_mat] = np.logaddexp(beside[:, palette.TABLE], beside[:, palette.FLOOR]) - np.log(2)
        self.visible = ~geometry.crops.outside
        gain = evidence[..., palette.SIDE : palette.TOPS + geometry.tops] - self.bare[..., None]
        gain *= self.visible[..., None]
        upright = stacks.score_upright(stacks.accumulate(gain), geometry, np.arange(n))
        self.scores = np.concatenate([np.zeros((n, 1), np.float32), upright.reshape(n, -1)], axis=1)
        # Where hardly anything looks more like a piece than like the floor no piece stands, whatever the neighbours.
        looks_taken = stacks.share_of_single(gain[..., 0] > 0, geometry) > LEAST_VISIBLE
        self.active = looks_taken | (self.scores.argmax(axis=1) > 0)
        # The best single piece of each cell and whether it is better than none, as if the cell stood alone.
        self.single = upright[:, 0].argmax(axis=1) + 1
        self.may_be_single = upright[:, 0].max(axis=1) > 0
        self.best = self.scores[:, : 1 + FIRST_HEIGHTS * geometry.tops].argmax(axis=1)
        self.shift = np.zeros((n, 2), np.float32)
        self.outlines: list[Outline | None] = [None] * n
        for cell in range(n):
            self._outline(cell)
        self.stale = self.active.copy()

    def sweep(self) -> bool:
        """Explain every cell whose neighbours have changed, given the others; true when more is to be done."""
        for party in self.geometry.parties:
            cells = party[self.stale[party]]
            if len(cells):
                self.stale[cells] = False
                self._explain(cells)
        return bool(self.stale.any())

    def split_towers(self) -> bool:
        """Take towers apart that explain worse than single pieces in a line would; true when one was.

        Pieces of one colour in a line away from the camera can look like the top, the side and the foot of a tower.
        No cell alone can leave that explanation: the pieces behind are hidden by the tower while it is believed.
        """
        split = False
        for cell in np.flatnonzero(self.best > self.geometry.tops):
            behind = self._hidden_singles(int(cell))
            tower = int(self.best[cell])
            if len(behind) and self._is_better_split(int(cell), behind):
                self._tell_neighbours(int(cell), tower)
                self.stale[cell] = split = True
        return split

    def drop_phantoms(self) -> bool:
        """Take away hidden stacks whose visible rest is better explained by the stack before them; true when one was.

        The far edge of a tall stack looks like a piece behind it to whoever believes the stack one piece too low.
        """
        dropped = False
        _, ranks = self._paint(set())
        left, top = np.maximum(self.geometry.boxes_px[..., :2].min(axis=(0, 1)), 0).astype(int)
        right, bottom = self.geometry.boxes_px[..., 2:].max(axis=(0, 1)).astype(int)
        shown = np.bincount(ranks[top:bottom, left:right].ravel(), minlength=len(self.best) + 1)
        for cell in np.flatnonzero(self.best):
            outline = self.outlines[cell]
            assert outline is not None
            area_px = cv2.contourArea(outline[0]) / (1 << 2 * SUBPIXEL_BITS)
            if shown[self.geometry.rank[cell]] < MOSTLY_COVERED * area_px and self._is_better_without(int(cell), ranks):
                dropped = True
        return dropped

    def _is_better_without(self, cell: int, ranks: npt.NDArray[np.uint8]) -> bool:
        """Try the stack that hides ``cell`` most, with ``cell`` empty; leave it so if that is likelier."""
        left, top, right, bottom = self.geometry.boxes_px[cell, 1].astype(int)
        over = np.bincount(ranks[max(top, 0) : bottom, max(left, 0) : right].ravel(), minlength=len(self.best) + 1)
        over[: self.geometry.rank[cell] + 1] = 0
        if not over.any():  # cut off by the picture's edge, hidden by nothing
            return False
        front = int(self.geometry.far_first[over.argmax() - 1])
        cells = np.array([cell, front])
        before, kept = self._likelihood(cells), self._believed(cells)
        self.best[cell], self.outlines[cell] = 0, None
        self._explain(np.array([front]))
        if self._likelihood(cells) > before:
            self.stale[cell] = True
            return True
        self._believe(cells, kept)
        return False

    def _hidden_singles(self, cell: int) -> npt.NDArray[np.intp]:
        """Cells behind ``cell`` whose middle its stack hides and on which something seems to stand."""
        outline = self.outlines[cell]
        assert outline is not None
        hull = outline[0].reshape(-1, 2) / (1 << SUBPIXEL_BITS)
        geometry = self.geometry
        near = (geometry.rank < geometry.rank[cell]) & self.may_be_single
        inside = [
            j
            for j in np.flatnonzero(near)
            if cv2.pointPolygonTest(hull.astype(np.float32), geometry.crops.origin_px[j].tolist(), measureDist=False)
            > 0
        ]
        return np.array(inside, np.intp)

    def _is_better_split(self, cell: int, behind: npt.NDArray[np.intp]) -> bool:
        """Try single pieces on ``cell`` and ``behind`` in place of the tower; leave them there if that is likelier."""
        cells = np.array([cell, *behind])
        before, kept = self._likelihood(cells), self._believed(cells)
        for j in cells:
            self.best[j], self.shift[j] = self.single[j], 0
            self._outline(int(j))
        if self._likelihood(cells) > before:
            return True
        self._believe(cells, kept)
        return False

    def _believed(self, cells: npt.NDArray[np.intp]) -> _Belief:
        """What is believed of ``cells``, to go back to after a trial."""
        outlines = [self.outlines[j] for j in cells]
        return _Belief(self.best[cells], self.shift[cells], self.scores[cells], outlines, self.stale.copy())

    def _believe(self, cells: npt.NDArray[np.intp], belief: _Belief) -> None:
        """Go back to an earlier belief of ``cells``."""
        self.best[cells], self.shift[cells], self.scores[cells] = belief.best, belief.shift, belief.scores
        self.stale = belief.stale
        for j, outline in zip(cells, belief.outlines, strict=True):
            self.outlines[j] = outline

    def _likelihood(self, cells: npt.NDArray[np.intp]) -> float:
        """Log-likelihood of all pixels in the crops of ``cells``, each under what is believed to be in front there."""
        labels, _ = self._paint(set())
        label = labels.ravel()[self.geometry.crops.flat_px[cells]]
        shown = np.take_along_axis(self.evidence[cells], label[..., None].astype(np.intp), axis=3)[..., 0]
        return float((np.where(label > 0, shown, self.bare[cells]) * self.visible[cells]).sum())

    def _explain(self, cells: npt.NDArray[np.intp]) -> None:
        reach = min(TALLEST, self._height(int(self.best[cells].max())) + HIGHER)
        first_row = max(0, int(self.geometry.far_row[cells, reach].min()) - ROOM_ROWS)
        labels, ranks = self._paint(set(cells.tolist()))
        flat = self.geometry.crops.flat_px[cells, first_row:]
        label = labels.ravel()[flat]
        evidence = self.evidence[cells, first_row:]
        behind = np.take_along_axis(evidence, label[..., None].astype(np.intp), axis=3)[..., 0]
        base = np.where(label > 0, behind, self.bare[cells, first_row:])
        hidden = ranks.ravel()[flat] > self.geometry.rank[cells][:, None, None]
        seen = self.visible[cells, first_row:] & ~hidden
        gain = evidence[..., palette.SIDE :] - base[..., None]
        gain *= seen[..., None]
        sums = stacks.Sums(
            faces=stacks.accumulate(gain[..., : 1 + self.geometry.tops]),
            sides=stacks.accumulate(gain[..., 1 + self.geometry.tops :]),
            shade=stacks.accumulate_shade(self.values[cells, first_row:], seen),
            first_row=first_row,
        )
        upright = stacks.score_upright(sums.faces, self.geometry, cells, first_row)
        upright[:, reach:] = OUT_OF_REACH
        height = upright.max(axis=2).argmax(axis=1) + 1
        levels = np.clip(height[:, None] + (-1, 0, 1), 1, reach)
        best_top = upright.max(axis=1).argmax(axis=1)
        askew, shift, steps = stacks.score_askew(sums, self.rim, self.geometry, cells, levels, best_top)
        np.put_along_axis(upright, levels[..., None] - 1, askew, axis=1)
        self.scores[cells, 1:] = upright.reshape(len(cells), -1)
        which = askew.max(axis=2).argmax(axis=1)
        stand = shift[np.arange(len(cells)), which]
        for k, cell in enumerate(cells):
            self.sides[int(cell)] = steps[k, which[k]]
            self._settle(int(cell), stand[k], hidden[k])

    def _settle(self, cell: int, shift: Array, hidden: npt.NDArray[np.bool_]) -> None:
        """Take over a cell's best state and tell its neighbours, unless most of what was believed there is hidden.

        A stack wrongly believed in front must not wipe out the one behind, whose colours would then seem to be its own.
        """
        best = int(self.scores[cell].argmax())
        if best == 0 and self.best[cell] and hidden.mean() > MOSTLY_HIDDEN:
            return
        if best != self.best[cell] or np.abs(shift - self.shift[cell]).max() > 1:
            if best != self.best[cell]:
                self._tell_neighbours(cell, best)
            self.best[cell], self.shift[cell] = best, shift
            self._outline(cell)

    def _tell_neighbours(self, cell: int, state: int) -> None:
        """Have those cells looked at again whose pixels a change of ``cell`` from or to ``state`` touches."""
        boxes = self.geometry.boxes_px
        changed = boxes[cell, self._height(max(int(self.best[cell]), state))]
        reach = np.minimum((self.best - 1) // self.geometry.tops + 1 + HIGHER, TALLEST)
        theirs = boxes[np.arange(len(reach)), reach]
        touched = ((theirs[:, :2] < changed[2:]) & (changed[:2] < theirs[:, 2:])).all(axis=1)
        touched[cell] = False
        self.stale |= touched & self.active

    def _height(self, state: int) -> int:
        """Pieces in a state; 0 for the empty cell."""
        return (state - 1) // self.geometry.tops + 1

    def _outline(self, cell: int) -> None:
        """Keep the polygons (hull, face) of what is believed on a cell, in fixed point."""
        state = int(self.best[cell])
        self.outlines[cell] = None
        if state:
            outlines, crops = self.geometry.outlines, self.geometry.crops
            foot = face_polygon(outlines, crops, cell, 0, np.zeros(2))
            face = face_polygon(outlines, crops, cell, self._height(state), self.shift[cell])
            fixed = np.rint(np.vstack([foot, face]) * (1 << SUBPIXEL_BITS)).astype(np.int32)
            self.outlines[cell] = (np.asarray(cv2.convexHull(fixed), np.int32), fixed[len(foot) :])

    def _paint(self, without: set[int]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """What stands on the other cells, far to near: material labels, and the rank of the nearest, per pixel."""
        labels, ranks = np.zeros(self.size, np.uint8), np.zeros(self.size, np.uint8)
        for cell in self.geometry.far_first:
            outline = self.outlines[cell]
            if outline is None or int(cell) in without:
                continue
            hull, face = outline
            top = (int(self.best[cell]) - 1) % self.geometry.tops
            cv2.fillConvexPoly(labels, hull, palette.STANDING, shift=SUBPIXEL_BITS)
            cv2.fillConvexPoly(labels, face, palette.TOPS + top, shift=SUBPIXEL_BITS)
            cv2.fillConvexPoly(ranks, hull, int(self.geometry.rank[cell]), shift=SUBPIXEL_BITS)
        return labels, ranks


def explain(shown: Evidence, rim: Array, geometry: Geometry, size: tuple[int, int]) -> Board:
    """The explanation of a whole board, neighbours considered.

    Args:
        shown: what the picture shows.
        rim: shading of a piece's side, see :class:`calibration.looks.SetLook`.
        geometry: of the pose.
        size: (height, width) of the picture.
    """
    board = Board(shown, rim, geometry, size)
    _settle_down(board)
    if board.split_towers():
        _settle_down(board)
    if board.drop_phantoms():
        _settle_down(board)
    return board


def _settle_down(board: Board) -> None:
    for _ in range(SWEEPS):
        if not board.sweep():
            return
