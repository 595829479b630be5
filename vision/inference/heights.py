"""Heights of stacks that colours leave in doubt on a learned board, weighed by surfaces and by boundaries as well.

Beneath a dark piece, or beside a shadow on a dark board, one more piece explains colours as well; and where a lamp was
mirrored when the board was learned, a bare square now has a dark piece's.  But its side would end, and the board begin,
where the picture does not change.  Surfaces ask whether what is predicted is even, the board's own drawing divided out;
boundaries, at the picture's own resolution, whether it changes where two surfaces meet.  Each is misled in its own way,
so that none decides alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.inference.comparison import Stacks, View, compare_on, make_view, stacks_of
from vision.inference.coordinate_ascent import all_scores, update_around
from vision.inference.hypothesis import Hypothesis
from vision.inference.surfaces import by_surfaces, of_camouflaged
from vision.scene.prisms import Prisms

Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

HEIGHT_NATS = 8.0
"""Heights that colours make less likely than the best by more than this are not compared: of 1,113 stacks on 12 boards
colours had 47 wrong, by 5.8 at most."""

EMPTY_NATS = 20.0
"""A stack that colours make likelier than an empty cell by more than this stands there.  Of 1,744 cells on six boards
they had a piece on six empty ones, by 14.6 at most."""

COLOUR_SHARE, SURFACE_SHARE, BOUNDARY_SHARE = 0.5, 0.7, 0.7
"""Shares that each counts for, since all three look at the same pixels.  Of 593 stacks on six boards colours alone had
45 heights wrong, with surfaces (0.7) 21, with all three 12; with shares from 0.5 to 1 of both others 12 to 16.  Of the
110 cells of six boards on which colours were not sure that anything stood or not they had 11 wrong, all three 1."""

ROUNDS = 2
"""How often neighbours of stacks whose heights change are updated by colours, and weighed again."""


def weigh_heights(image: Picture, hypothesis: Hypothesis, cells: Indices) -> None:
    """Weigh heights on ``cells`` (b,) that colours leave in doubt, in the picture (height, width, 3) uint8 BGR.

    Faces must be plain: beside what ink leaves uneven no other surface counts, and it is no boundary.
    """
    for _ in range(ROUNDS):
        changed = _weigh(image, hypothesis, cells)
        if not len(changed):
            return
        cells = update_around(hypothesis, changed)
    _weigh(image, hypothesis, cells)
    hypothesis.settle()


def _weigh(image: Picture, hypothesis: Hypothesis, cells: Indices) -> Indices:
    """Weigh the heights that are in doubt of stacks on ``cells`` (b,); the cells (c,) whose height is another now."""
    may_stand = cells[(hypothesis.state[cells] > 0) | hypothesis.camouflaged[cells]]
    for cell in may_stand[hypothesis.camouflaged[may_stand]].tolist():
        by_colour = of_camouflaged(all_scores(hypothesis, cell))
        hypothesis.score(np.array([cell]), np.append(np.float32(0), by_colour)[None])
    in_doubt = [cell for cell in may_stand.tolist() if _tried(hypothesis, cell).sum() > 1]
    if not in_doubt:
        return np.empty(0, np.intp)
    beside = _Beside.of(image, hypothesis)
    return np.array([cell for cell in in_doubt if _is_other_height(hypothesis, beside, cell)], np.intp)


class _Beside(NamedTuple):
    """What boundaries are compared in: the picture, and what is hypothesised."""

    view: View
    prisms: Prisms
    stacks: Stacks

    @classmethod
    def of(cls, image: Picture, hypothesis: Hypothesis) -> _Beside:
        """That of a picture."""
        geometry = hypothesis.geometry
        assert geometry.prisms is not None, "pieces have no upper faces"
        return cls(make_view(image, geometry, geometry.prisms), geometry.prisms, stacks_of(hypothesis, geometry.prisms))


def _tried(hypothesis: Hypothesis, cell: int) -> Mask:
    """(1 + f,) which heights of a stack are in doubt by colours, first none."""
    heights = hypothesis.by_configuration(np.array([cell]))[0]
    tried: Mask = np.append(heights.max() < EMPTY_NATS, heights > heights.max() - HEIGHT_NATS)
    return tried


def _is_other_height(hypothesis: Hypothesis, beside: _Beside, cell: int) -> bool:
    """Rescore a stack whose height is in doubt; whether another one is likelier now."""
    scores, tried = hypothesis.scores[cell].copy(), _tried(hypothesis, cell)
    by_colour = scores[1:].reshape(-1, hypothesis.colours)
    heights = np.append(0.0, by_colour.max(axis=1))
    best = 1 + int(heights[1:].argmax())
    more = np.zeros(len(heights))
    more[1:] = SURFACE_SHARE * by_surfaces(hypothesis, cell, tried[1:]) - (1 - COLOUR_SHARE) * heights[1:]
    given = np.where(tried, 0.0, -np.inf)
    compared, _ = compare_on(beside.view, beside.prisms, hypothesis, beside.stacks, (cell, given))
    more[tried] += BOUNDARY_SHARE * compared[tried]
    more -= more[0] if tried[0] else more[best]
    # What was not tried stays as much less likely than the best.
    by_colour += np.where(tried, more, more[best])[1:, None].astype(np.float32)
    hypothesis.score(np.array([cell]), scores[None])
    before, state = int(hypothesis.state[cell]), int(scores.argmax())
    if state != before:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, before)
        beside.stacks.configurations[cell] = hypothesis.configuration(cell)
    return state != before
