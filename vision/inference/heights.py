"""Heights of stacks that colours leave in doubt on a learned board, weighed by surfaces and by boundaries as well.

Beneath a dark piece, or beside a shadow on a dark board, one more piece explains colours as well.  But its side would
end, and the board begin, where the picture does not change.  Surfaces ask whether what is predicted is even, the
board's own drawing divided out; boundaries, at the picture's own resolution, whether it changes where two surfaces
meet.  Each is misled in its own way, so that none decides alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.inference.comparison import Stacks, View, compare_on, make_view, stacks_of
from vision.inference.coordinate_ascent import update_around
from vision.inference.hypothesis import Hypothesis
from vision.inference.surfaces import by_surfaces
from vision.scene.prisms import Prisms

Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

HEIGHT_NATS = 8.0
"""Heights that colours make less likely than the best by more than this are not compared: of 1,113 stacks on 12 boards
colours had 47 wrong, by 5.8 at most."""

COLOUR_SHARE, SURFACE_SHARE, BOUNDARY_SHARE = 0.5, 0.7, 0.7
"""Shares that each counts for, since all three look at the same pixels.  Of 593 stacks on six boards colours alone had
45 wrong, with surfaces (0.7) 21, with all three 12; with shares from 0.5 to 1 of both others 12 to 16."""

ROUNDS = 2
"""Neighbours of stacks whose heights change are updated by colours, and weighed once more."""


def weigh_heights(image: Picture, hypothesis: Hypothesis) -> None:
    """Weigh heights that colours leave in doubt, in the picture (height, width, 3) uint8 BGR that was observed.

    Of camouflaged pieces surfaces were asked already.
    """
    waiting = hypothesis.updated & (hypothesis.state > 0)
    for _ in range(ROUNDS):
        in_doubt = [cell for cell in np.flatnonzero(waiting).tolist() if _tried(hypothesis, cell).sum() > 1]
        beside = _Beside.of(image, hypothesis) if in_doubt else None
        changed = [cell for cell in in_doubt if _is_other_height(hypothesis, beside, cell)]
        if not changed:
            return
        waiting[:] = False
        waiting[update_around(hypothesis, np.array(changed, np.intp))] = True
        waiting &= hypothesis.state > 0


class _Beside(NamedTuple):
    """What boundaries are compared in: the picture, and what is hypothesised; None where faces bear characters."""

    view: View
    prisms: Prisms
    stacks: Stacks

    @classmethod
    def of(cls, image: Picture, hypothesis: Hypothesis) -> _Beside | None:
        """That of a picture."""
        geometry = hypothesis.geometry
        if geometry.prisms is None or not geometry.configurations.has_plain_faces:
            return None
        return cls(make_view(image, geometry, geometry.prisms), geometry.prisms, stacks_of(hypothesis, geometry.prisms))


def _tried(hypothesis: Hypothesis, cell: int) -> Mask:
    """(f,) which heights of a stack are in doubt by colours."""
    heights = hypothesis.scores[cell, 1:].reshape(-1, hypothesis.colours).max(axis=1)
    tried: Mask = heights > heights.max() - HEIGHT_NATS
    return tried


def _is_other_height(hypothesis: Hypothesis, beside: _Beside | None, cell: int) -> bool:
    """Rescore a stack whose height is in doubt; whether another one is likelier now."""
    scores, tried = hypothesis.scores[cell].copy(), _tried(hypothesis, cell)
    by_colour = scores[1:].reshape(-1, hypothesis.colours)
    heights = by_colour.max(axis=1)
    more = np.zeros(len(heights), np.float32)
    if not hypothesis.camouflaged[cell]:
        more = SURFACE_SHARE * by_surfaces(hypothesis, cell, tried) - (1 - COLOUR_SHARE) * heights
    if beside is not None:
        given = np.where(np.append(False, tried), 0.0, -np.inf)
        compared, _ = compare_on(beside.view, beside.prisms, hypothesis, beside.stacks, (cell, given))
        more += BOUNDARY_SHARE * np.where(tried, compared[1:], 0.0)
    by_colour[tried] += (more - more[heights.argmax()])[tried, None]
    hypothesis.score(np.array([cell]), scores[None])
    before, state = int(hypothesis.state[cell]), int(scores.argmax())
    if state != before:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, before)
        if beside is not None:
            beside.stacks.configurations[cell] = hypothesis.configuration(cell)
    return state != before
