"""Beliefs that no cell can leave alone: several are changed at once, and changed back unless that is likelier.

Stacks of one colour in a line away from the camera can look like the top, the side and the foot of a tower, and the far
edge of a tall stack like a piece behind it.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.inference.coordinate_ascent import Board
from vision.likelihood.stacks import OUT_OF_REACH
from vision.pose.projection import Points
from vision.scene.silhouettes import is_before
from vision.scene.solids import hull

Indices = npt.NDArray[np.intp]

MOSTLY_COVERED = 0.6
"""A stack of whose outline less than this share is visible may be a phantom of the stack before it."""

ASKEW_NATS = 400.0
"""A tower may explain so much less, pixel by pixel, while it is taken to stand straight: one that is a millimetre off
is seen on one side of its outline, and not on the other, on a hundred pixels in all."""


def split_towers(board: Board) -> bool:
    """Take towers apart that explain worse than lower stacks in a line would; true when one was.

    The pieces behind are hidden by the tower while it is believed.
    """
    split, best = False, board.best
    for cell in np.flatnonzero((best > board.belief.colours) & board.explained):
        behind, tower = _hidden_singles(board, int(cell)), int(best[cell])
        if len(behind) and _is_better_split(board, int(cell), behind):
            board.invalidate_neighbours(int(cell), tower)
            board.stale[cell] = split = True
    return split


def join_towers(board: Board) -> bool:
    """Put stacks in a line together that explain worse than a tower on the nearer one would; true when some were.

    The foot of a tower can look like a lower stack, and its top like one behind that: neither can leave that
    explanation while the other stands.  A tower with nothing behind it may not have been looked at at all.
    """
    joined, best = False, board.best
    for cell in np.flatnonzero((best > 0) & board.explained):
        first = 1 + board.belief.height(int(best[cell])) * board.belief.colours
        if first == board.scores.shape[1]:
            continue
        tower = first + int(board.alone[cell, first:].argmax())
        for behind in _behind_tower(board, int(cell), tower):
            cells = np.array([cell, *behind])
            before = best[cells]
            if _is_better_joined(board, cells, tower):
                for j, state in zip(cells.tolist(), before.tolist(), strict=True):
                    board.invalidate_neighbours(j, state)
                board.stale[cells[1:]] = joined = True
                break
    return joined


def drop_phantoms(board: Board) -> bool:
    """Take away hidden stacks whose visible rest is better explained by the stack before them; true when one was.

    That one is believed a piece too low.
    """
    by_rank_px, rank = board.belief.visible_px(), board.geometry.rank
    own_px = by_rank_px[np.arange(len(rank)), rank]
    covered = (own_px < MOSTLY_COVERED * by_rank_px.sum(axis=1)) & (board.best > 0) & board.explained
    dropped = [_is_better_without(board, int(cell), by_rank_px[cell]) for cell in np.flatnonzero(covered)]
    return any(dropped)


class _Trial:
    """What is believed of some cells, and how likely that is, before something else is tried."""

    def __init__(self, board: Board, cells: Indices, reach: int) -> None:
        """``reach``: how many of the figures on the cells matter."""
        self._board, self._cells, self._first_row = board, cells, board.first_row(cells, reach)
        self._before, self._stale = self._likelihood(), board.stale.copy()
        self.kept, self._scores = board.belief.keep(cells), board.scores[cells]

    def gain(self) -> float:
        """How much likelier what is believed now is."""
        return self._likelihood() - self._before

    def undo(self) -> bool:
        """Go back; false."""
        board = self._board
        board.belief.put_back(self._cells, self.kept)
        board.scores[self._cells], board.stale = self._scores, self._stale
        return False

    def _likelihood(self) -> float:
        return self._board.belief.likelihood(self._board.observations, self._cells, self._first_row)


def _is_better_split(board: Board, cell: int, behind: Indices) -> bool:
    """Try a single piece on ``cell`` and what then shows ``behind`` in place of the tower; leave it if likelier."""
    cells = np.array([cell, *behind])
    trial = _Trial(board, cells, board.reach(cells))
    for j in cells.tolist():
        board.belief.put(j, int(board.single[j]))
    if trial.gain() > 0:
        return True
    for j in (*behind[np.argsort(-board.geometry.rank[behind])], cell):
        board.update(np.array([j]))
    return trial.gain() > 0 or trial.undo()


def _is_better_joined(board: Board, cells: Indices, tower: int) -> bool:
    """Try a ``tower`` on the first of ``cells`` in place of all their stacks; leave it if higher and likelier."""
    belief, cell = board.belief, int(cells[0])
    trial = _Trial(board, cells, belief.height(tower))
    for behind in cells[1:].tolist():
        belief.put(behind, 0)
    belief.put(cell, tower)
    if trial.gain() > -ASKEW_NATS:
        board.update(cells[:1])
        is_higher = belief.height(int(belief.best[cell])) > belief.height(int(trial.kept.best[0]))
        if is_higher and trial.gain() > 0:
            return True
    return trial.undo()


def _is_better_without(board: Board, cell: int, by_rank_px: npt.NDArray[np.int32]) -> bool:
    """Try the stack that hides ``cell`` most, with ``cell`` empty; leave it so if that is likelier.

    ``by_rank_px`` (n + 1,): see :func:`vision.scene.label_buffer.visible_px`.
    """
    rank = board.geometry.rank[cell]
    nearer_px = by_rank_px[rank + 1 :]
    if not nearer_px.any():
        return False
    front = int(board.geometry.far_first[rank + nearer_px.argmax()])
    cells = np.array([cell, front])
    trial = _Trial(board, cells, board.reach(cells))
    board.belief.put(cell, 0)
    board.update(np.array([front]))
    if trial.gain() > 0:
        board.stale[cell] = True
        return True
    return trial.undo()


def _hidden_singles(board: Board, cell: int) -> Indices:
    """Cells behind ``cell`` whose middle its stack hides and on which something seems to stand."""
    geometry, silhouettes = board.geometry, board.belief.silhouettes
    near = np.flatnonzero((geometry.rank < geometry.rank[cell]) & board.may_be_single)
    return near[is_before(silhouettes, cell, geometry.crops.origin_px[near])]


def _behind_tower(board: Board, cell: int, tower: int) -> list[tuple[int, ...]]:
    """Cells whose face a ``tower`` on ``cell`` would hide, one at a time, if it explains more than both stacks.

    Once no cell, where it would hide none, explains more than the stack there does, and was not looked at.
    """
    geometry, belief, best = board.geometry, board.belief, board.best
    # A tower has been looked at only as standing straight: so the others count as if they did.
    explained = np.minimum(board.scores.max(axis=1), board.alone[np.arange(len(best)), best])
    gain = board.alone[cell, tower] - explained[cell]
    if gain <= 0:
        return []
    configuration = belief.height(tower) - 1
    outline = hull(geometry.outlines.corners_px(geometry.crops, cell, configuration, np.zeros(2)))
    behind = np.flatnonzero((best > 0) & (geometry.rank < geometry.rank[cell]))
    hidden = [int(j) for j in behind if _is_inside(belief.silhouettes.middles_px[j], outline)]
    if not hidden:
        return [()] if board.scores[cell, tower] < OUT_OF_REACH / 2 else []
    return [(j,) for j in hidden if explained[j] < gain]


def _is_inside(point_px: Points, hull_px: Points) -> bool:
    """Whether a point (2,) is in a convex polygon (k, 2)."""
    return cv2.pointPolygonTest(hull_px.astype(np.float32), point_px.tolist(), measureDist=False) > 0
