"""Block moves out of local optima: several cells are changed at once, and changed back unless that is likelier.

Stacks of one colour in a line away from the camera can look like the top, the side and the foot of a tower, and the far
edge of a tall stack like a piece behind it.  Coordinate ascent cannot leave such an explanation, since no change
of a single cell raises the likelihood.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.coordinate_ascent import update
from vision.inference.hypothesis import Hypothesis, Proposal
from vision.likelihood.stacks import OUT_OF_REACH
from vision.scene.silhouettes import covers_points
from vision.scene.solids import are_inside, hull

Indices = npt.NDArray[np.intp]

SPURIOUS_SHARE = 0.6
"""A stack less than this share of whose silhouette is visible may be spurious, a part of the one in front.  Chosen by
eye."""

LEAN_NATS = 400.0
"""How much less likely, pixel by pixel, a tower may be while it is hypothesised to stand straight: one displaced by a
millimetre extends beyond its outline on one side and falls short on the other, a hundred pixels of about four nats."""


def split_towers(hypothesis: Hypothesis) -> bool:
    """Replace towers by lower stacks in a line where these are likelier; true when one was replaced.

    The stacks behind are occluded while the tower is hypothesised.
    """
    split, state = False, hypothesis.state
    for cell in np.flatnonzero((state > hypothesis.colours) & hypothesis.updated).tolist():
        behind, tower = occluded_singles(hypothesis, cell), int(state[cell])
        if len(behind) and _is_split(hypothesis, cell, behind):
            hypothesis.invalidate_neighbours(cell, tower)
            hypothesis.invalidate(cell)
            split = True
    return split


def join_towers(hypothesis: Hypothesis) -> bool:
    """Replace stacks in a line by a tower on the nearest one's cell where that is likelier; true when some were.

    The foot of a tower can look like a lower stack, and its top like one behind that: neither can leave that
    explanation while the other is hypothesised.  A tower that occludes nothing may not have been scored at all.
    """
    joined, state = False, hypothesis.state
    for cell in np.flatnonzero((state > 0) & hypothesis.updated).tolist():
        first = 1 + hypothesis.configuration_count(int(state[cell])) * hypothesis.colours
        if first == hypothesis.scores.shape[1]:
            continue
        tower = first + int(hypothesis.isolated.scores[cell, first:].argmax())
        for behind in _behind_tower(hypothesis, cell, tower):
            cells = np.array([cell, *behind])
            before = state[cells]
            if _is_joined(hypothesis, cells, tower):
                for one, other in zip(cells.tolist(), before.tolist(), strict=True):
                    hypothesis.invalidate_neighbours(one, other)
                hypothesis.invalidate(cells[1:])
                joined = True
                break
    return joined


def remove_spurious_stacks(hypothesis: Hypothesis) -> bool:
    """Remove partly occluded stacks whose visible part the stack in front explains better; true when one was removed.

    The one in front had been hypothesised a piece too low.
    """
    by_rank_px = hypothesis.visible_px()
    cells = np.flatnonzero(hypothesis.shows_less_than(SPURIOUS_SHARE, by_rank_px) & hypothesis.updated)
    removed = [_is_removed(hypothesis, cell, by_rank_px[cell]) for cell in cells.tolist()]
    return any(removed)


def _is_split(hypothesis: Hypothesis, cell: int, behind: Indices) -> bool:
    """Propose a single piece on ``cell``, and what then becomes visible ``behind`` (b,), in place of the tower."""
    cells = np.array([cell, *behind])
    proposal = Proposal(hypothesis, cells, hypothesis.scored_configurations(cells))
    for one in cells.tolist():
        hypothesis.assign(one, int(hypothesis.isolated.single[one]))
    if proposal.log_ratio() > 0:
        return True
    for one in (*behind[np.argsort(-hypothesis.geometry.rank[behind])], cell):
        update(hypothesis, np.array([one]))
    return _is_accepted(proposal)


def _is_joined(hypothesis: Hypothesis, cells: Indices, tower: int) -> bool:
    """Propose the state ``tower`` on the first of ``cells`` (b,) in place of all their stacks, which must be lower."""
    cell = int(cells[0])
    proposal = Proposal(hypothesis, cells, hypothesis.configuration_count(tower))
    for behind in cells[1:].tolist():
        hypothesis.assign(behind, 0)
    hypothesis.assign(cell, tower)
    if proposal.log_ratio() <= -LEAN_NATS:
        proposal.reject()
        return False
    update(hypothesis, cells[:1])
    before = int(proposal.before.state[0])
    is_higher = hypothesis.configuration_count(int(hypothesis.state[cell])) > hypothesis.configuration_count(before)
    return _is_accepted(proposal, if_only=is_higher)


def _is_removed(hypothesis: Hypothesis, cell: int, by_rank_px: npt.NDArray[np.int32]) -> bool:
    """Propose an empty ``cell``, with the stack that occludes it most updated to explain the picture best.

    ``by_rank_px`` (n + 1,): see :func:`vision.scene.label_buffer.visible_px`.
    """
    rank = hypothesis.geometry.rank[cell]
    nearer_px = by_rank_px[rank + 1 :]
    if not nearer_px.any():
        return False
    front = int(hypothesis.geometry.far_first[rank + nearer_px.argmax()])
    cells = np.array([cell, front])
    proposal = Proposal(hypothesis, cells, hypothesis.scored_configurations(cells))
    hypothesis.assign(cell, 0)
    update(hypothesis, np.array([front]))
    if _is_accepted(proposal):
        hypothesis.invalidate(cell)
        return True
    return False


def _is_accepted(proposal: Proposal, *, if_only: bool = True) -> bool:
    """Whether the picture is likelier now, and ``if_only`` holds; a proposal that is not accepted is reverted."""
    if if_only and proposal.log_ratio() > 0:
        return True
    proposal.reject()
    return False


def occluded_singles(hypothesis: Hypothesis, cell: int) -> Indices:
    """Cells (b,) behind ``cell`` whose centre its stack occludes and on which, in isolation, a piece may stand."""
    geometry = hypothesis.geometry
    near = np.flatnonzero((geometry.rank < geometry.rank[cell]) & hypothesis.isolated.may_be_single)
    return near[covers_points(hypothesis.silhouettes, cell, geometry.crops.origin_px[near])]


def _behind_tower(hypothesis: Hypothesis, cell: int, tower: int) -> list[tuple[int, ...]]:
    """Cells, one a tuple, whose face a ``tower`` on ``cell`` would occlude, if it gains more than both stacks together.

    One empty tuple if it would occlude none, gains more than the stack on ``cell`` does, and was not scored.
    """
    geometry, state, isolated = hypothesis.geometry, hypothesis.state, hypothesis.isolated.scores
    # In isolation a tower was scored only as standing straight, so the others count as if they stood straight, too.
    gain = isolated[cell, tower] - min(hypothesis.scores[cell].max(), isolated[cell, state[cell]])
    if gain <= 0:
        return []
    configuration = hypothesis.configuration_count(tower) - 1
    outline = hull(geometry.outlines.corners_px(geometry.crops, cell, configuration, np.zeros(2)))
    behind = np.flatnonzero((state > 0) & (geometry.rank < geometry.rank[cell]))
    occluded = behind[are_inside(hypothesis.silhouettes.centres_px[behind], outline)]
    if not len(occluded):
        return [()] if hypothesis.scores[cell, tower] < OUT_OF_REACH / 2 else []
    return [(one,) for one in occluded.tolist() if min(hypothesis.scores[one].max(), isolated[one, state[one]]) < gain]
