"""How colours, boundaries and the number of pieces are weighed against each other, all taken from the same pixels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

COLOUR_WEIGHT = 0.8
"""Weight of the colour scores beside the comparison, since both use the same pixels.  Of weights from 0 to 1.6, those
between 0.6 and 1 made the truth likeliest for the collection's pale cubes and discs."""

UNINFORMATIVE = 0.01
"""Probability that colours carry no information about a cell, as where a piece has the colour of what is behind it;
this alone bounds their evidence.  Of 0.0001 to 0.1, this value made the truth likeliest in 1,729 comparisons of cubes
and discs in eighteen folders; without the bound, colours preferred the wrong one by more than 12 nats in five,
boundaries by 6 at most."""

CAMOUFLAGED_WEIGHT = 0.5
"""Weight of colours where a piece may have the colour of a learned board: all pixels of a face, or of a shadow, differ
from the board for one common cause.  With 0.1 one of 1,900 squares was taken for a piece and seemed sure."""

BOUNDARY_WEIGHT, PIECE_NATS = 0.7, 0.5
"""Weight of boundaries for the heights of stacks, and penalty in nats per piece, since in a shadow boundaries favour
one piece too many more often than one too few: wrong stacks went from 14 to 7 of 4,807 on 51 sets of discs and blocks,
36 to 29 nats; with characters from 7 to 4 of 378 on 57 sets and boards, 23 to 16 nats; of cubes of two sizes from 4 to
3, 7.9 to 5.6 nats on 15 sets."""

HEIGHTS_COLOUR_WEIGHT = 0.3
"""Weight of colours, relative to that beside an empty cell, for the heights of plain stacks: a height more or less
changes colours at its foot and its face alone, where shade, glare and a leaning stack do as well.  In 1,885 stacks of
discs and blocks in doubt, of 28 sets and folders, any from 0 to 0.5 made the truth likelier than 1 (0.3: 42 → 33 nats).
With characters they count in full: eleven sets and folders have 11.5 nats, with 0.5 16.9."""


def reweight_heights(compared: Floats, heights: Floats, tried: Mask, counts: Indices) -> Floats:
    """(1 + f,) scores ``compared`` of stacks, reweighted for heights among each other.

    That anything stands remains as likely as before.  ``heights`` (1 + f,): colour scores; ``tried`` (1 + f,): which
    were compared; ``counts`` (f,): pieces of each.
    """
    weighed: Floats = reweighted(compared, bounded_colour_evidence(heights - heights.max()), tried, counts, 1.0)
    return weighed


@compiled
def reweighted(compared: Floats, given: Floats, tried: Mask, counts: Indices, colour_weight: float) -> Floats:
    """See :func:`reweight_heights`; ``given`` (1 + f,): evidence of colours beside the comparison, and its weight."""
    likeliest, most = -np.inf, -np.inf
    shared = colour_weight * given + BOUNDARY_WEIGHT * (compared - given)
    for number in range(1, len(given)):
        shared[number] -= PIECE_NATS * counts[number - 1]
        if tried[number]:
            likeliest, most = max(likeliest, compared[number]), max(most, shared[number])
    weighed = compared.copy()
    for number in range(1, len(given)):
        if tried[number]:
            weighed[number] = shared[number] + likeliest - most
    return weighed


def bounded_colour_evidence(log_ratios: Floats, weight: float = COLOUR_WEIGHT) -> Floats:
    """(k,) evidence of colours beside the comparison, from ``weight`` times their log-likelihood ratios to the best."""
    given: Floats = np.log(UNINFORMATIVE + np.exp(weight * log_ratios))
    return given


def bound_log_ratios(by_colour: Array) -> Array:
    """Log-likelihood ratios ``by_colour`` (…), of the same shape, bounded so that they do not rule out a piece there.

    Colours are misled where a piece has the board's colour, which is known more sharply; but all pixels of a face share
    one shade, as those of the board do.
    """
    most = CAMOUFLAGED_WEIGHT * by_colour.max()
    bounded: Array = by_colour + (np.logaddexp(np.log(UNINFORMATIVE), most) - most) / CAMOUFLAGED_WEIGHT
    return bounded.astype(np.float32)


@compiled
def combine_scores(by_colour: Array, heights: Floats, both: Floats, tried: Mask) -> Array:
    """(states,) scores: ``both`` for those ``tried`` (1 + f,); others are as far behind the best as by ``heights``.

    All are relative to the empty cell.  ``by_colour`` (f, colours): colour scores; ``heights`` (1 + f,): of these, the
    best of each configuration, after that of the empty cell.
    """
    colours, scores, best, likeliest = by_colour.shape[1], np.empty(len(both)), -np.inf, heights.max()
    for number in range(len(both)):
        best = max(best, both[number] if tried[number] else -np.inf)
    for number in range(len(both)):
        scores[number] = both[number] if tried[number] else best + heights[number] - likeliest
    states = np.zeros(1 + by_colour.size, np.float32)
    for number in range(len(by_colour)):
        for colour in range(colours):
            relative = by_colour[number, colour] - heights[1 + number] + scores[1 + number]
            states[1 + number * colours + colour] = relative - scores[0]
    return states
