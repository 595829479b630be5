"""Heights of stacks that colours leave in doubt on a learned board, weighed by boundaries and by surfaces as well.

Beneath a dark piece, or beside a shadow on a dark board, one more piece explains the colours equally well; and where a
lamp was reflected when the board was learned, a bare square now has a dark piece's colours.  But the side of such a
piece would end, and the board begin, where the picture does not change.  Boundaries test, in the picture itself,
whether it changes where two surfaces meet; surfaces test, where it is in doubt whether anything stands, whether each
predicted surface is uniform once the board's own drawing is divided out.  Each is misled in its own way, so that none
decides alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.inference.comparison import Stacks, compare_on_cell, stacks_of
from vision.inference.coordinate_ascent import all_scores, highest_scored, score_all, update_around
from vision.inference.evidence_weights import PIECE_NATS, bound_log_ratios, bounded_colour_evidence
from vision.inference.ground_hue import MIN_HUE_NATS
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import View, ViewFactory
from vision.inference.surfaces import surface_log_ratios
from vision.scene.prisms import Prisms

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

HEIGHT_NATS = 9.0
"""Where it is in doubt whether anything stands, heights that colours make less likely than the best by more than this
are not compared: of 1,113 stacks on 12 boards colours got 47 wrong, by 5.8 at most; then one by 8.1 (`own-chequer`).
With 40 two bare squares of one board more were taken for black discs, as one of many heights fits a shadow."""

SURE_HEIGHT_NATS = 40.0
"""The same where something surely stands, or what is seen at a height's face has a piece's hue and not the board's:
pixel by pixel a dark face that mirrors the room may as well be a dark board.  Of hue: 21 boards of discs (209
pictures) had 329 nats and 45 squares wrong without, 208 and 39 with it.  Of what stands, with colours bounded as
beside an empty cell: seven boards of discs had 59.6 nats and 10 wrong without, 37.5 and 7 with it."""

NEXT_NATS = 16.0
"""A height next to the chosen one is compared as well if colours make it less likely than the best by no more than
this."""

EMPTY_NATS = 40.0
"""A stack that colours make likelier than an empty cell by more than this is taken to stand there.  Where the board
reflects a lamp, or did when it was learned, colours preferred a piece on bare squares of 52 boards by up to 35; with 20
five more of 27,000 squares were wrong."""

LEARNED_COLOUR_WEIGHT, LEARNED_BOUNDARY_WEIGHT = 0.4, 0.6
"""Weights of colours and boundaries, which look at the same pixels.  Fitted, with :data:`FACE_OFFSET_MM`, to the
heights of 3,482 stacks on 52 boards: from 149 to 129 nats on held-out boards, from 50 to 40 wrong, compared with 0.6
and 0.9 without it; adding surfaces does not improve on that."""

FACE_OFFSET_MM = 1.5
"""Standard deviation, along each axis, of an upper face about the middle of its square, besides the priors of the foot
and of the steps between pieces: people place a piece over the square, and not just over the piece below.  So a stack
that seems to lean towards the camera, or away from it, all the way up is more likely one piece lower, or higher."""

PRESENCE_WEIGHTS = (0.5, 0.7, 0.7)
"""Weights of colours, surfaces and boundaries in deciding whether anything stands.  Of the 110 cells of six boards on
which colours were not sure of it, colours got 11 wrong, all three together 1."""

MAX_SURFACE_NATS = 10.0
"""Most nats by which surfaces count for a piece: where the board mirrored a lamp when it was learned, what it shows now
is even in its stead.  Two bare squares of `own-r97009` became discs by up to 31 nats against boundaries; with 8 and 12
alike, with 20 one of them."""

MAX_ABSENT_NATS = 6.0
"""Most nats by which all three together count for none: of a piece of the board's own colour, in even light, they may
see nothing.  Its grooves counted for up to 10 where they had it less likely by 11 to 14; without the bound 40 nats more
on that board, with it 0.1 more on thirteen others (5 to 8 nats alike)."""

ROUNDS = 2
"""How many times neighbours of stacks whose heights change are updated by colours, and weighed again."""


def weigh_heights(look: ViewFactory, hypothesis: Hypothesis, cells: Indices) -> None:
    """Decide heights on ``cells`` (b,) that colours leave in doubt, in the picture that was observed.

    Faces must be plain: ink makes them uneven, so that no other surface counts beside them, and its edges are no
    boundaries.
    """
    for _ in range(ROUNDS):
        changed = _weigh(look, hypothesis, cells)
        if not len(changed):
            return
        cells = update_around(hypothesis, changed)
    _weigh(look, hypothesis, cells)
    hypothesis.clear_stale()


def _weigh(look: ViewFactory, hypothesis: Hypothesis, cells: Indices) -> Indices:
    """Weigh the heights of stacks on ``cells`` (b,) that are in doubt; returns the cells (c,) whose height changed."""
    may_stand = cells[(hypothesis.state[cells] > 0) | hypothesis.camouflaged[cells]]
    for cell in may_stand[hypothesis.camouflaged[may_stand]].tolist():
        by_colour = bound_log_ratios(all_scores(hypothesis, cell))
        hypothesis.set_scores(np.array([cell]), np.append(np.float32(0), by_colour)[None])
    for cell in may_stand[_may_be_higher(hypothesis, may_stand)].tolist():
        score_all(hypothesis, cell)
    in_doubt = [cell for cell in may_stand.tolist() if _heights_in_doubt(hypothesis, cell).sum() > 1]
    if not in_doubt:
        return np.empty(0, np.intp)
    beside = _ComparisonInputs.from_hypothesis(look(), hypothesis)
    return np.array([cell for cell in in_doubt if _rescore_height(hypothesis, beside, cell)], np.intp)


def _may_be_higher(hypothesis: Hypothesis, cells: Indices) -> Mask:
    """(b,) where, by hue, the highest stack scored on ``cells`` (b,) and the next one both have their face in sight.

    Colours, which cannot see where a dark tower ends on a dark board, may have stopped too low.
    """
    is_hued, rows = hypothesis.face_hue_log_ratio[cells] > MIN_HUE_NATS, np.arange(len(cells))
    highest, last = highest_scored(hypothesis.configuration_scores(cells)), is_hued.shape[1] - 1
    may_be: Mask = (highest < last) & is_hued[rows, highest] & is_hued[rows, np.minimum(highest + 1, last)]
    return may_be & ~hypothesis.camouflaged[cells]


class _ComparisonInputs(NamedTuple):
    """What boundaries are compared in: the picture, and the hypothesised stacks."""

    view: View
    prisms: Prisms
    stacks: Stacks

    @classmethod
    def from_hypothesis(cls, view: View, hypothesis: Hypothesis) -> _ComparisonInputs:
        """Collect it for a picture."""
        prisms = hypothesis.geometry.prisms
        assert prisms is not None, "pieces have no upper faces"
        return cls(view, prisms, stacks_of(hypothesis, prisms))


def _heights_in_doubt(hypothesis: Hypothesis, cell: int) -> Mask:
    """(1 + f,) which heights of a stack colours leave in doubt; the first is none.

    What seems to be a tower may be the colours of stacks behind the cell, if a single piece is less likely than none.
    """
    heights = hypothesis.configuration_scores(np.array([cell]))[0]
    may_be_none = heights.max() < EMPTY_NATS or heights[0] < 0
    is_sure = (hypothesis.face_hue_log_ratio[cell] > MIN_HUE_NATS) | (not may_be_none)
    is_likely = heights > heights.max() - np.where(is_sure, SURE_HEIGHT_NATS, HEIGHT_NATS)
    tried: Mask = np.append(may_be_none, is_likely)
    return tried


def _rescore_height(hypothesis: Hypothesis, beside: _ComparisonInputs, cell: int) -> bool:
    """Rescore a stack whose height is in doubt; returns whether another height is likelier now."""
    scores, tried = hypothesis.scores[cell].copy(), _heights_in_doubt(hypothesis, cell)
    by_colour = scores[1:].reshape(-1, hypothesis.colours)
    heights = by_colour.max(axis=1).astype(np.float64)
    every, uppermost = np.arange(len(heights)), beside.prisms.counts - 1
    evidence = bounded_colour_evidence(heights - heights.max(), LEARNED_COLOUR_WEIGHT)
    while True:
        given = np.where(tried, 0.0, -np.inf)
        compared, places = compare_on_cell(beside.view, beside.prisms, hypothesis, beside.stacks, (cell, given))
        aside = (places[1 + every, uppermost, :2] ** 2).sum(axis=1) / (2 * FACE_OFFSET_MM**2)
        likely = evidence + LEARNED_BOUNDARY_WEIGHT * compared[1:] - PIECE_NATS * uppermost - aside
        beside_best = np.abs(every - int(likely.argmax())) == 1
        also = beside_best & (heights > heights.max() - NEXT_NATS) & ~tried[1:]
        if not also.any():
            break
        tried[1:] |= also
    hypothesis.set_places(cell, places)
    stands = _presence_log_ratio(hypothesis, cell, tried, heights, compared) if tried[0] else heights.max()
    likely += stands - likely[tried[1:]].max()
    # Heights that were not tried keep their log-likelihood ratio to the best one by colours.
    best = int(heights.argmax())
    more = np.where(tried[1:], likely - heights, likely[best] - heights[best])
    by_colour += more[:, None].astype(np.float32)
    hypothesis.set_scores(np.array([cell]), scores[None])
    before, state = int(hypothesis.state[cell]), int(scores.argmax())
    if state != before:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, before)
        beside.stacks.configurations[cell] = hypothesis.configuration(cell)
    return state != before


def _presence_log_ratio(hypothesis: Hypothesis, cell: int, tried: Mask, heights: Floats, compared: Floats) -> float:
    """Log-likelihood ratio that anything stands on a cell against an empty one; by hue as well, where that is known.

    ``heights`` (f,): scores by colours; ``compared`` (1 + f,): by boundaries.
    """
    by_surface = np.minimum(surface_log_ratios(hypothesis, cell, tried[1:]), MAX_SURFACE_NATS)
    likely = (
        PRESENCE_WEIGHTS[0] * heights
        + PRESENCE_WEIGHTS[1] * by_surface
        + PRESENCE_WEIGHTS[2] * (compared[1:] - compared[0])
    )
    return max(float(likely[tried[1:]].max() + hypothesis.hue_log_ratio[cell]), -MAX_ABSENT_NATS)
